"""What a person reads: progress, each difference with the line that asks for it again, one line of summary; and the JSON."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from . import answer
from .known import KNOWN
from .run import Outcome, Plan
from .suite import Difference

QUIET_S, EVERY_S = 2.0, 1.0
KINDS_SHOWN = 2


class Progress:
    """One line a second on stderr, once two seconds are over."""

    def __init__(self, screen: TextIO = sys.stderr) -> None:
        self.screen, self.next, self.done, self.what, self.total = screen, time.monotonic() + QUIET_S, 0, "", 0

    def phase(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0

    def tick(self) -> None:
        self.done += 1
        if (now := time.monotonic()) >= self.next:
            self.next = now + EVERY_S
            print(f"{self.what}: {self.done} of {self.total}", file=self.screen, flush=True)


def replay(plan: Plan, name: str) -> str:
    words = [f"--target {plan.target}", f"--control {plan.control}", f"--only {name}", f"--in-flight {plan.in_flight}"]
    words += [f"--rounds {plan.rounds}", f"--chaos {plan.chaos}", f"--opcache {plan.opcache}", f"--seed {plan.seed}"]
    return "python3 -m harness.differential " + " ".join(words)


def difference_text(plan: Plan, outcome: Outcome, found: Difference) -> str:
    name = found.script.name
    lines = [f"{name}: {found.count} wrong answers of {len(found.kinds)} kinds"]
    for got, count in list(found.kinds.items())[:KINDS_SHOWN]:
        lines += [f"({count} times)", answer.difference(name, outcome.right[name], got, plan.control, plan.target)]
    return "\n".join([*lines, f"again: {replay(plan, name)}"])


def summary(plan: Plan, outcome: Outcome) -> str:
    wrong = sum(found.count for found in outcome.new.values())
    parts = [f"{wrong} differences in {len(outcome.new)} scripts" if wrong else "0 differences"]
    if known := sorted(outcome.found.keys() & KNOWN):
        parts.append(f"{len(known)} known ({', '.join(known)})")
    if outcome.problems:
        parts.append(f"{len(outcome.problems)} problems of the server")
    how = f"{plan.in_flight} in flight, chaos {plan.chaos or 'off'}, OPcache {'on' if plan.opcache else 'off'}, seed {plan.seed}"
    return (
        f"differential: {plan.target} against {plan.control}: {', '.join(parts)}; {outcome.asked} requests, "
        f"{len(outcome.right)} scripts, {outcome.seconds:.1f} s ({how})"
    )


def as_json(plan: Plan, outcome: Outcome) -> dict:
    return {
        "plan": plan.__dict__ | {"folder": str(plan.folder), "env": [dict(one) for one in plan.env]},
        "asked": outcome.asked,
        "scripts": len(outcome.right),
        "seconds": round(outcome.seconds, 3),
        "problems": outcome.problems,
        "differences": [
            {
                "script": name,
                "known": KNOWN.get(name),
                "count": found.count,
                "kinds": [
                    {"count": count, "diff": answer.difference(name, outcome.right[name], got, plan.control, plan.target)}
                    for got, count in found.kinds.items()
                ],
                "again": replay(plan, name),
            }
            for name, found in sorted(outcome.found.items())
        ],
    }
