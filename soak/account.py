"""The account of each phase, and of the whole run.

Requests sent and answered are known from the lines the load generator writes once a second, so a phase
begins and ends at the first line after its boundary. Requests that were refused or lost are known one
by one with their times, so those are exact. The sums over all phases are the sums of the run.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from soak.explain import Explained
from soak.measured import Count, Measured, PhaseRun


@dataclass(frozen=True)
class PhaseAccount:
    phase: PhaseRun
    sent: int
    answered: int
    refused: int
    lost: int
    isolation: int


def by_phase(measured: Measured) -> list[PhaseAccount]:
    times = [int(line["t_ns"]) for line in measured.live]
    accounts, before = [], Count()
    for number, phase in enumerate(measured.phases):
        first, last = number == 0, number == len(measured.phases) - 1
        line = bisect_left(times, phase.end_ns)
        after = measured.total if last or line == len(times) else Count.from_json(measured.live[line])
        ended = [
            one.outcome
            for one in measured.unanswered
            if (first or one.ended_ns >= phase.start_ns) and (last or one.ended_ns < phase.end_ns)
        ]
        accounts.append(
            PhaseAccount(
                phase, after.sent - before.sent, after.answered - before.answered,
                ended.count("refused"), ended.count("lost"), ended.count("isolation"),
            )
        )
        before = after
    return accounts


def whole(measured: Measured, explained: Explained) -> dict[str, int]:
    total = measured.total
    return {
        "sent": total.sent,
        "answered": total.answered,
        "refused": total.refused,
        "lost": total.lost,
        "isolation": total.isolation,
        "in_flight": total.in_flight,
        "lost_explained": explained.lost_explained,
        "lost_unexplained": len(explained.lost_unexplained),
        "refused_by_fault": len(explained.refused_by_fault),
        "refused_by_kill": len(explained.refused_by_kill),
        "refused_unexplained": len(explained.refused_unexplained),
    }
