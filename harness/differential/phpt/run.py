"""One run: the source, the control, the target."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.orchestrate.paths import ROOT

from ..run import NoProgress
from . import judged, right, servers, source, tree
from .asking import Phase

FOLDERS = ("Zend/tests", "tests", "ext/standard", "ext/spl", "ext/session", "ext/date", "ext/json", "ext/pcre", "ext/mbstring")
SHARE_MIN, SHARE_MIN_CHAOS = 0.998, 0.995
CONTROL_WITHIN_S = 10.0
TARGET_WITHIN_S, CHAOS_WITHIN_S = 30.0, 120.0  # others run in between


class Busy(Exception):
    """Another run uses the folder."""


@dataclass(frozen=True)
class Plan:
    target: str = "fiber"
    control: str = "php-fpm"
    in_flight: int = 32
    chaos: int = 0
    opcache: int = 1
    seed: int = 1
    folders: tuple[str, ...] = FOLDERS
    only: tuple[str, ...] = ()  # these cases alone
    source: Path | None = None  # a folder with test files, in place of Debian's
    home: Path = ROOT / "build" / "phpt"
    control_within_s: float = CONTROL_WITHIN_S
    target_within_s: float = 0  # 0: as chaos wants it
    env: tuple[dict[str, str], dict[str, str]] = ({}, {})  # for the control, for the target

    @property
    def share_min(self) -> float:
        return SHARE_MIN_CHAOS if self.chaos else SHARE_MIN

    @property
    def within_s(self) -> float:
        return self.target_within_s or (CHAOS_WITHIN_S if self.chaos else TARGET_WITHIN_S)


@dataclass
class Outcome:
    source: Path
    tree: tree.Tree
    control: right.Control
    judged: judged.Judged
    problems: list[str]  # beside the answers
    seconds: dict[str, float]

    @property
    def compared(self) -> int:
        return len(self.control.right)

    @property
    def same(self) -> int:
        return self.compared - len(self.judged.wrong)

    @property
    def share(self) -> float:
        return self.same / self.compared if self.compared else 0.0

    def good(self, plan: Plan) -> bool:
        return self.share >= plan.share_min


def run(plan: Plan, progress: Any = NoProgress()) -> Outcome:
    seconds: dict[str, float] = {}
    with _alone(plan.home), _timed(seconds, "all"):
        found = plan.source or source.folder(plan.home, _say)
        progress.phase("reading test files", sum(len(list((found / name).rglob("*.phpt"))) for name in plan.folders))
        laid = tree.build(found, list(plan.folders), plan.home, progress.tick)
        if plan.only:
            _choose(laid, plan.only)
        laid.restore()
        control, target = (servers.target_of(name, plan.opcache, bound + 5) for name, bound in _bounds(plan))
        warm, phases = bool(plan.opcache), _phases(progress, plan.control)
        with _timed(seconds, "control"), servers.start(control, laid, env=plan.env[0]) as running:
            says = right.ask(laid, running, warm, plan.control_within_s, plan.seed, phases)
        with _timed(seconds, "target"), servers.start(target, laid, plan.chaos, plan.env[1]) as running:
            done = judged.ask(says, laid, running, warm, plan.within_s, plan.in_flight, plan.seed, _phases(progress, plan.target))
        problems = running.problems
        if done.wrong:
            with _timed(seconds, "doubts"), servers.start(control, laid, env=plan.env[0]) as running:
                for name in right.doubt(says, sorted(done.wrong), laid, running, plan.control_within_s, plan.seed, phases):
                    del done.wrong[name]
    return Outcome(found, laid, says, done, problems, seconds)


def _bounds(plan: Plan) -> tuple[tuple[str, float], ...]:
    return (plan.control, plan.control_within_s), (plan.target, plan.within_s)


def _choose(laid: tree.Tree, only: tuple[str, ...]) -> None:
    laid.cases = [case for case in laid.cases if case.name in only]
    if not laid.cases:
        raise tree.TreeError(f"none of {', '.join(only)} is among the test files that can be asked")


def _phases(progress: Any, server: str) -> Phase:
    def phase(what: str, total: int) -> Callable[[], None]:
        progress.phase(f"{server}, {what}", total)
        return progress.tick

    return phase


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    seconds[what] = round(time.monotonic() - began, 3)


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    lock = os.open(home / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise Busy(f"another run uses {home}") from None
    finally:
        os.close(lock)
