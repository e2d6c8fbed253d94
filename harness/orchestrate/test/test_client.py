"""The one-request client against servers that misbehave in every way it must name."""

from __future__ import annotations

import http.server
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.orchestrate.client import (
    END_REQUEST, STDERR, STDOUT, Answer, Endpoint, _Exchange, ask, cgi_answer, marker_of, pairs, params_of, record, stream,
)  # fmt: skip

HEAD = b"Content-Type: text/plain\r\nX-Ordeal-Marker: m1\r\n\r\n"
END = record(END_REQUEST, struct.pack(">IB3x", 0, 0))


@contextmanager
def server(talk: Callable[[socket.socket], None]) -> Iterator[Endpoint]:
    """Serves one connection with `talk`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                talk(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Endpoint("fastcgi", port=listener.getsockname()[1])
        thread.join()


def read_request(connection: socket.socket) -> bytes:
    """Reads until the empty record that ends STDIN."""
    got = b""
    while not got.endswith(record(5, b"")):
        part = connection.recv(1 << 20)
        if not part:
            return got
        got += part
    return got


def answers(raw: bytes) -> Callable[[socket.socket], None]:
    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(raw)

    return talk


def ask_for(raw: bytes, **options) -> Answer:
    with server(answers(raw)) as endpoint:
        return ask(endpoint, "/a.php", root="/www", **options)


def test_a_whole_answer():
    answer = ask_for(stream(STDOUT, HEAD + b"hello") + END)
    assert (answer.status, answer.body, answer.error) == (200, b"hello", None)
    assert answer.headers["X-ORDEAL-Marker"] == "m1" and "content-type" in answer.headers


def test_a_status_line_and_the_error_stream():
    answer = ask_for(record(STDERR, b"oops") + record(STDOUT, b"Status: 404 Not Found\r\n\r\nno") + END)
    assert (answer.status, answer.body, answer.stderr) == (404, b"no", "oops")
    assert answer.why == "status 404: no"


def test_padding_is_skipped():
    padded = struct.pack(">BBHHBx", 1, STDOUT, 1, len(HEAD), 5) + HEAD + b"junk!"
    assert ask_for(padded + record(STDOUT, b"x") + END).body == b"x"


@pytest.mark.parametrize(
    "raw, expected",
    [
        (b"", "connection closed before END_REQUEST (0 bytes"),
        (record(STDOUT, HEAD + b"part"), "connection closed before END_REQUEST"),
        (END[:-3], "connection closed before END_REQUEST"),
        (record(END_REQUEST, struct.pack(">IB3x", 0, 2)), "refused: END_REQUEST says OVERLOADED"),
        (b"\x07" + END[1:], "malformed record: version 7"),
        (record(9, b"x") + END, "malformed record: type 9"),
        (record(STDOUT, b"no end of headers") + END, "malformed answer: no end of headers in 17 bytes"),
        (record(STDOUT, b"no colon\r\n\r\n") + END, "has no colon"),
        (record(STDOUT, b"Status: what\r\n\r\n") + END, "malformed answer: status 'what'"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "malformed record: version 72"),
    ],
)
def test_what_went_wrong_is_said(raw, expected):
    answer = ask_for(raw)
    assert answer.status == 0 and expected in answer.error, answer


def test_nobody_answers():
    with server(lambda connection: read_request(connection) and connection.recv(1)) as endpoint:
        answer = ask(endpoint, "/a.php", timeout_s=0.05)
    assert answer.error == "timeout after 0.05 s"


def test_nobody_listens(tmp_path):
    assert "no socket" in ask(Endpoint("fastcgi", path=str(tmp_path / "none")), "/").error
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert "connect refused" in ask(Endpoint("http", port=unused.getsockname()[1]), "/").error


def test_a_server_may_answer_and_close_before_it_has_read_the_body():
    def talk(connection: socket.socket) -> None:
        connection.recv(100)
        connection.sendall(stream(STDOUT, HEAD + b"too big") + END)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 20):
            pass

    with server(talk) as endpoint:
        answer = ask(endpoint, "/a.php", body=b"x" * (8 << 20))
    assert (answer.status, answer.body) == (200, b"too big")


def test_a_large_body_arrives_whole():
    seen = []

    def talk(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(record(STDOUT, HEAD) + END)

    body = bytes(range(256)) * 1000
    with server(talk) as endpoint:
        assert ask(endpoint, "/a.php", body=body).status == 200
    got, at, whole = seen[0], 0, b""
    while at < len(got):
        _, kind, _, length, padding = struct.unpack_from(">BBHHB", got, at)
        whole += got[at + 8 : at + 8 + length] if kind == 5 else b""
        at += 8 + length + padding
    assert whole == body


@given(st.binary(max_size=300), st.lists(st.integers(1, 50), min_size=1))
def test_it_does_not_matter_how_the_bytes_are_cut(body, sizes):
    raw = b"".join(record(STDOUT, (HEAD + body)[i : i + 7]) for i in range(0, len(HEAD + body), 7)) + END
    exchange = _Exchange(None, b"")  # type: ignore[arg-type]
    at = turn = 0
    while at < len(raw):
        size = sizes[turn % len(sizes)]
        exchange.raw += raw[at : at + size]
        exchange._decode()
        at, turn = at + size, turn + 1
    assert exchange._answer().body == body


@given(st.dictionaries(st.text(max_size=200), st.text(max_size=200), max_size=5))
def test_pairs_can_be_read_back(params):
    raw, at, found = pairs(params), 0, {}

    def size() -> int:
        nonlocal at
        if raw[at] < 128:
            at += 1
            return raw[at - 1]
        at += 4
        return struct.unpack_from(">I", raw, at - 4)[0] & 0x7FFFFFFF

    while at < len(raw):
        k, v = size(), size()
        found[raw[at : at + k].decode()] = raw[at + k : at + k + v].decode()
        at += k + v
    assert found == params


def test_params_are_what_a_web_server_sends():
    params = params_of("POST", "/dir/a.php/info?x=1", "/www/", 3, {"X-A": "1", "Content-Type": "text/plain"})
    assert params["SCRIPT_FILENAME"] == "/www/dir/a.php" and params["PATH_INFO"] == "/info"
    assert (params["QUERY_STRING"], params["REQUEST_URI"]) == ("x=1", "/dir/a.php/info?x=1")
    assert (params["HTTP_X_A"], params["CONTENT_TYPE"], params["CONTENT_LENGTH"]) == ("1", "text/plain", "3")


@given(st.binary())
def test_no_bytes_break_the_parser(out):
    answer = cgi_answer(out)
    assert answer.error is not None or answer.status > 0 or out.lower().startswith(b"status:")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.send_header("Content-Length", "100" if self.path == "/short" else str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def http_endpoint():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as it:
        thread = threading.Thread(target=it.serve_forever)
        thread.start()
        yield Endpoint.parse(f"http://127.0.0.1:{it.server_address[1]}")
        it.shutdown()
        thread.join()


def test_http(http_endpoint):
    answer = ask(http_endpoint, "/x", body=b"echo")
    assert (answer.status, answer.body, answer.headers["set-cookie"]) == (201, b"echo", "a=1, b=2")


def test_http_cut_short(http_endpoint):
    assert ask(http_endpoint, "/short", body=b"echo").error == "connection closed after 4 bytes of the body"


def test_http_that_is_no_http():
    with server(lambda c: c.recv(9999) and c.sendall(b"\x01\x06junk\r\n\r\n")) as endpoint:
        assert "malformed answer" in ask(Endpoint("http", port=endpoint.port), "/").error


@pytest.mark.parametrize("text", ["unix:/a/b", "fcgi://127.0.0.1:9000", "http://localhost:80", "http+unix:/a"])
def test_endpoints_are_read_and_written(text):
    assert str(Endpoint.parse(text)) == text


@pytest.mark.parametrize("text", ["", "/a/b", "https://x:1", "http://x", "fcgi://:9000", "http://x:http"])
def test_a_wrong_endpoint_is_refused(text):
    with pytest.raises(ValueError, match="is none of unix:"):
        Endpoint.parse(text)


def test_the_marker_of_an_answer():
    assert marker_of(cgi_answer(HEAD)) == "m1"
    assert marker_of(cgi_answer(b"A: b\r\n\r\ntext\nmarker=m2\n")) == "m2"
    assert marker_of(cgi_answer(b"A: b\r\n\r\ntext\n")) is None
