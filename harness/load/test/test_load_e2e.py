"""ordeal-load against fake servers: every way in which a request can end lands in the right column."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from load_peers import DEADLINE_S, STDERR, STDOUT, Connection, Handler, Peer, end_request, record, tcp_peer, unix_peer
from load_runs import run_load, run_while

REQUESTS = 6
HEAD = b"Status: 200 OK\r\nContent-Type: text/plain\r\n"


def fcgi_run(folder: Path, handler: Handler, *arguments: str):
    with unix_peer(folder, handler) as peer:
        return run_load(folder, "--target", peer.url, "--root", "/srv", "--get", "/a.php", "--clients", "2",
                        "--requests", str(REQUESTS), *arguments)  # fmt: skip


def http_run(folder: Path, handler: Handler, *arguments: str):
    with unix_peer(folder, handler, "http+unix:") as peer:
        return run_load(folder, "--target", peer.url, "--get", "/a.php", "--clients", "2",
                        "--requests", str(REQUESTS), *arguments)  # fmt: skip


# ---- FastCGI: one handler a kind of end ----


def good(peer: Peer, connection: Connection) -> None:
    while True:
        request = connection.read_fcgi()
        connection.answer_fcgi(request.marker, b"you asked for " + request.values["REQUEST_URI"].encode())


def byte_by_byte(peer: Peer, connection: Connection) -> None:
    request = connection.read_fcgi()
    answer = record(STDOUT, HEAD + f"X-Ordeal-Marker: {request.marker}\r\n\r\nslow".encode()) + end_request()
    for index in range(len(answer)):
        connection.send(answer[index : index + 1])


def close_at_once(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()


def close_in_headers(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD))


def close_in_body(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD + b"\r\nhalf of it"))


def close_in_end_request(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD + b"\r\nall of it"), end_request()[:12])


def foreign_marker(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.answer_fcgi("somebody-else")


def foreign_marker_then_close(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD + b"X-Ordeal-Marker: somebody-else\r\n\r\nhalf"))


def no_marker(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD + b"\r\nhello"), end_request())


def short_content(peer: Peer, connection: Connection) -> None:
    connection.answer_fcgi(connection.read_fcgi().marker, b"four", extra="Content-Length: 10\r\n")


def garbage_record(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(14, b"what?"))


def wrong_request_id(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD + b"\r\n", request_id=7))


def wrong_version(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(record(STDOUT, HEAD + b"\r\n", version=2))


def two_answers(peer: Peer, connection: Connection) -> None:
    request = connection.read_fcgi()
    answer = record(STDOUT, HEAD + f"X-Ordeal-Marker: {request.marker}\r\n\r\n".encode()) + end_request()
    connection.send(answer + answer)


def no_answer(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    peer.release.wait(DEADLINE_S)


def status_503(peer: Peer, connection: Connection) -> None:
    connection.answer_fcgi(connection.read_fcgi().marker, b"<html><b>too\nbusy</b> now", "503 Service Unavailable")


def status_500_with_stderr(peer: Peer, connection: Connection) -> None:
    request = connection.read_fcgi()
    head = f"Status: 500 Oops\r\nX-Ordeal-Marker: {request.marker}\r\n\r\n"
    connection.send(record(STDERR, b"PHP Fatal error: no"), record(STDOUT, head.encode()), end_request())


def overloaded(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(end_request(2))


def cannot_multiplex(peer: Peer, connection: Connection) -> None:
    connection.read_fcgi()
    connection.send(end_request(1))


FCGI_ENDS: list[tuple[Handler, str, str]] = [
    (good, "answered", ""),
    (byte_by_byte, "answered", ""),
    (close_at_once, "lost", "connection closed before END_REQUEST: no byte of the answer came"),
    (close_in_headers, "lost", "connection closed before END_REQUEST: in its headers"),
    (close_in_body, "lost", "connection closed before END_REQUEST: in its body"),
    (close_in_end_request, "lost", "connection closed before END_REQUEST: in its body"),
    (foreign_marker, "isolation", "a marker that this run never sent in the answer's header"),
    (foreign_marker_then_close, "isolation", "a marker that this run never sent in the answer's header"),
    (no_marker, "lost", "answer without a marker: expected the header X-Ordeal-Marker"),
    (short_content, "lost", "END_REQUEST after 4 bytes of body, expected the 10 of Content-Length"),
    (garbage_record, "lost", "malformed at byte 1: record type 14, expected STDOUT (6), STDERR (7) or END_REQUEST (3)"),
    (wrong_request_id, "lost", "malformed at byte 2: record of request id 7, expected 1"),
    (wrong_version, "lost", "malformed at byte 0: record version 2, expected 1"),
    (two_answers, "lost", "more bytes after END_REQUEST, expected none"),
    (no_answer, "lost", "timeout before END_REQUEST: no byte of the answer came"),
    (status_503, "refused", "status 503: too busy now"),
    (status_500_with_stderr, "refused", "status 500: empty body"),
    (overloaded, "refused", "FCGI_OVERLOADED"),
    (cannot_multiplex, "refused", "FCGI_CANT_MPX_CONN"),
]


@pytest.mark.parametrize(("handler", "column", "reason"), FCGI_ENDS, ids=[case[0].__name__ for case in FCGI_ENDS])
def test_fastcgi_ends(tmp_path: Path, handler: Handler, column: str, reason: str) -> None:
    run = fcgi_run(tmp_path, handler, "--timeout", "300ms" if handler is no_answer else "30s")
    assert run.columns == {column: REQUESTS}
    if column != "answered":
        (said,) = run.reasons(column)
        assert reason in said


def test_the_losses_say_what_the_target_wrote_to_stderr(tmp_path: Path) -> None:
    run = fcgi_run(tmp_path, status_500_with_stderr)
    assert {loss["detail"] for loss in run.losses} == {"stderr: PHP Fatal error: no"}
    assert run.summary["with_stderr"] == REQUESTS


def test_another_requests_marker_is_an_isolation_error(tmp_path: Path) -> None:
    def mixed_up(peer: Peer, connection: Connection) -> None:
        request = connection.read_fcgi()
        with peer.lock:
            peer.notes.append(request.marker)
            connection.answer_fcgi(peer.notes[0])  # everybody gets the first one's answer

    run = fcgi_run(tmp_path, mixed_up)
    assert run.columns == {"answered": 1, "isolation": REQUESTS - 1}
    assert list(run.reasons("isolation")) == ["another request's marker in the answer's header"]
    first = {loss["detail"] for loss in run.losses}
    assert len(first) == 1 and first.pop().startswith("the answer carried marker '")


def test_a_reset_is_lost(tmp_path: Path) -> None:
    def reset(peer: Peer, connection: Connection) -> None:
        connection.read_fcgi()
        connection.reset()

    with tcp_peer(reset, "fcgi://") as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--get", "/a", "--clients", "1", "--requests", "3")
    assert run.columns == {"lost": 3}
    assert list(run.reasons("lost")) == ["connection reset before END_REQUEST: no byte of the answer came"]


@pytest.mark.parametrize("tcp", [True, False], ids=["tcp", "unix"])
def test_a_target_that_goes_away_refuses(tmp_path: Path, tcp: bool) -> None:
    def last_one(peer: Peer, connection: Connection) -> None:
        request = connection.read_fcgi()
        peer.stop_listening()
        connection.answer_fcgi(request.marker)

    with tcp_peer(last_one, "fcgi://") if tcp else unix_peer(tmp_path, last_one) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--get", "/a", "--clients", "1", "--requests", "4")
    assert run.columns == {"answered": 1, "refused": 3}
    assert list(run.reasons("refused")) == ["connection refused"]


def test_a_full_listen_queue_is_a_refusal(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "full.sock"))
    with listener:
        listener.listen(0)  # room for one: nobody ever accepts
        run = run_load(tmp_path, "--target", f"unix:{tmp_path}/full.sock", "--root", "/srv", "--get", "/a",
                       "--rate", "1000", "--requests", "5", "--timeout", "200ms")  # fmt: skip
    assert run.columns == {"lost": 1, "refused": 4}
    assert list(run.reasons("refused")) == ["connection refused: the target's listen queue is full"]


# ---- keep-alive ----


def test_keep_alive_uses_its_connections_again(tmp_path: Path) -> None:
    run = fcgi_run(tmp_path, good, "--keep-alive")
    assert run.columns == {"answered": REQUESTS}
    assert run.summary["connections"]["opened"] == 2
    assert run.summary["connections"]["reused"] == REQUESTS - 2


def test_a_close_on_a_reused_connection_says_so(tmp_path: Path) -> None:
    def one_then_close(peer: Peer, connection: Connection) -> None:
        connection.answer_fcgi(connection.read_fcgi().marker)
        connection.read_fcgi()

    run = fcgi_run(tmp_path, one_then_close, "--keep-alive", "--clients", "1")
    assert run.columns == {"answered": REQUESTS // 2, "lost": REQUESTS // 2}
    assert list(run.reasons("lost")) == [
        "connection closed before END_REQUEST: no byte of the answer came, on a reused connection"
    ]


# ---- HTTP ----


def http_good(peer: Peer, connection: Connection) -> None:
    while True:
        connection.answer_http(connection.read_http().marker)


def http_chunked(peer: Peer, connection: Connection) -> None:
    while True:
        marker = connection.read_http().marker
        head = f"HTTP/1.1 200 OK\r\nX-Ordeal-Marker: {marker}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.send(head.encode(), b"5\r\nhello\r\n1;x\r\n!\r\n0\r\n\r\n")


def http_until_closed(peer: Peer, connection: Connection) -> None:
    marker = connection.read_http().marker
    connection.send(f"HTTP/1.1 200 OK\r\nX-Ordeal-Marker: {marker}\r\n\r\nall there is".encode())


def http_close_at_once(peer: Peer, connection: Connection) -> None:
    connection.read_http()


def http_short_content(peer: Peer, connection: Connection) -> None:
    connection.read_http()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour")


def http_garbage(peer: Peer, connection: Connection) -> None:
    connection.read_http()
    connection.send(b"SSH-2.0-OpenSSH_9.2\r\n")


def http_bad_chunk(peer: Peer, connection: Connection) -> None:
    connection.read_http()
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")


def http_429(peer: Peer, connection: Connection) -> None:
    connection.answer_http(connection.read_http().marker, b"slow down", "429 Too Many Requests")


def http_foreign_marker(peer: Peer, connection: Connection) -> None:
    connection.read_http()
    connection.answer_http("somebody-else")


HTTP_ENDS: list[tuple[Handler, str, str]] = [
    (http_good, "answered", ""),
    (http_chunked, "answered", ""),
    (http_until_closed, "answered", ""),
    (http_close_at_once, "lost", "connection closed before the end of the answer: no byte of the answer came"),
    (http_short_content, "lost", "connection closed before the end of the answer: in its body"),
    (http_garbage, "lost", "malformed at byte 0: bad status line, expected 'HTTP/1.1 200 ...'"),
    (http_bad_chunk, "lost", "malformed at byte 47: bad chunk size, expected hexadecimal digits"),
    (http_429, "refused", "status 429: slow down"),
    (http_foreign_marker, "isolation", "a marker that this run never sent in the answer's header"),
]


@pytest.mark.parametrize("keep_alive", [False, True], ids=["close", "keep-alive"])
@pytest.mark.parametrize(("handler", "column", "reason"), HTTP_ENDS, ids=[case[0].__name__ for case in HTTP_ENDS])
def test_http_ends(tmp_path: Path, handler: Handler, column: str, reason: str, keep_alive: bool) -> None:
    if keep_alive and handler not in (http_good, http_chunked, http_until_closed, http_garbage, http_bad_chunk):
        handler = closing(handler)
    run = http_run(tmp_path, handler, *(["--keep-alive"] if keep_alive else []))
    assert run.columns == {column: REQUESTS}
    if column != "answered":
        assert any(reason in said for said in run.reasons(column))


def closing(handler: Handler) -> Handler:
    """The same answer, and a word that the connection ends with it."""

    def handle(peer: Peer, connection: Connection) -> None:
        plain = connection.send
        connection.send = lambda *parts: plain(b"".join(parts).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))  # type: ignore[method-assign]
        handler(peer, connection)

    return handle


def test_an_early_answer_to_an_upload_counts(tmp_path: Path) -> None:
    def too_large(peer: Peer, connection: Connection) -> None:
        connection._take(4096)  # some of the head and the body, then no more
        connection.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large")
        peer.release.wait(DEADLINE_S)

    mix = tmp_path / "m.mix"
    mix.write_text("1 POST /up body=64M\n")
    with unix_peer(tmp_path, too_large, "http+unix:") as peer:
        run = run_load(tmp_path, "--target", peer.url, "--mix", str(mix), "--clients", "1", "--requests", "1")
    assert run.columns == {"refused": 1}
    assert list(run.reasons("refused")) == ["status 413: too large"]
    assert run.summary["answered_early"] == 1


# ---- the mix ----


def test_everything_a_mix_can_say_arrives(tmp_path: Path) -> None:
    def check(peer: Peer, connection: Connection) -> None:
        request = connection.read_fcgi()
        values = request.values
        with peer.lock:
            peer.notes.append(json.dumps([values, len(request.body), request.body[:40].decode()]))
        connection.answer_fcgi(request.marker, f"some text\nmarker={request.marker}\n".encode())

    (tmp_path / "photo").write_bytes(b"x" * 70000)
    mix = tmp_path / "m.mix"
    mix.write_text(
        "1 GET /index.php/a/b?sid={sid:3}&n={n} marker=body name=front\n"
        '1 POST /form.php body=text:a={random:5}&m={marker} "header:Cookie=a=1; b={n}"\n'
        "1 PUT /file.php body=@photo header:Content-Type=image/png\n"
        "1 POST /big.php body=1M\n"
    )
    with unix_peer(tmp_path, check) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv/", "--mix", str(mix), "--clients", "2", "--requests", "40")
        seen = [json.loads(note) for note in peer.notes]
    assert run.columns == {"answered": 40}
    assert [line["name"] for line in run.summary["by_target"]] == ["front", None, None, None]
    by_script = {values["SCRIPT_NAME"]: (values, size, start) for values, size, start in seen}
    values, _, _ = by_script["/index.php"]
    assert values["SCRIPT_FILENAME"] == "/srv/index.php" and values["PATH_INFO"] == "/a/b"
    sids = {values["QUERY_STRING"].split("&")[0] for values, _, _ in seen if values["SCRIPT_NAME"] == "/index.php"}
    assert 1 <= len(sids) <= 3
    values, size, start = by_script["/form.php"]
    assert start.startswith("a=") and start.endswith(values["HTTP_X_ORDEAL_MARKER"]) and values["CONTENT_LENGTH"] == str(size)
    assert values["CONTENT_TYPE"] == "application/x-www-form-urlencoded" and values["HTTP_COOKIE"].startswith("a=1; b=")
    values, size, _ = by_script["/file.php"]
    assert (size, values["CONTENT_TYPE"], values["REQUEST_METHOD"]) == (70000, "image/png", "PUT")
    assert by_script["/big.php"][1] == 1 << 20


def test_the_same_seed_sends_the_same_requests(tmp_path: Path) -> None:
    def note(peer: Peer, connection: Connection) -> None:
        request = connection.read_fcgi()
        peer.notes.append(f"{request.marker} {request.values['REQUEST_URI']}")
        connection.answer_fcgi(request.marker)

    mix = tmp_path / "m.mix"
    mix.write_text("2 GET /a?r={random:1000}\n1 GET /b?s={sid:9}\n")
    sent = []
    for seed in ("7", "7", "8"):
        with unix_peer(tmp_path, note) as peer:
            run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--mix", str(mix), "--clients", "1",
                     "--requests", "30", "--seed", seed)  # fmt: skip
            sent.append(list(peer.notes))
    assert sent[0] == sent[1]
    assert not set(sent[0]) & set(sent[2])


@pytest.mark.parametrize(
    ("answer", "column", "reason"),
    [
        ("text\nmarker={marker}\n", "answered", ""),
        ("marker={marker}", "answered", ""),
        ("marker={marker}\nmore", "lost", "expected 'marker=...' as the body's last line"),
        ("marker=other\n", "isolation", "a marker that this run never sent in the answer's body"),
    ],
)
def test_a_marker_in_the_body(tmp_path: Path, answer: str, column: str, reason: str) -> None:
    def handle(peer: Peer, connection: Connection) -> None:
        body = answer.replace("{marker}", connection.read_fcgi().marker)
        connection.send(record(STDOUT, HEAD + b"\r\n" + body.encode()), end_request())

    mix = tmp_path / "m.mix"
    mix.write_text("1 GET /a marker=body\n")
    with unix_peer(tmp_path, handle) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--mix", str(mix), "--clients", "1", "--requests", "3")
    assert run.columns == {column: 3}
    assert column == "answered" or any(reason in said for said in run.reasons(column))


# ---- the open loop ----


def test_the_open_loop_sends_rate_times_duration(tmp_path: Path) -> None:
    with unix_peer(tmp_path, good) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--get", "/a", "--rate", "200/s",
                       "--duration", "500ms", "--timeout", "30s")  # fmt: skip
    assert run.columns["answered"] + run.summary["schedule"]["unsent"] == 100
    assert run.summary["mode"] == "open" and run.summary["rate"] == 200


def wait_for_live(path: Path, holds: Callable[[dict], bool]) -> None:
    """Waits until a line of the live file satisfies a condition."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        lines = path.read_text().splitlines() if path.exists() else []
        if any(holds(json.loads(line)) for line in lines if line.endswith("}")):
            return
        time.sleep(0.01)
    raise AssertionError(f"no such line in {path}")


