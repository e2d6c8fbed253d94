"""Ctrl-C without losing the report.

The first SIGINT, SIGTERM or SIGHUP asks the soak to stop early: the phase ends, load and target are shut down as
usual, the report says `interrupted`. The second one means "now": what was registered with `on_second` is ended
by SIGKILL at once, and the report is still written. Nothing is raised, so no half-written state is left anywhere;
waiting is done with `wait`, which a signal ends.

    with Interrupts() as interrupts:
        interrupts.on_second(load.guard_pid)
        while not interrupts.wait(0.25):
            ...
"""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    def __init__(self) -> None:
        self.count = 0
        self._victims: list[int] = []
        self._old: dict[int, object] = {}
        self._old_wakeup = -1
        self._read_fd, self._write_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Interrupts:
        self._old_wakeup = signal.set_wakeup_fd(self._write_fd, warn_on_full_buffer=False)
        for number in SIGNALS:
            self._old[number] = signal.signal(number, self._came)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._old_wakeup)
        os.close(self._read_fd)
        os.close(self._write_fd)

    @property
    def stop(self) -> bool:
        return self.count > 0

    def on_second(self, pid: int) -> None:
        """This process is killed when a second signal comes, and at once if it came already."""
        self._victims.append(pid)
        if self.count > 1:
            _kill(pid)

    def done(self, pid: int) -> None:
        """This process has been waited for: its number may soon be another's."""
        if pid in self._victims:
            self._victims.remove(pid)

    def wait(self, seconds: float) -> bool:
        """Sleeps until the time is over or a signal comes; True if the soak shall stop."""
        if not self.stop:
            select.select([self._read_fd], [], [], max(0.0, seconds))
        return self.stop

    def _came(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            for pid in list(self._victims):
                _kill(pid)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
