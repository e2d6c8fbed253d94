"""Connections: kept, slow, half done, aborted, lost, hostile. Whatever one client does, the others are answered, by the same
worker, and nothing of it is left."""

from __future__ import annotations

import fcntl
import hashlib
import random
import socket
import struct
import termios

import pytest
from fcgi_peer import (
    ABORT_REQUEST, GET_VALUES, GET_VALUES_RESULT, PARAMS, STDIN, STDOUT, UNKNOWN_TYPE, Peer, fetch, pairs, record, stream,
)  # fmt: skip
from servers import Gate, assert_well_ended, serve, status, until, wait_idle

BOUND = 4
LARGE = "/large.php?bytes=8388608&piece=16384"
LARGE_BODY = b"0123456789abcdef" * (512 << 10)
CANT_MPX, UNKNOWN_ROLE = 1, 3


@pytest.fixture(scope="module")
def server():
    with serve("fiber", {"fiber.max_in_flight": str(BOUND)}) as run:
        yield run
    assert_well_ended(run)


@pytest.fixture
def run(server):
    """The server, of which each test has to leave nothing, and the same worker."""
    before = server.workers()
    yield server
    wait_idle(server)
    assert server.workers() == before


def asked(run, **how) -> bytes:
    return fetch(run, "/sleep.php?ms=0&n=x", **how).body


OK = b"slept enough x"


def body_digest(body: bytes) -> bytes:
    return f"{len(body)} {hashlib.md5(body).hexdigest()}".encode()


# ---- kept ----


def test_a_kept_connection_serves_one_request_after_the_other(run):
    with Peer(run) as peer:
        for n in range(50):
            peer.ask(f"/sleep.php?ms=0&n={n}", keep=True)
            reply = peer.answer()
            assert (reply.body, reply.app, reply.protocol) == (f"slept enough {n}".encode(), 0, 0)


def test_without_keep_the_connection_is_closed_after_the_answer(run):
    with Peer(run) as peer:
        peer.ask("/sleep.php?ms=0&n=x")
        assert peer.answer().body == OK
        assert peer.is_closed()


def test_a_kept_connection_on_which_the_body_was_not_read_goes_on_behind_it(run):
    with Peer(run) as peer:
        for _ in range(3):
            peer.ask("/unread.php", method="PUT", body=LARGE_BODY[: 2 << 20], keep=True)
            assert peer.answer().body == b"the body stays where it is"


# ---- what is about the connection ----


def test_management_records_are_answered(run):
    asked_for = pairs({"FCGI_MPXS_CONNS": "", "FCGI_MAX_REQS": "", "FCGI_NO_SUCH": ""})
    with Peer(run) as peer:
        peer.send(record(GET_VALUES, asked_for, 0) + record(99, b"what?", 0))
        kind, rid, content = peer.next_record()
        assert (kind, rid) == (GET_VALUES_RESULT, 0)
        assert b"FCGI_MPXS_CONNS0" in content and b"FCGI_MAX_REQS" + str(BOUND).encode() in content
        kind, rid, content = peer.next_record()
        assert (kind, rid, content[0]) == (UNKNOWN_TYPE, 0, 99)
        peer.ask("/sleep.php?ms=0&n=x")
        assert peer.answer().body == OK


def test_another_role_is_refused_and_the_connection_kept(run):
    with Peer(run) as peer:
        peer.send(peer.begin(keep=True, role=3))
        assert peer.answer().protocol == UNKNOWN_ROLE
        peer.ask("/sleep.php?ms=0&n=x")
        assert peer.answer().body == OK


def test_a_second_request_inside_of_the_first_is_refused(run):
    gate = Gate(run, "mpx")
    with Peer(run) as peer:
        peer.ask(gate.url)
        gate.wait_begun()
        peer.send(peer.begin(keep=True, rid=2))
        assert peer.answer().protocol == CANT_MPX
        gate.open()
        assert peer.answer().body == b"through mpx"


# ---- slow ----


def parts(peer: Peer) -> dict[str, tuple[bytes, bytes]]:
    """Where a client may stop: what it has sent until then, and the rest."""
    begin = peer.begin(keep=True)
    params = stream(PARAMS, pairs(peer.params("/input.php", "POST", 100_000)))
    whole = begin + params + stream(STDIN, b"x" * 100_000)
    places = {
        "nothing sent": 0,
        "4 bytes": 4,
        "only the beginning": len(begin),
        "half of the parameters": len(begin) + len(params) // 2,
        "parameters without their end": len(begin) + len(params) - 8,
        "no body": len(begin) + len(params),
        "half of a body": len(whole) - 50_000,
        "a body without its end": len(whole) - 8,
    }
    return {name: (whole[:at], whole[at:]) for name, at in places.items()}


