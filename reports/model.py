"""The results of a soak, as dataclasses, checked while they are read.

A run may have been interrupted, so everything but the three members that say what the file is (version, ordeal,
target) may be missing; what is there must be right. `None` means "was not measured" and is never shown as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reports.reader import Node, ResultsError, read_document

VERSION = 1
VERDICT_KINDS = ("clean", "reproduced", "inconclusive", "not_applicable")
EVENT_KINDS = ("fault", "reload", "kill", "arm", "disarm", "mark")
PLATEAU_VERDICTS = ("flat", "leak", "unknown")
Scalar = str | float | bool | None


@dataclass(frozen=True)
class Reason:
    """What one judge says. `ok` is None when it could not judge."""

    judge: str
    ok: bool | None
    text: str
    numbers: dict[str, Scalar]


@dataclass(frozen=True)
class Verdict:
    kind: str
    summary: str
    reasons: list[Reason]


@dataclass(frozen=True)
class Account:
    sent: int | None
    answered: int | None
    refused: int | None
    lost: int | None
    isolation: int | None
    lost_explained: int | None
    refused_by_fault: int | None
    in_flight: int | None = None
    refused_by_kill: int | None = None  # behind a web server: it answers 502 for what a killed worker held


@dataclass(frozen=True)
class Phase:
    """`cycle` counts from 1; 0 is before the first cycle."""

    name: str
    cycle: int
    start_s: float
    end_s: float
    sent: int | None
    answered: int | None
    refused: int | None
    lost: int | None
    isolation: int | None
    note: str


@dataclass(frozen=True)
class Event:
    t_s: float
    kind: str
    text: str
    pid: int | None


@dataclass(frozen=True)
class Fault:
    id: int | None
    text: str
    matched: int | None
    fired: int | None
    active: bool | None


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One second of load; the counts are of this second."""

    t_s: float
    rate: float | None
    answered: float | None
    refused: float | None
    lost: float | None
    isolation: float | None
    in_flight: float | None
    p50_us: float | None
    p90_us: float | None
    p99_us: float | None
    p999_us: float | None
    max_us: float | None


@dataclass(frozen=True, slots=True)
class SampleRow:
    t_s: float
    pss_kb: float | None
    rss_kb: float | None
    heap_kb: float | None
    fds: float | None
    threads: float | None
    children: float | None


@dataclass(frozen=True)
class Plateau:
    series: str
    verdict: str
    shape: str
    slope_per_hour: float | None
    ci_low: float | None
    ci_high: float | None
    effect: float | None
    effect_min: float | None
    n: int | None
    baseline_slope: float | None
    text: str


@dataclass(frozen=True)
class TargetRow:
    """One line of the mix: what it was asked and how fast it answered."""

    target: str
    sent: int | None
    answered: int | None
    refused: int | None
    lost: int | None
    isolation: int | None
    latency_us: dict[str, float | None]


@dataclass(frozen=True)
class Loss:
    outcome: str
    reason: str
    target: str
    marker: str
    sent_ns: int | None
    ended_ns: int | None


@dataclass(frozen=True)
class Results:
    target: str
    seed: int | None
    started_ns: int | None
    duration_s: float
    command: str
    machine: dict[str, Scalar]
    verdict: Verdict
    account: Account
    reasons: dict[str, dict[str, int]]
    phases: list[Phase]
    events: list[Event]
    faults_total: int | None
    faults: list[Fault]
    load: list[LoadRow]
    samples: list[SampleRow]
    plateau: list[Plateau]
    latency_us: dict[str, float | None]
    by_target: list[TargetRow]
    interrupted: bool
    replay: list[str]
    log_tail: list[str]
    losses: list[Loss]


LATENCIES = ("min", "mean", "p50", "p90", "p99", "p999", "p9999", "max")
OUTCOMES = ("answered", "refused", "lost", "isolation")
LOAD_COLUMNS = ("rate", *OUTCOMES, "in_flight", "p50_us", "p90_us", "p99_us", "p999_us", "max_us")
SAMPLE_COLUMNS = ("pss_kb", "rss_kb", "heap_kb", "fds", "threads", "children")


def read_results(path: Path) -> Results:
    """Reads and checks a results file; raises ResultsError."""
    return parse_results(read_document(path))


def parse_results(top: Node) -> Results:
    check_header(top)
    load = read_load(top)
    samples = read_samples(top)
    events = read_events(top)
    duration_s = read_duration(top, load, samples, events)
    interrupted = bool(top.flag("interrupted"))
    reasons = top.object("reasons")
    return Results(
        target=top.text("target"),
        seed=top.count("seed"),
        started_ns=top.count("started_ns"),
        duration_s=duration_s,
        command=top.text("command"),
        machine=top.scalars("machine"),
        verdict=read_verdict(top, interrupted),
        account=read_account(top.object("account")),
        reasons={kind: reasons.counts(kind) for kind in ("lost", "refused", "isolation")},
        phases=read_phases(top, duration_s),
        events=events,
        faults_total=top.count("faults_total"),
        faults=[read_fault(node) for node in top.objects("faults")],
        load=load,
        samples=samples,
        plateau=[read_plateau(node) for node in top.objects("plateau")],
        latency_us=read_latency(top.object("latency_us")),
        by_target=[read_target(node) for node in top.objects("by_target")],
        interrupted=interrupted,
        replay=top.texts("replay"),
        log_tail=top.texts("log_tail"),
        losses=[read_loss(node) for node in top.objects("losses")],
    )


