"""The passes: the control twice, the target with all at once, and the target alone for what was not the same.

Every script ends in exactly one of: skipped, left out (unstable, too slow, lost), same, different.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


from harness.differential.fcgi import Reply, exchange
from harness.differential.run import NoProgress
from harness.differential.server import socket_of

from . import audit, server, source
from .known import KNOWN
from .phpt import Test
from .stage import SKIP, Stage
from .unsteady import comparable

FOLDERS = ("Zend/tests", "tests", "ext/standard", "ext/spl", "ext/session", "ext/date", "ext/json", "ext/pcre", "ext/mbstring")
CONTROL_WORKERS = 4
CONTROL_WITHIN_S = 15.0  # longer scripts are left out
TARGET_WITHIN_S = 90.0  # it shares one processor with all that are in flight
SKIPS = re.compile(rb"\s*skip", re.I)

UNSTABLE = "two answers of the control that are not the same"
LOST = "the control ends or does not answer in time"

Ask = Callable[[Test], bytes]


@dataclass(frozen=True)
class Plan:
    target: str = "fiber"
    control: str = "php-fpm"
    in_flight: int = 32
    chaos: int = 0
    opcache: int = 0
    audit: bool = False
    seed: int = 1
    dirs: tuple[str, ...] = FOLDERS
    only: str = ""


@dataclass
class Difference:
    test: Test
    right: Reply
    got: Reply
    alone: Reply | None = None  # what the target answers when it has nothing else to do

    @property
    def only_in_company(self) -> bool:
        return self.alone == self.right


@dataclass
class Outcome:
    tests: list[Test]
    skipped: dict[str, str] = field(default_factory=dict)  # by name: why
    left_out: dict[str, str] = field(default_factory=dict)
    found: dict[str, Difference] = field(default_factory=dict)
    unstable: dict[str, tuple[Reply, Reply]] = field(default_factory=dict)
    lost_with_another: list[str] = field(default_factory=list)  # the worker was ended by another script; asked again: the same
    audit: list[str] = field(default_factory=list)
    ended: int = 0  # times that a worker of the target was gone
    seconds: float = 0.0

    @property
    def compared(self) -> list[Test]:
        return [one for one in self.tests if one.name not in self.skipped and one.name not in self.left_out]

    @property
    def new(self) -> dict[str, Difference]:
        return {name: one for name, one in self.found.items() if name not in KNOWN}

    @property
    def share(self) -> float:
        """The same, of those that are compared and not known to differ."""
        judged = len(self.compared) - len(self.found) + len(self.new)
        return 1 - len(self.new) / judged if judged else 0.0


async def _ask_all(
    tests: Iterable[Test], socket_path: str, at_a_time: int, within_s: float, message: Ask, tick: Callable[[], None]
) -> dict[str, Reply]:
    waiting, replies = iter(tests), {}

    async def one_place() -> None:
        for test in waiting:
            replies[test.name] = comparable(await exchange(socket_path, message(test), within_s))
            tick()

    await asyncio.gather(*(one_place() for _ in range(at_a_time)))
    return replies


class Run:
    def __init__(self, plan: Plan, stage: Stage, progress: Any) -> None:
        self.plan, self.stage, self.progress = plan, stage, progress
        self.places: set[tuple[str, int, str]] = set()
        self.rng = random.Random(plan.seed)
        self.out = Outcome([one for one in stage.tests if plan.only in one.name])

    def _in_random_order(self, tests: list[Test]) -> list[Test]:
        return self.rng.sample(tests, len(tests))

    def _pass(self, what: str, tests: list[Test], running: Any, at_a_time: int, within_s: float, message: Ask | None = None) -> dict[str, Reply]:
        self.progress.phase(what, len(tests))
        ask = message or (lambda test: test.message(running.root))
        return asyncio.run(_ask_all(tests, socket_of(running), at_a_time, within_s, ask, self.progress.tick))

    def _skip(self, running: Any) -> list[Test]:
        """Those that can be asked at all."""
        said = json.loads(running.request("/info.php").body)
        for test in self.out.tests:
            if why := test.unfit(said["extensions"], said["access"]):
                self.out.skipped[test.name] = why
        left = [one for one in self.out.tests if one.name not in self.out.skipped]
        asking = [one for one in left if "SKIPIF" in one.sections]
        replies = self._pass(
            "--SKIPIF--", asking, running, CONTROL_WORKERS, CONTROL_WITHIN_S, lambda test: test.message(running.root, test.name + SKIP)
        )
        for name, reply in replies.items():
            if SKIPS.match(reply.out.partition(b"\r\n\r\n")[2]):
                self.out.skipped[name] = "--SKIPIF-- says so"
        return [one for one in left if one.name not in self.out.skipped]

    def right_answers(self) -> dict[str, Reply]:
        plan = self.plan
        control = server.control_of(plan.control, plan.opcache, CONTROL_WITHIN_S * 2)
        with server.start(control, self.stage.fresh(), workers=CONTROL_WORKERS) as running:
            tests = self._skip(running)
            first = self._pass(f"{plan.control}, in order", tests, running, CONTROL_WORKERS, CONTROL_WITHIN_S)
        self._leave_out(first)
        tests = self._in_random_order([one for one in tests if one.name not in self.out.left_out])
        with server.start(control, self.stage.fresh(), workers=plan.in_flight) as running:
            second = self._pass(f"{plan.control}, {plan.in_flight} at a time", tests, running, plan.in_flight, TARGET_WITHIN_S)
        self._leave_out(second)
        for name, reply in second.items():
            if name not in self.out.left_out and reply != first[name]:
                self.out.left_out[name] = UNSTABLE
                self.out.unstable[name] = (first[name], reply)
        return {name: reply for name, reply in second.items() if name not in self.out.left_out}

    def _leave_out(self, replies: Mapping[str, Reply]) -> None:
        for name, reply in replies.items():
            if reply.lost:
                self.out.left_out[name] = LOST

    def _on_target(self, what: str, tests: list[Test], at_a_time: int, within_s: float, times: int = 1) -> list[dict[str, Reply]]:
        plan = self.plan
        target = server.target_of(plan.target, plan.opcache)
        with server.start(target, self.stage.fresh(), workers=1, chaos=plan.chaos, audit=plan.audit) as running:
            before = running.workers()
            replies = [self._pass(what, tests, running, at_a_time, within_s) for _ in range(times)]
            self.out.ended += before != running.workers()
        self.places |= audit.places(running.log())
        self.out.audit = audit.merged(self.places)
        return replies

    def compare(self, right: Mapping[str, Reply]) -> None:
        plan = self.plan
        tests = self._in_random_order([one for one in self.out.compared if one.name in right])
        (replies,) = self._on_target(f"{plan.target}, {plan.in_flight} at a time", tests, plan.in_flight, TARGET_WITHIN_S)
        unlike = sorted((one for one in tests if replies[one.name] != right[one.name]), key=lambda one: one.name)
        if not unlike:
            return
        # Twice: OPcache has what they include only then, as it had when they were asked with all others.
        first, second = self._on_target(f"{plan.target}, alone", unlike, 1, CONTROL_WITHIN_S, times=2)
        alone = {name: second[name] if second[name] == right[name] else reply for name, reply in first.items()}
        someone_ended_it = any(alone[one.name].lost for one in unlike)
        for test in unlike:
            name = test.name
            if replies[name].lost and someone_ended_it and alone[name] == right[name]:
                self.out.lost_with_another.append(name)
            else:
                self.out.found[name] = Difference(test, right[name], replies[name], alone[name])


def run(plan: Plan, progress: Any = NoProgress(), stage: Stage | None = None) -> Outcome:
    began = time.monotonic()
    stage = stage or Stage(source.tree(plan.dirs), source.folder(), plan.dirs)
    one = Run(plan, stage, progress)
    one.compare(one.right_answers())
    one.out.seconds = time.monotonic() - began
    return one.out
