"""results.json: everything the report and other tools need, in one file (version 1)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soak import account, machine
from soak.judges import Case, Verdict
from soak.measured import Count, Event, Measured
from soak.options import Options
from soak.plateau import EFFECTS, Plateau, baseline_slope, judge_series

VERSION = 1
EVENTS_MAX = 2000
LOSSES_MAX = 50
LOAD_LATENCIES = ("p50_us", "p90_us", "p99_us", "p999_us", "max_us")
BASELINE_BREAKS = ("reload", "kill")


def plateaus(measured: Measured, baseline: Path | None) -> list[Plateau]:
    """The verdict on each series that was sampled at least once."""
    t = [measured.seconds(sample["t_ns"]) for sample in measured.samples]
    base = json.loads(baseline.read_text(encoding="utf-8")) if baseline else None
    found = []
    for name in EFFECTS:
        values = [sample.get(name) for sample in measured.samples]
        if any(value is not None for value in values):
            slope = _baseline_slope(base, name) if base else None
            found.append(judge_series(name, t, values, measured.breaks_s(), slope))
    return found


def _baseline_slope(base: dict[str, Any], name: str):
    samples = base["samples"]
    breaks = [event["t_s"] for event in base.get("events", []) if event["kind"] in BASELINE_BREAKS]
    return baseline_slope([sample["t_s"] for sample in samples], [sample.get(name) for sample in samples], breaks)


def build(options: Options, case: Case, verdict: Verdict) -> dict[str, Any]:
    measured = case.measured
    replay = options.replay()
    return {
        "version": VERSION,
        "ordeal": "soak",
        "target": options.target.name,
        "seed": options.seed,
        "started_ns": measured.started_ns,
        "duration_s": round(measured.seconds(measured.ended_ns), 3),
        "command": replay[0],
        "machine": machine.describe(machine.php_version(os.fspath(options.target.executable() or ""))),
        "verdict": _verdict(verdict),
        "account": account.whole(measured, case.explained),
        "reasons": _reasons(measured),
        "phases": _phases(measured),
        "events": _events(measured),
        "faults_total": sum(fault.fired for fault in measured.faults),
        "faults": [vars(fault) for fault in measured.faults],
        "load": _load(measured),
        "samples": [_sample(measured, sample) for sample in measured.samples],
        "plateau": [one.as_json() for one in case.plateau],
        "latency_us": (measured.summary or {}).get("latency_us", {}),
        "by_target": (measured.summary or {}).get("by_target", []),
        "interrupted": measured.interrupted,
        "replay": replay,
        "log_tail": measured.log_tail,
        "losses": [one.as_json() for one in case.explained.unexplained[:LOSSES_MAX]],
    }


def write(path: Path, results: dict[str, Any]) -> None:
    """Writes beside and renames: a reader sees the old file or the new one, never half of one."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    beside.replace(path)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    reasons = [{"judge": r.judge, "ok": r.ok, "text": r.text, "numbers": r.numbers} for r in verdict.reasons]
    return {"kind": verdict.kind, "summary": verdict.summary, "reasons": reasons}


def _reasons(measured: Measured) -> dict[str, dict[str, int]]:
    counted = {"refused": Counter(), "lost": Counter(), "isolation": Counter()}
    for one in measured.unanswered:
        counted[one.outcome][one.kind] += 1
    return {outcome: dict(counter.most_common()) for outcome, counter in counted.items()}


def _phases(measured: Measured) -> list[dict[str, Any]]:
    return [
        {
            "name": one.phase.name, "cycle": one.phase.cycle,
            "start_s": round(measured.seconds(one.phase.start_ns), 3), "end_s": round(measured.seconds(one.phase.end_ns), 3),
            "sent": one.sent, "answered": one.answered, "refused": one.refused, "lost": one.lost,
            "isolation": one.isolation, "note": "; ".join(one.phase.notes),
        }
        for one in account.by_phase(measured)
    ]


def _events(measured: Measured) -> list[dict[str, Any]]:
    """All that the soak did, and at most EVENTS_MAX of the faults, evenly chosen."""
    own = [event for event in measured.events if event.kind != "fault"]
    injected = [event for event in measured.events if event.kind == "fault"]
    step = max(1, -(-len(injected) // EVENTS_MAX))
    kept: Sequence[Event] = sorted(own + injected[::step], key=lambda event: event.at_ns)
    return [{"t_s": round(measured.seconds(e.at_ns), 4), "kind": e.kind, "text": e.text, "pid": e.pid} for e in kept]


def _load(measured: Measured) -> list[dict[str, Any]]:
    """One row a second; the outcome counts are those of that second."""
    rows, before = [], Count()
    for line in measured.live:
        now = Count.from_json(line)
        row = {"t_s": round(measured.seconds(int(line["t_ns"])), 3), "rate": line.get("rate"), "in_flight": now.in_flight}
        row |= {name: getattr(now, name) - getattr(before, name) for name in ("answered", "refused", "lost", "isolation")}
        row |= {name: line.get(name) for name in LOAD_LATENCIES}
        rows.append(row)
        before = now
    return rows


def _sample(measured: Measured, sample: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in sample.items() if name != "t_ns"}
    return {"t_s": round(measured.seconds(sample["t_ns"]), 3), **rest}
