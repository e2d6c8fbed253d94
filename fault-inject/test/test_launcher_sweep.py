"""`ordeal sweep`: every call has its turn; what is worse than an honest failure is found."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from launcher_rig import VICTIM, Started, compile_c, run


@pytest.fixture(scope="session")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(tmp_path_factory.mktemp("victim"), "victim", VICTIM)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text"
    file.write_text("abcde")  # six reads
    return file


def test_an_honest_program_is_fine(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--", victim, "honest", text)
    assert done.returncode == 0 and done.stdout == "sweep read errno=EIO: 6 trials, 0 broke\n"


def test_a_tolerant_program_is_fine_but_not_for_ever(victim: Path, text: Path) -> None:
    arguments = ["--call", "read", "--errno", "EINTR", "--timeout", "500ms", "--", victim, "retries", text]
    assert run("sweep", *arguments).returncode == 0
    done = run("sweep", "--persistent", "--max", "2", *arguments)
    assert done.returncode == 1 and "n=1     did not end in time" in done.stdout
    assert "-f read:nth=1+1:errno=EINTR" in done.stdout


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("ignores", "silent wrong success: the exit status of a run without fault, another output (exit status 0)"),
        ("crashes", "killed by signal SIGABRT (6)"),
        ("silent", "silent failure: nothing on standard error (exit status 1)"),
        ("leaves", "left processes behind (exit status 0)"),
        ("hangs", "did not end in time"),
    ],
)
def test_each_kind_of_breakage_is_told(victim: Path, text: Path, mode: str, words: str) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--timeout", "500ms", "--", victim, mode, text)
    assert done.returncode == 1
    assert f"n=3     {words}" in done.stdout
    assert f"again:  ordeal run --seed 1 -f read:nth=3:errno=EIO -- {victim} {mode} {text}" in done.stdout
    assert done.stdout.splitlines()[-1] in {f"sweep read errno=EIO: 6 trials, {broke} broke" for broke in (5, 6)}


def test_success_where_failure_is_right(tmp_path: Path) -> None:
    """The command fails on its own; a fault must not turn that into success."""
    command = ["sh", "-c", "read line </etc/hostname && exit 3; exit 0"]
    done = run("sweep", "--call", "read", "--errno", "EIO", "--", *command)
    assert done.returncode == 1 and "false success: exit status 0" in done.stdout


def test_what_it_prints_for_a_replay_breaks_again(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--", victim, "crashes", text)
    line = next(line for line in done.stdout.splitlines() if "again:" in line)
    arguments = line.split("ordeal ", 1)[1].split()
    assert run(*arguments).returncode == 128 + signal.SIGABRT


def test_the_first_line_of_an_error_is_shown(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--check", "false", "--max", "1", "--", victim, "honest", text)
    assert f"stderr: victim: cannot read {text}" in done.stdout


def test_several_errnos_and_other_actions(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--then", "short=1", "--errno", "EINTR", "--", victim, "honest", text)
    assert done.returncode == 0
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["sweep read errno=EIO", "sweep read short=1", "sweep read errno=EINTR"]


def test_conditions_narrow_a_sweep(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "@file", "--where", f"path={text}", "--errno", "EACCES", "--", victim, "honest", text)
    assert "sweep @file path=" in done.stdout and ": 1 trial, " in done.stdout  # open alone may fail so


def test_the_users_own_check_decides(victim: Path, text: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    check = f'echo "$ORDEAL_N $ORDEAL_STATUS $ORDEAL_RULE $(cat $ORDEAL_STDERR | wc -l) ${{LD_PRELOAD-none}}" >>{log}; test $ORDEAL_N -ne 2'
    done = run("sweep", "--call", "read", "--errno", "EIO", "--max", "3", "--check", check, "--", victim, "crashes", text)
    assert done.returncode == 1 and "n=2     the check said no (its status 1, that of the command 134)" in done.stdout
    assert log.read_text().splitlines()[0] == "1 134 read:nth=1:errno=EIO 0 none"
    assert done.stdout.count("n=") == 1


def test_a_sweep_that_could_not_be_finished_says_so(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--max", "3", "--", victim, "honest", text)
    assert done.returncode == 3 and "3 trials, 0 broke; stopped at --max 3 with calls left" in done.stdout
    done = run("sweep", "--call", "sem_wait", "--errno", "EINTR", "--", victim, "honest", text)
    assert done.returncode == 3 and "0 trials, 0 broke; the command never makes that call" in done.stdout


def test_a_command_that_breaks_by_itself_teaches_nothing(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == 2 and "without any fault the command ends by a signal already" in done.stderr


def test_output_that_differs_by_itself_is_not_compared(victim: Path, text: Path) -> None:
    done = run("sweep", "--call", "read", "--errno", "EIO", "--", "sh", "-c", f"echo $$; {victim} ignores {text} >/dev/null")
    assert done.returncode == 0 and "it is not compared" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "true"], "sweep wants --call and --errno"),
        (["--call", "read", "--errno", "EIO"], "no command to run"),
        (["--call", "raed", "--errno", "EIO", "--", "true"], "did you mean read?"),
        (["--call", "flock", "--errno", "EIO", "--", "true"], "flock does not fail with EIO"),
        (["--call", "read", "--errno", "EIO", "--timeout", "0s", "--", "true"], "--timeout wants a time"),
    ],
)
def test_bad_usage(arguments: list[str], words: str) -> None:
    done = run("sweep", *arguments)
    assert done.returncode == 2 and words in done.stderr


def test_no_such_command() -> None:
    assert run("sweep", "--call", "read", "--errno", "EIO", "--", "no-such-program").returncode == 127


def test_a_sweep_can_be_stopped(victim: Path, text: Path, tmp_path: Path) -> None:
    """The signal ends the trial it meets, and with it the sweep, not the one trial alone."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    command = f'{victim} retries {text} || exit 1; echo >{ready}; exec sleep 1000'
    with Started(["sweep", "--call", "read", "--errno", "EINTR", "--timeout", "100s", "--", "sh", "-c", command]) as started:
        with ready.open() as fifo:
            fifo.readline()
        started.process.send_signal(signal.SIGTERM)
        assert started.wait() == 128 + signal.SIGTERM
