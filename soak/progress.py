"""What is seen while a soak runs: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_PERIOD_S = 5.0


@dataclass(frozen=True)
class State:
    elapsed_s: float
    phase: str
    rate: float
    answered: int
    refused: int
    lost: int
    pss_kb: int | None

    @property
    def text(self) -> str:
        pss = f"{self.pss_kb / 1024:.1f} MB" if self.pss_kb is not None else "?"
        return f"{self.phase:<10} {self.rate:6.0f}/s  answered {self.answered}  refused {self.refused}  lost {self.lost}  PSS {pss}"


class Display(Protocol):
    def show(self, state: State) -> None: ...
    def note(self, text: str) -> None: ...
    def close(self) -> None: ...


class Bar:
    def __init__(self, duration_s: float) -> None:
        columns = (BarColumn(bar_width=24), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.description}", markup=False))
        self._progress = Progress(*columns, console=Console(), transient=True)
        self._task = self._progress.add_task("starting", total=duration_s)
        self._progress.start()

    def show(self, state: State) -> None:
        self._progress.update(self._task, completed=state.elapsed_s, description=state.text)

    def note(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        self._progress.stop()


class Lines:
    """One line when the phase changes, and every few seconds."""

    def __init__(self, duration_s: float, out: TextIO) -> None:
        self._duration_s, self._out = duration_s, out
        self._phase, self._last = "", -LINE_PERIOD_S

    def show(self, state: State) -> None:
        now = time.monotonic()
        if state.phase == self._phase and now - self._last < LINE_PERIOD_S:
            return
        self._phase, self._last = state.phase, now
        self.note(f"soak {state.elapsed_s:5.0f}/{self._duration_s:.0f} s  {state.text}")

    def note(self, text: str) -> None:
        print(text, file=self._out, flush=True)

    def close(self) -> None:
        pass


def display(duration_s: float, out: TextIO = sys.stdout) -> Display:
    return Bar(duration_s) if out.isatty() else Lines(duration_s, out)
