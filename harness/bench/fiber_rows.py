"""fiber-fpm against php-fpm, one worker each, OPcache on in both.

Rates are compared in pairs, one contender after the other, as a small machine runs at another speed each second; what is
told is the median of the pairs' ratios. Eight requests that wait are told by the median of their turns. What only
disturbance can worsen, the cost of a switch, is told by the best turn.
"""
from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from statistics import median

from harness.bench.fiber_servers import all_at_once, load_rate, server, status
from harness.bench.late_peer import late_peer, own_certificate
from harness.bench.measure import BIN, NotThis, Row, Unavailable, take_turns
from harness.orchestrate import LaunchError, Running, proc
from harness.orchestrate.waiting import NotReached, eventually

PAIRS_A_ROUND = 3
WAITING = 8
WAIT_MS, ALL_WITHIN_MS = 1000, 1050
SWITCH_CALLS = 200_000
MANY_WAIT_US = 5_000_000
REACHED_WITHIN_S = 20


def rows(rounds: int) -> Iterator[Row | NotThis]:
    """All of them, whatever happens to one: a server that fails at one row is asked for the next one anew."""
    for part in (_rates, _waits, _switch, _memory, _in_flight):
        try:
            yield from part(rounds)
        except (RuntimeError, NotReached, LaunchError, subprocess.CalledProcessError) as error:
            name = part.__name__.strip("_").replace("_", " ")
            yield NotThis(f"fiber-fpm: {name}", str(error).splitlines()[0])


@contextmanager
def _both() -> Iterator[tuple[Running, Running]]:
    with server("fiber") as fiber, server("php-fpm") as php:
        yield fiber, php


# ---- requests a second --------------------------------------------------------------------------------------------

RATES = (
    ("hello world, new connection, 1 client", "/hello.php", 1, False, 1.0),
    ("hello world, new connection, 8 clients", "/hello.php", 8, False, 1.6),
    ("hello world, kept connection, 1 client", "/hello.php", 1, True, 1.0),
    ("a page of about 2 ms CPU, 1 client", "/cpu.php", 1, False, 1.0),
)


def _rates(rounds: int) -> Iterator[Row]:
    with _both() as servers:
        for name, page, clients, keep_alive, goal in RATES:
            contenders: dict[str, Callable[[], dict[str, float]]] = {
                run.target.name: lambda run=run: load_rate(run, page, clients, keep_alive) for run in servers
            }
            pairs = take_turns(contenders, rounds * PAIRS_A_ROUND)
            rate = {who: [pair[who]["requests_per_s"] for pair in pairs] for who in contenders}
            ratio = median(ours / theirs for ours, theirs in zip(rate["fiber"], rate["php-fpm"], strict=True))
            figures = {f"{who} requests/s": median(values) for who, values in rate.items()}
            yield Row(f"fiber-fpm against php-fpm: {name}", ratio, "× php-fpm", f"≥ {goal:g} × php-fpm", ratio >= goal, figures)


# ---- eight requests that wait a second each -------------------------------------------------------------------------


def _waits(rounds: int) -> Iterator[Row | NotThis]:
    with _both() as (fiber, php), tempfile.TemporaryDirectory(prefix="ordeal-bench-") as name:
        work = Path(name)
        alone = all_at_once(php, ["/wait_usleep.php"] * WAITING)[0]
        yield _wait_row("usleep", [_eight(fiber, "/wait_usleep.php") for _ in range(rounds)], {"php-fpm ms": alone})
        yield _wait_row("flock on 8 files", [_eight_locked(fiber, work) for _ in range(rounds)])
        for what, page, peer in (
            ("https:// to a local peer", "/wait_https.php?url=", lambda: late_peer(own_certificate(work))),
            ("curl to a local peer", "/wait_curl.php?url=", lambda: _with_extension(fiber, "curl", late_peer())),
            ("Redis BLPOP", "/wait_redis.php?socket=", lambda: _redis(work)),
            ("MySQL SELECT SLEEP(1)", "/wait_mysql.php?socket=", lambda: _mysql(fiber, work)),
        ):
            try:
                with peer() as address:
                    yield _wait_row(what, [_eight(fiber, page + address) for _ in range(rounds)])
            except Unavailable as reason:
                yield NotThis(_wait_name(what), str(reason))


