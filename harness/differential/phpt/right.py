"""What the control says. Three passes: --SKIPIF--, and every script twice, in different orders and with the files as they were.

A script is compared if the control answers it twice alike. Where two answers differ only in what UNSTEADY names, that is left
out of the comparison for this script, and only for this one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from .. import answer
from ..fcgi import Reply
from . import asking
from .asking import Asked
from .sections import Case
from .servers import Servers
from .tree import Tree

CONTROL_IN_FLIGHT = 4
LINE_MAX = 160
SKIP = re.compile(rb"\s*skip\b[:\s]*([^\n]*)", re.IGNORECASE)
# pattern, what stands for it, why it differs by nature
UNSTEADY: tuple[tuple[re.Pattern[bytes], bytes, str], ...] = (
    (re.compile(rb"(?<=PHPSESSID=)[\w,-]{22,256}"), b"*", "a session that nobody named gets a random name"),
    (re.compile(rb"(?<=/sess_)[\w,-]{22,256}"), b"*", "its file has it too"),
    (re.compile(rb"(?<=/)(php|tmp|pre)\w{6}\b"), rb"\1*", "tempnam() and tmpfile() choose names at random"),
)


@dataclass(frozen=True)
class Right:
    """A case, the answer to compare with, and whether UNSTEADY applies."""

    case: Case
    reply: Reply
    steadied: bool

    def is_same(self, got: Reply) -> bool:
        return self.reply == (steady(got) if self.steadied else answer.comparable(got))


@dataclass
class Control:
    right: dict[str, Right] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)  # by reason
    unstable: dict[str, str] = field(default_factory=dict)  # with the first line that differed
    lost: dict[str, str] = field(default_factory=dict)  # the control itself did not answer: it hung, or its process ended


def steady(reply: Reply) -> Reply:
    def text(data: bytes) -> bytes:
        for pattern, instead, _ in UNSTEADY:
            data = pattern.sub(instead, data)
        return data

    plain = answer.comparable(reply)
    return replace(plain, out=text(plain.out), err=text(plain.err))


def ask(tree: Tree, servers: Servers, within_s: float, seed: int, phase: Callable[[str, int], asking.Tick]) -> Control:
    control, server = Control(), Asked(servers, within_s)

    def one_pass(cases: list[Case], number: int, part: str, what: str) -> dict[str, Reply]:
        tree.restore()
        tick = phase(what, len(cases))
        return asyncio.run(asking.ask_all(cases, server, CONTROL_IN_FLIGHT, seed + number, part, tick))

    loaded = set(json.loads(servers.plain.request("/info.php").body))
    here = [case for case in tree.cases if not _missing(case, loaded, control)]
    skips = one_pass([case for case in here if case.skipif], 0, asking.SKIP, "--SKIPIF--")
    here = [case for case in here if not _skipped(case, skips, control)]
    first, second = (one_pass(here, number, asking.FILE, f"pass {number} of 2") for number in (1, 2))
    for case in here:
        _judge(case, first[case.name], second[case.name], control)
    tree.restore()
    return control


def _missing(case: Case, loaded: set[str], control: Control) -> bool:
    missing = [name for name in case.extensions if name not in loaded]
    control.skipped.update(f"extension {name} is not loaded" for name in missing[:1])
    return bool(missing)


def _skipped(case: Case, skips: dict[str, Reply], control: Control) -> bool:
    if case.name not in skips:
        return False
    found = SKIP.match(skips[case.name].out.partition(b"\r\n\r\n")[2])
    if found:
        control.skipped[found[1].decode("latin-1").strip() or "no reason given"] += 1
    return found is not None


def _judge(case: Case, first: Reply, second: Reply, control: Control) -> None:
    if why := first.lost or second.lost:
        control.lost[case.name] = why
    elif answer.comparable(first) == answer.comparable(second):
        control.right[case.name] = Right(case, answer.comparable(first), steadied=False)
    elif steady(first) == steady(second):
        control.right[case.name] = Right(case, steady(first), steadied=True)
    else:
        control.unstable[case.name] = _first_unlike(steady(first), steady(second))


def _first_unlike(first: Reply, second: Reply) -> str:
    lines = zip_longest(*((reply.out + b"\n" + reply.err).split(b"\n") for reply in (first, second)), fillvalue=b"")
    a, b = next((pair for pair in lines if pair[0] != pair[1]), (b"", b""))
    return f"{a[:LINE_MAX]!r} | {b[:LINE_MAX]!r}"
