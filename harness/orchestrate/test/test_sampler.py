"""The sampler against a process tree whose every number is known, and against one that falls apart while it is read."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.orchestrate import Answer, Sampler, launch, load_target, proc
from harness.orchestrate.sampler import heap_kb, take
from harness.orchestrate.waiting import eventually

# A parent with 3 children; each child holds 5 pipes (10 descriptors), 2 extra threads and 8 MB that it has touched.
TREE = """
import os, signal, sys, threading
for _ in range(3):
    if os.fork() == 0:
        pipes = [os.pipe() for _ in range(5)]
        for _ in range(2):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        block = bytearray(os.urandom(1)) * (8 << 20)
        os.write(1, b".")
        signal.pause()
os.write(1, b".")
signal.pause()
"""


@pytest.fixture
def tree():
    root = subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE)
    try:
        assert root.stdout.read(4) == b"...."
        yield root
    finally:
        for pid in proc.tree(root.pid):
            os.kill(pid, 9)
        root.kill()
        root.communicate()


class Run:
    """Just enough of a run for a Sampler."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.target = SimpleNamespace(heap_request=None, heap_key=None)

    def processes(self) -> list[int]:
        return [self.pid, *proc.tree(self.pid)]


def test_a_known_tree(tree):
    pids = [tree.pid, *proc.tree(tree.pid)]
    assert len(pids) == 4
    base = proc.fds(tree.pid)
    sample = take(pids, in_flight=7)
    assert (sample.children, sample.in_flight) == (3, 7)
    assert sample.threads == 1 + 3 * 3
    assert sample.fds == base + 3 * (base + 10)
    assert sample.anon_kb >= 3 * 8192
    assert 3 * 8192 <= sample.pss_kb <= sample.rss_kb


def test_forked_processes_share_pages_so_pss_is_less_than_rss(tree):
    sample = take([tree.pid, *proc.tree(tree.pid)])
    assert sample.pss_kb < sample.rss_kb


def test_processes_that_are_gone_are_left_out(tree):
    pids = [tree.pid, *proc.tree(tree.pid)]
    os.kill(pids[1], 9)
    assert proc.wait_end(pids[1], 20)
    sample = take([*pids, 2**22 + 1])  # a zombie, and a pid that cannot exist
    assert sample.children == 2


def test_nothing_there_is_no_sample():
    assert take([2**22 + 1]) is None and take([]) is None


def test_it_goes_on_while_the_tree_falls_apart(tree):
    sampler = Sampler(Run(tree.pid), 0.002).start()
    for pid in proc.tree(tree.pid):
        before = len(sampler.samples)
        os.kill(pid, 9)
        eventually(lambda: len(sampler.samples) > before + 2, "more samples")
    assert sampler.samples[-1].children == 0 or proc.children(tree.pid)
    tree.kill()
    tree.wait()
    samples = sampler.stop()
    assert [s.t_ns for s in samples] == sorted({s.t_ns for s in samples})
    assert sampler.cost_us_mean > 0
    assert sampler.stop() is samples, "stopping twice is harmless"


def test_php_fpm_with_its_heap():
    with launch(load_target("php-fpm"), workers=3) as run:
        with Sampler(run, 0.05) as sampler:
            eventually(lambda: bool(sampler.samples and sampler.samples[-1].heap_kb), "a sample with a heap")
        last = sampler.samples[-1]
    assert last.children == 3 and last.threads == 4
    assert last.fds > 4 and last.pss_kb > 1000


def test_a_killed_worker_is_replaced_and_the_samples_say_so(rng):
    with launch(load_target("php-fpm"), workers=2) as run, Sampler(run, 0.01) as sampler:
        killed = run.kill_worker(rng)
        eventually(lambda: len(run.workers()) == 2 and killed not in run.workers(), "a replacement")
        before = len(sampler.samples)
        eventually(lambda: len(sampler.samples) > before + 1, "a sample begun after that")
        assert sampler.samples[-1].children == 2


@pytest.mark.parametrize(
    "body, expected",
    [
        (b'{"memory": {"used_bytes": 2048}}', 2),
        (b'{"memory": {"used_bytes": null}}', None),
        (b'{"memory": 3}', None),
        (b"[]", None),
        (b"not json", None),
        (b"", None),
    ],
)
def test_the_heap_in_an_answer(body, expected):
    assert heap_kb(Answer(200, body=body), "memory.used_bytes") == expected


def test_no_heap_in_a_failure():
    body = b'{"memory": {"used_bytes": 2048}}'
    assert heap_kb(Answer(503, body=body), "memory.used_bytes") is None
    assert heap_kb(Answer(0, error="timeout after 2 s"), "memory.used_bytes") is None
