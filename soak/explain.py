"""Which requests that were not answered have an explanation.

A killed worker takes down the request it was working on, and nothing can be done about that. So a loss is
explained when all of this is true:

- its connection was open at the instant of a kill: sent ≤ kill ≤ ended;
- it ended because the connection was closed or reset (a timeout or a malformed answer is something else);
- no more are explained by one kill than one worker can hold (one, for php-fpm).

A refusal with a reason is explained when rules were armed at some time between its sending and its end.
Everything else is unexplained, and breaks the promise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from soak.measured import Interval, Kill, Unanswered

CUT_OFF = re.compile(r"\b(closed|reset|broken pipe|EPIPE|ECONNRESET)\b", re.IGNORECASE)


@dataclass
class Explained:
    losses_by_kill: list[list[Unanswered]] = field(default_factory=list)
    lost_unexplained: list[Unanswered] = field(default_factory=list)
    refused_by_fault: list[Unanswered] = field(default_factory=list)
    refused_unexplained: list[Unanswered] = field(default_factory=list)
    isolation: list[Unanswered] = field(default_factory=list)

    @property
    def lost_explained(self) -> int:
        return sum(len(losses) for losses in self.losses_by_kill)

    @property
    def unexplained(self) -> list[Unanswered]:
        return sorted(self.isolation + self.lost_unexplained + self.refused_unexplained, key=lambda one: one.ended_ns)


def could_explain(kill: Interval, loss: Unanswered) -> bool:
    return kill.meets(loss.sent_ns, loss.ended_ns) and CUT_OFF.search(loss.reason) is not None


def explain(
    unanswered: Sequence[Unanswered], kills: Sequence[Kill], armed: Sequence[Interval], requests_per_worker: int
) -> Explained:
    """Sorts every request that was not answered into one of the lists."""
    result = Explained(losses_by_kill=[[] for _ in kills])
    for one in sorted(unanswered, key=lambda one: one.ended_ns):
        if one.outcome == "lost":
            _place_loss(one, kills, requests_per_worker, result)
        elif one.outcome == "isolation":
            result.isolation.append(one)
        elif any(interval.meets(one.sent_ns, one.ended_ns) for interval in armed):
            result.refused_by_fault.append(one)
        else:
            result.refused_unexplained.append(one)
    return result


def _place_loss(loss: Unanswered, kills: Sequence[Kill], requests_per_worker: int, result: Explained) -> None:
    for kill, taken in zip(kills, result.losses_by_kill):
        if len(taken) < requests_per_worker and could_explain(kill.at, loss):
            taken.append(loss)
            return
    result.lost_unexplained.append(loss)