def test_a_stalled_target_cannot_hide_in_the_open_loop(tmp_path: Path) -> None:
    """20 requests are due within 0.2 s; the target answers none before a live line of 1 s says that 19 wait."""

    def stalled(peer: Peer, connection: Connection) -> None:
        while True:
            request = connection.read_fcgi()
            wait_for_live(tmp_path / "live", lambda line: line["waiting"] == 19)
            connection.answer_fcgi(request.marker)

    with unix_peer(tmp_path, stalled) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--get", "/a", "--rate", "100", "--requests", "20",
                       "--connections", "1", "--keep-alive", "--timeout", "30s")  # fmt: skip
    assert run.columns == {"answered": 20}
    assert run.summary["latency_us"]["min"] >= 800_000  # counted from when they were due, not from when they were sent
    assert run.summary["schedule"]["behind_us_max"] >= 800_000
    assert not run.summary["schedule"]["kept"]
    assert "SCHEDULE NOT KEPT" in run.text


def test_requests_that_could_not_be_sent_are_said(tmp_path: Path) -> None:
    with unix_peer(tmp_path, no_answer) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--get", "/a", "--rate", "100", "--duration", "200ms",
                       "--connections", "2", "--timeout", "1s")  # fmt: skip
    assert run.columns == {"lost": 2}
    assert run.summary["schedule"]["unsent"] == 18
    assert "18 requests that were due were never sent" in run.text


