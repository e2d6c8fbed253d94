"""Running contenders against each other.

A machine's speed changes while a benchmark runs, so contenders take turns in every round, and each round starts with
another one. What is compared is either each contender's best round, or the median of the rounds' own ratios.
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


@dataclass(frozen=True)
class NotThis:
    """A row that cannot be measured on this machine, and why; the others of its group are."""

    name: str
    why: str


Contenders = Mapping[str, Callable[[], Mapping[str, float]]]


def take_turns(contenders: Contenders, rounds: int) -> list[dict[str, Mapping[str, float]]]:
    """What each contender measured, round by round."""
    names = list(contenders)
    measured = []
    for turn in range(rounds):
        first = turn % len(names)
        measured.append({name: contenders[name]() for name in names[first:] + names[:first]})
    return measured


def best_of_turns(contenders: Contenders, rounds: int, better: Callable[[float, float], float]) -> dict[str, dict[str, float]]:
    """Each contender's best value of each figure. For what only disturbance can worsen, such as the cost of a call."""
    best: dict[str, dict[str, float]] = {name: {} for name in contenders}
    for one_round in take_turns(contenders, rounds):
        for name, figures in one_round.items():
            for figure, value in figures.items():
                known = best[name].get(figure)
                best[name][figure] = value if known is None else better(known, value)
    return best


class Clock:
    """Seconds since it was made, for the progress line."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() - self._start
