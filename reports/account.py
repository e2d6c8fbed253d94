"""The account of requests as a sum that visibly adds up, or visibly does not.

    sent 60,000 = answered 59,890 + refused by a fault 80 + lost, explained 28 + lost 2

Every request of a run is in exactly one term. A loss is explained when it falls to a kill or fault that was
injected, a refusal when rules were armed, or when it is the web server's 502 for what a killed worker held; only the unexplained ones speak against the target.
"""

from __future__ import annotations

from dataclasses import dataclass

from reports.model import Account


@dataclass(frozen=True)
class Term:
    """One summand. `weight` says how it reads: good, excused or bad."""

    label: str
    value: int
    weight: str
    hint: str


@dataclass(frozen=True)
class Sum:
    sent: int | None
    terms: list[Term]
    difference: int | None
    open_end: bool

    @property
    def adds_up(self) -> bool:
        return self.difference == 0


def make_sum(account: Account, interrupted: bool = False) -> Sum:
    """The terms in the order of the sum; the explained shares are taken out of their wholes."""
    lost, refused = account.lost or 0, account.refused or 0
    explained = account.lost_explained or 0
    by_fault = min(account.refused_by_fault or 0, refused)
    by_kill = min(account.refused_by_kill or 0, refused - by_fault)
    in_flight = account.in_flight or 0
    known = (account.answered or 0) + refused + lost + (account.isolation or 0) + in_flight
    within = explained <= lost and not (account.sent == known + explained and explained)
    own_lost = lost - explained if within else lost
    terms = [
        Term("answered", account.answered or 0, "good", "complete, with its own marker"),
        Term("refused by a fault", by_fault, "excused", "said no while rules were armed"),
        Term("refused", refused - by_fault - by_kill, "bad", "said no while no rule was armed"),
        Term("lost, explained", explained, "excused", "an injected kill or fault explains it"),
        Term("lost", own_lost, "bad", "no response, and nothing explains it"),
        Term("isolation", account.isolation or 0, "bad", "carries another request's marker"),
    ]
    if by_kill:
        terms.insert(2, Term("refused by a kill", by_kill, "excused", "held by a killed worker: 502 from the web server"))
    if in_flight:
        terms.append(Term("in flight", in_flight, "excused", "when the run ended"))
    if account.sent is None:
        return Sum(None, terms, None, interrupted)
    return Sum(account.sent, terms, account.sent - sum(term.value for term in terms), interrupted)
