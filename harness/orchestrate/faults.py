"""The control page of a running trial: arm, disarm and count faults while the target runs.

    >>> control = Control(run.ctl)
    >>> control.arm([1, 3]); control.status().rules[0].fired
    2

A thin layer over `ordeal ctl`, which maps the page that the shim reads: no call is made in the target for it.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable

from . import paths

ANSWER_WITHIN_S = 10.0


class ControlError(Exception):
    """`ordeal ctl` refused, or its answer makes no sense."""


@dataclass(frozen=True)
class RuleCount:
    id: int
    text: str
    armed: bool
    active: bool  # False when swarm activation left it out of this run
    matched: int
    fired: int


@dataclass(frozen=True)
class FaultStatus:
    seed: int
    rules: list[RuleCount]
    marks: dict[str, int] = field(default_factory=dict)
    rendezvous: dict[str, dict[str, int]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    @property
    def fired(self) -> int:
        return sum(rule.fired for rule in self.rules)


class Control:
    def __init__(self, page: Path) -> None:
        self.page = page

    def status(self) -> FaultStatus:
        text = self._ask("status", "--json")
        try:
            return status_of(json.loads(text))
        except (ValueError, KeyError, TypeError) as e:
            raise ControlError(f"`ordeal ctl {self.page} status --json` answered {text[:200]!r}: {e!r}") from e

    def arm(self, ids: Iterable[int] = ()) -> None:
        self._ask("arm", *map(str, ids))

    def disarm(self, ids: Iterable[int] = ()) -> None:
        self._ask("disarm", *map(str, ids))

    def mark(self, name: str) -> None:
        self._ask("mark", name)

    def wake(self, name: str) -> None:
        self._ask("wake", name)

    def wait_paused(self, name: str, within_s: float = 10.0) -> None:
        """Returns when a thread has come to the rendezvous; ControlError when none came in time."""
        self._ask("wait-paused", name, "--timeout", f"{within_s:g}", within_s=within_s + ANSWER_WITHIN_S)

    def _ask(self, *words: str, within_s: float = ANSWER_WITHIN_S) -> str:
        command = [str(paths.program("ordeal")), "ctl", str(self.page), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=within_s)
        except subprocess.TimeoutExpired as e:
            raise ControlError(f"`ordeal ctl … {' '.join(words)}` did not answer within {within_s:g} s") from e
        if done.returncode != 0:
            raise ControlError(f"`ordeal ctl … {' '.join(words)}` failed ({done.returncode}): {done.stderr.strip()}")
        return done.stdout


def status_of(data: dict[str, Any]) -> FaultStatus:
    """From the JSON of `ordeal ctl status`, or from the report that `ordeal run` leaves at the end."""
    rules = [
        RuleCount(r["id"], r["text"], bool(r["armed"]), bool(r.get("active", True)), r["matched"], r["fired"])
        for r in data["rules"]
    ]
    return FaultStatus(
        seed=data["seed"],
        rules=rules,
        marks={m["name"]: m["hits"] for m in data.get("marks", [])},
        rendezvous={r["name"]: {"waiting": r["waiting"], "tokens": r["tokens"]} for r in data.get("rendezvous", [])},
        calls=dict(data.get("calls", {})),
    )
