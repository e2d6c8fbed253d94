"""The order of the questions, and the differences found.

    right = await right_answers(scripts, control)                  # alone, twice
    found = await compare(rounds(scripts, 3, 32, seed), right, target, in_flight=32)
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from . import answer
from .fcgi import Reply, exchange, message
from .script import OWN, Script

Tick = Callable[[], None]
Right = dict[str, Reply]
OWN_TIMES = 8  # in a round, so that they meet


class NotDeterministic(Exception):
    """A script gave two different answers to two requests that came one after the other."""


@dataclass
class Difference:
    """A script whose answers were not the right one: how often, and the first of each kind of wrong answer."""

    script: Script
    kinds: dict[Reply, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(self.kinds.values())


async def right_answers(scripts: list[Script], socket_path: str, root: str, tick: Tick = lambda: None) -> Right:
    """What the control says. Both passes go through all scripts, so that what one leaves for the next shows too."""
    passes: list[Right] = []
    for _ in range(2):
        passes.append({})
        for script in scripts:
            passes[-1][script.name] = answer.comparable(await exchange(socket_path, message(script, root)))
            tick()
    first, second = passes
    unlike = [answer.difference(name, first[name], second[name], "first", "second") for name in first if first[name] != second[name]]
    unlike += [f"{name}: {reply.lost}" for name, reply in first.items() if reply.lost]
    if unlike:
        raise NotDeterministic("\n".join(unlike))
    return first


def in_rounds(scripts: list[Script], rounds: int, in_flight: int, seed: int) -> Iterator[Script]:
    """Every script in each round, in random order; few scripts are repeated until a round fills all places."""
    rng = random.Random(seed)
    times = -(-in_flight // len(scripts))
    for _ in range(rounds):
        order = [one for one in scripts for _ in range(max(times, OWN_TIMES if one.name.startswith(OWN) else 1))]
        rng.shuffle(order)
        yield from order


def mixed(scripts: list[Script], count: int, fatals: float, seed: int) -> Iterator[Script]:
    """`count` scripts at random; that share of them ends in a fatal error."""
    rng = random.Random(seed)
    quick = [s for s in scripts if not s.slow] or scripts
    kinds = [[s for s in quick if s.fatal == wanted] or quick for wanted in (False, True)]
    for _ in range(count):
        yield rng.choice(kinds[rng.random() < fatals])


async def compare(
    order: Iterable[Script], right: Right, socket_path: str, root: str, in_flight: int, tick: Tick = lambda: None,
) -> dict[str, Difference]:  # fmt: skip
    """Asks for all of `order`, at most `in_flight` at a time; the differences, by the script's name."""
    waiting, found, messages = iter(order), {}, {}

    async def one_place() -> None:
        for script in waiting:
            if script.name not in messages:
                messages[script.name] = message(script, root)
            got = answer.comparable(await exchange(socket_path, messages[script.name]))
            if got != right[script.name]:
                kinds = found.setdefault(script.name, Difference(script)).kinds
                kinds[got] = kinds.get(got, 0) + 1
            tick()

    await asyncio.gather(*(one_place() for _ in range(in_flight)))
    return found
