"""The table on the screen: one row as each finding ends."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .audit import Audit, Cell, Line

TRIED_CHARS = 64
CELL_CHARS = 20
SURPRISE = " ✗"


class Table:
    def __init__(self, columns: Sequence[str], repeat: int = 1) -> None:
        self.columns = list(columns)
        self.width = CELL_CHARS if repeat == 1 else CELL_CHARS + 4

    def head(self) -> str:
        return self._row("finding", "what was tried", [*self.columns], "seconds")

    def line(self, line: Line) -> str:
        tried = line.scenario.finding.tried if line.scenario else line.row.title
        first, *more = textwrap.wrap(tried, TRIED_CHARS) or [""]
        seconds = f"{line.seconds:.1f}" if line.seconds else ""
        out = [self._row(line.row.id, first, [self.cell(line, name) for name in self.columns], seconds)]
        out += [self._row("", text, ["" for _ in self.columns], "") for text in more]
        return "\n".join(out)

    def cell(self, line: Line, name: str) -> str:
        cell: Cell = line.cells[name]
        if not cell.trials and line.row.not_applicable:
            return "not applicable"
        return cell.text + ("" if cell.as_expected or not cell.trials else SURPRISE)

    def _row(self, finding: str, tried: str, cells: Sequence[str], seconds: str) -> str:
        middle = "".join(f"{cell:<{self.width}}" for cell in cells)
        return f"{finding:<8} {tried:<{TRIED_CHARS}}  {middle}{seconds:>7}".rstrip()


def summary(audit: Audit) -> list[str]:
    """What is said below the table."""
    out = [f"  {one}" for one in audit.surprises()]
    missing = {column.name: column.missing for column in audit.columns if column.missing}
    out += [f"audit: {name}: {why}" for name, why in missing.items()]
    out += [f"audit: {one}" for one in audit.failures]
    without = [line.row.id for line in audit.done if line.scenario is None and not line.row.not_applicable]
    if without:
        out.append(f"audit: no scenario yet: {', '.join(without)}")
    if audit.scored:
        covered, of = audit.score()
        times = f", {audit.repeat}/{audit.repeat} each" if audit.repeat > 1 else ""
        out.append(f"audit: mutation score {covered}/{of}: reproduced as audited and clean as fixed{times}")
    cells = [cell for line in audit.asked for cell in line.cells.values() if cell.trials]
    right = sum(cell.as_expected for cell in cells)
    out.append(f"audit: {right} of {len(cells)} verdicts as expected")
    return out
