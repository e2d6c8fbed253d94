"""What the target says, and which of its answers count as wrong.

The first pass asks for everything, N in flight. A wrong answer is then asked for again alone: if it is wrong there too, the
cause is in the script and the server; if not, it takes company. When a worker ends, all that were in flight in it are lost,
whoever was to blame. Those are asked again, alone, and those that are answered then once more together. A script that is lost
again ended the worker; the others count by what they were answered in company, provided that somebody was found to blame.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ..fcgi import Reply
from ..server import workers_ended
from . import asking
from .asking import Asked, Phase
from .right import Control, Right
from .servers import Servers
from .tree import Tree

LOST, ALONE_TOO, IN_COMPANY = "lost", "alone too", "in company only"


@dataclass(frozen=True)
class Wrong:
    right: Right
    got: Reply
    how: str  # one of the three above


@dataclass
class Judged:
    wrong: dict[str, Wrong] = field(default_factory=dict)
    caught_up: list[str] = field(default_factory=list)  # lost with a worker that another script had ended; right when asked again
    ended: list[str] = field(default_factory=list)  # what is known of workers that ended


def ask(control: Control, tree: Tree, servers: Servers, warm: bool, within_s: float, in_flight: int, seed: int, phase: Phase) -> Judged:
    judged, server, right = Judged(), Asked(servers, within_s), control.right

    def one_pass(names: list[str], at_a_time: int, number: int, what: str) -> dict[str, Reply]:
        if not names:
            return {}
        tree.restore()
        tick = phase(what, len(names))
        return asyncio.run(asking.ask_all([right[name].case for name in names], server, at_a_time, seed + number, tick=tick))

    before = servers.plain.workers()
    if warm:
        one_pass(sorted(right), in_flight, 4, "warming up")
    got = one_pass(sorted(right), in_flight, 0, f"{in_flight} in flight")
    judged.ended = workers_ended(before, servers.plain)
    lost = sorted(name for name, reply in got.items() if reply.lost)
    alone = one_pass(lost, 1, 1, "lost, again alone")
    to_blame = {name for name, reply in alone.items() if reply.lost}
    if to_blame:
        innocent = [name for name in lost if name not in to_blame]
        got |= one_pass(innocent, in_flight, 2, "lost with others, again")
        judged.caught_up = [name for name in innocent if right[name].is_same(got[name])]
    wrong = sorted(name for name, reply in got.items() if not right[name].is_same(reply))
    alone |= one_pass([name for name in wrong if name not in alone], 1, 3, "wrong, again alone")
    for name in wrong:
        judged.wrong[name] = Wrong(right[name], got[name], _how(right[name], got[name], alone[name]))
    return judged


def _how(right: Right, got: Reply, alone: Reply) -> str:
    if not right.is_same(alone):
        return ALONE_TOO
    return LOST if got.lost else IN_COMPANY