# ---- signals ----


def test_an_interrupt_waits_for_the_requests_in_flight(tmp_path: Path) -> None:
    def hold(peer: Peer, connection: Connection) -> None:
        request = connection.read_fcgi()
        peer.seen.set()
        peer.release.wait(DEADLINE_S)
        connection.answer_fcgi(request.marker)

    with unix_peer(tmp_path, hold) as peer:

        def interrupt(process: subprocess.Popen[str]) -> None:
            assert peer.seen.wait(DEADLINE_S)
            process.send_signal(signal.SIGINT)
            peer.release.set()

        run = run_while(tmp_path, interrupt, "--target", peer.url, "--root", "/srv", "--get", "/a", "--clients", "3",
                        "--duration", "1h", "--timeout", "30s")  # fmt: skip
    assert run.status == 0
    assert run.summary["interrupted"] and run.summary["requests"]["in_flight"] == 0
    assert set(run.columns) == {"answered"}


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    def hold(peer: Peer, connection: Connection) -> None:
        connection.read_fcgi()
        with peer.lock:
            peer.notes.append("seen")
            if len(peer.notes) == 3:
                peer.seen.set()
        peer.release.wait(DEADLINE_S)

    with unix_peer(tmp_path, hold) as peer:

        def interrupt(process: subprocess.Popen[str]) -> None:
            assert peer.seen.wait(DEADLINE_S)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)

        run = run_while(tmp_path, interrupt, "--target", peer.url, "--root", "/srv", "--get", "/a", "--clients", "3",
                        "--duration", "1h", "--timeout", "1h")  # fmt: skip
    assert run.status == 130
    assert run.summary["requests"]["in_flight"] == 3 and run.columns == {}


