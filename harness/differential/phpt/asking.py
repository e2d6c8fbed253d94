"""One pass over many cases: N in flight, in random order; those that would disturb each other are kept apart.

A case's turn is its script and then its --CLEAN--. Cases that name the same conflict take turns; one that conflicts with
everything waits until all others are over.
"""

from __future__ import annotations

import asyncio
import random
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from harness.orchestrate.client import BEGIN_REQUEST, PARAMS, RESPONDER, STDIN, pairs, params_of, record, stream

from ..fcgi import Reply, exchange
from ..server import socket_of
from .sections import ALL, Case
from .servers import Servers

Tick = Callable[[], None]
Phase = Callable[[str, int], Tick]  # what is done, how many; then called for each
FILE, SKIP, CLEAN = "", ".skip", ".clean"


@dataclass(frozen=True)
class Asked:
    """The servers, and how long a script may take there."""

    servers: Servers
    within_s: float

    async def ask(self, case: Case, part: str = FILE) -> Reply:
        run = self.servers.fresh if case.ini else self.servers.plain
        return await exchange(socket_of(run), message(case, run.root, str(run.data), part), self.within_s)


def message(case: Case, root: str, temp: str, part: str = FILE) -> bytes:
    """What a web server in front would send. A --SKIPIF-- and a --CLEAN-- get the settings, not the request."""
    target, body, headers = f"/{case.name}{part}.php", b"", {}
    if part == FILE:
        target, body = target + (f"?{case.query}" if case.query else ""), case.body
        headers = {"Cookie": case.cookie, "Content-Type": case.type}
    given = {name: value for name, value in headers.items() if value}
    params = params_of(case.method if part == FILE else "GET", target, root, len(body), given) | case.env
    if case.ini:
        folder = f"{root}/{case.name}".rpartition("/")[0]
        params["PHP_VALUE"] = "\n".join(f"{name}={value}".replace("{PWD}", folder).replace("{TMP}", temp) for name, value in case.ini)
    begin = record(BEGIN_REQUEST, struct.pack(">HB5x", RESPONDER, 0))
    return begin + stream(PARAMS, pairs(params)) + stream(STDIN, body)


async def ask_all(
    cases: Iterable[Case], server: Asked, in_flight: int, seed: int, part: str = FILE, tick: Tick = lambda: None
) -> dict[str, Reply]:  # fmt: skip
    """The answers, by the case's name."""
    order = list(cases)
    random.Random(seed).shuffle(order)
    alone = [case for case in order if ALL in case.conflicts]
    answers = await _pass([case for case in order if ALL not in case.conflicts], server, in_flight, part, tick)
    return answers | await _pass(alone, server, 1, part, tick)


async def _pass(order: list[Case], server: Asked, in_flight: int, part: str, tick: Tick) -> dict[str, Reply]:
    waiting, answers = iter(order), {}
    taken: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def turn(case: Case) -> None:
        async with AsyncExitStack() as held:
            for conflict in sorted(set(case.conflicts)):
                await held.enter_async_context(taken[conflict])
            answers[case.name] = await server.ask(case, part)
            if part == FILE and case.clean:
                await server.ask(case, CLEAN)

    async def one_place() -> None:
        for case in waiting:
            await turn(case)
            tick()

    await asyncio.gather(*(one_place() for _ in range(in_flight)))
    return answers
