"""The evidence bundle of a soak that broke a promise: logs, trace, history, and a script that does it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.orchestrate import Bundle, Running
from harness.orchestrate import Verdict as BundleVerdict
from soak.judges import Verdict
from soak.measured import Measured
from soak.options import EVIDENCE, Options

HISTORY_MAX = 100_000


def write_bundle(options: Options, verdict: Verdict, measured: Measured, run: Running) -> Path:
    """Must be called while the files of the run are still there; the target has been stopped by then."""
    broken = [f"{reason.judge}: {reason.text}" for reason in verdict.reasons if reason.ok is False]
    bundle = Bundle(options.out / EVIDENCE)
    bundle.write(
        BundleVerdict("reproduced", broken), seed=options.seed, history=history(measured), replay=options.replay_words()
    )
    bundle.keep_run(run)
    return bundle.folder


def history(measured: Measured) -> Iterator[dict[str, Any]]:
    """What happened, in order: the soak's own doings, the faults, and every request that was not answered."""
    lines = [{"t": event.at_ns, "p": event.pid or 0, "type": "info", "f": event.kind, "v": event.text} for event in measured.events]
    lines += [
        {"t": one.ended_ns, "p": 0, "type": "fail", "f": "request", "k": one.target, "v": one.as_json()} for one in measured.unanswered
    ]
    yield from sorted(lines, key=lambda line: line["t"])[:HISTORY_MAX]
