"""The master with workers that do what their clients say (fake_fpm.c): what php-fpm's operators rely on, and reloads.

Nothing here waits for a time to pass: a test waits for a line of the log, an answer or the end of a process, up to a bound
that only a failure reaches.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from harness.orchestrate import paths
from harness.orchestrate.waiting import eventually

DEADLINE_S = 60
AS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root can become another user")


wait_until = partial(eventually, within_s=DEADLINE_S)


def is_alive(pid: int) -> bool:
    """Dead ones that nobody has reaped do not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Client:
    """A connection to a worker: lines out, lines in."""

    def __init__(self, address: str | tuple[str, int]) -> None:
        kind = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(kind)
        self.socket.settimeout(DEADLINE_S)
        self.socket.connect(address)

    def ask(self, line: str) -> str:
        self.socket.sendall(line.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = self.socket.recv(4096)
            if not piece:
                break
            answer += piece
        return answer.decode().rstrip("\n")

    def close(self) -> None:
        self.socket.close()


class Fpm:
    """A fake_fpm in a folder: configuration, log, pid file and socket are there."""

    binary = paths.build_dir().absolute() / "test" / "runtime" / "fiber" / "master" / "fake_fpm"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config, self.log, self.pid_file, self.sock = (folder / name for name in ("fpm.conf", "log", "pid", "sock"))
        self.address: str | tuple[str, int] = str(self.sock)
        self.environment = {"PATH": os.environ["PATH"]}
        self.process: subprocess.Popen[str] | None = None
        self.configure()

    def configure(self, pool: str = "", children: int = 1, top: str = "", rest: str = "") -> None:
        self.config.write_text(
            f"[global]\nerror_log = {self.log}\npid = {self.pid_file}\n{top}\n"
            f"[www]\nlisten = {self.sock}\npm.max_children = {children}\n{pool}\n{rest}\n"
        )

    def command(self, *options: str) -> list[str]:
        return [str(self.binary), "-R", "-y", str(self.config), *options]

    def run(self, *options: str, command: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command or self.command(*options), env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )

    def start(self, ready: bool = True) -> Fpm:
        self.process = subprocess.Popen(self.command("-F"), env=self.environment, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.wait_for("ready to handle connections" if ready else "fpm is running")
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def lines(self, pattern: str) -> list[str]:
        text = self.log.read_text() if self.log.exists() else ""
        return [line for line in text.splitlines() if re.search(pattern, line)]

    def wait_for(self, pattern: str, count: int = 1) -> list[str]:
        def is_done() -> bool:
            running = self.process is None or self.process.poll() is None
            assert running or len(self.lines(pattern)) >= count, f"ended before {pattern!r}"
            return len(self.lines(pattern)) >= count

        try:
            wait_until(is_done, f"{count} lines with {pattern!r}")
        except AssertionError as problem:
            raise AssertionError(f"{problem}\n{self.log.read_text() if self.log.exists() else 'no log'}") from None
        return self.lines(pattern)

    def ask(self, line: str) -> str:
        client = Client(self.address)
        try:
            return client.ask(line)
        finally:
            client.close()

    def who(self) -> tuple[int, int]:
        pid, generation = self.ask("who").split()
        return int(pid), int(generation)

    def reload(self) -> None:
        """Until only new workers serve: an old one may take a last connection before it hears that it is to drain."""
        generation = len(self.lines("ready to handle connections")) + 1
        self.send(signal.SIGUSR2)
        self.wait_for("ready to handle connections", generation)
        wait_until(lambda: self.who()[1] == generation, f"generation {generation}")

    def wait_end(self) -> int:
        assert self.process is not None
        return self.process.wait(DEADLINE_S)

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.send(number)
        assert self.wait_end() == 0


@pytest.fixture
def fpm(tmp_path: Path) -> Iterator[Fpm]:
    server = Fpm(tmp_path)
    try:
        yield server
    finally:
        if server.process is not None:
            server.process.kill()  # its workers end with it
            server.process.communicate()


# ---- start and stop ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_start_and_stop(fpm: Fpm, number: int) -> None:
    fpm.configure(children=3)
    fpm.start()
    assert fpm.pid_file.read_text() == str(fpm.pid)
    worker, generation = fpm.who()
    assert generation == 1 and worker != fpm.pid
    fpm.stop(number)
    texts = [line.split("] ", 1)[1] for line in fpm.lines("")]
    stopping = "Finishing ..." if number == signal.SIGQUIT else "Terminating ..."
    assert texts == [f"NOTICE: fpm is running, pid {fpm.pid}", "NOTICE: ready to handle connections", f"NOTICE: {stopping}", "NOTICE: exiting, bye-bye!"]
    assert not fpm.pid_file.exists() and not fpm.sock.exists() and not is_alive(worker)


def test_lines_of_the_log_have_the_time_as_in_php_fpm(fpm: Fpm) -> None:
    fpm.start()
    assert all(re.match(r"\[\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d\] NOTICE: ", line) for line in fpm.lines(""))


def test_log_level(fpm: Fpm) -> None:
    fpm.configure(top="log_level = warning", pool="catch_workers_output = yes")
    fpm.process = subprocess.Popen(fpm.command("-F"), env=fpm.environment, stderr=subprocess.PIPE, text=True)
    wait_until(fpm.pid_file.exists, "pid file")
    fpm.ask("say log NOTICE: unheard")
    fpm.ask("say log ERROR: heard")
    fpm.wait_for("heard")
    assert [line.split("] ", 1)[1] for line in fpm.lines("")] == ["ERROR: [pool www] heard"]


def test_without_error_log_lines_go_to_stderr(fpm: Fpm) -> None:
    fpm.config.write_text(f"[www]\nlisten = {fpm.sock}\npm.max_children = 1\n")
    with subprocess.Popen(fpm.command("-F"), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "ready to handle connections" in line:
                break
        process.terminate()
        assert "bye-bye" in process.stderr.read()


def test_force_stderr(fpm: Fpm) -> None:
    with subprocess.Popen(fpm.command("-F", "-O"), stderr=subprocess.PIPE, text=True) as process:
        fpm.wait_for("ready to handle")
        process.terminate()
        assert process.stderr is not None and "ready to handle" in process.stderr.read()


def test_workers_end_when_their_master_is_killed(fpm: Fpm) -> None:
    fpm.start()
    worker, _ = fpm.who()
    fpm.send(signal.SIGKILL)
    wait_until(lambda: not is_alive(worker), "the end of the worker")


def test_daemonize(fpm: Fpm) -> None:
    result = fpm.run("-D")
    assert (result.returncode, result.stderr.splitlines()) == (0, [])
    pid = int(fpm.pid_file.read_text())
    try:
        assert os.getsid(pid) == pid
        assert os.readlink(f"/proc/{pid}/fd/2") == "/dev/null"
        assert fpm.who()[1] == 1
        os.kill(pid, signal.SIGUSR2)
        wait_until(lambda: fpm.who()[1] == 2, "the second generation")
        assert int(fpm.pid_file.read_text()) == pid
    finally:
        os.kill(pid, signal.SIGTERM)
    fpm.wait_for("bye-bye")
    wait_until(lambda: not is_alive(pid), "the end of the daemon")


def test_daemonize_tells_of_failure(fpm: Fpm) -> None:
    (fpm.folder / "fails").touch()
    fpm.environment["FAKE_ENGINE_FAILS"] = str(fpm.folder / "fails")
    assert fpm.run("-D").returncode == 78
    assert fpm.lines("ERROR: the fake engine fails") and not fpm.pid_file.exists()


# ---- workers that die ----


def test_a_killed_worker_is_replaced(fpm: Fpm) -> None:
    fpm.start()
    worker, _ = fpm.who()
    os.kill(worker, signal.SIGKILL)
    fpm.wait_for(rf"WARNING: \[pool www\] child {worker} exited on signal 9 \(SIGKILL\) after \d+\.\d{{6}} seconds from start")
    assert fpm.who()[0] != worker


@pytest.mark.parametrize(
    ("order", "text"),
    [("die 11", r"WARNING: .* exited on signal 11 \(SIGSEGV"), ("exit 3", "WARNING: .* exited with code 3"), ("exit 0", "NOTICE: .* exited with code 0")],
)
def test_how_a_worker_ended_is_logged(fpm: Fpm, order: str, text: str) -> None:
    fpm.start()
    assert fpm.ask(order) == ""
    fpm.wait_for(text)
    fpm.wait_for(r"\[pool www\] child \d+ started")
    fpm.who()


def test_a_worker_that_has_served_and_exits_is_replaced_at_once(fpm: Fpm) -> None:
    fpm.start()
    for _ in range(5):
        fpm.ask("exit 0")
    fpm.wait_for("started", 5)
    assert not fpm.lines("died at once")


def test_workers_that_die_at_once_are_started_later_and_later(fpm: Fpm) -> None:
    fpm.configure(pool="env[FAKE_DIES] = 11")
    fpm.start(ready=False)
    found = fpm.wait_for("died at once", 4)
    assert [re.search(r"starts in (\d+) ms", line)[1] for line in found[:4]] == ["100", "200", "400", "800"]  # type: ignore[index]
    assert not fpm.lines("ready to handle")
    fpm.stop(signal.SIGQUIT)


# ---- stopping gracefully ----


def test_sigquit_lets_requests_finish(fpm: Fpm) -> None:
    fpm.configure(children=2)
    fpm.start()
    client = Client(str(fpm.sock))
    assert client.ask("hold").startswith("held ")
    fpm.send(signal.SIGQUIT)
    fpm.wait_for("Finishing")
    assert client.ask("go").startswith("done ")
    client.close()
    assert fpm.wait_end() == 0
    assert not fpm.lines("in time")


def test_without_a_timeout_sigquit_waits_and_sigterm_ends_it(fpm: Fpm) -> None:
    fpm.start()
    client = Client(str(fpm.sock))
    client.ask("hold")
    fpm.send(signal.SIGQUIT)
    fpm.wait_for("Finishing")
    fpm.stop(signal.SIGTERM)
    assert client.socket.recv(1) == b""
    client.close()


def test_process_control_timeout(fpm: Fpm) -> None:
    fpm.configure(top="process_control_timeout = 50ms")
    fpm.start()
    assert fpm.ask("stay") == "staying"
    fpm.stop(signal.SIGQUIT)
    assert [line.split("sending ")[1] for line in fpm.lines("has not ended in time")] == ["SIGTERM", "SIGKILL"]
    assert fpm.lines(r"exited on signal 9 \(SIGKILL\)")


# ---- reload ----


def test_reload(fpm: Fpm) -> None:
    fpm.start()
    old, _ = fpm.who()
    inode = fpm.sock.stat().st_ino
    fpm.configure(children=3)
    fpm.reload()
    new, generation = fpm.who()
    assert new != old and generation == 2
    assert fpm.sock.stat().st_ino == inode and fpm.pid_file.read_text() == str(fpm.pid)
    wait_until(lambda: not is_alive(old), "the end of the old worker")
    assert fpm.lines(rf'using inherited socket fd=\d+, "{fpm.sock}"') and fpm.lines("Reloading in progress")
    fpm.reload()
    assert fpm.who()[1] == 3
    fpm.stop()
    assert not fpm.sock.exists() and not fpm.pid_file.exists()


def test_an_old_worker_finishes_while_the_new_ones_serve(fpm: Fpm) -> None:
    fpm.configure(pool="catch_workers_output = yes")
    fpm.start()
    client = Client(str(fpm.sock))
    old = int(client.ask("hold").split()[1])
    fpm.reload()
    assert fpm.who()[1] == 2 and is_alive(old)
    fpm.reload()  # its master is the third one now
    assert fpm.who()[1] == 3 and is_alive(old)
    assert client.ask("go") == f"done {old}"
    client.close()
    wait_until(lambda: not is_alive(old), "the end of the old worker")
    fpm.stop(signal.SIGQUIT)


def test_an_old_workers_output_is_logged_after_a_reload(fpm: Fpm) -> None:
    fpm.configure(pool="catch_workers_output = yes", top="log_level = debug")
    fpm.start()
    client, speaker = Client(str(fpm.sock)), Client(str(fpm.sock))
    assert speaker.ask("hold") == client.ask("hold")
    fpm.reload()
    old = client.ask("go").split()[1]
    client.close()
    speaker.close()
    fpm.wait_for(rf"DEBUG: \[pool www\] child {old} exited with code 0")


def test_a_stopped_server_ends_old_workers_too(fpm: Fpm) -> None:
    fpm.start()
    client = Client(str(fpm.sock))
    old = int(client.ask("hold").split()[1])
    fpm.reload()
    fpm.stop(signal.SIGTERM)
    assert not is_alive(old)
    client.close()


def test_reloads_lose_no_connection(fpm: Fpm) -> None:
    fpm.configure(children=2)
    fpm.start()
    answers: list[str] = []
    done = threading.Event()

    def clients() -> None:
        while not done.is_set():
            answers.append(fpm.ask("who"))

    threads = [threading.Thread(target=clients) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            fpm.reload()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert len(answers) > 5 and "" not in answers


def refusals(fpm: Fpm) -> None:
    """A reload that is refused changes nothing: the same worker serves."""
    before = fpm.who()
    fpm.send(signal.SIGUSR2)
    fpm.wait_for("ERROR: reload refused: everything goes on as before")
    assert fpm.who() == before
    assert fpm.process is not None and fpm.process.poll() is None


def test_a_bad_configuration_is_not_loaded(fpm: Fpm) -> None:
    fpm.start()
    fpm.configure(pool="pm.max_chidren = 3")
    refusals(fpm)
    assert fpm.lines(rf"ERROR: {fpm.config}:8: unknown directive pm.max_chidren, the nearest known one is pm.max_children")
    fpm.configure()
    fpm.reload()
    assert fpm.who()[1] == 2


def test_an_engine_that_does_not_start_is_not_loaded(fpm: Fpm) -> None:
    fpm.environment["FAKE_ENGINE_FAILS"] = str(fpm.folder / "fails")
    fpm.start()
    (fpm.folder / "fails").touch()
    refusals(fpm)
    assert fpm.lines("ERROR: the fake engine fails")


def test_a_socket_of_another_server_is_not_taken_by_a_reload(fpm: Fpm) -> None:
    other = fpm.folder / "other"
    fpm.start()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(other))
        server.listen()
        fpm.configure(rest=f"[two]\nlisten = {other}\npm.max_children = 1\n")
        refusals(fpm)
        assert fpm.lines(f"address '{other}': another server is listening there") and other.exists()


def test_pools_come_and_go(fpm: Fpm) -> None:
    other = fpm.folder / "other"
    fpm.start()
    fpm.configure(rest=f"[two]\nlisten = {other}\npm.max_children = 1\n")
    fpm.reload()
    fpm.address = str(other)
    assert fpm.who()[1] == 2
    fpm.config.write_text(f"[global]\nerror_log = {fpm.log}\n[two]\nlisten = {other}\npm.max_children = 1\n")
    fpm.reload()
    assert fpm.who()[1] == 3 and not fpm.sock.exists() and not fpm.pid_file.exists()


def test_reload_after_a_stop_began_is_ignored(fpm: Fpm) -> None:
    fpm.start()
    client = Client(str(fpm.sock))
    client.ask("hold")
    fpm.send(signal.SIGQUIT)
    fpm.wait_for("Finishing")
    fpm.send(signal.SIGUSR2)
    client.ask("go")
    client.close()
    assert fpm.wait_end() == 0
    assert not fpm.lines("Reloading")


# ---- logs and output ----


def test_sigusr1_opens_the_logs_again(fpm: Fpm) -> None:
    fpm.start()
    worker, _ = fpm.who()
    fpm.log.rename(fpm.folder / "log.1")
    fpm.send(signal.SIGUSR1)
    fpm.wait_for("NOTICE: error log file re-opened")
    fpm.wait_for(rf"NOTICE: \[pool www\] child {worker} has reopened")
    assert "re-opened" not in (fpm.folder / "log.1").read_text()


def test_output_of_workers(fpm: Fpm) -> None:
    fpm.configure(pool="catch_workers_output = yes")
    fpm.start()
    worker, _ = fpm.who()
    fpm.ask('say out one "two"')
    fpm.ask("say err a\x01b")
    fpm.ask("say err " + "x" * 1500)
    fpm.ask("say log WARNING: of the worker")
    fpm.wait_for("of the worker")
    said = [line.split("] ", 1)[1] for line in fpm.wait_for("said into", 4)]
    start = f"WARNING: [pool www] child {worker} said into"
    assert said == [f'{start} stdout: "one "two""', f'{start} stderr: "a?b"', f'{start} stderr: "{"x" * 1024}"', f'{start} stderr: "{"x" * 476}"']
    assert fpm.lines(r"\] WARNING: \[pool www\] of the worker$")


def test_output_is_dropped_unless_it_is_caught(fpm: Fpm) -> None:
    fpm.start()
    fpm.ask("say err unheard")
    fpm.ask("say log heard")
    fpm.wait_for(r"NOTICE: \[pool www\] heard")
    fpm.stop()
    assert not fpm.lines("unheard")


def test_last_words_come_before_the_end(fpm: Fpm) -> None:
    fpm.configure(pool="catch_workers_output = yes")
    fpm.start()
    fpm.ask("say err last words")
    fpm.ask("exit 3")
    fpm.wait_for("exited with code 3")
    words, end = fpm.lines("last words|exited")
    assert "last words" in words and "exited" in end


# ---- what a worker is given ----


def descriptors(pid: int) -> list[str]:
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(re.sub(r":.*", "", os.readlink(entry)))
        except FileNotFoundError:  # closed meanwhile
            continue
    return sorted(found)


def test_descriptors(fpm: Fpm) -> None:
    """A worker has its own only, and reloads leave none behind in the master."""
    fpm.configure(children=3, rest=f"[two]\nlisten = {fpm.folder}/two\npm.max_children = 2\n")
    fpm.start()
    before = descriptors(fpm.pid)
    for _ in range(3):
        fpm.reload()
        wait_until(lambda: len(descriptors(fpm.pid)) <= len(before), "the end of the old workers")
        assert descriptors(fpm.pid) == before
        worker, own = fpm.who()[0], ["/dev/null"] * 3 + ["pipe", "socket"]
        wait_until(lambda worker=worker: descriptors(worker) == own, f"a worker with {own}, after it has closed our connection")


def test_environment(fpm: Fpm) -> None:
    fpm.environment |= {"SECRET": "x", "GIVEN": "g", "NOTIFY_SOCKET": "/nonexistent"}
    fpm.configure(pool="env[A] = $GIVEN\nenv[B] = text $pool")
    fpm.start()
    assert [fpm.ask(f"env {name}") for name in ("A", "B", "SECRET", "PATH", "NOTIFY_SOCKET", "FIBER_FPM_STATE")] == ["g", "text www", "-", "-", "-", "-"]
    fpm.configure(pool="clear_env = no")
    fpm.reload()
    assert [fpm.ask(f"env {name}") for name in ("A", "SECRET", "NOTIFY_SOCKET", "FIBER_FPM_STATE")] == ["-", "x", "-", "-"]


def test_chdir(fpm: Fpm) -> None:
    fpm.configure(pool="chdir = /usr")
    fpm.start()
    assert fpm.ask("ids").split()[2] == "/usr"


def test_chdir_that_fails(fpm: Fpm) -> None:
    fpm.configure(pool="chdir = /nonexistent")
    fpm.start(ready=False)
    fpm.wait_for(r"ERROR: \[pool www\] cannot change to the folder of chdir: No such file or directory")
    fpm.wait_for("exited with code 70")


@needs_root
def test_user_and_group(fpm: Fpm) -> None:
    fpm.configure(pool="user = nobody\ngroup = daemon\nlisten.owner = nobody\nlisten.mode = 0600")
    fpm.start()
    uid, gid, _ = fpm.ask("ids").split()
    assert (int(uid), int(gid)) == (65534, 1)
    assert [fpm.ask(f"env {name}") for name in ("USER", "HOME")] == ["nobody", "/nonexistent"]
    found = fpm.sock.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (65534, 65534, 0o600)
    worker, _ = fpm.who()
    fpm.send(signal.SIGKILL)  # setuid() does not save a worker from its master's end
    wait_until(lambda: not is_alive(worker), "the end of the worker")


@needs_root
@pytest.mark.parametrize(
    ("pool", "text"),
    [("", "ALERT: [pool www] user has not been defined"), ("user = root", "ERROR: [pool www] please specify user and group other than root")],
)
def test_root_is_refused_unless_allowed(fpm: Fpm, pool: str, text: str) -> None:
    fpm.configure(pool=pool)
    result = fpm.run(command=[str(fpm.binary), "-F", "-y", str(fpm.config)])
    assert result.returncode == 78 and text in result.stderr


# ---- sockets ----


def test_a_socket_that_a_dead_server_left_is_removed(fpm: Fpm) -> None:
    fpm.start()
    fpm.send(signal.SIGKILL)
    fpm.wait_end()
    assert fpm.sock.exists()
    fpm.log.unlink()
    fpm.start()
    assert fpm.who()[1] == 1


def test_a_socket_of_a_living_server_is_not(fpm: Fpm) -> None:
    fpm.start()
    before = fpm.who()
    result = fpm.run("-F")
    assert result.returncode == 78
    assert fpm.lines(f"ERROR: .pool www. unable to bind listening socket for address '{fpm.sock}': another server is listening there")
    assert fpm.who() == before


def test_a_file_is_not_removed_for_a_socket(fpm: Fpm) -> None:
    fpm.sock.write_text("precious")
    assert fpm.run("-F").returncode == 78
    assert fpm.sock.read_text() == "precious"


def test_an_engine_that_does_not_start_removes_nothing(fpm: Fpm) -> None:
    fpm.environment["FAKE_ENGINE_FAILS"] = str(fpm.folder / "fails")
    fpm.start()
    (fpm.folder / "fails").touch()
    assert fpm.run("-F").returncode == 78
    assert fpm.who()[1] == 1 and fpm.pid_file.exists()


@pytest.mark.parametrize(
    ("listen", "hosts"),
    [("127.0.0.1:{}", ["127.0.0.1"]), ("[::1]:{}", ["::1"]), ("localhost:{}", ["localhost"]), ("{}", ["127.0.0.1", "::1"])],
    ids=["v4", "v6", "name", "port"],
)
def test_tcp(fpm: Fpm, listen: str, hosts: list[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fpm.configure(pool=f"listen = {listen.format(port)}")
    fpm.start()
    for host in hosts:
        found = [entry[4][:2] for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        fpm.address = found[0]
        assert fpm.who()[1] == 1
    fpm.reload()


# ---- the service manager ----


@pytest.mark.parametrize("abstract", [False, True], ids=["path", "abstract"])
def test_the_service_manager_is_told(fpm: Fpm, abstract: bool) -> None:
    name = f"@fiber-fpm-test-{os.getpid()}" if abstract else str(fpm.folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(DEADLINE_S)
        manager.bind(name.replace("@", "\0") if abstract else name)
        fpm.environment["NOTIFY_SOCKET"] = name
        fpm.start()
        assert manager.recv(4096).decode().splitlines() == ["READY=1", f"MAINPID={fpm.pid}", "STATUS=Ready to handle connections"]
        fpm.reload()
        reloading = manager.recv(4096).decode().splitlines()
        assert reloading[0] == "RELOADING=1" and re.fullmatch(r"MONOTONIC_USEC=\d+", reloading[1])
        assert manager.recv(4096).startswith(b"READY=1\n")
        fpm.configure(pool="nonsense")
        fpm.send(signal.SIGUSR2)
        assert manager.recv(4096).startswith(b"RELOADING=1\n")
        assert manager.recv(4096).startswith(b"READY=1\nSTATUS=Reload refused")
        fpm.stop()
        assert manager.recv(4096).startswith(b"STOPPING=1\n")


# ---- the command line ----


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--bogus"], "--bogus: unknown option"),
        (["-Z"], "-Z: unknown option"),
        (["-y"], "-y: expected a value"),
        (["-F"], "expected -y and the configuration's file"),
        (["-F", "extra"], "extra: expected options only"),
    ],
)
def test_wrong_usage(fpm: Fpm, options: list[str], text: str) -> None:
    result = fpm.run(command=[str(fpm.binary), *options])
    assert result.returncode == 64
    assert result.stderr.startswith(f"{fpm.binary}: {text}\nUsage: fiber-fpm ")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(fpm: Fpm, option: str) -> None:
    result = fpm.run(command=[str(fpm.binary), option])
    assert (result.returncode, result.stderr) == (0, "") and result.stdout.startswith("Usage: fiber-fpm ")


@pytest.mark.parametrize("option", ["-v", "--version"])
def test_version(fpm: Fpm, option: str) -> None:
    result = fpm.run(command=[str(fpm.binary), option])
    assert (result.returncode, result.stdout) == (0, "fake-fpm 1\n")


def test_a_configuration_is_tested(fpm: Fpm) -> None:
    result = fpm.run("-t")
    assert result.returncode == 0
    assert result.stderr.endswith(f"NOTICE: configuration file {fpm.config} test is successful\n")
    assert not fpm.sock.exists() and not fpm.log.exists()


def test_a_configuration_is_printed(fpm: Fpm) -> None:
    result = fpm.run("-tt")
    texts = [line.split("] ", 1)[1] for line in result.stderr.splitlines()]
    assert "NOTICE: [www]" in texts and "NOTICE: \tpm.max_children = 1" in texts and f"NOTICE: \tlisten = {fpm.sock}" in texts


def test_a_bad_configuration(fpm: Fpm) -> None:
    fpm.configure(pool="pm = dynamic")
    for options in (["-t"], ["-F"], ["-D"]):
        result = fpm.run(*options)
        assert result.returncode == 78
        assert f'ERROR: {fpm.config}:8: bad value "dynamic" of pm: expected static' in result.stderr


def test_no_configuration(fpm: Fpm) -> None:
    result = fpm.run(command=[str(fpm.binary), "-F", "-y", "/nonexistent/a.conf"])
    assert result.returncode == 78 and "ERROR: /nonexistent/a.conf: cannot be read: No such file or directory" in result.stderr


def test_the_background_needs_a_log(fpm: Fpm) -> None:
    fpm.config.write_text(f"[www]\nlisten = {fpm.sock}\npm.max_children = 1\n")
    result = fpm.run()
    assert result.returncode == 78 and "expected error_log in [global], or the option -F" in result.stderr


def test_ini_entries(fpm: Fpm) -> None:
    entries = ["a", "b=", "c=1M", "d=/x y", 'e="q"', "f=-1"]
    result = fpm.run("-t", *(option for entry in entries for option in ("-d", entry)))
    assert result.stderr.splitlines()[:6] == ["a=1", "b=", "c=1M", 'd="/x y"', 'e="q"', 'f="-1"']


def test_pid_file_of_the_command_line(fpm: Fpm) -> None:
    other = fpm.folder / "other.pid"
    with subprocess.Popen(fpm.command("-F", "--pid", str(other)), env=fpm.environment) as process:
        fpm.wait_for("ready to handle")
        assert other.read_text() == str(process.pid) and not fpm.pid_file.exists()
        process.terminate()
    assert not other.exists()
