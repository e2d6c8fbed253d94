"""The life of a worker and of its requests: the bound, drains, recycling, time limits, crashes, what outlives its client."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path

import pytest
from fcgi_peer import PARAMS, STDIN, Peer, fetch, pairs, record, stream
from servers import Gate, assert_well_ended, serve, status, until, wait_idle

from harness.orchestrate import Running

LARGE_BODY = b"0123456789abcdef" * (512 << 10)


def ask(run: Running, url: str, **how) -> Peer:
    peer = Peer(run)
    peer.ask(url, **how)
    return peer


def notes(run: Running, name: str) -> list[str]:
    try:
        return (run.data / name).read_text().splitlines()
    except FileNotFoundError:
        return []


def logged(run: Running, pattern: str) -> str:
    found = until(f"the log has {pattern}", lambda: re.search(pattern, run.log()))
    return found[0]


# ---- the bound ----


def test_twice_the_bound_at_once():
    """So many run as may; the others wait, and are answered."""
    bound = 4
    with serve("fiber", {"fiber.max_in_flight": str(bound)}) as run:
        gates = [Gate(run, str(n)) for n in range(2 * bound)]
        with Peer(run) as watch:
            watch.ask("/fpm-ping", keep=True)
            watch.answer()
            peers = [ask(run, gate.url) for gate in gates]
            until("as many run as may", lambda: sum(gate.begun.exists() for gate in gates) == bound)
            watch.ask("/fpm-status?json", keep=True)
            assert f'"worker in flight":{bound},'.encode() in watch.answer().body
            assert sum(gate.begun.exists() for gate in gates) == bound
            for gate in gates:
                gate.open()
            assert [peer.answer().body for peer in peers] == [f"through {n}".encode() for n in range(2 * bound)]
        assert wait_idle(run)["max active processes"] == bound
    assert_well_ended(run)


def test_requests_of_kept_connections_wait_in_line_in_their_order():
    bound = 2
    with serve("fiber", {"fiber.max_in_flight": str(bound)}) as run:
        peers = [Peer(run) for _ in range(8)]
        for peer in peers:
            peer.ask("/fpm-ping", keep=True)
            peer.answer()
        gates = [Gate(run, str(n)) for n in range(8)]
        for n, (gate, peer) in enumerate(zip(gates, peers, strict=True)):
            peer.ask(gate.url, keep=True)
            if n < bound:
                gate.wait_begun()
        for n, gate in enumerate(gates):
            gate.wait_begun()
            gate.open()
            assert peers[n].answer().body == f"through {n}".encode()
        for peer in peers:
            peer.sock.close()
        wait_idle(run)
    assert_well_ended(run)


# ---- the end of a worker ----


def gone(run: Running, pid: int) -> None:
    until(f"worker {pid} has gone", lambda: pid not in run.workers())


@pytest.mark.parametrize("how", ["worker", "reload"])
def test_a_drain_loses_nobody(how: str):
    """In flight, in line, half sent, half read: all of it is answered, by the worker that had it; new ones by the next."""
    with serve("fiber", {"fiber.max_in_flight": "3"}) as run:
        (old,) = run.workers()
        gates = [Gate(run, str(n), "&mb=8" if n == 0 else "") for n in range(5)]
        half, idle = Peer(run), Peer(run)
        idle.ask("/fpm-ping", keep=True)
        idle.answer()
        half.send(half.begin() + stream(PARAMS, pairs(half.params("/input.php", "POST", 10))))
        kept = [Peer(run) for _ in range(2)]
        for peer in kept:
            peer.ask("/fpm-ping", keep=True)
            peer.answer()
        peers = [ask(run, gate.url) for gate in gates[:3]]
        for gate in gates[:3]:
            gate.wait_begun()
        for peer, gate in zip(kept, gates[3:], strict=True):
            peer.ask(gate.url, keep=True)
        gates[0].open()
        until("the first writes", lambda: peers[0].sock.recv(1, socket.MSG_PEEK))
        os.kill(old, signal.SIGQUIT) if how == "worker" else run.signal("reload")
        assert idle.is_closed(), "a kept connection without a request is closed by the drain"
        half.send(stream(STDIN, b"0123456789"))
        for gate in gates[1:]:
            gate.open()
        assert peers[0].answer().body == LARGE_BODY + b"through 0"
        assert [peer.answer().body for peer in peers[1:] + kept] == [f"through {n}".encode() for n in range(1, 5)]
        assert half.answer().body.startswith(b"10 ")
        gone(run, old)
        assert fetch(run, "/sleep.php?ms=0&n=x").body == b"slept enough x"
        for peer in [*peers, *kept, half, idle]:
            peer.sock.close()
    assert_well_ended(run)


def test_a_worker_is_recycled_after_max_requests():
    with serve("fiber", {"pm.max_requests": "7"}) as run:
        pids = set()
        for n in range(60):
            reply = fetch(run, "/info.php")
            assert reply.status == 200
            pids.add(reply.body)
        assert 5 <= len(pids) <= 10
    assert_well_ended(run)


# ---- time limits ----

ENDED = ["begun", "shutdown", "waited", "destructor"]  # as by exit(): no catch, no finally


@pytest.fixture(scope="module")
def limited():
    with serve("fiber", {"request_terminate_timeout": "1s"}) as run:
        yield run


@pytest.mark.parametrize("way", ["computes", "sleeps", "reads", "writes"])
def test_a_request_ends_when_its_time_is_over(limited: Running, way: str):
    """With an error for its client if nothing was sent, and with all that exit() would still do; the others go on."""
    (worker,) = limited.workers()
    url = f"/endless.php?way={way}&n={way}"
    with Peer(limited) as peer:
        if way == "reads":
            peer.send(peer.begin() + stream(PARAMS, pairs(peer.params(url, "PUT", 400_000))))
            peer.send(stream(STDIN, b"x" * 300_000)[:-8])
        else:
            peer.ask(url)
        until("it runs", lambda: notes(limited, way))
        for _ in range(20):
            assert fetch(limited, "/sleep.php?ms=5&n=x").body == b"slept enough x"
        if way != "writes":
            reply = peer.answer()
            assert (reply.status, reply.body) == (504, b"")
            assert b"request_terminate_timeout" in reply.err
        until("it has ended", lambda: "destructor" in notes(limited, way))
        assert notes(limited, way) == ENDED
        if way == "writes":
            with pytest.raises(AssertionError, match="cut record"):  # so it does not look whole
                peer.answer()
    logged(limited, rf"""WARNING: \[pool www\] child {worker}, script '\S*/endless.php' \(request: "(GET|PUT) {re.escape(url)}"\) """
                    r"execution timed out \(\d\.\d+ sec\), terminating")  # fmt: skip
    assert limited.workers() == [worker]


def test_slow_requests_are_traced_as_php_fpm_does():
    """The entry is php-fpm's, but for addresses and that a method is told with its class."""
    entries, lines = [], []
    for name in ("php-fpm", "fiber"):
        with serve(name, {"request_slowlog_timeout": "1s", "slowlog": "{{WORKDIR}}/slow.log"}, in_place=True) as run:
            assert fetch(run, "/slow.php?s=3").status == 200
            log = (run.workdir / "slow.log").read_text()
            if name == "fiber":
                assert status(run)["slow requests"] == 1
            lines.append(logged(run, r"WARNING: \[pool www\] child \d+, script \S+ \(request: \S+ \S+ executing too slow"))
        entries.append(re.sub(r"\[0x[0-9a-f]{16}\]|\[[-\w]+ [\d:]+\]|pid \d+|Slow::", "X", log).replace(" Xwaits", " waits"))
    assert entries[1] == entries[0] and "X waits() " in entries[1]
    assert re.sub(r"child \d+", "", lines[1]) == re.sub(r"child \d+", "", lines[0])


