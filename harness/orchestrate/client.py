"""One request, one answer: a small FastCGI and HTTP client for readiness and single probes.

Load is the business of `ordeal-load`; this client is for asking a question and reading the whole answer.

    >>> ask(Endpoint.parse("unix:/tmp/x/sock"), "/hello.php?x=1", root="/tmp/x/www")
    Answer(status=200, headers={'content-type': 'text/plain'}, body=b'hello ...', error=None)

Nothing is raised for what a server does wrong: `error` says what happened, in the words that the load generator uses too
("connect refused", "connection closed before END_REQUEST", "timeout after 10 s", "malformed ..."), and `status` is 0 when there was none.
"""

from __future__ import annotations

import http.client
import os
import select
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Mapping

BEGIN_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT, STDERR = 1, 3, 4, 5, 6, 7
RESPONDER = 1
REQUEST_ID = 1
RECORD_BYTES_MAX = 65535
PROTOCOL_STATUS = {0: "REQUEST_COMPLETE", 1: "CANT_MPX_CONN", 2: "OVERLOADED", 3: "UNKNOWN_ROLE"}
MARKER = "X-Ordeal-Marker"


class Headers(dict):
    """Header names in lower case; looked up in any case. A repeated header is joined with ', '."""

    def add(self, name: str, value: str) -> None:
        name = name.lower()
        self[name] = f"{self[name]}, {value}" if name in self else value

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: str, default: str | None = None) -> str | None:
        return super().get(name.lower(), default)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str] = field(default_factory=Headers)
    body: bytes = b""
    error: str | None = None
    stderr: str = ""  # what a FastCGI application wrote to its error stream

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def why(self) -> str:
        """One line for a message: the error, or the status with the first line of the body."""
        first = self.text.strip().splitlines()[:1]
        return self.error or f"status {self.status}" + (f": {first[0][:200]}" if first else "")


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, in the notation of `ordeal-load --target`."""

    protocol: str  # "fastcgi" or "http"
    path: str | None = None  # a unix socket ...
    host: str = "127.0.0.1"  # ... or a TCP address
    port: int = 0

    FORMS = "unix:/path, fcgi://host:port, http://host:port or http+unix:/path"

    @classmethod
    def parse(cls, text: str) -> "Endpoint":
        if text.startswith("unix:"):
            return cls("fastcgi", path=text.removeprefix("unix:"))
        if text.startswith("http+unix:"):
            return cls("http", path=text.removeprefix("http+unix:"))
        scheme, _, rest = text.partition("://")
        host, _, port = rest.rstrip("/").rpartition(":")
        protocol = {"fcgi": "fastcgi", "http": "http"}.get(scheme)
        if protocol is None or not host or not port.isdigit():
            raise ValueError(f"endpoint {text!r} is none of {cls.FORMS}")
        return cls(protocol, host=host.strip("[]"), port=int(port))

    def __str__(self) -> str:
        if self.path is not None:
            return f"{'unix' if self.protocol == 'fastcgi' else 'http+unix'}:{self.path}"
        return f"{'fcgi' if self.protocol == 'fastcgi' else 'http'}://{self.host}:{self.port}"

    def connect(self, timeout_s: float) -> socket.socket:
        if self.path is None:
            return socket.create_connection((self.host, self.port), timeout_s)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(timeout_s)
        try:
            sock.connect(self.path)
        except BaseException:
            sock.close()
            raise
        return sock


def ask(
    endpoint: Endpoint,
    target: str,
    *,
    root: str = "",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    method: str | None = None,
    timeout_s: float = 10.0,
) -> Answer:
    """Sends one request on a new connection and reads the answer to its end, or to the time limit."""
    method = method or ("POST" if body else "GET")
    headers = dict(headers or {})
    speak = _fastcgi if endpoint.protocol == "fastcgi" else _http
    try:
        return speak(endpoint, method, target, root, body, headers, timeout_s)
    except (TimeoutError, socket.timeout):
        return Answer(0, error=f"timeout after {timeout_s:g} s")
    except ConnectionRefusedError:
        return Answer(0, error=f"connect refused: nothing listens on {endpoint}")
    except FileNotFoundError:
        return Answer(0, error=f"connect refused: no socket {endpoint.path}")
    except OSError as e:
        return Answer(0, error=f"{e.__class__.__name__}: {e.strerror or e}")


# ---- FastCGI ----------------------------------------------------------------------------------------------------


def record(kind: int, content: bytes) -> bytes:
    """One record: version 1, kind, request id, content length, padding length, reserved, content."""
    return struct.pack(">BBHHBx", 1, kind, REQUEST_ID, len(content), 0) + content


def stream(kind: int, content: bytes) -> bytes:
    """A stream is cut into records and ended by an empty one."""
    cuts = range(0, len(content), RECORD_BYTES_MAX)
    return b"".join(record(kind, content[at : at + RECORD_BYTES_MAX]) for at in cuts) + record(kind, b"")


def pairs(params: Mapping[str, str]) -> bytes:
    """Name-value pairs: a length below 128 takes one byte, a longer one four with the top bit set."""

    def size(n: int) -> bytes:
        return bytes([n]) if n < 128 else struct.pack(">I", n | 0x80000000)

    out = []
    for name, value in params.items():
        k, v = name.encode(), value.encode()
        out += [size(len(k)), size(len(v)), k, v]
    return b"".join(out)


def params_of(method: str, target: str, root: str, length: int, headers: Mapping[str, str]) -> dict[str, str]:
    """What a web server in front would send."""
    path, _, query = target.partition("?")
    script, extension, info = path.partition(".php")
    script += extension
    params = {
        "GATEWAY_INTERFACE": "CGI/1.1",
        "SERVER_SOFTWARE": "ordeal",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "REQUEST_METHOD": method,
        "REQUEST_URI": target,
        "SCRIPT_NAME": script,
        "SCRIPT_FILENAME": root.rstrip("/") + script,
        "DOCUMENT_ROOT": root,
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(length) if length or method == "POST" else "",
    }
    if info:
        params["PATH_INFO"] = info
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        params[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return params


def _fastcgi(
    endpoint: Endpoint, method: str, target: str, root: str, body: bytes, headers: dict[str, str], timeout_s: float
) -> Answer:
    params = params_of(method, target, root, len(body), headers)
    begin = record(BEGIN_REQUEST, struct.pack(">HB5x", RESPONDER, 0))
    message = begin + stream(PARAMS, pairs(params)) + stream(STDIN, body)
    deadline = time.monotonic() + timeout_s
    with endpoint.connect(timeout_s) as sock:
        sock.setblocking(False)
        return _Exchange(sock, message).run(deadline)


class _Exchange:
    """Sends and receives at the same time: a server may answer before it has read the whole body."""

    def __init__(self, sock: socket.socket, message: bytes) -> None:
        self.sock, self.unsent = sock, memoryview(message)
        self.raw, self.out, self.err = bytearray(), bytearray(), bytearray()
        self.ended: tuple[int, int] | None = None  # (application status, protocol status)
        self.bad: str | None = None

    def run(self, deadline: float) -> Answer:
        poll = select.poll()
        while self.ended is None and self.bad is None:
            poll.register(self.sock, select.POLLIN | (select.POLLOUT if self.unsent else 0))
            left_ms = (deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not (ready := poll.poll(left_ms)):
                raise TimeoutError
            if ready[0][1] & (select.POLLIN | select.POLLHUP | select.POLLERR) and not self._receive():
                break
            if self.unsent and ready[0][1] & select.POLLOUT:
                self._send()
        return self._answer()

    def _send(self) -> None:
        try:
            self.unsent = self.unsent[self.sock.send(self.unsent[: 1 << 18]) :]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            self.unsent = memoryview(b"")  # what was answered before the close is still to be read

    def _receive(self) -> bool:
        try:
            got = self.sock.recv(1 << 18)
        except BlockingIOError:
            return True
        except ConnectionResetError:
            self.bad = f"connection reset before END_REQUEST ({len(self.out)} bytes of answer)"
            return False
        if not got:
            self.bad = f"connection closed before END_REQUEST ({len(self.out)} bytes of answer)"
            return False
        self.raw += got
        self._decode()
        return True

    def _decode(self) -> None:
        at = 0
        while len(self.raw) - at >= 8 and self.ended is None and self.bad is None:
            version, kind, rid, length, padding = struct.unpack_from(">BBHHB", self.raw, at)
            if version != 1 or rid != REQUEST_ID:
                self.bad = f"malformed record: version {version}, type {kind}, request {rid} (want version 1, request 1)"
            if len(self.raw) - at < 8 + length + padding:
                break
            self._record(kind, bytes(self.raw[at + 8 : at + 8 + length]))
            at += 8 + length + padding
        del self.raw[:at]

    def _record(self, kind: int, content: bytes) -> None:
        if kind == STDOUT:
            self.out += content
        elif kind == STDERR:
            self.err += content
        elif kind == END_REQUEST and len(content) == 8:
            self.ended = struct.unpack(">IB3x", content)
        else:
            self.bad = self.bad or f"malformed record: type {kind} with {len(content)} bytes"

    def _answer(self) -> Answer:
        stderr = self.err.decode("utf-8", "replace")
        if self.bad is not None:
            return Answer(0, body=bytes(self.out), error=self.bad, stderr=stderr)
        if self.ended and self.ended[1] != 0:
            name = PROTOCOL_STATUS.get(self.ended[1], str(self.ended[1]))
            return Answer(0, error=f"refused: END_REQUEST says {name}", stderr=stderr)
        return cgi_answer(bytes(self.out), stderr)


def cgi_answer(out: bytes, stderr: str = "") -> Answer:
    """Parses `Status: 404 Not Found`, headers, an empty line, the body. Without a Status line it is 200."""
    head, found, body = out.partition(b"\r\n\r\n")
    if not found:
        head, found, body = out.partition(b"\n\n")
    if not found:
        return Answer(0, body=out, error=f"malformed answer: no end of headers in {len(out)} bytes", stderr=stderr)
    headers = Headers()
    for line in head.decode("latin-1").splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            return Answer(0, body=out, error=f"malformed answer: header line {line[:80]!r} has no colon", stderr=stderr)
        headers.add(name.strip(), value.strip())
    status = headers.pop("status", "200").split()[0]
    if not status.isdigit():
        return Answer(0, body=out, error=f"malformed answer: status {status[:20]!r}", stderr=stderr)
    return Answer(int(status), headers, body, stderr=stderr)


# ---- HTTP -------------------------------------------------------------------------------------------------------


def _http(
    endpoint: Endpoint, method: str, target: str, _root: str, body: bytes, headers: dict[str, str], timeout_s: float
) -> Answer:
    connection = http.client.HTTPConnection("localhost", timeout=timeout_s)
    connection.sock = endpoint.connect(timeout_s)
    try:
        connection.request(method, target, body=body or None, headers={**headers, "Connection": "close"})
        response = connection.getresponse()
        found = Headers()
        for name, value in response.getheaders():
            found.add(name, value)
        return Answer(response.status, found, response.read())
    except http.client.IncompleteRead as e:
        return Answer(0, body=e.partial, error=f"connection closed after {len(e.partial)} bytes of the body")
    except http.client.HTTPException as e:
        return Answer(0, error=f"malformed answer: {e.__class__.__name__}: {e}")
    finally:
        connection.close()


def marker_of(answer: Answer) -> str | None:
    """The marker an answer carries: its header, or the last line `marker=...` of its body."""
    if (found := answer.headers.get(MARKER)) is not None:
        return found
    last = answer.body[-200:].decode("utf-8", "replace").rstrip("\n").rpartition("\n")[2]
    return last.removeprefix("marker=") if last.startswith("marker=") else None


def new_marker() -> str:
    return os.urandom(8).hex()
