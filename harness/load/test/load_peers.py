"""Small fake servers for the tests of ordeal-load: each handles its connections with a function of the test.

    def hang_up(peer, connection):
        connection.read_request()              # and then nothing: the connection is closed on return

    with fcgi_peer(tmp_path, hang_up) as peer:
        run_load("--target", peer.url, ...)
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

STDOUT, STDERR, END_REQUEST = 6, 7, 3
DEADLINE_S = 30.0  # nothing in these tests takes this long: it only keeps a failure from hanging


def record(kind: int, content: bytes, *, request_id: int = 1, padding: int = 0, version: int = 1) -> bytes:
    """One FastCGI record."""
    return struct.pack(">BBHHBB", version, kind, request_id, len(content), padding, 0) + content + b"\0" * padding


def end_request(protocol_status: int = 0) -> bytes:
    return record(END_REQUEST, struct.pack(">IB3x", 0, protocol_status))


@dataclass
class Request:
    """What the generator sent: FastCGI parameters or HTTP headers, and the body."""

    values: dict[str, str]
    body: bytes

    @property
    def marker(self) -> str:
        return self.values.get("HTTP_X_ORDEAL_MARKER") or self.values["x-ordeal-marker"]


class Connection:
    """One accepted connection of a fake server."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.pending = b""

    def send(self, *parts: bytes) -> None:
        self.sock.sendall(b"".join(parts))

    def reset(self) -> None:
        """Closes with a reset (TCP)."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _take(self, count: int) -> bytes:
        while len(self.pending) < count:
            piece = self.sock.recv(65536)
            if not piece:
                raise EOFError
            self.pending += piece
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def read_fcgi(self) -> Request:
        streams: dict[int, bytes] = {4: b"", 5: b""}
        while True:
            _, kind, _, length, padding, _ = struct.unpack(">BBHHBB", self._take(8))
            content = self._take(length + padding)[:length]
            if kind in streams:
                streams[kind] += content
            if kind == 5 and length == 0:
                return Request(dict(_pairs(streams[4])), streams[5])

    def read_http(self) -> Request:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self._take(1)
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:] if line)}
        return Request({"request": lines[0], **headers}, self._take(int(headers.get("content-length", "0"))))

    def answer_fcgi(self, marker: str, body: bytes = b"hello\n", status: str = "200 OK", extra: str = "") -> None:
        head = f"Status: {status}\r\nX-Ordeal-Marker: {marker}\r\nContent-Type: text/plain\r\n{extra}\r\n"
        self.send(record(STDOUT, head.encode() + body, padding=3), end_request())

    def answer_http(self, marker: str, body: bytes = b"hello\n", status: str = "200 OK", extra: str = "") -> None:
        head = f"HTTP/1.1 {status}\r\nX-Ordeal-Marker: {marker}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
        self.send(head.encode() + body)


def _pairs(data: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(data):
        lengths = []
        for _ in range(2):
            length, at = data[at], at + 1
            if length >= 128:
                length, at = struct.unpack(">I", data[at - 1 : at + 3])[0] & 0x7FFFFFFF, at + 3
            lengths.append(length)
        name, value = data[at : at + lengths[0]], data[at + lengths[0] : at + sum(lengths)]
        at += sum(lengths)
        yield name.decode(), value.decode()


@dataclass
class Peer:
    """A listening fake server; each connection runs in a thread of its own."""

    url: str
    listener: socket.socket
    handler: Callable[[Peer, Connection], None]
    seen: threading.Event = field(default_factory=threading.Event)  # for the handlers' use
    release: threading.Event = field(default_factory=threading.Event)
    notes: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self) -> None:
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(sock,), daemon=True).start()

    def _handle(self, sock: socket.socket) -> None:
        with contextlib.suppress(EOFError, OSError), sock:
            sock.settimeout(DEADLINE_S)
            self.handler(self, Connection(sock))

    def stop_listening(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


Handler = Callable[[Peer, Connection], None]


@contextlib.contextmanager
def _peer(listener: socket.socket, url: str, handler: Handler) -> Iterator[Peer]:
    listener.listen(128)
    peer = Peer(url, listener, handler)
    thread = threading.Thread(target=peer.serve, daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        peer.release.set()
        peer.stop_listening()
        thread.join(DEADLINE_S)


@contextlib.contextmanager
def unix_peer(folder: Path, handler: Handler, scheme: str = "unix:") -> Iterator[Peer]:
    """A fake server on a unix socket; scheme "unix:" (FastCGI) or "http+unix:"."""
    path = folder / "peer.sock"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    with _peer(listener, f"{scheme}{path}", handler) as peer:
        yield peer


@contextlib.contextmanager
def tcp_peer(handler: Handler, scheme: str) -> Iterator[Peer]:
    """A fake server on a free TCP port; scheme "fcgi://" or "http://"."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    with _peer(listener, f"{scheme}127.0.0.1:{listener.getsockname()[1]}", handler) as peer:
        yield peer
