"""Reading /proc, for processes that may vanish at any moment.

Every function answers for what is there *now*: a process that ends while it is being read is simply not there
(None, or left out of a list). It is never an exception, because the processes watched here are being killed on purpose.

    >>> tree(1234)                      # [1235, 1236, 1240]: all descendants, parents before children
    >>> executable(1235)                # "php-fpm8.2"
"""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
DELETED = " (deleted)"  # the kernel's suffix on /proc/PID/exe when the file was replaced under a running program


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except (*_GONE, OSError):
        return None


def alive(pid: int) -> bool:
    """Running or stopped; a zombie has ended already."""
    state = state_of(pid)
    return state is not None and state not in "ZX"


def state_of(pid: int) -> str | None:
    text = _read(f"/proc/{pid}/stat")
    return text.rpartition(")")[2].split()[0] if text else None


def parent(pid: int) -> int | None:
    text = _read(f"/proc/{pid}/stat")
    return int(text.rpartition(")")[2].split()[1]) if text else None


def started(pid: int) -> int | None:
    """Start time in clock ticks since boot: with the pid it names a process for ever, as a pid alone does not."""
    text = _read(f"/proc/{pid}/stat")
    return int(text.rpartition(")")[2].split()[19]) if text else None


def executable(pid: int) -> str | None:
    """Basename of the running program; the short name where /proc/PID/exe may not be read."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe").removesuffix(DELETED))
    except OSError:
        comm = _read(f"/proc/{pid}/comm")
        return comm.strip() if comm else None


def children(pid: int) -> list[int]:
    """Children of every thread of the process."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for tid in threads:
        text = _read(f"/proc/{pid}/task/{tid}/children")
        if text:
            found += [int(child) for child in text.split()]
    return sorted(found)


def tree(pid: int) -> list[int]:
    """All descendants that have not ended, without `pid` itself; parents come before their children."""
    found: list[int] = []
    level = [pid]
    while level:
        level = [child for one in level for child in children(one) if child not in found]
        found += level
    return [one for one in found if alive(one)]


def first_other(pid: int) -> int | None:
    """The first descendant that runs another program than `pid` itself: what a launcher has launched."""
    own = executable(pid)
    return next((one for one in tree(pid) if executable(one) != own), None)


@dataclass(frozen=True)
class Memory:
    """From smaps_rollup: `pss_kb` counts a page shared by n processes as 1/n of a page to each."""

    pss_kb: int
    rss_kb: int
    anon_kb: int


def memory(pid: int) -> Memory | None:
    text = _read(f"/proc/{pid}/smaps_rollup")
    if not text:
        return None
    rows = {line.split(":")[0]: line.split() for line in text.splitlines()[1:]}
    try:
        return Memory(*(int(rows[key][1]) for key in ("Pss", "Rss", "Anonymous")))
    except (KeyError, IndexError, ValueError):
        return None


def fds(pid: int) -> int | None:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


def threads(pid: int) -> int | None:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return None


def wait_end(pid: int, within_s: float) -> bool:
    """True as soon as the process has ended; False if it still runs after `within_s`. It need not be a child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(max(0, within_s) * 1000))
    finally:
        os.close(handle)


def send(pid: int, number: int) -> bool:
    """Sends a signal; False when there is no such process any more."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def signal_number(name: str) -> int:
    """`SIGUSR2` or `USR2` -> 12. KeyError for anything else."""
    full = name if name.startswith("SIG") else f"SIG{name}"
    return signal.Signals[full].value


def who_listens(port: int) -> str | None:
    """`nginx (pid 812)` for whoever listens on this TCP port, as far as this user may see."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in (_read(table) or "").splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and int(cells[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{cells[9]}]")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and inodes and _holds(int(entry.name), inodes):
            return f"{executable(int(entry.name))} (pid {entry.name})"
    return None


def _holds(pid: int, links: set[str]) -> bool:
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return False
    for name in names:
        try:
            if os.readlink(f"/proc/{pid}/fd/{name}") in links:
                return True
        except OSError:
            continue
    return False
