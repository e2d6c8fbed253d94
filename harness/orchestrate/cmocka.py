"""C tests as pytest items: X/test/test_foo.c is run as build/test/X/test_foo.

    pytest harness/load/test/test_histogram.c                        # all its tests
    pytest harness/load/test/test_histogram.c::test_percentiles      # shown alone (the program runs as a whole)

The tests' names are read from the source (`cmocka_unit_test...(name`, `void test_name(void **`), their results from one run of the program. An item
called `program` answers for all the rest: exit status, a plan that was not finished, tests the source did not show by name.
So no result can be lost: what the program reports, or fails to report, fails here too. A program that was not built is a failure.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from . import paths, tap

REGISTERED = re.compile(r"\bcmocka_unit_test(?:_\w+)?\s*\(\s*(\w+)|^(?:static )?void (test_\w+)\s*\(\s*void\s*\*\*", re.MULTILINE)
NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
PROGRAM = "program"
TIMEOUT_S = 170.0


class CFailure(Exception):
    """A C test failed; the text is all that its program said."""


@dataclass(frozen=True)
class Outcome:
    command: str
    status: int | None  # None: it was stopped after TIMEOUT_S
    output: str
    tap: tap.Tap

    def whole(self) -> str:
        return f"{self.command}\n{self.output}"


def binary_of(source: Path, root: Path, build: Path) -> Path:
    """harness/load/test/test_a.c -> build/test/harness/load/test_a"""
    return build / "test" / source.parent.parent.relative_to(root) / source.stem


def declared_tests(source: str) -> list[str]:
    """Names of the tests that a source registers or defines, each once, in order.

    A function `test_x(void **state)` that nobody registers is in the list as well: it then fails as never reported.
    """
    found = REGISTERED.findall(NOT_CODE.sub(" ", source))
    return list(dict.fromkeys(registered or defined for registered, defined in found))


def run_program(binary: Path, seed: int, timeout_s: float = TIMEOUT_S) -> Outcome:
    command = f"ORDEAL_SEED={seed} {shlex.quote(paths.shown(binary))}"
    environment = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP", "ORDEAL_SEED": str(seed)}
    process = subprocess.Popen(
        [binary], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
        cwd=paths.ROOT, start_new_session=True,
    )  # fmt: skip
    status: int | None
    try:
        output, _ = process.communicate(timeout=timeout_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = output.decode("utf-8", "replace")
    return Outcome(command, status, text, tap.parse(text))


class CFile(pytest.File):
    """One test_*.c; its program is run once for each seed."""

    def collect(self) -> Iterator[pytest.Item]:
        names = declared_tests(self.path.read_text(encoding="utf-8", errors="replace"))
        seed, repeat = self.config.ordeal.seed, self.config.ordeal.repeat
        self.outcomes: dict[int, Outcome] = {}
        for k in range(repeat):
            suffix = f"[{k}]" if repeat > 1 else ""
            for name in [*names, PROGRAM]:
                yield CItem.from_parent(self, name=name + suffix, test=name, seed=seed + k, known=names)

    def outcome(self, seed: int) -> Outcome:
        if seed not in self.outcomes:
            self.outcomes[seed] = run_program(self.binary(), seed)
        return self.outcomes[seed]

    def binary(self) -> Path:
        binary = binary_of(self.path, self.config.rootpath, self.config.ordeal.build)
        if not os.access(binary, os.X_OK):
            raise CFailure(f"{paths.shown(binary)} is missing: run `make test-binaries`")
        return binary


class CItem(pytest.Item):
    def __init__(self, *, test: str, seed: int, known: list[str], **rest: Any) -> None:
        super().__init__(**rest)
        self.test, self.seed, self.known = test, seed, known

    def runtest(self) -> None:
        assert isinstance(self.parent, CFile)
        outcome = self.parent.outcome(self.seed)
        if self.test == PROGRAM:
            if problems := program_problems(outcome, self.known):
                raise CFailure("; ".join(problems) + "\n" + outcome.whole())
            return
        results = outcome.tap.of(self.test)
        if not results:
            raise CFailure(f"{self.test} was never reported: {ended(outcome)}\n{outcome.whole()}")
        if bad := [one for one in results if one.outcome == "failed"]:
            raise CFailure(f"{self.test}: {bad[0].why.strip()}\n{outcome.whole()}")
        if all(one.outcome == "skipped" for one in results):
            pytest.skip(f"{self.test} skips itself: see {outcome.command}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


def program_problems(outcome: Outcome, known: list[str]) -> list[str]:
    """What is wrong with the run as a whole; failures of tests in `known` are theirs to report."""
    problems = []
    failed = [one for one in outcome.tap.results if one.outcome == "failed"]
    problems += [f"{one.name}: {one.why.strip()}" for one in failed if one.name not in known]
    if outcome.tap.planned == 0:
        problems.append("it reported no tests (is it a CMocka program that calls cmocka_run_group_tests?)")
    elif not outcome.tap.complete:
        problems.append(f"{len(outcome.tap.results)} of {outcome.tap.planned} tests were reported; {ended(outcome)}")
    expected_failure = outcome.status is not None and outcome.status > 0 and any(one.name in known for one in failed)
    if outcome.status != 0 and not expected_failure:
        problems.append(ended(outcome))
    return list(dict.fromkeys(problems))


def ended(outcome: Outcome) -> str:
    if outcome.status is None:
        return f"the program was stopped after {TIMEOUT_S:g} s"
    if outcome.status < 0:
        return f"the program was killed by {signal.Signals(-outcome.status).name}"
    return f"the program ended with status {outcome.status}"


def collect_c_file(path: Path, parent: pytest.Collector) -> CFile | None:
    if path.suffix == ".c" and path.name.startswith("test_") and path.parent.name == "test":
        return CFile.from_parent(parent, path=path)
    return None
