"""Which requests that were not answered have an explanation.

A killed worker takes down the request it was working on, and nothing can be done about that. So a loss is
explained when all of this is true:

- its connection was open at the instant of a kill: sent ≤ kill ≤ ended;
- it ended because the connection was closed or reset (a timeout or a malformed answer is something else);
- no more are explained by one kill than one worker can hold (one, for php-fpm).

Behind a web server (`gateway` among the target's capabilities) the connection stays, and the web server answers 502 for
what the worker held. Such an answer is in the account's column "refused", as any answer with a wrong status is; it counts
against the same kill and the same number as a loss does, and is explained by it under the same conditions.

Any other refusal with a reason is explained when rules were armed at some time between its sending and its end.
Everything else is unexplained, and breaks the promise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from soak.measured import Interval, Kill, Unanswered

BAD_GATEWAY = re.compile(r"^status 502\b")
CUT_OFF = re.compile(r"\b(closed|reset|broken pipe|EPIPE|ECONNRESET)\b", re.IGNORECASE)


@dataclass
class Explained:
    losses_by_kill: list[list[Unanswered]] = field(default_factory=list)
    refused_by_kill: list[Unanswered] = field(default_factory=list)  # 502, of the gateway: each takes a place of a kill
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


def could_explain(kill: Interval, one: Unanswered) -> bool:
    sign = CUT_OFF if one.outcome == "lost" else BAD_GATEWAY
    return kill.meets(one.sent_ns, one.ended_ns) and sign.search(one.reason) is not None


def explain(
    unanswered: Sequence[Unanswered],
    kills: Sequence[Kill],
    armed: Sequence[Interval],
    requests_per_worker: int,
    gateway: bool = False,
) -> Explained:
    """Sorts every request that was not answered into one of the lists."""
    result = Explained(losses_by_kill=[[] for _ in kills])
    held = [0 for _ in kills]  # what each kill has explained so far
    for one in sorted(unanswered, key=lambda one: one.ended_ns):
        number = _kill_of(one, kills, held, requests_per_worker) if one.outcome == "lost" or gateway else None
        if one.outcome == "isolation":
            result.isolation.append(one)
        elif number is not None:
            held[number] += 1
            (result.losses_by_kill[number] if one.outcome == "lost" else result.refused_by_kill).append(one)
        elif one.outcome == "lost":
            result.lost_unexplained.append(one)
        elif any(interval.meets(one.sent_ns, one.ended_ns) for interval in armed):
            result.refused_by_fault.append(one)
        else:
            result.refused_unexplained.append(one)
    return result


def _kill_of(one: Unanswered, kills: Sequence[Kill], held: Sequence[int], requests_per_worker: int) -> int | None:
    """The number of the first kill that can explain it and has not explained as many as a worker holds."""
    for number, kill in enumerate(kills):
        if held[number] < requests_per_worker and could_explain(kill.at, one):
            return number
    return None
