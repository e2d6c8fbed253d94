"""`ordeal ctl`: arm, disarm, count, wake, while the target runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from launcher_rig import Started, run, status, wait_for_file

# On each line of standard input it locks a file, and says what came of it.
LOCKER = """
import fcntl, sys
file = open(sys.argv[1], "w")
for line in sys.stdin:
    try:
        fcntl.flock(file, fcntl.LOCK_SH)
        print("locked", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
"""


class Locker(Started):
    def __init__(self, folder: Path, *options: str) -> None:
        self.control = folder / "control"
        super().__init__(["run", "-q", "--ctl", self.control, *options, "--", sys.executable, "-c", LOCKER, folder / "lock"])
        wait_for_file(self.control)

    def lock(self) -> str:
        self.say("lock")
        return self.line()

    def ctl(self, *arguments: str) -> None:
        done = run("ctl", self.control, *arguments)
        assert done.returncode == 0, done.stderr


def test_rules_are_armed_and_disarmed_while_the_target_runs(tmp_path: Path) -> None:
    with Locker(tmp_path, "--disarmed", "-f", "flock:errno=EINVAL", "-f", "flock:errno=ENOLCK") as locker:
        assert locker.lock() == "locked"
        locker.ctl("arm", "2")
        assert locker.lock() == "No locks available"
        locker.ctl("arm")
        assert locker.lock() == "Invalid argument"
        locker.ctl("disarm", "1")
        assert locker.lock() == "No locks available"
        locker.ctl("disarm")
        assert locker.lock() == "locked"
        rules = status(locker.control)["rules"]
        assert [(rule["id"], rule["armed"], rule["active"]) for rule in rules] == [(1, False, True), (2, False, True)]
        assert [rule["fired"] for rule in rules] == [1, 3]  # both fire where both are armed; the first decides


def test_the_status_tells_everything(tmp_path: Path) -> None:
    with Locker(tmp_path, "--trace", str(tmp_path / "t"), "--seed", "42", "-f", "flock:nth=1:mark=first", "-f", "flock:after=first:nth=1:wake=w:errno=EINVAL") as locker:
        locker.lock()
        told = status(locker.control)
        assert told["version"] == 1 and told["seed"] == 42
        assert told["rules"][0] == {"id": 1, "text": "flock:nth=1:mark=first", "armed": True, "active": True, "matched": 1,
                                    "fired": 1, "pause_timeouts": 0}  # fmt: skip
        assert told["marks"] == [{"name": "first", "hits": 1}]
        assert [(point["name"], point["tokens"], point["waiting"]) for point in told["rendezvous"]] == [("w", 1, 0)]
        assert told["calls"]["flock"] == 1
        process = told["processes"][0]
        assert process["ordinal"] == 1 and process["name"].startswith("python3") and process["pid"] > 0
        table = run("ctl", locker.control, "status").stdout
        for word in ("seed 42", "flock:nth=1:mark=first", "mark first", "rendezvous w", "calls flock"):
            assert word in table


def test_a_mark_lets_a_rule_begin(tmp_path: Path) -> None:
    with Locker(tmp_path, "-f", "flock:after=go:errno=EINVAL") as locker:
        assert locker.lock() == "locked"
        locker.ctl("mark", "go")
        assert locker.lock() == "Invalid argument"
        assert status(locker.control)["marks"] == [{"name": "go", "hits": 1}]


def test_a_pause_is_waited_for_and_woken(tmp_path: Path) -> None:
    with Locker(tmp_path, "-f", "flock:pause=here/30s:errno=EINVAL") as locker:
        locker.say("lock")
        locker.ctl("wait-paused", "here", "--timeout", "30s")
        assert status(locker.control)["rendezvous"][0]["waiting"] == 1
        locker.ctl("wake", "here")
        assert locker.line() == "Invalid argument"
        assert status(locker.control)["rendezvous"][0] == {"name": "here", "waiting": 0, "tokens": 0, "arrivals": 1}


def test_waiting_comes_before_the_pause(tmp_path: Path) -> None:
    with Locker(tmp_path, "-f", "flock:pause=here/30s") as locker:
        with Started(["ctl", locker.control, "wait-paused", "here", "--timeout=30s"]) as waiter:
            locker.say("lock")
            assert waiter.wait() == 0
        locker.ctl("wake", "here")
        assert locker.line() == "locked"


def test_nobody_comes(tmp_path: Path) -> None:
    with Locker(tmp_path, "-f", "flock:pause=here") as locker:
        done = run("ctl", locker.control, "wait-paused", "here", "--timeout", "1ms")
        assert done.returncode == 1 and "nobody has paused at here" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a control file and a verb"),
        (["statsu"], "did you mean status?"),
        (["status", "more"], "takes no argument"),
        (["arm", "3"], "there is no rule '3'; this run has the rules 1 to 2"),
        (["arm", "0"], "there is no rule '0'"),
        (["disarm", "x"], "there is no rule 'x'"),
        (["mark", "warn"], "no rule of this run has a mark called 'warn'; did you mean warm?"),
        (["wake", "zzz"], "no rule of this run has a rendezvous called 'zzz'"),
        (["wait-paused", "hree"], "did you mean here?"),
        (["wake"], "wants one name"),
        (["wait-paused", "here", "--timeout", "5"], "--timeout wants a time with its unit"),
    ],
)
def test_bad_usage(tmp_path: Path, arguments: list[str], words: str) -> None:
    control = tmp_path / "c"
    assert run("run", "-q", "--ctl", control, "-f", "read:nth=9999:pause=here", "-f", "read:after=warm:die", "--", "true").returncode == 0
    done = run("ctl", control, *arguments)
    assert done.returncode == 2 and words in done.stderr


def test_what_is_no_control_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run("ctl", other, "status").returncode == 125
    for content in (b"", b"x" * 100, b"\0" * 8_000_000):
        other.write_bytes(content)
        done = run("ctl", other, "status")
        assert done.returncode == 125 and "is not a control file" in done.stderr


def test_a_control_file_of_another_version_is_refused(tmp_path: Path) -> None:
    control = tmp_path / "c"
    run("run", "-q", "--ctl", control, "--", "true")
    data = bytearray(control.read_bytes())
    data[data.index(b"OCONTROL") + 8] = 99
    control.write_bytes(data)
    done = run("ctl", control, "status")
    assert done.returncode == 125 and "is of version 99" in done.stderr