def _wait_name(what: str) -> str:
    return f"fiber-fpm: {WAITING} × 1 s of {what}, one worker"


def _wait_row(what: str, took_ms: list[float], others: dict[str, float] | None = None) -> Row:
    figures = {"fastest ms": min(took_ms), "slowest ms": max(took_ms), **(others or {})}
    value = median(took_ms)
    return Row(_wait_name(what), value / 1e3, "s", f"≤ {ALL_WITHIN_MS / 1e3:g} s", value <= ALL_WITHIN_MS, figures)


def _eight(run: Running, request: str) -> float:
    took_ms, answers = all_at_once(run, [request] * WAITING)
    if any(answer != "waited" for answer in answers):
        raise RuntimeError(f"{request}: {answers}")
    return took_ms


def _eight_locked(run: Running, work: Path) -> float:
    """Eight files whose locks are held here, and given back a second after the requests began."""
    with ExitStack() as held:
        files = [held.enter_context((work / f"lock{i}").open("w")) for i in range(WAITING)]
        for file in files:
            fcntl.flock(file, fcntl.LOCK_EX)
        timer = threading.Timer(WAIT_MS / 1e3, lambda: [fcntl.flock(file, fcntl.LOCK_UN) for file in files])
        timer.start()
        took_ms, answers = all_at_once(run, [f"/wait_flock.php?file={file.name}" for file in files])
        timer.join()
    if any(answer != "waited" for answer in answers) or took_ms < WAIT_MS:
        raise RuntimeError(f"flock: {answers} after {took_ms:.0f} ms")
    return took_ms


@contextmanager
def _helper(command: list[str], socket: Path) -> Iterator[None]:
    """A server that is ready when its socket is there."""
    guard = [str(BIN / "ordeal"), "guard", "--die-with-parent", "--", *command]
    process = subprocess.Popen(guard, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: socket.exists() and process.poll() is None, f"{command[0]} starts", REACHED_WITHIN_S)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _has_extension(run: Running, name: str) -> bool:
    return name in run.request("/extensions.php").text.split()


@contextmanager
def _with_extension(run: Running, name: str, peer: AbstractContextManager[str]) -> Iterator[str]:
    if not _has_extension(run, name):
        raise Unavailable(f"PHP's extension {name} is not installed (Debian: php8.2-{name})")
    with peer as address:
        yield address


@contextmanager
def _redis(work: Path) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        raise Unavailable("redis-server is not installed")
    socket = work / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(work)]
    with _helper([*command, "--hz", "500"], socket):  # or it looks only ten times a second whose time is over
        yield str(socket)


@contextmanager
def _mysql(run: Running, work: Path) -> Iterator[str]:
    search = os.environ.get("PATH", os.defpath) + ":/usr/sbin"
    found = {name: shutil.which(name, path=search) for name in ("mariadbd", "mariadb-install-db")}
    missing = [name for name, path in found.items() if path is None]
    if not _has_extension(run, "mysqli"):
        missing.append("PHP's extension mysqli")
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)} (Debian: mariadb-server, php8.2-mysql)")
    data, socket, user = work / "mysql", work / "mysql.sock", run.places["USER"]
    install = [str(found["mariadb-install-db"]), "--no-defaults", f"--datadir={data}", f"--user={user}"]
    subprocess.run([*install, "--auth-root-authentication-method=normal"], check=True, capture_output=True)
    command = [str(found["mariadbd"]), "--no-defaults", f"--datadir={data}", f"--socket={socket}", f"--user={user}"]
    with _helper([*command, "--skip-networking", f"--pid-file={work}/mysql.pid"], socket):
        yield f"{socket}&user=root"


# ---- what a request costs the worker ---------------------------------------------------------------------------------