def check_header(top: Node) -> None:
    if top.text("ordeal") != "soak":
        raise top.fail("ordeal", '"soak" (is this the results file of a soak?)')
    if top.count("version") != VERSION:
        raise top.fail("version", f"{VERSION} (the only version this page knows)")
    if not top.text("target"):
        raise top.fail("target", "the name of the target")


def read_verdict(top: Node, interrupted: bool) -> Verdict:
    node = top.object("verdict")
    ended = "The run was interrupted before its verdict." if interrupted else "The results hold no verdict."
    return Verdict(
        kind=node.choice("kind", VERDICT_KINDS, "inconclusive"),
        summary=node.text("summary") or ("" if node.value else ended),
        reasons=[
            Reason(reason.text("judge", "?"), reason.flag("ok", None), reason.text("text"), reason.scalars("numbers"))
            for reason in node.objects("reasons")
        ],
    )


def read_account(node: Node) -> Account:
    return Account(**{name: node.count(name) for name in Account.__dataclass_fields__})


def read_phases(top: Node, duration_s: float) -> list[Phase]:
    phases = []
    for node in top.objects("phases"):
        start_s = node.measure("start_s")
        if start_s is None:
            raise node.fail("start_s", "the start of the phase in seconds")
        end_s = node.measure("end_s", max(start_s, duration_s))
        if end_s is None or end_s < start_s:
            raise node.fail("end_s", f"a time >= start_s ({start_s:g})")
        counts = {name: node.count(name) for name in ("sent", *OUTCOMES)}
        phases.append(Phase(node.text("name", "?"), node.count("cycle", 0) or 0, start_s, end_s, note=node.text("note"), **counts))
    return sorted(phases, key=lambda phase: phase.start_s)


def read_time(node: Node) -> float:
    t_s = node.measure("t_s")
    if t_s is None:
        raise node.fail("t_s", "a time in seconds from the start")
    return t_s


def read_events(top: Node) -> list[Event]:
    events = [
        Event(read_time(node), node.choice("kind", EVENT_KINDS, "mark"), node.text("text"), node.count("pid"))
        for node in top.objects("events")
    ]
    return sorted(events, key=lambda event: event.t_s)


def read_fault(node: Node) -> Fault:
    return Fault(node.count("id"), node.text("text", "?"), node.count("matched"), node.count("fired"), node.flag("active", None))


def read_load(top: Node) -> list[LoadRow]:
    rows = [LoadRow(read_time(node), **{name: node.measure(name) for name in LOAD_COLUMNS}) for node in top.objects("load")]
    return sorted(rows, key=lambda row: row.t_s)


def read_samples(top: Node) -> list[SampleRow]:
    rows = [SampleRow(read_time(node), **{name: node.measure(name) for name in SAMPLE_COLUMNS}) for node in top.objects("samples")]
    return sorted(rows, key=lambda row: row.t_s)


def read_duration(top: Node, load: list[LoadRow], samples: list[SampleRow], events: list[Event]) -> float:
    """The length of the time axis: what was said, or the last thing that was seen when that is later."""
    ends = [node.measure("end_s") or 0.0 for node in top.objects("phases")]
    seen = [rows[-1].t_s for rows in (load, samples, events) if rows]
    return max([top.measure("duration_s") or 0.0, *ends, *seen])


def read_plateau(node: Node) -> Plateau:
    numbers = {name: node.number(name) for name in ("slope_per_hour", "ci_low", "ci_high", "effect", "effect_min", "baseline_slope")}
    low, high = numbers["ci_low"], numbers["ci_high"]
    if low is not None and high is not None and low > high:
        raise node.fail("ci_low", f"a number <= ci_high ({high:g})")
    series = node.text("series")
    if not series:
        raise node.fail("series", "the name of a series, e.g. pss_kb")
    return Plateau(series, node.choice("verdict", PLATEAU_VERDICTS, "unknown"), node.text("shape"), n=node.count("n"), text=node.text("text"), **numbers)


def read_latency(node: Node) -> dict[str, float | None]:
    return {name: node.measure(name) for name in LATENCIES}


def read_target(node: Node) -> TargetRow:
    requests = node.object("requests") if node.has("requests") else node
    counts = {name: requests.count(name) for name in ("sent", *OUTCOMES)}
    name = node.text("name") or node.text("label") or node.text("target", "?")
    return TargetRow(name, latency_us=read_latency(node.object("latency_us")), **counts)


def read_loss(node: Node) -> Loss:
    texts = {name: node.text(name) for name in ("outcome", "reason", "target", "marker")}
    return Loss(sent_ns=node.count("sent_ns"), ended_ns=node.count("ended_ns"), **texts)


__all__ = ["Results", "ResultsError", "parse_results", "read_results"]
