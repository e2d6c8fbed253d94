"""What requests of one worker, and two workers of one pool, could do to each other by way of the process."""

from __future__ import annotations

import select
from pathlib import Path

from fcgi_peer import Peer, fetch
from servers import serve


def test_new_files_are_compiled_while_others_wait():
    """OPcache's write lock is the process's: kept while requests wait, it would stop the other worker of the pool."""
    with serve("fiber", {"pm.max_children": "2"}) as run:
        sleepers = [Peer(run) for _ in range(10)]
        for peer in sleepers:
            peer.ask("/sleep.php?ms=5000&n=x")
        for number in range(12):
            Path(run.root, f"new{number}.php").write_text(f"<?php echo 'new {number}';")
            assert fetch(run, f"/new{number}.php").body == f"new {number}".encode()
        assert select.select([peer.sock for peer in sleepers], [], [], 0)[0] == [], "the new files had to wait for the sleepers"
        for peer in sleepers:
            peer.sock.close()
    assert run.exit.problems == []


def test_a_forked_child_ends_with_its_script():
    with serve("fiber") as run:
        (worker,) = run.workers()
        for _ in range(3):
            assert fetch(run, "/fork.php").body == b"parent waited 0"
        assert run.workers() == [worker]
        assert run.processes() == [pid for pid in run.processes() if pid in (run.pid, worker)]
    assert run.exit.problems == []


def test_a_folder_that_is_gone_is_nobody_elses():
    with serve("fiber") as run:
        with Peer(run) as peer:
            peer.ask("/gone.php?way=leaves")
            assert fetch(run, "/gone.php?way=elsewhere").body == b"elsewhere"
            assert peer.answer().body in (b"false", b"/"), "not the folder of the other request"
    assert run.exit.problems == []


def test_what_a_request_brings_along_leaves_no_memory_behind():
    """Its slot is thrown away, with all that belongs to it."""
    with serve("fiber") as run:
        (worker,) = run.workers()

        def grow_kb(requests: int) -> int:
            before = anonymous_kb(worker)
            for _ in range(requests):
                assert fetch(run, "/settings.php?of=precision", extra={"PHP_VALUE": "precision=5"}).status == 200
            return anonymous_kb(worker) - before

        grow_kb(50)  # warm
        assert grow_kb(500) < 500, "a kilobyte a request and more"
    assert run.exit.problems == []


def anonymous_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))