def _switch(rounds: int) -> Iterator[Row]:
    """With ORDEAL_CHAOS=1 every internal call of a script lets all other requests run first. So when k requests make n
    calls each, there are k · n switches from one to another; the time from the first call to the last one, divided by
    that, less what the call itself costs in a worker without ORDEAL_CHAOS, is the cost of a switch. With two requests
    each pass of the event loop (one epoll_wait) comes after two switches and is counted in; with more it is shared by
    more. One request alone shows what is left when no image is changed."""
    best: dict[str, float] = {}
    with server("fiber") as plain, server("fiber", env={"ORDEAL_CHAOS": "1"}) as switching:
        for _ in range(rounds):
            for name, run, count in (("call", plain, 1), ("alone", switching, 1), ("two", switching, 2), ("sixteen", switching, 16)):
                best[name] = min(best.get(name, float("inf")), _ns_a_call(run, count))
    figures = {f"{name} ns": ns if name == "call" else ns - best["call"] for name, ns in best.items()}
    value = figures["two ns"] / 1e3
    yield Row("fiber-fpm: switch between two requests", value, "µs", "≤ 0.7 µs", value <= 0.7, figures)


def _ns_a_call(run: Running, requests: int) -> float:
    calls = SWITCH_CALLS // requests
    _, answers = all_at_once(run, [f"/switch.php?n={calls}"] * requests)
    told = [json.loads(answer) for answer in answers]
    return (max(one["end"] for one in told) - min(one["start"] for one in told)) / (requests * calls)


@contextmanager
def _many(run: Running, count: int) -> Iterator[Callable[[], dict[str, int]]]:
    """So many requests that wait, sent at once. What is yielded waits for their end and gives the account."""
    with tempfile.TemporaryDirectory(prefix="ordeal-bench-") as name:
        mix, out = Path(name) / "mix", Path(name) / "out.json"
        mix.write_text(f"1 GET /wait_usleep.php?us={MANY_WAIT_US} marker=off\n")
        command = [str(BIN / "ordeal-load"), "--target", run.endpoint, "--root", run.root, "--mix", str(mix), "--timeout", "30s"]
        command += ["--clients", str(count), "--requests", str(count), "--json", str(out), "--quiet", "--die-with-parent"]
        load = subprocess.Popen(command)

        def account() -> dict[str, int]:
            if load.wait() != 0:
                raise RuntimeError(f"ordeal-load ended with status {load.returncode}")
            return json.loads(out.read_text())["requests"]

        try:
            yield account
        finally:
            load.terminate()
            load.wait()


def _pss_kb(pid: int) -> int:
    memory = proc.memory(pid)
    if memory is None:
        raise RuntimeError("the worker has ended")
    return memory.pss_kb


def _memory(_rounds: int) -> Iterator[Row]:
    """(PSS of the worker with 200 requests waiting − PSS before) / 200, from smaps_rollup. Before, the page has been served."""
    count = 200
    with server("fiber") as run:
        (worker,) = run.workers()
        all_at_once(run, ["/wait_usleep.php?us=0"])
        before = _pss_kb(worker)
        with _many(run, count) as account:
            eventually(lambda: status(run)["worker in flight"] == count, f"{count} requests wait", REACHED_WITHIN_S)
            waiting = _pss_kb(worker)
            still = status(run)["worker in flight"]
            answered = account()["answered"]
    if still != count or answered != count:
        raise RuntimeError(f"{still} were waiting when the memory had been read, {answered} of {count} were answered")
    value = (waiting - before) / count
    figures = {"with none KB": before, "with 200 KB": waiting}
    yield Row("fiber-fpm: memory of a waiting request (PSS)", value, "KB", "≤ 250 KB", value <= 250, figures)


def _in_flight(_rounds: int) -> Iterator[Row]:
    """As many as fiber.max_in_flight allows. How many there were at once is asked afterwards: a full worker takes no question."""
    count = 1000
    with server("fiber", max_in_flight=count) as run:
        with _many(run, count) as account:
            answered = account()["answered"]
        most = status(run)["max active processes"]
    met = most == count and answered == count
    yield Row("fiber-fpm: in flight at once in one worker", most, "requests", f"{count}, answered", met, {"answered": answered})
