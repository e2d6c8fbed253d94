"""Replay is exact: the same faults, at the same calls of the same threads, in a program of three processes with three
threads each whose order is another one in every run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.orchestrate import paths
from launcher_rig import json_lines, run

REPLAYS = 100
RULES = ("write:p=0.2:short=3", "flock:p=0.2:errno=EINTR", "pread:p=0.1:errno=EIO", "flock:p=0.05:delay=1ms")


def _probe() -> str:
    probe = paths.ROOT / "build/test/fault-inject/replay_probe"
    assert probe.exists(), f"{probe} is missing: make test-binaries"
    return str(probe)


def _faults(trace: Path) -> Counter[tuple[str, str, int, str | None, str]]:
    """What was done where: thread, call, index, errno, action. Pids, times and descriptors differ and do not count."""
    shown = run("trace", "--json", "--faults", trace)
    assert shown.returncode == 0, shown.stderr
    return Counter(
        (line["key"], line["call"], line["index"], line["errno"], line["injected"].split(" ")[0])
        for line in json_lines(shown.stdout)
    )


def _record(seed: int, trace: Path) -> None:
    rules = [word for rule in RULES for word in ("-f", rule)]
    done = run("run", "-q", "--seed", str(seed), "--trace", trace, *rules, "--", _probe())
    assert done.returncode == 0, done.stderr


@pytest.mark.seeded
def test_a_hundred_replays_inject_the_same(tmp_path: Path, seed: int) -> None:
    trace = tmp_path / "first.bin"
    _record(seed, trace)
    wanted = _faults(trace)
    assert wanted.total() > 50, "too few faults to tell anything"
    for turn in range(REPLAYS):
        again = tmp_path / "again.bin"
        done = run("replay", "-q", trace, "--trace", again, "--", _probe())
        assert done.returncode == 0, f"replay {turn} of {REPLAYS}: {done.stderr}"
        assert _faults(again) == wanted, f"replay {turn} of {REPLAYS} injected something else"


@pytest.mark.seeded
def test_one_seed_draws_the_same_whatever_the_order(tmp_path: Path, seed: int) -> None:
    traces = [tmp_path / f"{turn}.bin" for turn in range(10)]
    for trace in traces:
        _record(seed, trace)
    assert all(_faults(trace) == _faults(traces[0]) for trace in traces[1:])
    other = tmp_path / "other.bin"
    _record(seed + 1, other)
    assert _faults(other) != _faults(traces[0])
