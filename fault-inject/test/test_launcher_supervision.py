"""Nothing is left behind, whoever is killed; signals reach the command once; the terminal stays the command's."""

from __future__ import annotations

import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from launcher_rig import WITHIN_S, Started, ordeal, run

# Says `ready`, then the name of each signal that comes; USR2 ends it with status 9.
LISTENER = """
import signal
names = ["TERM", "INT", "QUIT", "HUP", "USR1", "USR2"]
signals = {getattr(signal, "SIG" + name): name for name in names}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
print("ready", flush=True)
while True:
    name = signals[signal.sigwait(signals)]
    print(name, flush=True)
    if name == "USR2":
        raise SystemExit(9)
"""
# A family: children and grandchildren, in sessions of their own, some deaf to every signal that can be ignored.
FAMILY = """
trap '' TERM INT HUP QUIT
setsid sh -c 'trap "" TERM INT HUP QUIT; sleep 1000 & sleep 1000 & echo up >&3; wait' &
setsid setsid sleep 1000 &
(sleep 1000 & sleep 1000 &) &
echo up >&3
"""

PYTHON = sys.executable
BOTH = pytest.mark.parametrize("command", [["run", "-q"], ["guard"]], ids=["run", "guard"])


@BOTH
@pytest.mark.parametrize("name", ["TERM", "INT", "QUIT", "HUP", "USR1"])
def test_a_signal_sent_to_the_launcher_reaches_the_command(command: list[str], name: str) -> None:
    with Started([*command, "--", PYTHON, "-c", LISTENER]) as started:
        assert started.line() == "ready"
        os.kill(started.pid, getattr(signal, f"SIG{name}"))
        assert started.line() == name
        os.kill(started.pid, signal.SIGUSR2)
        assert started.line() == "USR2"
        assert started.wait() == 9


def test_a_command_that_a_signal_kills() -> None:
    with Started(["guard", "--", "sleep", "1000"]) as started:
        while not psutil.Process(started.pid).children(recursive=True):
            os.sched_yield()
        os.kill(started.pid, signal.SIGTERM)
        assert started.wait() == 128 + signal.SIGTERM


def read_until(terminal: int, word: str) -> str:
    text = ""
    while word not in text:
        readable, _, _ = select.select([terminal], [], [], WITHIN_S)
        assert readable, f"{word!r} did not come; so far {text!r}"
        text += os.read(terminal, 1024).decode()
    return text


def on_a_terminal(arguments: list[str]) -> tuple[int, int]:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(arguments[0], arguments)
    return child, terminal


@BOTH
def test_a_signal_of_the_terminal_is_not_doubled(command: list[str]) -> None:
    child, terminal = on_a_terminal([ordeal(), *command, "--", PYTHON, "-c", LISTENER])
    read_until(terminal, "ready")
    os.write(terminal, b"\x03")  # the terminal sends INT to the whole group, launcher and command
    read_until(terminal, "INT\r\n")
    os.kill(child, signal.SIGUSR2)  # forwarded behind whatever was forwarded before
    assert "INT" not in read_until(terminal, "USR2\r\n")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    os.close(terminal)


def test_the_terminal_can_be_read_by_the_command() -> None:
    child, terminal = on_a_terminal([ordeal(), "run", "-q", "--", "sh", "-c", "test -t 0 && read x && echo got:$x"])
    os.write(terminal, b"word\n")
    read_until(terminal, "got:word")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)


def test_the_job_can_be_stopped_and_go_on() -> None:
    """Ctrl-Z stops launcher and command, so that a shell sees the job as stopped."""
    child, terminal = on_a_terminal([ordeal(), "run", "-q", "--", "cat"])
    os.write(terminal, b"one\n")
    read_until(terminal, "one\r\none\r\n")
    os.write(terminal, b"\x1a")
    # The kernel drops SIGTSTP for a group nobody could continue; this one's leader has its parent in another session.
    os.kill(child, signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    os.killpg(child, signal.SIGCONT)
    os.write(terminal, b"two\n")
    read_until(terminal, "two\r\ntwo\r\n")
    os.write(terminal, b"\x04")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)


# ---- leftovers ----


@BOTH
def test_what_is_left_is_killed_and_told(command: list[str], tmp_path: Path) -> None:
    report = ["--report", tmp_path / "r.json"] if command[0] == "run" else []
    with Started([*command, *report, "--", "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!; exit 3"]) as started:
        pid = int(started.line())
        assert started.wait() == 3 and started.everyone_is_gone() and not psutil.pid_exists(pid)
        told = started.process.stderr.read().decode()
        assert "1 process was still alive after the command had ended, and killed:" in told
        assert f"ordeal:   pid {pid}  s" in told  # sleep, or setsid, or still sh
    if report:
        assert [item["pid"] for item in json.loads((tmp_path / "r.json").read_text())["leftovers"]] == [pid]


