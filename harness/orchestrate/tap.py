"""Reading what a CMocka program prints with CMOCKA_MESSAGE_OUTPUT=TAP.

    1..3
    ok 1 - test_a
    not ok 2 - test_b
    # foo.c:10: error: Failure!
    not ok 3 # SKIP test_c

Lines that a test prints come before its own result, CMocka's explanation (`# ...`) after it. A program with several groups
prints several plans; a test that is in two groups has two results.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PLAN = re.compile(r"^1\.\.(\d+)\b")
RESULT = re.compile(r"^(ok|not ok) \d+ (?:- (?P<name>\w+)(?P<more>.*)|# SKIP (?P<skipped>\w+))$")

EXPLAINED = re.compile(r"^# (?!(?:not )?ok - )")


@dataclass
class Result:
    name: str
    outcome: str  # passed, failed, skipped
    why: str = ""


@dataclass
class Tap:
    planned: int = 0
    results: list[Result] = field(default_factory=list)

    def of(self, name: str) -> list[Result]:
        return [one for one in self.results if one.name == name]

    @property
    def complete(self) -> bool:
        return self.planned > 0 and len(self.results) == self.planned


def parse(text: str) -> Tap:
    tap = Tap()
    for line in text.splitlines():
        if plan := PLAN.match(line):
            tap.planned += int(plan[1])
        elif found := RESULT.match(line):
            if found["skipped"]:
                tap.results.append(Result(found["skipped"], "skipped"))
            else:
                outcome = "passed" if found[1] == "ok" else "failed"
                tap.results.append(Result(found["name"], outcome, found["more"].strip()))
        elif EXPLAINED.match(line) and tap.results and tap.results[-1].outcome == "failed":
            tap.results[-1].why += f"\n{line[2:]}"
    return tap
