"""A FastCGI request in flight: started now, watched while it runs, finished or given up later.

    flight = Flight(endpoint, message(…))
    flight.wait_text("half way")           # the answer so far holds this
    reply = flight.finish(within_s=5)      # never raises: reply.error says what went wrong

The answer is read by a thread of its own, so that any number of requests wait at once.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.orchestrate.client import (
    BEGIN_REQUEST, END_REQUEST, PARAMS, PROTOCOL_STATUS, REQUEST_ID, RESPONDER, STDERR, STDIN, STDOUT, Answer, Endpoint, cgi_answer, pairs,
    params_of, record, stream,
)  # fmt: skip

ABORT_REQUEST = 2
KEEP_CONN = 1
LIFE_S_MAX = 120.0
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Reply:
    """A whole answer, or what there was of it and why it ended."""

    answer: Answer
    app_status: int | None
    seconds: float  # from the request's start to its end

    @property
    def ok(self) -> bool:
        return self.answer.error is None and self.answer.status == 200

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def error(self) -> str | None:
        return self.answer.error

    @property
    def lost(self) -> bool:
        """Not even an error answer came."""
        return self.answer.error is not None

    @property
    def text(self) -> str:
        return self.answer.text

    @property
    def why(self) -> str:
        return self.answer.why

    @property
    def stderr(self) -> str:
        return self.answer.stderr

    @property
    def facts(self) -> dict[str, Any]:
        """The JSON object that a probe answers with; {} when it did not."""
        try:
            found = json.loads(self.answer.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def message(
    target: str,
    root: str,
    *,
    method: str | None = None,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str | None] | None = None,
    keep: bool = False,
) -> list[bytes]:
    """The three parts of a request: its begin, its parameters, its body. `params` replaces parameters, None removes one."""
    given = params_of(method or ("POST" if body else "GET"), target, root, len(body), dict(headers or {}))
    given |= {name: value for name, value in (params or {}).items() if value is not None}
    for name in (name for name, value in (params or {}).items() if value is None):
        given.pop(name, None)
    begin = record(BEGIN_REQUEST, struct.pack(">HB5x", RESPONDER, KEEP_CONN if keep else 0))
    return [begin, stream(PARAMS, pairs(given)), stream(STDIN, body)]


class Flight:
    def __init__(self, endpoint: Endpoint, parts: list[bytes], name: str = "") -> None:
        self.name = name
        self.started = time.monotonic()
        self.ended: float | None = None
        self._out, self._err, self._raw = bytearray(), bytearray(), bytearray()
        self._end: tuple[int, int] | None = None
        self._error: str | None = None
        self._changed = threading.Condition()
        self._sock: socket.socket | None = None
        threading.Thread(target=self._live, args=(endpoint, b"".join(parts)), name=f"flight {name}", daemon=True).start()

    # ---- while it runs ---------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self.ended is not None

    def wait_text(self, text: str, within_s: float = 10.0) -> bool:
        """True as soon as the answer so far holds this text."""
        return self._wait(lambda: text.encode() in self._out, within_s)

    def wait_done(self, within_s: float) -> bool:
        return self._wait(lambda: self.done, within_s) and self.done

    def finish(self, within_s: float = 10.0) -> Reply:
        """The answer; after `within_s` the connection is closed and the reply says so."""
        if not self.wait_done(within_s):
            self._end_with(f"no answer within {within_s:g} s")
            self.close()
        return self.reply()

    def reply(self) -> Reply:
        with self._changed:
            assert self.ended is not None, "the request is still in flight"
            return Reply(self._answer(), self._end[0] if self._end else None, self.ended - self.started)

    def abort(self) -> None:
        """Sends FCGI_ABORT_REQUEST."""
        if self._sock is not None:
            self._sock.sendall(record(ABORT_REQUEST, b""))

    def close(self) -> None:
        """The client goes away."""
        sock = self._sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._end_with("closed by the client")

    # ---- the thread ------------------------------------------------------------------------------------------------

    def _live(self, endpoint: Endpoint, data: bytes) -> None:
        try:
            with endpoint.connect(LIFE_S_MAX) as sock:
                self._sock = sock
                sock.settimeout(LIFE_S_MAX)
                sock.sendall(data)
                while self._end is None and not self.done:
                    got = sock.recv(READ_BYTES)
                    if not got:
                        break
                    self._take(got)
        except OSError as error:
            self._end_with(f"{error.__class__.__name__}: {error.strerror or error}")
            return
        self._end_with(None if self._end else "connection closed before END_REQUEST")

    def _take(self, got: bytes) -> None:
        with self._changed:
            self._raw += got
            while len(self._raw) >= 8:
                _, kind, id, length, padding = struct.unpack_from(">BBHHB", self._raw)
                if len(self._raw) < 8 + length + padding:
                    break
                content = bytes(self._raw[8 : 8 + length])
                del self._raw[: 8 + length + padding]
                if kind == END_REQUEST and id == REQUEST_ID and length == 8:
                    self._end = struct.unpack(">IB3x", content)
                elif kind in (STDOUT, STDERR) and id == REQUEST_ID:
                    (self._out if kind == STDOUT else self._err).extend(content)
            self._changed.notify_all()

    def _end_with(self, error: str | None) -> None:
        with self._changed:
            if self.ended is None:
                self.ended, self._error = time.monotonic(), error
            self._changed.notify_all()

    def _wait(self, happened: Any, within_s: float) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: happened() or self.done, within_s)
            return bool(happened())

    def _answer(self) -> Answer:
        stderr = self._err.decode("utf-8", "replace")
        if self._error is not None:
            return Answer(0, body=bytes(self._out), error=self._error, stderr=stderr)
        if self._end and self._end[1]:
            return Answer(0, error=f"refused: END_REQUEST says {PROTOCOL_STATUS.get(self._end[1], self._end[1])}", stderr=stderr)
        return cgi_answer(bytes(self._out), stderr)