# ---- slow clients ----


def slow_run(folder: Path, handler: Handler, mode: str, *arguments: str):
    with unix_peer(folder, handler, "http+unix:") as peer:
        return run_load(folder, "--target", peer.url, "--get", "/a", "--slow", mode, "--clients", "2", "--requests", "2",
                        *arguments)  # fmt: skip


def test_slow_head_answered(tmp_path: Path) -> None:
    assert slow_run(tmp_path, http_good, "header-bytes", "--slow-pace", "1us").columns == {"answered": 2}


def test_slow_head_the_target_hangs_up(tmp_path: Path) -> None:
    def impatient(peer: Peer, connection: Connection) -> None:
        connection._take(5)

    run = slow_run(tmp_path, impatient, "header-bytes", "--slow-pace", "1ms")
    assert run.columns == {"lost": 2}
    assert all("(request not read in full)" in reason for reason in run.reasons("lost"))


def test_slow_head_the_target_says_408(tmp_path: Path) -> None:
    def polite(peer: Peer, connection: Connection) -> None:
        connection._take(5)
        connection.send(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        peer.release.wait(DEADLINE_S)

    run = slow_run(tmp_path, polite, "header-bytes", "--slow-pace", "1ms")
    assert list(run.reasons("refused")) == ["status 408: empty body"]


def test_stalled_body_is_bounded_by_the_timeout(tmp_path: Path) -> None:
    run = slow_run(tmp_path, http_good, "stalled-body", "--timeout", "300ms")
    assert run.columns == {"lost": 2}
    assert all("the target waited for the rest of the body" in reason for reason in run.reasons("lost"))


def test_no_read_is_bounded_by_the_timeout(tmp_path: Path) -> None:
    def large(peer: Peer, connection: Connection) -> None:
        connection.answer_http(connection.read_http().marker, b"x" * (64 << 20))

    run = slow_run(tmp_path, large, "no-read", "--timeout", "300ms")
    assert run.columns == {"lost": 2}
    assert all("the target held its unread answer" in reason for reason in run.reasons("lost"))
    assert run.summary["bytes"]["received"] < 64 << 20


def test_no_read_a_small_answer_is_whole(tmp_path: Path) -> None:
    def small(peer: Peer, connection: Connection) -> None:
        connection.answer_http(connection.read_http().marker)

    assert slow_run(tmp_path, small, "no-read", "--timeout", "30s").columns == {"answered": 2}


# ---- large bodies ----


def test_eight_megabytes_both_ways(tmp_path: Path) -> None:
    size = 8 << 20

    def echo(peer: Peer, connection: Connection) -> None:
        request = connection.read_fcgi()
        assert len(request.body) == size
        head = HEAD + f"X-Ordeal-Marker: {request.marker}\r\nContent-Length: {size}\r\n\r\n".encode()
        connection.send(record(STDOUT, head))
        for at in range(0, size, 65000):
            connection.send(record(STDOUT, request.body[at : at + 65000], padding=at % 256))
        connection.send(end_request())

    mix = tmp_path / "m.mix"
    mix.write_text("1 POST /up body=8M\n")
    with unix_peer(tmp_path, echo) as peer:
        run = run_load(tmp_path, "--target", peer.url, "--root", "/srv", "--mix", str(mix), "--clients", "2", "--requests", "4")
    assert run.columns == {"answered": 4}
    assert run.summary["bytes"]["sent"] > 4 * size and run.summary["bytes"]["received"] > 4 * size