def test_a_request_that_does_not_end_even_then_is_dropped_and_its_worker_replaced():
    with serve("fiber", {"request_terminate_timeout": "300ms"}) as run:
        (old,) = run.workers()
        with Peer(run) as peer:
            peer.ask("/endless.php?way=sleeps&never=1&n=never")
            reply = peer.answer()
            assert reply.app is None or reply.status >= 500
        logged(run, "its image was dropped")
        gone(run, old)
        assert fetch(run, "/sleep.php?ms=0&n=x").body == b"slept enough x"
        assert notes(run, "never") == ["begun", "shutdown", "waited"]


# ---- a crash ----


def test_an_overrun_of_the_stack_costs_one_request():
    with serve("fiber", {"fiber.stack_size": "1M"}) as run:
        (old,) = run.workers()
        gate = Gate(run, "beside", "&mb=1")
        with Peer(run) as beside, Peer(run) as deep:
            beside.ask(gate.url)
            gate.wait_begun()
            deep.ask("/deep.php?n=1000000")
            assert deep.answer().status == 500
            logged(run, "overran its C stack")
            gate.open()
            assert beside.answer().body.endswith(b"through beside")
            gone(run, old)
        with Peer(run) as half:
            half.ask("/deep.php?n=1000000&first=1")
            reply = half.answer()
            assert reply.body.startswith(b"partial ")
            assert reply.app is None, "an answer that was cut must not look whole"
        assert fetch(run, "/deep.php?n=100").body == b"100"


# ---- after the answer ----


@pytest.fixture(scope="module")
def both():
    with serve("php-fpm") as fpm, serve("fiber") as fiber:
        yield fpm, fiber
    assert_well_ended(fiber)


def left(run: Running, name: str) -> bytes:
    return fetch(run, f"/note.php?name={name}").body


@pytest.mark.parametrize("query", ["", "?kb=7", "?kb=9", "?kb=100", "?kb=100&ignore=1"])
def test_finish_request(both: tuple[Running, Running], query: str):
    """The answer is whole at once; the script goes on, until it has said too much to nobody."""
    replies, found = [], []
    for run in both:
        reply = fetch(run, f"/finish.php{query}")
        replies.append((reply.out, reply.err, reply.app))
        found.append(left(run, "finished"))
    assert replies[1] == replies[0] and found[1] == found[0]


@pytest.mark.parametrize("query", ["", "?ignore=1"])
def test_a_script_whose_client_is_gone(both: tuple[Running, Running], query: str):
    found = []
    for run in both:
        with Peer(run) as peer:
            peer.ask(f"/abort.php{query}")
            peer.next_record()
        found.append(left(run, "aborted"))
    assert found[1] == found[0]


def test_uploaded_files_are_removed(both: tuple[Running, Running]):
    body = b'--c\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\ndata\r\n--c--\r\n'
    fetch(both[1], "/upload.php", body=body, headers={"Content-Type": "multipart/form-data; boundary=c"})
    (name,) = json.loads((both[1].data / "uploaded").read_text())
    until("the file is removed", lambda: not Path(name).exists())


def test_a_stopped_worker_ends_at_once():
    with serve("fiber") as run:
        gate = Gate(run, "stopped")
        with Peer(run) as peer:
            peer.ask(gate.url)
            gate.wait_begun()
            (worker,) = run.workers()
            os.kill(worker, signal.SIGTERM)
            assert peer.answer().app is None
            gone(run, worker)
        assert fetch(run, "/sleep.php?ms=0&n=x").body == b"slept enough x"