@BOTH
def test_a_whole_family_is_killed(command: list[str]) -> None:
    with Started([*command, "--", "bash", "-c", f"exec 3>&1; {FAMILY} read line; exit 4"]) as started:
        assert [started.line(), started.line()] == ["up", "up"]
        started.say("now")
        assert started.wait() == 4 and started.everyone_is_gone()
        told = started.process.stderr.read().decode()
        assert "processes were still alive" in told and told.count("ordeal:   pid ") >= 5


def test_guard_leaves_the_environment_alone() -> None:
    done = run("guard", "--", "sh", "-c", "echo ${LD_PRELOAD-none} ${ORDEAL_CTL-none}")
    assert done.stdout == "none none\n"


# ---- scratch ----


def fill(folder: Path) -> None:
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("x")
    (folder / "a" / "link").symlink_to("/etc")
    (folder / "locked").mkdir()
    (folder / "locked" / "file").write_text("x")
    (folder / "locked").chmod(0)


@BOTH
def test_the_scratch_folder_is_made_and_removed(command: list[str], tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    assert run(*command, "--scratch", scratch, "--", "sh", "-c", f"test -d {scratch} && touch {scratch}/x").returncode == 0
    assert not scratch.exists()
    scratch.mkdir()
    fill(scratch)
    assert run(*command, "--scratch", scratch, "--", "false").returncode == 1
    assert not scratch.exists() and Path("/etc/hostname").exists()


def test_links_out_of_the_scratch_folder_are_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(precious)
    assert run("guard", "--scratch", scratch, "--", "true").returncode == 0
    assert not scratch.exists() and (precious / "file").exists()
    scratch.symlink_to(precious)
    done = run("guard", "--scratch", scratch, "--", "true")
    assert done.returncode == 2 and "is not a folder" in done.stderr and (precious / "file").exists()


def test_a_folder_that_took_the_scratch_folders_place_stays(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    run("guard", "--scratch", scratch, "--", "sh", "-c", f"mv {scratch} {tmp_path}/moved && mkdir {scratch}")
    assert scratch.exists()


@pytest.mark.parametrize("folder", ["/", "/usr", "/home", "~"])
def test_folders_that_nobody_can_want_to_lose_are_refused(folder: str) -> None:
    done = run("guard", "--scratch", os.path.expanduser(folder), "--", "true")
    assert done.returncode == 2 and "is not taken as scratch folder" in done.stderr


def test_a_work_tree_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    done = run("run", "--scratch", tmp_path / "tree", "--", "true")
    assert done.returncode == 2 and "git work tree" in done.stderr and (tmp_path / "tree").exists()


# ---- the launcher is killed ----


@contextmanager
def family(command: list[str], scratch: Path, **options: bool) -> Iterator[Started]:
    """Entered when the family is up: each of its two shells has written a line to standard output."""
    arguments: list[str | Path] = [*command, "--scratch", scratch, "--", "bash", "-c", f"exec 3>&1; {FAMILY} wait"]
    with Started(arguments, **options) as started:
        assert [started.line(), started.line()] == ["up", "up"]
        yield started


@BOTH
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_launcher_is_killed(command: list[str], number: int, tmp_path: Path) -> None:
    with family(command, tmp_path / "scratch") as started:
        os.kill(started.pid, number)
        if number != signal.SIGKILL:  # the family ignores it; the launcher waits for it then
            os.kill(started.pid, signal.SIGKILL)
        assert started.everyone_is_gone() and not (tmp_path / "scratch").exists()


@BOTH
def test_nothing_is_left_when_the_group_is_killed(command: list[str], tmp_path: Path) -> None:
    with family(command, tmp_path / "scratch", start_new_session=True) as started:
        os.killpg(started.pid, signal.SIGKILL)
        assert started.everyone_is_gone() and not (tmp_path / "scratch").exists()


@BOTH
def test_nothing_is_left_when_the_supervisor_is_killed(command: list[str], tmp_path: Path) -> None:
    with family(command, tmp_path / "scratch") as started:
        inner = psutil.Process(started.pid).children()
        assert len(inner) == 1
        inner[0].kill()
        assert started.wait() == 128 + signal.SIGKILL
        assert started.everyone_is_gone() and not (tmp_path / "scratch").exists()
        assert "the supervisor was killed" in started.process.stderr.read().decode()


@pytest.mark.slow
def test_nothing_is_left_in_fifty_random_kills(rng: random.Random, tmp_path: Path) -> None:
    """At a random moment, by a random signal, launcher or supervisor or group: no process and no scratch folder stay."""
    before = set(Path("/dev/shm").glob("ordeal-*"))
    for number in range(50):
        command = rng.choice([["run", "-q", "-f", "read:p=0.1:delay=1us"], ["guard"]])
        scratch = tmp_path / f"scratch-{number}"
        started = Started([*command, "--scratch", scratch, "--", "bash", "-c", f"exec 3>&1; {FAMILY} wait"],
                          start_new_session=True)  # fmt: skip
        with started:
            for _ in range(rng.choice([1, 2])):
                started.line()
            victim = rng.choice(["launcher", "launcher", "supervisor", "group"])
            signals = [rng.choice([signal.SIGINT, signal.SIGTERM]) for _ in range(rng.randrange(3))] + [signal.SIGKILL]
            for one in signals:
                if victim == "group":
                    os.killpg(started.pid, one)
                elif victim == "launcher" or one != signal.SIGKILL:
                    os.kill(started.pid, one)
                else:
                    psutil.Process(started.pid).children()[0].kill()
            assert started.everyone_is_gone(), f"{number}: {victim} {signals}"
            assert not scratch.exists(), f"{number}: {victim} {signals}"
    left = set(Path("/dev/shm").glob("ordeal-*")) - before
    assert not {path for path in left if not belongs_to_someone(path)}


def test_nothing_is_left_when_the_launcher_is_killed_while_it_starts(rng: random.Random, tmp_path: Path) -> None:
    """At any of its first system calls: here the launcher's own shim kills it at its n-th fork, mmap, open … or later."""
    before = set(Path("/dev/shm").glob("ordeal-*"))
    library = run("run", "-q", "--", "sh", "-c", "echo $LD_PRELOAD").stdout.strip()
    died = 0
    for number in range(50):
        call = rng.choice(["open", "mmap", "posix_fallocate", "fork", "socketpair", "close", "munmap", "poll", "read"])
        rule = f"{call}:proc=1:nth={rng.randrange(1, 6)}:die"
        scratch = tmp_path / f"scratch-{number}"
        scratch.mkdir()
        control = tmp_path / "outer"
        # A control file that stays, for a launcher that is itself under the shim.
        assert run("run", "-q", "--only", "ordeal", "--ctl", control, "-f", rule, "--", "true").returncode == 0
        environment = {**os.environ, "LD_PRELOAD": library, "ORDEAL_CTL": str(control)}
        with Started(["run", "-q", "--scratch", scratch, "--", "true"], env=environment) as started:
            code = started.wait()
            assert started.everyone_is_gone() and code in (0, -signal.SIGKILL), f"{rule}: {code}"
        died += code != 0
        left = set(Path("/dev/shm").glob("ordeal-*")) - before
        assert not {path for path in left if not belongs_to_someone(path)}, rule
    assert died > 10


def belongs_to_someone(control: Path) -> bool:
    """Other tests run beside this one: a control file's name holds its launcher's pid."""
    return psutil.pid_exists(int(control.name.split("-")[1]))


@BOTH
def test_the_launcher_dies_with_its_parent(command: list[str], tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    parent = f"""
import subprocess, sys, threading
def start():
    subprocess.Popen({[ordeal(), *command, "--die-with-parent", "--scratch", str(scratch), "--", "sh", "-c", "setsid sleep 1000 & echo up; wait"]!r}, pass_fds=[int(sys.argv[1])])
thread = threading.Thread(target=start)     # the end of a thread that started it is not the parent's end
thread.start()
thread.join()
sys.stdin.read()
"""
    held, write_end = os.pipe()
    process = subprocess.Popen([PYTHON, "-c", parent, str(write_end)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[write_end])
    os.close(write_end)
    assert process.stdout.readline() == b"up\n"
    assert scratch.exists() and not select.select([held], [], [], 0)[0]
    process.kill()
    process.wait()
    assert select.select([held], [], [], WITHIN_S)[0] and os.read(held, 1) == b""
    assert not scratch.exists()
    os.close(held)
    process.stdin.close()
    process.stdout.close()


def test_a_launcher_without_die_with_parent_lives_on(tmp_path: Path) -> None:
    parent = f"import subprocess; print(subprocess.Popen({[ordeal(), 'guard', '--', PYTHON, '-c', LISTENER]!r}).pid, flush=True)"
    process = subprocess.Popen([PYTHON, "-c", parent], stdout=subprocess.PIPE)
    pid = int(process.stdout.readline())
    process.wait()
    assert process.stdout.readline() == b"ready\n"
    os.kill(pid, signal.SIGUSR2)
    assert process.stdout.read() == b"USR2\n"
    process.stdout.close()


def test_processes_that_the_launcher_had_before_are_not_touched() -> None:
    """`sleep & exec ordeal …`: the launcher has a child that is none of its business."""
    script = f"sleep 1000 >/dev/null 2>&1 & echo $!; exec {ordeal()} run -q -- true"
    done = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, timeout=WITHIN_S)
    other = psutil.Process(int(done.stdout))
    assert done.returncode == 0 and other.name() == "sleep"
    other.kill()
