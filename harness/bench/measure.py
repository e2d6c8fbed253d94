"""Running contenders against each other.

A machine's speed changes while a benchmark runs, so contenders take turns in every round, each round starts with
another one, and what is compared is each contender's best round: the one that was least disturbed.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build/bin"


class Unavailable(Exception):
    """A contender that is not on this machine; the text says what to install."""


@dataclass(frozen=True)
class Row:
    """One comparison. `value` is what the goal is about; `figures` are what it was made of."""

    name: str
    value: float
    unit: str
    goal: str
    met: bool
    figures: Mapping[str, float]
    note: str = ""


def best_of_turns(
    contenders: Mapping[str, Callable[[], Mapping[str, float]]],
    rounds: int,
    better: Callable[[float, float], float],
) -> dict[str, dict[str, float]]:
    """Each contender's best value of each figure over `rounds` rounds in which all take a turn."""
    best: dict[str, dict[str, float]] = {name: {} for name in contenders}
    names = list(contenders)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            for figure, value in contenders[name]().items():
                known = best[name].get(figure)
                best[name][figure] = value if known is None else better(known, value)
    return best


class Clock:
    """Seconds since it was made, for the progress line."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() - self._start
