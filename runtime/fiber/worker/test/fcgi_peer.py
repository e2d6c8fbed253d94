"""A web server as the worker sees it: FastCGI by hand, so that a test can be slow, silent, half done, or gone.

    with Peer(run) as peer:
        peer.ask("/hello.php")           # BEGIN_REQUEST, PARAMS, STDIN
        print(peer.answer().out)         # raw: the head as CGI has it, then the body
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.orchestrate import Running
from harness.orchestrate.client import (
    BEGIN_REQUEST, END_REQUEST, PARAMS, STDERR, STDIN, STDOUT, pairs, params_of, stream,
)  # fmt: skip

ABORT_REQUEST, GET_VALUES, GET_VALUES_RESULT, UNKNOWN_TYPE = 2, 9, 10, 11
KEEP = 1
WITHIN_S = 30.0


def record(kind: int, content: bytes = b"", rid: int = 1) -> bytes:
    return struct.pack(">BBHHBx", 1, kind, rid, len(content), 0) + content


@dataclass
class Reply:
    """All that came for one request."""

    out: bytes = b""
    err: bytes = b""
    app: int | None = None  # END_REQUEST's two numbers; None: it never came
    protocol: int | None = None
    other: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def status(self) -> int:
        first = self.out.split(b"\r\n", 1)[0]
        return int(first[8:11]) if first.lower().startswith(b"status: ") else 200

    @property
    def body(self) -> bytes:
        return self.out.partition(b"\r\n\r\n")[2]


class Peer:
    def __init__(self, run: Running, timeout_s: float = WITHIN_S) -> None:
        path = run.endpoint.removeprefix("unix:")
        self.run = run
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(timeout_s)
        self.sock.connect(path)
        self.raw = b""

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    # ---- sending ----

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def begin(self, keep: bool = False, rid: int = 1, role: int = 1) -> bytes:
        return record(BEGIN_REQUEST, struct.pack(">HB5x", role, KEEP if keep else 0), rid)

    def params(
        self, target: str, method: str = "GET", length: int = 0, headers: Mapping[str, str] | None = None,
        extra: Mapping[str, str | None] | None = None,
    ) -> dict[str, str]:  # fmt: skip
        found: dict[str, str] = params_of(method, target, self.run.root, length, headers or {})
        for name, value in (extra or {}).items():
            if value is None:
                found.pop(name, None)
            else:
                found[name] = value.replace("{ROOT}", self.run.root)
        return found

    def ask(
        self, target: str, method: str | None = None, body: bytes = b"", keep: bool = False,
        headers: Mapping[str, str] | None = None, extra: Mapping[str, str | None] | None = None,
    ) -> None:  # fmt: skip
        method = method or ("POST" if body else "GET")
        params = self.params(target, method, len(body), headers, extra)
        self.send(self.begin(keep) + stream(PARAMS, pairs(params)) + stream(STDIN, body))

    # ---- receiving ----

    def _need(self, count: int) -> bool:
        while len(self.raw) < count:
            got = self.sock.recv(1 << 18)
            if not got:
                return False
            self.raw += got
        return True

    def next_record(self) -> tuple[int, int, bytes] | None:
        """Type, id and content of the next record; None at the end of the connection."""
        if not self._need(8):
            assert not self.raw, f"the connection ended inside of a record: {self.raw!r}"
            return None
        version, kind, rid, length, padding = struct.unpack(">BBHHBx", self.raw[:8])
        assert version == 1 and self._need(8 + length + padding), "malformed or cut record"
        content = self.raw[8 : 8 + length]
        self.raw = self.raw[8 + length + padding :]
        return kind, rid, content

    def answer(self) -> Reply:
        """Everything up to END_REQUEST, or to the end of the connection."""
        reply, out, err = Reply(), [], []
        while reply.app is None and (got := self.next_record()) is not None:
            kind, _, content = got
            if kind == STDOUT:
                out.append(content)
            elif kind == STDERR:
                err.append(content)
            elif kind == END_REQUEST:
                reply.app, reply.protocol = struct.unpack(">IB3x", content)
            else:
                reply.other.append((kind, content))
        reply.out, reply.err = b"".join(out), b"".join(err)
        return reply

    def is_closed(self) -> bool:
        return self.next_record() is None


def fetch(run: Running, target: str, **how: object) -> Reply:
    """One request on a connection of its own."""
    with Peer(run) as peer:
        peer.ask(target, **how)  # type: ignore[arg-type]
        reply = peer.answer()
        assert reply.app is not None, f"{target}: the connection was closed before END_REQUEST: {reply.out[:200]!r}"
        return reply