def test_who_sends_slowly_holds_up_nobody_and_is_answered_in_the_end(run):
    with Peer(run) as model:
        names = list(parts(model))
    peers = [Peer(run) for _ in names]
    try:
        for name, peer in zip(names, peers, strict=True):
            peer.send(parts(peer)[name][0])
            assert asked(run) == OK, name
        assert status(run)["worker in flight"] == 0, "a request that is not whole yet holds an image"
        for name, peer in zip(names, peers, strict=True):
            peer.send(parts(peer)[name][1])
            assert peer.answer().body.startswith(b"100000 "), name
            peer.send(peer.begin()[:3])
            assert asked(run) == OK, f"{name}, then a kept connection and 3 bytes"
    finally:
        for peer in peers:
            peer.sock.close()


def test_a_request_may_come_byte_by_byte(run):
    with Peer(run) as peer:
        params = stream(PARAMS, pairs(peer.params("/input.php", "POST", 10)))
        for byte in peer.begin() + params + stream(STDIN, b"0123456789"):
            peer.send(bytes([byte]))
        assert peer.answer().body.startswith(body_digest(b"0123456789"))


def test_who_does_not_read_holds_up_nobody_and_gets_all_of_it_in_the_end(run):
    peers = [Peer(run) for _ in range(BOUND - 1)]
    try:
        for peer in peers:
            peer.ask(LARGE, keep=True)
        rows = lambda: [row for row in status(run)["processes"] if row["waits for"] == "its client to read"]  # noqa: E731
        until("all of them wait for their clients", lambda: len(rows()) == len(peers))
        assert asked(run) == OK
        for peer in peers:
            body = peer.answer().body
            assert len(body) == 8 << 20 and body == LARGE_BODY
    finally:
        for peer in peers:
            peer.sock.close()


def test_who_has_shut_its_side_still_gets_the_answer(run):
    gate = Gate(run, "shut", "&mb=8")
    with Peer(run) as early, Peer(run) as late:
        early.ask(LARGE)
        early.sock.shutdown(socket.SHUT_WR)
        late.ask(gate.url)
        gate.wait_begun()
        late.sock.shutdown(socket.SHUT_WR)
        gate.open()
        assert early.answer().body == LARGE_BODY
        assert late.answer().body == LARGE_BODY + b"through shut"


def test_who_shuts_its_side_while_the_rest_of_the_answer_is_on_its_way_gets_it_too(run):
    """The request has ended; what the socket did not take yet is still with the worker."""
    with Peer(run) as peer:
        peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.ask("/large.php?bytes=400000&piece=16000", keep=True)
        until("its request has ended", lambda: not status(run)["worker in flight"])
        peer.sock.shutdown(socket.SHUT_WR)
        assert asked(run) == OK
        assert len(peer.answer().body) == 400000


# ---- large bodies ----


def small_records(body: bytes, size: int) -> bytes:
    return b"".join(record(STDIN, body[at : at + size]) for at in range(0, len(body), size)) + record(STDIN)


