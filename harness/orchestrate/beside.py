"""The program beside the main one: [beside] in a target file, such as a web server in front of a FastCGI server.

It is started with the main program, under a guard of its own, and writes to the same log. No faults are injected into it,
it is not sampled, and signals by name (reload, quit) do not go to it: the target is what is measured, this is how it is reached.
That it ends when nobody told it to is a problem of the run.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from signal import SIGKILL
from typing import IO

from . import paths, proc, template
from .exit import how_it_ended
from .target import Beside

GUARD_END_WITHIN_S = 5.0


class BesideProgram:
    def __init__(self, beside: Beside, places: Mapping[str, str], environment: Mapping[str, str], log: IO[bytes]) -> None:
        self._beside = beside
        self.name = beside.executables[0].rpartition("/")[2]
        command = [template.fill(one, places) for one in beside.command]
        self._guard = subprocess.Popen(
            [str(paths.program("ordeal")), "guard", "--die-with-parent", "--", *command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=Path(places["LOG"]).parent, process_group=0,
        )  # fmt: skip

    @property
    def pid(self) -> int | None:
        return proc.first_other(self._guard.pid)

    def ended(self) -> str | None:
        """None while it runs; else that it has ended, and how."""
        if self._guard.poll() is None:
            return None
        return f"{self.name}, which runs beside it, has ended ({how_it_ended(self._guard.returncode)})"

    def stop(self) -> list[str]:
        """What was not as it should be: it had ended before, or it had to be killed."""
        if gone := self.ended():
            return [gone]
        pid = self.pid
        forced = []
        if pid is not None:
            proc.send(pid, self._beside.stop)
            if not proc.wait_end(pid, self._beside.within_s):
                forced.append(f"{self.name}, {self._beside.stop.name}: still running after {self._beside.within_s:g} s")
                proc.send(pid, SIGKILL)
        if not proc.wait_end(self._guard.pid, GUARD_END_WITHIN_S):
            forced.append(f"{self.name}: its guard is still running after {GUARD_END_WITHIN_S:g} s")
        self.kill()
        return forced

    def kill(self) -> None:
        """Nothing of it is left: what the guard watches over dies with it. Safe to call twice."""
        if self._guard.poll() is None:
            self._guard.kill()
        self._guard.wait()
