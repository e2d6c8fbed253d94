"""One run of the suite: the control says what is right, then the target is asked for all of it at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.orchestrate import Running

from . import server, suite
from .known import KNOWN
from .script import FOLDER, Script, scripts


@dataclass(frozen=True)
class Plan:
    target: str = "fiber"
    control: str = "php-fpm"
    in_flight: int = 32
    rounds: int = 3
    chaos: int = 0
    opcache: int = 1
    seed: int = 1
    only: str = "*"
    mixed: int = 0  # this many at random, in place of rounds
    fatals: float = 0.10  # the share of them that ends in a fatal error
    folder: Path = FOLDER
    env: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})  # for the control, for the target


@dataclass
class Outcome:
    right: suite.Right
    found: dict[str, suite.Difference]
    asked: int
    problems: list[str]  # what the target did beside its answers: a worker that ended, errors in its log
    seconds: float

    @property
    def new(self) -> dict[str, suite.Difference]:
        return {name: found for name, found in self.found.items() if name not in KNOWN}

    @property
    def clean(self) -> bool:
        return not self.new and not self.problems


class NoProgress:
    def phase(self, what: str, total: int) -> None: ...
    def tick(self) -> None: ...


def run(plan: Plan, progress: Any = NoProgress()) -> Outcome:
    began = time.monotonic()
    chosen = scripts(plan.folder, plan.only)
    control, target = (server.target_of(name, plan.opcache) for name in (plan.control, plan.target))
    with server.start(control, plan.folder, alone=True, env=plan.env[0]) as running:
        progress.phase(f"{plan.control}, alone", 2 * len(chosen))
        right = asyncio.run(suite.right_answers(chosen, server.socket_of(running), running.root, progress.tick))
    order = _order(plan, chosen)
    with server.start(target, plan.folder, alone=False, chaos=plan.chaos, env=plan.env[1]) as running:
        progress.phase(f"{plan.target}, {plan.in_flight} in flight", len(order))
        before = running.workers()
        found = asyncio.run(suite.compare(order, right, server.socket_of(running), running.root, plan.in_flight, progress.tick))
        problems = server.workers_ended(before, running)
    assert running.exit is not None
    problems += running.exit.problems
    return Outcome(right, found, len(order), problems, time.monotonic() - began)


def _order(plan: Plan, chosen: list[Script]) -> list[Script]:
    if plan.mixed:
        return list(suite.mixed(chosen, plan.mixed, plan.fatals, plan.seed))
    return list(suite.in_rounds(chosen, plan.rounds, plan.in_flight, plan.seed))
