"""What the control says: --SKIPIF-- first, then every script twice, in different orders and with the files as they were.

A script is compared if the control answers it twice alike. Where two answers differ only in what UNSTEADY names, that is left
out of the comparison for this script, and only for this one. With OPcache a pass before these two compiles everything: the
first request for a script opens its files and hears the compiler's warnings, the others do not.

Two answers that are alike may be so by chance. So the scripts that a target answers otherwise are put to a new control again,
several times (`doubt`): one that the control itself answers otherwise is unstable too.
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
from .asking import Asked, Phase
from .sections import Case
from .servers import Servers
from .tree import Tree

IN_FLIGHT = 12
DOUBTS = 6
LINE_MAX = 160
SKIP = re.compile(rb"\s*skip\b[:\s]*([^\n]*)", re.IGNORECASE)
# pattern, what stands for it, why it differs by nature
UNSTEADY: tuple[tuple[re.Pattern[bytes], bytes, str], ...] = (
    (re.compile(rb"(?<![\w/+])(?:[\da-v]{26}|[\da-v]{32}|[\da-v]{40}|[\da-v]{120})(?!\w)"), b"*", "sessions get random names"),
    (re.compile(rb"(?<=/sess_)[\w,-]{22,256}"), b"*", "so do their files"),
    (re.compile(rb"'[\da-v]{15}\.\.\.'"), b"'*...'", "and a backtrace shows the beginning of the name"),
    (re.compile(rb"(?<=tmp|php|pre)\w{6}(?!\w)"), b"*", "tempnam() and tmpfile() choose names at random"),
    (re.compile(rb"(?<=expires=)[\w:, -]+(?= GMT)"), b"*", "a cookie's end is counted from now"),
    (re.compile(rb"(?<!\d)1[78]\d{8}(?:\.\d+)?(?!\d)"), b"*", "the time now, in seconds"),
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


Passes = Callable[[list[Case], int, str, str], dict[str, Reply]]


def passes(tree: Tree, servers: Servers, within_s: float, seed: int, phase: Phase) -> Passes:
    """A function for one pass over cases: (cases, number of the pass, which part of them, what a person is told)."""
    server = Asked(servers, within_s)

    def one_pass(cases: list[Case], number: int, part: str, what: str) -> dict[str, Reply]:
        tree.restore()
        tick = phase(what, len(cases))
        return asyncio.run(asking.ask_all(cases, server, IN_FLIGHT, seed + number, part, tick))

    return one_pass


def ask(tree: Tree, servers: Servers, warm: bool, within_s: float, seed: int, phase: Phase) -> Control:
    control, one_pass = Control(), passes(tree, servers, within_s, seed, phase)
    loaded = set(json.loads(servers.plain.request("/info.php").body))
    here = [case for case in tree.cases if not _missing(case, loaded, control)]
    skips = one_pass([case for case in here if case.skipif], 0, asking.SKIP, "--SKIPIF--")
    here = [case for case in here if not _skipped(case, skips, control)]
    if warm:
        one_pass(here, 1, asking.FILE, "warming up")
    first, second = (one_pass(here, number + 1, asking.FILE, f"pass {number} of 2") for number in (1, 2))
    for case in here:
        _judge(case, first[case.name], second[case.name], control)
    return control


def doubt(control: Control, names: list[str], tree: Tree, servers: Servers, within_s: float, seed: int, phase: Phase) -> list[str]:
    """Asks again, on a new control; those that it answers otherwise are now unstable. The first time is a warm-up, and does not count."""
    one_pass = passes(tree, servers, within_s, seed, phase)
    cases = [control.right[name].case for name in names]
    rounds = [one_pass(cases, number, asking.FILE, f"doubt {number} of {DOUBTS}") for number in range(DOUBTS + 1)][1:]
    found = [name for name in names if not all(control.right[name].is_same(answers[name]) for answers in rounds)]
    for name in found:
        right = control.right.pop(name)
        other = next(answers[name] for answers in rounds if not right.is_same(answers[name]))
        control.unstable[name] = _first_unlike(right.reply, steady(other))
    return found


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
