"""A measurement that keeps every promise, made up; tests break one thing at a time."""

from __future__ import annotations

from typing import Any

from soak.judges import Case, Reason, case_of, verdict_of
from soak.measured import NS_PER_S, Fault, Interval, Kill, Measured, PhaseRun, Probe, Reload, Shutdown, Unanswered
from soak.plateau import Plateau, judge_series

START_NS = 1_700_000_000 * NS_PER_S
OLD, NEW = frozenset({11, 12, 13, 14}), frozenset({21, 22, 23, 24})


def at(seconds: float) -> int:
    return START_NS + round(seconds * NS_PER_S)


def unanswered(outcome: str, sent_s: float, ended_s: float, reason: str = "connection closed before END_REQUEST") -> Unanswered:
    return Unanswered(outcome, reason, "/hello.php", "m1", at(sent_s), at(ended_s))


def requests(sent: int, lost: int = 0, refused: int = 0, isolation: int = 0, in_flight: int = 0) -> dict[str, Any]:
    answered = sent - lost - refused - isolation - in_flight
    return {"sent": sent, "answered": answered, "refused": refused, "lost": lost, "isolation": isolation, "in_flight": in_flight}


def measured(*failed: Unanswered, **changes: Any) -> Measured:
    """60 s, 100 requests a second; `failed` are those that were not answered."""
    names = (("calm", 0, 15), ("faults", 15, 28), ("heal", 28, 35), ("reload", 35, 42), ("kill", 42, 49), ("calm again", 49, 60))
    outcomes = [one.outcome for one in failed]
    made = Measured(
        started_ns=START_NS,
        ended_ns=at(60),
        phases=[PhaseRun(name, 0, at(start), at(end)) for name, start, end in names],
        armed=[Interval(at(15), at(28))],
        kills=[Kill(22, Interval(at(42), at(42.001)), NEW, frozenset({21, 25, 23, 24}), at(42.1))],
        reloads=[Reload(at(35), OLD, NEW, at(35.5))],
        probes=[Probe(at(28.1), 200, None), Probe(at(35), 200, None)],
        faults=[Fault(1, "flock:p=0.2:errno=EINTR", 100, 20)],
        live=[{"t_ns": at(s), "rate": 100.0, **requests(100 * s)} for s in range(1, 60)],
        unanswered=list(failed),
        summary={"requests": requests(6000, outcomes.count("lost"), outcomes.count("refused"), outcomes.count("isolation"))},
        samples=[
            {"t_ns": at(i / 4), "pss_kb": 60_000 + i % 3, "rss_kb": 90_000, "heap_kb": None, "fds": 40, "threads": 5, "children": 4}
            for i in range(240)
        ],
        shutdown=Shutdown(0, None, [], [], False, []),
        workers=4,
    )
    for name, value in changes.items():
        if not hasattr(made, name):
            raise AttributeError(name)
        setattr(made, name, value)
    return made


def plateaus(name: str = "pss_kb", growth: float = 0.0, points: int = 240) -> list[Plateau]:
    t = [i / 4 for i in range(points)]
    return [judge_series(name, t, [60_000 + growth * i / max(1, points) for i in range(points)])]


def case(made: Measured, series: list[Plateau] | None = None) -> Case:
    return case_of(made, plateaus() if series is None else series)


def reason(judge: str, made: Measured, series: list[Plateau] | None = None) -> Reason:
    found = [one for one in verdict_of(case(made, series)).reasons if one.judge == judge]
    assert len(found) == 1, (judge, found)
    return found[0]
