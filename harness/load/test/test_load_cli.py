"""What ordeal-load says to wrong usage, before any request is sent; and how it lives and dies."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from load_peers import DEADLINE_S, Connection, Peer, unix_peer
from load_runs import RUN_TIMEOUT_S, command

TARGET = ["--target", "http://127.0.0.1:1"]
GET = ["--get", "/a"]

BAD_USAGE: list[tuple[list[str], str]] = [
    ([], "no target: expected --target URL"),
    (["--tarket", "x"], "unknown option '--tarket'; did you mean '--target'?"),
    (["surprise"], "unknown option 'surprise'"),
    (["--target"], "--target without its URL"),
    ([*TARGET], "expected either --mix FILE or --get /PATH"),
    ([*TARGET, *GET, "--mix", "x"], "expected either --mix FILE or --get /PATH"),
    ([*TARGET, *GET, "--rate", "fast"], "--rate 'fast': expected requests a second such as 500 or 500/s"),
    ([*TARGET, *GET, "--rate=0"], "--rate '0': expected"),
    ([*TARGET, *GET, "--duration", "10 s"], "--duration '10 s': expected a time such as 500ms, 30s or 5m"),
    ([*TARGET, *GET, "--clients", "0"], "--clients '0': expected a whole number"),
    ([*TARGET, *GET, "--clients", "1", "--rate", "1"], "--rate (open loop) and --clients (closed loop) exclude each other"),
    ([*TARGET, *GET, "--clients", "9", "--connections", "3"], "--connections below --clients"),
    ([*TARGET, *GET, "--slow", "no-raed"], "expected header-bytes, stalled-body or no-read; did you mean 'no-read'?"),
    ([*TARGET, *GET, "--keep-alive=yes"], "--keep-alive takes no value"),
    ([*TARGET, "--get", "a"], "--get:1:7: target 'a' does not begin with '/'"),
    ([*TARGET, "--get", "/a b"], "--get '/a b': expected a path"),
    ([*TARGET, "--mix", "/no/such.mix"], "cannot read /no/such.mix: No such file or directory"),
    ([*TARGET, "--mix", "/"], "cannot read /: it is a folder"),
    (["--target", "htp://x:1", *GET], "'htp://x:1' is no target, expected unix:/PATH, fcgi://HOST:PORT"),
    (["--target", "htp://x:1", *GET], "did you mean 'http://'?"),
    (["--target", "fcgi://127.0.0.1", *GET], "expected HOST:PORT after 'fcgi://'"),
    (["--target", "http://127.0.0.1:99999", *GET], "expected HOST:PORT after 'http://'"),
    (["--target", "http://127.0.0.1:80/path", *GET], "no path: that is in the mix"),
    (["--target", "unix:", *GET, "--root", "/"], "expected a socket path of 1 to 107 bytes"),
    (["--target", "unix:/tmp/x.sock", *GET], "FastCGI without a document root: expected --root DIR"),
    (["--target", "unix:/tmp/x.sock", *GET, "--root", "no/such/folder"], "--root 'no/such/folder': No such file"),
    ([*TARGET, *GET, "--json", "/no/such/folder/x"], "cannot write /no/such/folder/x: No such file or directory"),
    ([*TARGET, *GET, "--live", "/no/such/folder/x"], "cannot write /no/such/folder/x"),
    ([*TARGET, *GET, "--losses", "/no/such/folder/x"], "cannot write /no/such/folder/x"),
]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)


@pytest.mark.parametrize(("arguments", "says"), BAD_USAGE, ids=[" ".join(case[0]) or "nothing" for case in BAD_USAGE])
def test_bad_usage(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("ordeal-load: ") and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_bad_mix_line_is_pointed_at(tmp_path: Path) -> None:
    mix = tmp_path / "shop.mix"
    mix.write_text("# a shop\n40 GET /hello.php\n 5 GET /fatal.php expekt=500\n")
    done = run(*TARGET, "--mix", str(mix))
    assert done.returncode == 2
    assert f"{mix}:3:19: unknown option 'expekt=', expected one of" in done.stderr
    assert "did you mean 'expect='?" in done.stderr


@pytest.mark.parametrize("target", ["http://127.0.0.1:1", "unix:{}/nobody.sock"], ids=["tcp", "unix"])
def test_an_unreachable_target(tmp_path: Path, target: str) -> None:
    done = run("--target", target.format(tmp_path), "--root", "/", *GET)
    assert done.returncode == 1
    assert "cannot reach" in done.stderr and "is the target running and listening there?" in done.stderr


def test_help_teaches() -> None:
    done = run("--help")
    assert done.returncode == 0
    for word in ("--target", "--rate", "--slow", "Examples:", "The mix file", "Exit status", "isolation"):
        assert word in done.stdout


def answering(peer: Peer, connection: Connection) -> None:
    while True:
        connection.answer_http(connection.read_http().marker)


def test_quiet_says_nothing(tmp_path: Path) -> None:
    with unix_peer(tmp_path, answering, "http+unix:") as peer:
        done = run("--target", peer.url, *GET, "--requests", "3", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_colour_and_no_live_line_without_a_terminal(tmp_path: Path) -> None:
    with unix_peer(tmp_path, answering, "http+unix:") as peer:
        done = run("--target", peer.url, *GET, "--requests", "3")
    assert done.stderr == "" and "\033" not in done.stdout and "\r" not in done.stdout
    assert "sent 3 = answered 3 + refused 0 + lost 0 + isolation 0" in done.stdout


def test_a_live_line_on_a_terminal(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with unix_peer(tmp_path, answering, "http+unix:") as peer:
        done = subprocess.run(command("--target", peer.url, *GET, "--requests", "3"), stdout=subprocess.DEVNULL,
                              stderr=slave, timeout=RUN_TIMEOUT_S, check=False)  # fmt: skip
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert done.returncode == 0
    assert "sent 3  answered 3" in shown and shown.startswith("\r")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    def hold(peer: Peer, connection: Connection) -> None:
        connection.read_http()
        peer.seen.set()
        peer.release.wait(DEADLINE_S)

    with unix_peer(tmp_path, hold, "http+unix:") as peer:
        load = command("--target", peer.url, *GET, "--duration", "1h", "--timeout", "1h", "--die-with-parent")
        script = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:]); print(p.pid, flush=True); p.wait()"
        with subprocess.Popen([sys.executable, "-c", script, *load], stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            assert peer.seen.wait(DEADLINE_S)
            parent.send_signal(signal.SIGKILL)
            parent.wait()
            deadline = time.monotonic() + DEADLINE_S
            while is_alive(pid) and time.monotonic() < deadline:
                os.sched_yield()
            alive = is_alive(pid)
            if alive:
                os.kill(pid, signal.SIGKILL)
    assert not alive