@pytest.mark.parametrize("size", [512, 4096, 16384, 65528 // 2, 65535])
def test_a_body_is_taken_as_fast_as_its_script_reads_it(run, size: int):
    gate = Gate(run, f"body{size}", "&body=1")
    with Peer(run) as peer:
        peer.send(peer.begin() + stream(PARAMS, pairs(peer.params(gate.url, "PUT", len(LARGE_BODY)))))
        peer.sock.settimeout(0.2)
        body, sent = small_records(LARGE_BODY, size), 0
        try:
            while sent < len(body):
                sent += peer.sock.send(body[sent : sent + 65536])
        except TimeoutError:
            pass
        assert sent < 2 << 20, "what the script has not read is left with the client"
        gate.wait_begun()
        gate.open()
        peer.sock.settimeout(30)
        peer.send(body[sent:])
        assert peer.answer().body == body_digest(LARGE_BODY) + f" through {gate.name}".encode()


def test_a_large_body_of_a_request_in_line_waits_too(run):
    gates = [Gate(run, f"full{n}") for n in range(BOUND)]
    peers = [Peer(run) for _ in range(BOUND + 1)]
    late, size = peers[-1], 4096
    try:
        late.send(late.begin(keep=True))  # accepted now: later there is no room for more connections
        for gate, peer in zip(gates, peers, strict=False):
            peer.ask(gate.url)
            gate.wait_begun()
        body = small_records(LARGE_BODY, size)
        late.send(stream(PARAMS, pairs(late.params("/input.php", "PUT", len(LARGE_BODY)))))
        late.sock.settimeout(0.2)
        sent = 0
        try:
            while sent < len(body):
                sent += late.sock.send(body[sent : sent + 65536])
        except TimeoutError:
            pass
        for gate in gates:
            gate.open()
        late.sock.settimeout(30)
        late.send(body[sent:])
        assert late.answer().body.startswith(body_digest(LARGE_BODY))
        assert [peer.answer().body for peer in peers[:-1]] == [f"through full{n}".encode() for n in range(BOUND)]
    finally:
        for peer in peers:
            peer.sock.close()


# ---- given up, lost ----


def test_a_request_may_be_aborted_before_it_is_whole(run):
    with Peer(run) as peer:
        params = stream(PARAMS, pairs(peer.params("/input.php", "POST", 10)))
        for cut in (0, 20, len(params)):
            peer.send(peer.begin(keep=True) + (params[:cut] if cut in (0, len(params)) else b"") + record(ABORT_REQUEST))
            reply = peer.answer()
            assert (reply.out, reply.app, reply.protocol) == (b"", 0, 0)
        peer.ask("/sleep.php?ms=0&n=x")
        assert peer.answer().body == OK


def test_a_request_may_be_aborted_while_it_waits(run):
    gate = Gate(run, "aborted", "&mb=1")
    with Peer(run) as peer:
        peer.ask(gate.url, keep=True)
        gate.wait_begun()
        peer.send(record(ABORT_REQUEST))
        gate.open()
        reply = peer.answer()
        assert (reply.out, reply.app, reply.protocol) == (b"", 0, 0)
        peer.ask("/sleep.php?ms=0&n=x")
        assert peer.answer().body == OK


def test_a_request_in_line_may_be_aborted(run):
    gates = [Gate(run, f"line{n}") for n in range(BOUND)]
    peers = [Peer(run) for _ in range(BOUND + 1)]
    late = peers[-1]
    try:
        late.send(late.begin(keep=True))
        for gate, peer in zip(gates, peers, strict=False):
            peer.ask(gate.url)
            gate.wait_begun()
        late.send(stream(PARAMS, pairs(late.params("/sleep.php?ms=0&n=x"))) + record(STDIN) + record(ABORT_REQUEST))
        for gate in gates:
            gate.open()
        reply = late.answer()
        assert (reply.app, reply.protocol) == (0, 0)
        assert [peer.answer().body for peer in peers[:-1]] == [f"through line{n}".encode() for n in range(BOUND)]
    finally:
        for peer in peers:
            peer.sock.close()


@pytest.mark.parametrize("where", ["waiting", "writing", "reading", "in line"])
def test_of_a_client_that_goes_nothing_is_left(run, where: str):
    """`run` sees to it: nothing in flight, no connection."""
    gates = [Gate(run, f"gone-{where[:3]}{n}", "&mb=2") for n in range(BOUND)]
    if where == "waiting":
        with Peer(run) as peer:
            peer.ask(gates[0].url)
            gates[0].wait_begun()
    elif where == "writing":
        with Peer(run) as peer:
            peer.ask(LARGE)
            assert peer.next_record()[0] == STDOUT
    elif where == "reading":
        with Peer(run) as peer:
            params = pairs(peer.params("/input.php", "PUT", 1 << 20))
            peer.send(peer.begin() + stream(PARAMS, params) + small_records(LARGE_BODY[: 512 << 10], 8192)[:-8])
            until("its request runs", lambda: status(run)["worker in flight"])
    else:
        peers = [Peer(run) for _ in range(BOUND + 1)]
        peers[-1].send(peers[-1].begin())
        for gate, peer in zip(gates, peers, strict=False):
            peer.ask(gate.url)
            gate.wait_begun()
        peers[-1].send(stream(PARAMS, pairs(peers[-1].params("/sleep.php"))) + record(STDIN))
        for peer in peers:
            peer.sock.close()
    for gate in gates:
        gate.open()


def test_clients_that_ask_for_the_status_and_go(run):
    for _ in range(100):
        with Peer(run) as peer:
            peer.ask("/fpm-status?full", keep=True)
            peer.ask("/fpm-ping", keep=True)
    assert asked(run) == OK


def unread_by_server(peer: Peer) -> int:
    return struct.unpack("i", fcntl.ioctl(peer.sock, termios.TIOCOUTQ, b"\0" * 4))[0]


@pytest.mark.parametrize("page", ["/fpm-ping", "/fpm-status?json"])
def test_who_asks_again_and_again_and_reads_nothing_is_made_to_wait(run, page: str):
    """The answers are bounded; when they are read, there is one for each question."""
    with Peer(run) as peer:
        params = stream(PARAMS, pairs(peer.params(page)))
        sent, patience = 0, 200
        while sent < 6000 and patience:
            peer.send(peer.begin(keep=True) + params + record(STDIN))
            sent += 1
            patience = 200
            while unread_by_server(peer) and patience:
                patience -= 1
                asked(run)
        for _ in range(sent):
            assert peer.answer().app == 0
        assert sent < 6000


# ---- hostile ----

HOSTILE = {
    "zeros": bytes(5000),
    "HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 20,
    "another version": b"\x02\x01\0\1\0\x08\0\0" + bytes(8),
    "a short BEGIN": b"\x01\x01\0\1\0\x04\0\0" + bytes(4),
    "an answer's record": b"\x01\x06\0\1\0\x04\0\0" + bytes(4),
    "a name of 2 GB": record(1, b"\0\1\0\0\0\0\0\0") + record(PARAMS, b"\xff\xff\xff\xff\x01a"),
    "parameters that end inside of one": record(1, b"\0\1\0\0\0\0\0\0") + record(PARAMS, b"\x05\x05ab") + record(PARAMS),
    "a body before its parameters": record(1, b"\0\1\0\0\0\0\0\0") + record(STDIN, b"body"),
    "5000 parameters": record(1, b"\0\1\0\0\0\0\0\0") + record(PARAMS, b"\x01\x01ab" * 5000),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_fastcgi_ends_its_connection_only(run, name: str):
    with Peer(run) as peer:
        peer.send(HOSTILE[name])
        peer.sock.shutdown(socket.SHUT_WR)
        peer.answer()
    assert asked(run) == OK


STRANGE = {
    "no parameters at all": {},
    "names with zeros": {"A\0B": "c", "SCRIPT_FILENAME": "/x\0y"},
    "an empty name": {"": "value"},
    "a name of 60 KB": {"N" * 60000: "x"},
    "a value of 900 KB": {"HTTP_X": "v" * 900_000},
    "a length that is none": {"CONTENT_LENGTH": "-5"},
    "a length beyond all": {"CONTENT_LENGTH": "99999999999999999999"},
    "a query of 100 KB": {"QUERY_STRING": "a[b]" * 25000},
    "percent signs": {"QUERY_STRING": "%", "SCRIPT_NAME": "%n%s%s%s", "REQUEST_METHOD": "%s%n"},
    "settings that are none": {"PHP_VALUE": "a=b\0\n[[[\n=\n;\n${x}\n\"", "PHP_ADMIN_VALUE": "=" * 5000},
    "a slash only": {"SCRIPT_FILENAME": "/", "DOCUMENT_ROOT": "/", "PATH_INFO": "/"},
    "only slashes": {"SCRIPT_FILENAME": "////////", "PATH_INFO": "//", "SCRIPT_NAME": ""},
    "a long way up": {"SCRIPT_FILENAME": "/.." * 2000},
    "a proxy without a path": {"SCRIPT_FILENAME": "proxy:fcgi://", "PATH_INFO": ""},
    "an Authorization of 64 KB": {"HTTP_AUTHORIZATION": "Basic " + "QQ==" * 16000},
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
def test_strange_parameters_are_answered(run, name: str):
    with Peer(run) as peer:
        params = {**peer.params("/server.php"), **STRANGE[name]} if STRANGE[name] else {}
        peer.send(peer.begin() + stream(PARAMS, pairs(params)) + record(STDIN))
        assert peer.answer().app is not None
    assert asked(run) == OK


def test_noise(run):
    """Valid requests with bytes changed, and pieces of them in another order."""
    rng = random.Random(20261201)
    with Peer(run) as model:
        whole = model.begin(keep=True) + stream(PARAMS, pairs(model.params("/input.php", "POST", 300))) + stream(STDIN, b"y" * 300)
    for _ in range(300):
        noise = bytearray(whole * rng.randint(1, 3))
        for _ in range(rng.randint(0, 6)):
            noise[rng.randrange(len(noise))] = rng.randrange(256)
        at = rng.randrange(len(noise))
        with Peer(run) as peer:
            try:
                peer.send(bytes(noise[at:] + noise[:at]) if rng.random() < 0.3 else bytes(noise))
            except (BrokenPipeError, ConnectionResetError):
                pass
    assert asked(run) == OK
