"""`ordeal run`: exit statuses, what is refused before anything starts, what is told at the end."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import stat
from pathlib import Path

import pytest
from launcher_rig import Started, compile_c, ordeal, run, status, wait_for_file

COMMANDS = ("run", "guard", "ctl", "trace", "replay", "sweep", "hooks", "help")


@pytest.mark.parametrize(("script", "expected"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
def test_the_exit_status_is_that_of_the_command(script: str, expected: int) -> None:
    assert run("run", "-q", "--", "sh", "-c", script).returncode == expected


def test_a_fault_is_injected_and_told(tmp_path: Path) -> None:
    done = run("run", "-f", "read:nth=1:errno=EIO", "-f", "flock:errno=EINTR", "--seed", "7", "--report", tmp_path / "r.json",
               "--", "cat", "/etc/hostname")  # fmt: skip
    assert done.returncode == 1
    assert "Input/output error" in done.stderr
    assert "2 rules, seed 7, 1 fault injected" in done.stderr
    assert "flock:errno=EINTR     matched 0        fired 0       never matched" in done.stderr
    assert "again: ordeal run -f read:nth=1:errno=EIO" in done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["exit"] == {"code": 1} and report["seed"] == 7 and report["unmatched"] == [2] and report["leftovers"] == []
    assert [(rule["matched"], rule["fired"]) for rule in report["rules"]] == [(1, 1), (0, 0)]


def test_a_signal_is_told_in_the_report(tmp_path: Path) -> None:
    run("run", "-q", "--report", tmp_path / "r.json", "--", "sh", "-c", "kill -9 $$")
    assert json.loads((tmp_path / "r.json").read_text())["exit"] == {"signal": 9}


def test_a_seed_nobody_gave_is_told() -> None:
    done = run("run", "-f", "read:p=0.5:errno=EIO", "--", "true")
    assert "again: ordeal run --seed " in done.stderr


def test_standard_streams_are_the_commands_own() -> None:
    done = run("run", "-q", "--", "sh", "-c", "cat; echo err >&2", stdin=None, input="through\n")
    assert done.stdout == "through\n" and done.stderr == "err\n"


def test_bad_rules_start_nothing_and_are_all_reported(tmp_path: Path) -> None:
    plan = tmp_path / "bad.plan"
    plan.write_text("# plan\nseed 1\n  flock:nth=2:errno=EINTTR\nread:die\nraed:die\n")
    started = tmp_path / "started"
    done = run("run", "-f", "read:die", "-f", "flok:nth=0:die", "--plan", plan, "--", "touch", started)
    assert done.returncode == 2 and not started.exists()
    for where in ("-f 2:1: ", "-f 2:10: ", f"{plan}:3:21: ", f"{plan}:5:1: "):
        assert where in done.stderr
    assert "did you mean flock?" in done.stderr and "did you mean EINTR?" in done.stderr and "did you mean read?" in done.stderr
    assert "4 errors in the rules; nothing was started" in done.stderr
    lines = done.stderr.splitlines()
    caret = next(i for i, line in enumerate(lines) if line.startswith(f"{plan}:3:21"))
    assert lines[caret + 1] == "      flock:nth=2:errno=EINTTR" and lines[caret + 2] == " " * 24 + "^"


def test_a_plan_sets_seed_swarm_and_executable(tmp_path: Path) -> None:
    plan = tmp_path / "p.plan"
    plan.write_bytes(b"seed 99\r\nonly cat\r\nswarm 1\r\nread:nth=1:errno=EIO\r\n")
    done = run("run", "-p", plan, "--", "sh", "-c", "read x </etc/hostname; cat /etc/hostname")
    assert "seed 99, 1 fault injected" in done.stderr
    assert "cat: /etc/hostname: Input/output error" in done.stderr


def test_an_absent_plan_is_said(tmp_path: Path) -> None:
    done = run("run", "-p", tmp_path / "none", "--", "true")
    assert done.returncode == 2 and "No such file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no command to run"),
        (["--sed", "1", "--", "true"], "unknown option --sed; did you mean --seed?"),
        (["--seed"], "--seed wants a value: N"),
        (["--seed", "x", "--", "true"], "--seed wants a number from 0 to 9223372036854775807, not 'x'"),
        (["--swarm=2", "--", "true"], "--swarm wants a chance above 0"),
        (["--quiet=1", "--", "true"], "--quiet takes no value"),
        (["--trace-calls", "all", "--", "true"], "--trace-calls needs --trace FILE"),
        (["--trace", "t", "--trace-calls", "some", "--", "true"], "--trace-calls wants faults or all"),
        (["--trace", "t", "--trace-rings", "0", "--", "true"], "--trace-rings wants a number from 1"),
        (["--only", "/bin/cat", "--", "true"], "without a folder"),
    ],
)
def test_bad_usage(arguments: list[str], words: str) -> None:
    done = run("run", *arguments)
    assert done.returncode == 2 and words in done.stderr


def test_an_unknown_command_is_told_its_neighbour() -> None:
    done = run("replya")
    assert done.returncode == 2 and "did you mean replay?" in done.stderr


def test_programs_that_cannot_be_started(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("echo hi\n")
    done = run("run", "--", plain)
    assert done.returncode == 126 and "may not be executed" in done.stderr
    plain.chmod(0o755)
    done = run("run", "--", plain)
    assert done.returncode == 126 and "neither an ELF program nor a script" in done.stderr
    plain.write_text("#!/nonexistent/interpreter -x\n")
    done = run("run", "--", plain)
    assert done.returncode == 126 and "asks for the interpreter '/nonexistent/interpreter'" in done.stderr
    assert run("run", "--", tmp_path).returncode == 126
    done = run("run", "--", "no-such-program-here")
    assert done.returncode == 127 and "no such program in PATH" in done.stderr
    assert run("run", "--", "/no/such/program").returncode == 127
    plain.write_text("#!/bin/sh\nexit 3\n")
    assert run("run", "-q", "--", plain).returncode == 3


STATIC = """
void _start(void)
{
#if defined(__x86_64__)
    __asm__ volatile("mov $60, %eax; mov $5, %edi; syscall");
#else
    __asm__ volatile("mov x8, #93; mov x0, #5; svc 0");
#endif
}
"""


def test_a_static_program_needs_force(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "static", STATIC, "-static", "-nostdlib")
    done = run("run", "-q", "--", program)
    assert done.returncode == 126 and "statically linked" in done.stderr and "--force" in done.stderr
    assert run("run", "-q", "--force", "--", program).returncode == 5


def test_a_set_user_id_program_needs_force(tmp_path: Path) -> None:
    program = tmp_path / "true"
    shutil.copy("/bin/true", program)
    os.chown(program, 65534 if os.geteuid() == 0 else -1, -1)
    program.chmod(0o755 | stat.S_ISUID)
    if program.stat().st_uid == os.geteuid():
        program.chmod(0o755 | stat.S_ISUID)
        assert run("run", "-q", "--", program).returncode == 0  # one's own set-user-ID program gains nothing
    else:
        done = run("run", "-q", "--", program)
        assert done.returncode == 126 and "set-user-ID" in done.stderr


def test_a_missing_library_is_said() -> None:
    done = run("run", "--", "true", env={**os.environ, "ORDEAL_LIB": "/no/libordeal.so"})
    assert done.returncode == 125 and "ORDEAL_LIB names /no/libordeal.so: No such file" in done.stderr


def test_the_library_goes_before_others(tmp_path: Path) -> None:
    other = compile_c(tmp_path, "other.so", "int other;", "-shared", "-fPIC")
    done = run("run", "-q", "--", "sh", "-c", "echo $LD_PRELOAD", env={**os.environ, "LD_PRELOAD": str(other)})
    first, second = done.stdout.strip().split(":")
    assert first.endswith("/libordeal.so") and first.startswith("/") and second == str(other)


def test_a_library_in_an_unfit_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    library = compile_c(folder, "lib.so", "int x;", "-shared", "-fPIC")
    done = run("run", "--", "true", env={**os.environ, "ORDEAL_LIB": str(library)})
    assert done.returncode == 125 and "a colon or a blank" in done.stderr


def test_verbose_tells_what_a_family_leaves_out() -> None:
    done = run("run", "-v", "-f", "@lock|read:fd=file:errno=EAGAIN", "--", "true")
    assert "rule 1: read|flock|fcntl|lockf:fd=file:errno=EAGAIN" in done.stderr
    done = run("run", "-v", "-f", "@memory:errno=EINVAL", "--", "true")
    assert "these do not suit the rule: malloc calloc realloc" in done.stderr


def active(seed: int, chance: str, tmp_path: Path) -> tuple[bool, ...]:
    report = tmp_path / f"{seed}.json"
    rules = [argument for call in ("read", "write", "open", "close", "mmap", "poll") for argument in ("-f", f"{call}:nth=99999:delay=1ns")]
    assert run("run", "-q", "--seed", str(seed), "--swarm", chance, *rules, "--report", report, "--", "true").returncode == 0
    return tuple(rule["active"] for rule in json.loads(report.read_text())["rules"])


def test_swarm_is_drawn_from_the_seed(tmp_path: Path, rng) -> None:
    seeds = [rng.randrange(2**32) for _ in range(12)]
    drawn = [active(seed, "0.5", tmp_path) for seed in seeds]
    assert drawn == [active(seed, "0.5", tmp_path) for seed in seeds]
    assert len(set(drawn)) > 1, f"seeds {seeds} all chose {drawn[0]}"
    assert all(sum(active(seed, "1e-9", tmp_path)) == 1 for seed in seeds[:4])  # one at least
    assert all(active(seeds[0], "1", tmp_path))


def test_disarmed_rules_do_nothing(tmp_path: Path) -> None:
    done = run("run", "--disarmed", "-f", "read:errno=EIO", "--", "cat", "/etc/hostname")
    assert done.returncode == 0 and "0 faults injected" in done.stderr and "disarmed" in done.stderr


# ---- files ----


def limit_files(size: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_no_room_for_the_trace_is_said_before_the_start(tmp_path: Path) -> None:
    """A limit on file sizes stands for a small disk: it works for everyone, everywhere, without a mount."""
    started = tmp_path / "started"
    trace = tmp_path / "t.bin"
    done = run("run", "--trace", trace, "--", "touch", started, preexec_fn=limit_files(8_000_000))
    assert done.returncode == 125 and not started.exists() and not trace.exists()
    assert "needs 31.5 MB, and the limit on file sizes is 8.0 MB" in done.stderr
    done = run("run", "--trace", trace, "--trace-rings", "1", "-q", "--", "touch", started, preexec_fn=limit_files(12_000_000))
    assert done.returncode == 0 and started.exists()


def test_no_room_for_the_control_file_is_said(tmp_path: Path) -> None:
    done = run("run", "--ctl", tmp_path / "c", "--", "true", preexec_fn=limit_files(1_000_000))
    assert done.returncode == 125 and "the control file" in done.stderr and list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    """The launcher under the launcher: its own posix_fallocate reports ENOSPC."""
    trace = tmp_path / "t.bin"
    done = run("run", "-q", "-f", f"posix_fallocate:path={trace}:errno=ENOSPC", "--", ordeal(), "run", "--trace", trace, "--", "true")
    assert done.returncode == 125 and not trace.exists()
    assert "needs 31.5 MB, and " in done.stderr and "are available there: No space left on device" in done.stderr


def test_the_target_keeps_its_own_reaction_to_file_limits(tmp_path: Path) -> None:
    """The launcher ignores SIGXFSZ, which its files could draw; the command does not inherit that."""
    done = run("run", "-q", "--", "sh", "-c", f"ulimit -f 0; exec dd if=/dev/zero of={tmp_path}/f bs=1 count=1")
    assert done.returncode == 128 + signal.SIGXFSZ


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("do not lose me" * 100)
    for option in ("--ctl", "--trace"):
        done = run("run", option, precious, "--", "true")
        assert done.returncode == 125 and "it is not overwritten" in done.stderr
    assert precious.read_text() == "do not lose me" * 100


def test_a_stale_control_file_and_trace_are_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        assert run("run", "-q", "--ctl", tmp_path / "c", "--trace", tmp_path / "t", "--", "true").returncode == 0
    assert status(tmp_path / "c")["rules"] == []


def test_a_control_file_in_use_is_not_replaced(tmp_path: Path) -> None:
    control = tmp_path / "c"
    with Started(["run", "-q", "--ctl", control, "--", "cat"]) as first:
        wait_for_file(control)
        done = run("run", "--ctl", control, "--", "true")
        assert done.returncode == 125 and f"still goes on (pid {first.pid})" in done.stderr


def test_the_default_control_file_is_gone_afterwards() -> None:
    done = run("run", "-q", "--", "sh", "-c", 'echo "$ORDEAL_CTL"; test -f "$ORDEAL_CTL"')
    assert done.returncode == 0 and done.stdout.strip() and not Path(done.stdout.strip()).exists()


# ---- manual ----


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"ordeal {command}")
    assert "Example" in done.stdout and "Exit status:" in done.stdout
    assert done.stdout.split("Example")[1].count("\n  ordeal ") >= 2
    assert max(map(len, done.stdout.splitlines())) <= 120
    assert f"  ordeal {command} " in run("help").stdout
    assert run("help", command).stdout == done.stdout


def test_the_manual_of_calls_is_complete() -> None:
    rows = json.loads(run("hooks", "--json").stdout)
    text = run("hooks").stdout
    assert len(rows) > 100 and all(f"{row['call']}(" in text for row in rows)
    flock = next(row for row in rows if row["call"] == "flock")
    assert flock["errnos"][:2] == ["EBADF", "EINTR"] and flock["family"] == "lock" and flock["drop"] and not flock["short"]
    assert {row["family"] for row in rows} == {"file", "socket", "lock", "memory", "thread", "time", "process"}
    assert {row["family"] for row in json.loads(run("hooks", "@lock", "--json").stdout)} == {"lock"}
    assert "open64" in run("hooks", "open").stdout
    assert "did you mean flock?" in run("hooks", "flokc").stderr


def test_each_errno_of_the_manual_is_taken_and_no_other(tmp_path: Path) -> None:
    plan = tmp_path / "all.plan"
    rows = json.loads(run("hooks", "--json").stdout)
    for start in range(0, len(rows), 40):  # a run may have 256 rules
        lines = [f"{row['call']}:nth=99999999:errno={row['errnos'][i % len(row['errnos'])]}" for row in rows[start : start + 40] for i in range(5)]
        plan.write_text("\n".join(lines) + "\n")
        done = run("run", "-q", "--disarmed", "-p", plan, "--", "true")
        assert done.returncode == 0, done.stderr


def test_the_language_fits_one_screen() -> None:
    text = run("help", "rules").stdout
    assert len(text.splitlines()) <= 50 and max(map(len, text.splitlines())) <= 130
    for word in ("nth=", "p=", "times=", "fd=", "path=", "size", "shared", "robust", "caller=", "thread=", "proc=", "after=",
                 "errno=", "short=", "delay=", "die", "exit", "pause=", "wake=", "mark=", "signal=", "drop", "skew=", "oom"):  # fmt: skip
        assert word in text
    examples = [line.split("  ")[1] for line in text.split("Examples:\n")[1].splitlines()]
    rules = [argument for example in examples for argument in ("-f", example)]
    assert run("run", "-q", "--disarmed", *rules, "--", "true").returncode == 0
