"""How it is asked: one FastCGI request on a connection of its own, with asyncio, so that hundreds can be in flight.

The whole message of a script is encoded once. Nothing is raised for what a server does wrong: the reply says it in `lost`.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

from harness.orchestrate.client import BEGIN_REQUEST, END_REQUEST, PARAMS, RESPONDER, STDERR, STDIN, STDOUT, pairs, params_of, record, stream

from .script import Script

WITHIN_S = 60.0


@dataclass(frozen=True)
class Reply:
    out: bytes = b""  # the head as CGI has it, then the body
    err: bytes = b""
    end: tuple[int, int] | None = None  # the two numbers of END_REQUEST
    lost: str | None = None  # why there was no END_REQUEST


def message(script: Script, root: str) -> bytes:
    method, target = script.request
    params = params_of(method, target, root, len(script.body), script.headers)
    begin = record(BEGIN_REQUEST, struct.pack(">HB5x", RESPONDER, 0))
    return begin + stream(PARAMS, pairs(params)) + stream(STDIN, script.body)


async def exchange(socket_path: str, data: bytes, within_s: float = WITHIN_S) -> Reply:
    out, err = bytearray(), bytearray()
    try:
        async with asyncio.timeout(within_s):
            reader, writer = await asyncio.open_unix_connection(socket_path)
            try:
                writer.write(data)
                end = await _answer(reader, out, err)
            finally:
                writer.close()
        return Reply(bytes(out), bytes(err), end)
    except TimeoutError:
        why = f"no END_REQUEST within {within_s:g} s"
    except asyncio.IncompleteReadError:
        why = "connection closed before END_REQUEST"
    except OSError as error:
        why = f"{error.__class__.__name__}: {error.strerror or error}"
    return Reply(bytes(out), bytes(err), lost=why)


async def _answer(reader: asyncio.StreamReader, out: bytearray, err: bytearray) -> tuple[int, int]:
    streams = {STDOUT: out, STDERR: err}
    while True:
        version, kind, rid, length, padding = struct.unpack(">BBHHBx", await reader.readexactly(8))
        content = (await reader.readexactly(length + padding))[:length]
        if version != 1 or rid != 1 or (kind not in streams and (kind, length) != (END_REQUEST, 8)):
            raise OSError(f"malformed record: version {version}, type {kind}, request {rid}, {length} bytes")
        if kind == END_REQUEST:
            return struct.unpack(">IB3x", content)
        streams[kind] += content
