"""The phases of a run as a page shows them: the numbers of each, the cycles they form, and the sums by name.

A run of an hour has a dozen phases, one of a month thousands. Beyond PHASES_MAX neighbours are merged, cycle by cycle,
so that the page stays usable; results.json has them all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Iterable, Sequence

from reports.chart import median
from reports.model import Phase, Results

PHASES_MAX = 240
COUNTS = ("sent", "answered", "refused", "lost", "isolation")


@dataclass(frozen=True)
class PhaseView:
    phase: Phase
    length_s: float
    rate: float | None
    p50_us: float | None
    p99_us_max: float | None
    max_us: float | None
    pss_kb_first: float | None
    pss_kb_last: float | None
    events: dict[str, int]


@dataclass(frozen=True)
class Total:
    """All phases of one name."""

    name: str
    times: int
    length_s: float
    counts: dict[str, int | None]

    @property
    def rate(self) -> float | None:
        sent = self.counts["sent"]
        return sent / self.length_s if sent is not None and self.length_s else None


def total(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def merge(phases: Sequence[Phase], name: str) -> Phase:
    counts = {key: total(getattr(phase, key) for phase in phases) for key in COUNTS}
    return Phase(name, phases[0].cycle, phases[0].start_s, max(phase.end_s for phase in phases), note="", **counts)


def cycles_of(phases: Sequence[Phase]) -> list[Phase]:
    """The phases of each cycle as one; empty when the run had no more than one cycle."""
    found = [merge(list(group), f"cycle {cycle}") for cycle, group in groupby(phases, key=lambda phase: phase.cycle) if cycle]
    return found if len(found) > 1 else []


def condense(phases: Sequence[Phase]) -> list[Phase]:
    """At most PHASES_MAX phases: those of the run, or merged by cycle, or by several cycles."""
    found = list(phases)
    if len(found) > PHASES_MAX:
        groups = [(cycle, list(group)) for cycle, group in groupby(found, key=lambda phase: phase.cycle)]
        found = [merge(group, f"cycle {cycle}" if cycle else group[0].name) for cycle, group in groups]
    if len(found) > PHASES_MAX:
        width = -(-len(found) // PHASES_MAX)
        parts = [found[first : first + width] for first in range(0, len(found), width)]
        found = [merge(part, f"{part[0].name} to {part[-1].name}") for part in parts]
    return found


def totals(phases: Sequence[Phase]) -> list[Total]:
    """In the order in which the names first appear; empty when no name appears twice."""
    by_name: dict[str, list[Phase]] = {}
    for phase in phases:
        by_name.setdefault(phase.name, []).append(phase)
    if len(by_name) == len(phases):
        return []
    return [
        Total(name, len(found), sum(phase.end_s - phase.start_s for phase in found), {key: total(getattr(phase, key) for phase in found) for key in COUNTS})
        for name, found in by_name.items()
    ]


def make_phases(results: Results) -> list[PhaseView]:
    times_s = {name: [row.t_s for row in getattr(results, name)] for name in ("load", "samples", "events")}
    return [make_phase(phase, results, times_s) for phase in condense(results.phases)]


def make_phase(phase: Phase, results: Results, times_s: dict[str, list[float]]) -> PhaseView:
    def within(name: str) -> list[Any]:
        first, after = (bisect_left(times_s[name], at_s) for at_s in (phase.start_s, phase.end_s))
        return getattr(results, name)[first:after]

    def column(rows: list[Any], name: str) -> list[float]:
        return [value for row in rows if (value := getattr(row, name)) is not None]

    load, pss = within("load"), column(within("samples"), "pss_kb")
    p50, length_s = column(load, "p50_us"), phase.end_s - phase.start_s
    return PhaseView(
        phase,
        length_s,
        rate=phase.sent / length_s if phase.sent is not None and length_s else None,
        p50_us=median(p50) if p50 else None,
        p99_us_max=max(column(load, "p99_us"), default=None),
        max_us=max(column(load, "max_us"), default=None),
        pss_kb_first=pss[0] if pss else None,
        pss_kb_last=pss[-1] if pss else None,
        events=dict(Counter(event.kind for event in within("events"))),
    )
