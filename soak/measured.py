"""What one soak measured, as data. The judges read it and nothing else, so each can be proved on made-up data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

NS_PER_S = 1_000_000_000
OWN_MARKER = re.compile(r"\s*\bmarker=\S*")


@dataclass
class PhaseRun:
    """A phase as it really ran (nanoseconds of the real-time clock)."""

    name: str
    cycle: int
    start_ns: int
    end_ns: int
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Interval:
    """From just before the first instant to just after the last one at which something may have been so."""

    start_ns: int
    end_ns: int

    def meets(self, start_ns: int, end_ns: int) -> bool:
        return start_ns <= self.end_ns and end_ns >= self.start_ns


@dataclass
class Kill:
    """A worker that was killed: just before and just after the signal, and which workers there were later."""

    pid: int
    at: Interval
    before: frozenset[int]
    after: frozenset[int] = frozenset()
    replaced_ns: int | None = None


@dataclass
class Reload:
    at_ns: int
    before: frozenset[int]
    after: frozenset[int] = frozenset()
    done_ns: int | None = None


@dataclass(frozen=True)
class Unanswered:
    """One request that was not answered, as the load generator wrote it down."""

    outcome: str  # lost | refused | isolation
    reason: str
    target: str
    marker: str
    sent_ns: int
    ended_ns: int

    @property
    def kind(self) -> str:
        """The reason without what differs from request to request, for counting."""
        return OWN_MARKER.sub("", self.reason)

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> Unanswered:
        return cls(
            str(line["outcome"]), str(line["reason"]), str(line.get("target", "")), str(line.get("marker", "")),
            int(line["sent_ns"]), int(line["ended_ns"]),
        )

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("outcome", "reason", "target", "marker", "sent_ns", "ended_ns")}


@dataclass(frozen=True)
class Count:
    """The sum of all requests up to now."""

    sent: int = 0
    answered: int = 0
    refused: int = 0
    lost: int = 0
    isolation: int = 0
    in_flight: int = 0

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> Count:
        return cls(*(int(line.get(name, 0)) for name in ("sent", "answered", "refused", "lost", "isolation", "in_flight")))

    @property
    def balance(self) -> int:
        """Requests sent that nothing is known of: must be 0."""
        return self.sent - self.answered - self.refused - self.lost - self.isolation - self.in_flight


@dataclass(frozen=True)
class Probe:
    """A single question asked by the soak itself."""

    at_ns: int
    status: int
    error: str | None


@dataclass(frozen=True)
class Fault:
    id: int
    text: str
    matched: int
    fired: int
    active: bool = True


@dataclass(frozen=True)
class Event:
    at_ns: int
    kind: str  # fault | reload | kill | arm | disarm | mark
    text: str
    pid: int | None = None


@dataclass(frozen=True)
class Shutdown:
    code: int | None
    signal: int | None
    leftovers: list[str]
    log_errors: list[str]
    socket_left: bool
    cores: list[str]
    others: list[str] = field(default_factory=list)  # stop steps that were not enough, sanitizer reports


@dataclass
class Measured:
    started_ns: int
    ended_ns: int = 0
    phases: list[PhaseRun] = field(default_factory=list)
    armed: list[Interval] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)
    reloads: list[Reload] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    live: list[dict[str, Any]] = field(default_factory=list)
    unanswered: list[Unanswered] = field(default_factory=list)
    summary: dict[str, Any] | None = None
    load_failure: str | None = None  # why the load generator could not measure
    samples: list[dict[str, Any]] = field(default_factory=list)  # t_ns, pss_kb, …
    shutdown: Shutdown | None = None
    workers: int = 0
    requests_per_worker: int = 1
    gateway: bool = False  # a web server in front answers 502 for what a killed worker held
    can_reload: bool = True
    can_kill: bool = True
    log_tail: list[str] = field(default_factory=list)
    interrupted: bool = False

    def seconds(self, at_ns: int) -> float:
        return (at_ns - self.started_ns) / NS_PER_S

    @property
    def total(self) -> Count:
        """The final account; of a load generator that could not write one, the last line it wrote."""
        if self.summary is not None:
            return Count.from_json(self.summary["requests"])
        return Count.from_json(self.live[-1]) if self.live else Count()

    def breaks_s(self) -> list[float]:
        """When workers were replaced: points before and after are not compared by the plateau statistics."""
        at = [kill.at.start_ns for kill in self.kills]
        for reload in self.reloads:
            at += [reload.at_ns] + ([reload.done_ns] if reload.done_ns else [])
        return sorted(self.seconds(ns) for ns in at)
