"""`ordeal trace` and `ordeal replay`: what happened is shown in order, and happens again."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import pytest
from launcher_rig import VICTIM, compile_c, json_lines, run

HEADER_BYTES = 8192  # the fault log starts behind them
FAULTS_LOST = 8 + 6 * 4 + 8 + 8 + 8 + 8 + 8 + 8  # offset in struct trace_header


@pytest.fixture(scope="session")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("victim"), "victim", VICTIM)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text"
    file.write_text("abcdefgh")
    return file


@pytest.fixture
def trace(tmp_path: Path, victim: Path, text: Path) -> Path:
    out = tmp_path / "t.bin"
    rules = ["-f", "read:nth=3:errno=EINTR", "-f", "read:nth=5:delay=1us:short=1", "-f", "open:mark=opened"]
    done = run("run", "-q", "--seed", "11", *rules, "--trace", out, "--trace-calls", "all", "--", victim, "retries", text)
    assert done.returncode == 0 and done.stdout == "abcdefgh\n"
    return out


def test_each_call_stands_once_and_in_order(trace: Path) -> None:
    lines = json_lines(run("trace", trace, "--json").stdout)
    assert [line["seq"] for line in lines] == sorted({line["seq"] for line in lines})
    assert all(first["t_ns"] <= second["t_ns"] for first, second in zip(lines, lines[1:]))
    reads = [line for line in lines if line["call"] == "read"]
    assert [line["index"] for line in reads] == list(range(1, 11))
    assert [(line["result"], line["errno"], line["rule"]) for line in reads[2:5]] == [(-1, "EINTR", 1), (1, None, 0), (1, None, 2)]
    assert reads[2]["injected"] == "errno=EINTR by rule 1" and reads[4]["injected"] == "short+delay by rule 2"
    assert {line["object"] for line in reads} == {"fd 3"} and {line["proc"] for line in reads} == {1}
    opened = next(line for line in lines if line["call"] == "open" and line["injected"])
    assert opened["object"].startswith("path #") and opened["result"] == 3


def test_faults_alone(trace: Path) -> None:
    lines = json_lines(run("trace", "--faults", "--json", trace).stdout)
    assert [(line["call"], line["injected"]) for line in lines] == [
        ("open", "mark by rule 3"),
        ("read", "errno=EINTR by rule 1"),
        ("read", "delay=1us by rule 2"),
        ("read", "short=1 by rule 2"),
    ]
    assert (lines[1]["result"], lines[1]["errno"]) == (-1, "EINTR")


def test_the_table_is_for_people(trace: Path, text: Path) -> None:
    table = run("trace", trace).stdout
    assert f"retries {text}" in table and "# seed 11, 4 faults" in table
    line = next(line for line in table.splitlines() if "errno=EINTR" in line)
    assert line.split()[1:] == ["1.1", "read(fd", "3)", "=", "-1", "EINTR", "<-", "errno=EINTR", "by", "rule", "1"]


def test_perfetto_can_open_it(trace: Path) -> None:
    events = json.loads(run("trace", "--chrome", trace).stdout)["traceEvents"]
    marks = [event for event in events if event["ph"] == "i"]
    assert {event["cat"] for event in marks} == {"call", "fault"}
    fault = next(event for event in marks if event["name"] == "errno=EINTR by rule 1")
    assert fault["cname"] and fault["args"]["errno"] == "EINTR" and fault["args"]["object"] == "fd 3"
    names = {(event["name"], event["args"]["name"]) for event in events if event["ph"] == "M"}
    assert names == {("process_name", "process 1"), ("thread_name", "thread 1.1")}
    assert all(event["ts"] >= 0 and event["pid"] > 0 and event["tid"] > 0 for event in marks)


def test_the_trace_of_a_killed_target_is_whole(tmp_path: Path, victim: Path, text: Path) -> None:
    out = tmp_path / "t.bin"
    assert run("run", "-q", "-f", "read:nth=4:die", "--trace", out, "--trace-calls", "all", "--", victim, "fails", text).returncode == 137
    lines = json_lines(run("trace", out, "--json").stdout)
    assert (lines[-1]["call"], lines[-1]["injected"], lines[-1]["index"]) == ("read", "die by rule 1", 4)
    assert [line["index"] for line in lines if line["call"] == "read"] == [1, 2, 3, 4]


def test_a_record_that_was_never_finished_is_left_out(trace: Path) -> None:
    data = bytearray(trace.read_bytes())
    data[HEADER_BYTES + 80 : HEADER_BYTES + 88] = bytes(8)  # the sequence of the second fault
    trace.write_bytes(data)
    done = run("trace", trace, "--faults")
    assert done.returncode == 0 and "# 1 records were never finished" in done.stdout and "EINTR" not in done.stdout


@pytest.mark.parametrize("size", [HEADER_BYTES, HEADER_BYTES + 80 * 2 + 40, 12_000_000])
def test_a_file_that_was_cut_off_shows_what_it_has(trace: Path, size: int, victim: Path, text: Path) -> None:
    with trace.open("r+b") as file:
        file.truncate(size)
    done = run("trace", trace, "--faults", "--json")
    assert done.returncode == 0 and f"is cut off: {size} of 31539200 bytes are there" in done.stderr
    assert len(json_lines(done.stdout)) == min(4, (size - HEADER_BYTES) // 80)
    done = run("replay", trace, "--", victim, "retries", text)
    assert done.returncode == 125 and "cannot be replayed" in done.stderr


def change(trace: Path, offset: int, layout: str, value: int) -> None:
    with trace.open("r+b") as file:
        file.seek(offset)
        file.write(struct.pack(layout, value))


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [(0, 1, "is no trace"), (8, 7, "has version 7 and records of 80 bytes"), (12, 96, "version 1 and records of 96"), (24, 9999, "makes no sense")],
)
def test_a_header_of_another_kind_is_refused(trace: Path, offset: int, value: int, words: str, victim: Path) -> None:
    change(trace, offset, "<I", value)
    for arguments in (["trace", trace], ["replay", trace, "--", "true"]):
        done = run(*arguments)
        assert done.returncode == 125 and words in done.stderr


def test_no_trace_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert "is empty" in run("trace", tmp_path / "empty").stderr
    assert run("trace", tmp_path / "none").returncode == 125
    assert run("trace").returncode == 2
    assert run("trace", "a", "b").returncode == 2
    assert run("trace", "a", "--json", "--chrome").returncode == 2


def test_random_bytes_in_a_trace_do_no_harm(trace: Path, rng) -> None:
    data = bytearray(trace.read_bytes())
    for _ in range(40):
        broken = bytearray(data)
        for _ in range(rng.randrange(1, 30)):
            broken[rng.randrange(8, HEADER_BYTES + 400)] = rng.randrange(256)
        trace.write_bytes(broken)
        for form in ("--json", "--chrome", "--faults"):
            assert run("trace", trace, form).returncode in (0, 125)


# ---- replay ----


def test_the_same_faults_happen_again(trace: Path, tmp_path: Path, victim: Path, text: Path) -> None:
    again = tmp_path / "again.bin"
    done = run("replay", trace, "--trace", again, "--", victim, "retries", text)
    assert done.returncode == 0 and "3 of 3 faults were injected again" in done.stderr
    assert "1 marks were reached" in done.stderr

    def places(file: Path) -> list[tuple[str, int, str]]:
        lines = json_lines(run("trace", file, "--faults", "--json").stdout)
        return [(line["call"], line["index"], line["injected"].split(" ")[0]) for line in lines if line["injected"].split(" ")[0] != "mark"]

    assert places(trace) == places(again)


def test_a_replay_of_a_replay(trace: Path, tmp_path: Path, victim: Path, text: Path) -> None:
    again = tmp_path / "again.bin"
    run("replay", trace, "--trace", again, "--", victim, "retries", text)
    assert "3 of 3 faults were injected again" in run("replay", again, "--", victim, "retries", text).stderr


def test_faults_that_were_not_reached_are_named(trace: Path, victim: Path, tmp_path: Path) -> None:
    shorter = tmp_path / "shorter"
    shorter.write_text("ab")
    done = run("replay", trace, "--", victim, "retries", shorter)
    assert done.returncode == 3 and "1 of 3 faults were injected again" in done.stderr
    assert "not injected: short=1 by rule 2, at the 5. read of thread 1.1" in done.stderr


def test_a_replay_has_the_commands_exit_status(tmp_path: Path, victim: Path, text: Path) -> None:
    out = tmp_path / "t.bin"
    assert run("run", "-q", "-f", "read:nth=2:errno=EIO", "--trace", out, "--", victim, "fails", text).returncode == 1
    done = run("replay", "-q", out, "--", victim, "fails", text)
    assert done.returncode == 1 and done.stderr == f"victim: cannot read {text}\n"
    assert run("replay", "-q", out, "--", victim, "crashes", text).returncode == 134


def test_lost_faults_make_a_trace_unfit(trace: Path, victim: Path, text: Path) -> None:
    size = int.from_bytes(trace.read_bytes()[48:56], "little")
    assert size == 31539200  # the layout that FAULTS_LOST supposes
    change(trace, FAULTS_LOST, "<Q", 2)
    done = run("replay", trace, "--", victim, "retries", text)
    assert done.returncode == 125 and "2 faults found no room in the log" in done.stderr


def test_death_exit_and_signals_are_replayed(tmp_path: Path, victim: Path, text: Path) -> None:
    for action, code in (("die", 137), ("exit=9", 9), ("signal=TERM", 143)):
        out = tmp_path / "t.bin"
        assert run("run", "-q", "-f", f"read:nth=3:{action}", "--trace", out, "--", victim, "fails", text).returncode == code
        done = run("replay", out, "--", victim, "fails", text)
        assert done.returncode == code and "1 of 1 faults were injected again" in done.stderr


def test_only_the_same_processes_count(tmp_path: Path, victim: Path, text: Path) -> None:
    """--only is kept in the trace: the shell is not one of the processes in either run."""
    out = tmp_path / "t.bin"
    command = ["sh", "-c", f"{victim} retries {text}; {victim} retries {text}"]
    rules = ["-f", "read:proc=2:nth=2:errno=EINTR"]
    assert run("run", "-q", "--only", "victim", *rules, "--trace", out, "--", *command).returncode == 0
    assert [line["proc"] for line in json_lines(run("trace", out, "--faults", "--json").stdout)] == [2]
    done = run("replay", out, "--", *command)
    assert done.returncode == 0 and "1 of 1 faults were injected again" in done.stderr


FORKS = """
import os, fcntl, sys
for number in range(3):
    if os.fork() == 0:
        file = open(sys.argv[1], "w")
        for _ in range(20):
            try:
                fcntl.flock(file, fcntl.LOCK_SH)
            except InterruptedError:
                pass
        os._exit(0)
for _ in range(3):
    os.wait()
"""


def test_processes_are_told_apart_whatever_their_order(tmp_path: Path, seed: int) -> None:
    out = tmp_path / "t.bin"
    command = [sys.executable, "-c", FORKS, tmp_path / "lock"]
    run("run", "-q", "--seed", seed, "-f", "flock:p=0.3:errno=EINTR!", "--trace", out, "--", *command)
    faults = json_lines(run("trace", out, "--faults", "--json").stdout)
    assert faults, f"seed {seed} drew no fault in 60 calls"
    for _ in range(3):
        done = run("replay", out, "--", *command)
        assert done.returncode == 0 and f"{len(faults)} of {len(faults)} faults were injected again" in done.stderr


@pytest.mark.parametrize(("arguments", "words"), [([], "wants a trace"), (["t.bin"], "no command to run"), (["t.bin", "--sced", "x"], "unknown option")])
def test_bad_usage_of_replay(arguments: list[str], words: str) -> None:
    done = run("replay", *arguments)
    assert done.returncode == 2 and words in done.stderr
