"""The audit: findings × columns, each N times, and what comes out of it.

    audit = Audit(scenarios, columns, repeat=20, out=folder)
    for line in audit.lines():          # one for each finding, in the catalogue's order, as it ends
        print(line.cells["fixed"].text)
    audit.score()                       # (covered, implemented)

A finding is covered when its audited column says `reproduced` and its fixed column `clean`, in each of N tries.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness.orchestrate import Verdict

from . import columns as columns_
from .catalogue import Row, row
from .columns import Column
from .finding import Scenario
from .trial import NOT_MEASURED, Trial, try_once

Try = Callable[[Scenario, Column, Path | None], Trial]


@dataclass
class Cell:
    column: Column
    expected: str
    trials: list[Trial] = field(default_factory=list)
    missing: str = ""  # why there are no trials

    @property
    def counts(self) -> Counter[str]:
        return Counter(trial.verdict.kind for trial in self.trials)

    @property
    def right(self) -> int:
        return sum(self._is_right(trial.verdict) for trial in self.trials)

    def _is_right(self, verdict: Verdict) -> bool:
        return verdict.kind == self.expected or verdict.kind == "not_applicable" and self.column.name not in columns_.STANDARD

    @property
    def as_expected(self) -> bool:
        return bool(self.trials) and self.right == len(self.trials)

    @property
    def kind(self) -> str:
        """One word for the cell: the verdict of its worst try, seen from what was expected."""
        if not self.trials:
            return NOT_MEASURED
        return self.telling.verdict.kind

    @property
    def telling(self) -> Trial:
        """The try whose story is told: the first that is not as expected, else the first."""
        return next((one for one in self.trials if not self._is_right(one.verdict)), self.trials[0])

    @property
    def text(self) -> str:
        words = self.kind.replace("_", " ")
        if not self.trials or len(self.trials) == 1:
            return words
        return f"{words} {self.counts[self.kind]}/{len(self.trials)}"

    @property
    def seconds(self) -> float:
        return sum(trial.seconds for trial in self.trials)


@dataclass
class Line:
    """One finding's row of the matrix."""

    row: Row
    scenario: Scenario | None
    cells: dict[str, Cell]

    @property
    def seconds(self) -> float:
        return sum(cell.seconds for cell in self.cells.values())

    @property
    def as_expected(self) -> bool:
        return all(cell.as_expected for cell in self.cells.values())

    @property
    def covered(self) -> bool:
        asked = [self.cells.get(name) for name in (columns_.AUDITED, columns_.FIXED)]
        return all(cell is not None and cell.as_expected for cell in asked)


class Audit:
    def __init__(
        self, ids: Sequence[str], scenarios: dict[str, Scenario], columns: Sequence[Column], repeat: int = 1,
        jobs: int = 1, evidence: Path | None = None, attempt: Try = try_once,
    ) -> None:  # fmt: skip
        assert repeat >= 1 and jobs >= 1
        self.ids, self.scenarios, self.columns = list(ids), scenarios, list(columns)
        self.repeat, self.jobs, self.evidence, self._try = repeat, jobs, evidence, attempt
        self.done: list[Line] = []
        self.started_ns = time.time_ns()
        self.stopping = threading.Event()
        self.failures: list[str] = []  # of the audit itself

    def lines(self) -> Iterator[Line]:
        """Tries everything; a line comes as soon as its cells and those of all lines before it are done."""
        with ThreadPoolExecutor(self.jobs, thread_name_prefix="trial") as pool:
            waiting = [(line, self._submit(pool, line)) for line in (self._line(id) for id in self.ids)]
            try:
                for line, futures in waiting:
                    for future in futures:
                        future.result()
                    self.done.append(line)
                    yield line
            finally:
                self.stopping.set()
                pool.shutdown(cancel_futures=True)

    def _line(self, id: str) -> Line:
        scenario = self.scenarios.get(id)
        cells = {column.name: Cell(column, column.expected(row(id)), missing=column.missing or "") for column in self.columns}
        if scenario is None:
            for cell in cells.values():
                cell.missing = row(id).not_applicable or "no scenario yet"
        return Line(row(id), scenario, cells)

    def _submit(self, pool: ThreadPoolExecutor, line: Line) -> list[Future[None]]:
        cells = [cell for cell in line.cells.values() if not cell.missing]
        return [pool.submit(self._fill, line, cell) for cell in cells] if line.scenario else []

    def _fill(self, line: Line, cell: Cell) -> None:
        assert line.scenario is not None
        for k in range(self.repeat):
            if self.stopping.is_set():
                return
            folder = None
            if self.evidence is not None:
                folder = self.evidence / f"{line.row.id}-{cell.column.name}" / f"{k + 1}"
            try:
                cell.trials.append(self._try(line.scenario, cell.column, folder))
            except Exception as error:  # a fault of the scenario's own: never a verdict about the server
                why = f"{line.scenario.source or line.row.id} failed: {error.__class__.__name__}: {error}"
                self.failures.append(why)
                cell.trials.append(Trial(Verdict("inconclusive", [why]), 0.0))

    # ---- what came out -----------------------------------------------------------------------------------------

    @property
    def asked(self) -> list[Line]:
        """The lines that could be judged: a scenario is there."""
        return [line for line in self.done if line.scenario is not None]

    def score(self) -> tuple[int, int]:
        return sum(line.covered for line in self.asked), len(self.asked)

    @property
    def scored(self) -> bool:
        """Both columns of the mutation score were measured."""
        names = {column.name for column in self.columns if not column.missing}
        return {columns_.AUDITED, columns_.FIXED} <= names

    def surprises(self) -> list[str]:
        out = []
        for line in self.asked:
            for cell in line.cells.values():
                if cell.trials and not cell.as_expected:
                    verdict = cell.telling.verdict
                    out.append(f"{line.row.id} {cell.column.name}: {verdict.line()} (expected {cell.expected.replace('_', ' ')})")
        return out
