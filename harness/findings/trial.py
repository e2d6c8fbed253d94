"""One finding on one server, once: launch, stimulate, judge; then its story.

    >>> trial = try_once(scenario, column)
    >>> trial.verdict.kind
    'clean'

A finding with cases is tried on a fresh server for each; the checks of all of them make the verdict. Whatever goes wrong here
is a verdict too: a mark that was not reached and a server that did not start are `inconclusive`.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.orchestrate import Bundle, ControlError, LaunchError, NotBuilt, NotMeasured, Running, Target, Verdict, launch
from harness.orchestrate.paths import APPS

from .columns import Column
from .finding import Check, MarkMissed, NotApplicable, Scenario, verdict_of
from .rig import Rig

LOG_LINES_MAX = 60
HISTORY_MAX = 400
NOT_MEASURED = "not_measured"


@dataclass
class Trial:
    verdict: Verdict
    seconds: float
    checks: list[Check] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)  # facts, by case
    log: list[str] = field(default_factory=list)
    launched: list[str] = field(default_factory=list)  # how the server was changed, one line each


@dataclass(frozen=True)
class Unstarted:
    """What a finding about the start itself is given: the server, which it starts as it likes."""

    target: Target
    launch: Callable[..., Running]  # launch(environment)


def try_once(scenario: Scenario, column: Column, evidence: Path | None = None) -> Trial:
    """`evidence` is a folder for the bundle of a trial that is not as expected."""
    begun = time.monotonic()
    trial = Trial(Verdict("inconclusive", ["it was not begun"]), 0.0)
    missed: list[str] = []
    left_out: list[str] = []
    try:
        _check_applicable(scenario, column)
        for case in scenario.finding.cases:
            try:
                _try_case(scenario, column, case, trial, evidence)
            except MarkMissed as mark:
                missed.append(f"{case}: {mark}" if case else str(mark))
            except NotApplicable as reason:
                left_out.append(f"{case}: {reason}" if case else str(reason))
        trial.launched += [f"not applicable: {one}" for one in left_out]
        if left_out and not trial.checks and not missed:
            raise NotApplicable("; ".join(left_out))
        trial.verdict = verdict_of(trial.checks, missed)
    except NotApplicable as reason:
        trial.verdict = Verdict("not_applicable", [str(reason)])
    except (LaunchError, ControlError, NotMeasured, NotBuilt) as error:
        trial.verdict = Verdict("inconclusive", [str(error).splitlines()[0]])
        trial.log += str(error).splitlines()[-LOG_LINES_MAX:]
    trial.seconds = time.monotonic() - begun
    if evidence is not None:
        _keep(scenario, column, trial, evidence)
    return trial


def _check_applicable(scenario: Scenario, column: Column) -> None:
    row, target = scenario.row, column.target
    assert target is not None
    if row.not_applicable:
        raise NotApplicable(row.not_applicable)
    if target.protocol != "fastcgi":
        raise NotApplicable(f"speaks FastCGI; target {target.name} speaks {target.protocol}")
    for word in row.needs:
        if word not in target.capabilities:
            raise NotApplicable(f"needs a server that can {word!r}; target {target.name} does not say so")


def _try_case(scenario: Scenario, column: Column, case: str, trial: Trial, evidence: Path | None) -> None:
    finding = scenario.finding
    target = column.changed(scenario.row, finding.settings_of(case))
    environment = column.environment(scenario.row)
    trial.launched += [line for line in _how(target, column, scenario, environment, case) if line not in trial.launched]
    begun = trial.history[-1]["t_s"] if trial.history else 0.0

    def prepare(more: Mapping[str, str] = MappingProxyType({})) -> Running:
        return launch(
            target,
            APPS,
            rules=finding.rules,
            armed=False,
            workers=finding.workers if "concurrent" in target.capabilities else finding.workers_alone,
            shim=bool(finding.rules),
            trace=False,
            env={**environment, **more},
            bundle=evidence / (case.replace(" ", "-") or "run") if evidence is not None else None,
            replay=replay(scenario, column),
        )

    if finding.starts_itself:
        seen = scenario.stimulate(Unstarted(target, prepare))
        trial.seen[case] = seen
        trial.checks += [_in_case(check, case) for check in scenario.judge(seen)]
        return
    run, rig = prepare(), None
    try:
        with run:
            rig = Rig(run, finding, case)
            try:
                seen = scenario.stimulate(rig)
            finally:
                rig.close()
    finally:
        if rig is not None:
            shown = rig.history[:HISTORY_MAX]
            trial.history += [{**one, "t_s": round(begun + one["t_s"], 4), "case": case} for one in shown]
            trial.log += run.log().splitlines()[-LOG_LINES_MAX:]
    trial.seen[case] = seen
    trial.checks += [_in_case(check, case) for check in scenario.judge(seen)]


def _in_case(check: Check, case: str) -> Check:
    return Check(check.name, check.ok, check.text, dict(check.numbers), case)


def _how(target: Target, column: Column, scenario: Scenario, environment: dict[str, str], case: str) -> list[str]:
    finding = scenario.finding
    workers = finding.workers if "concurrent" in target.capabilities else finding.workers_alone
    out = [f"{target.name}: {target.executable()}, {workers} worker{'s' if workers > 1 else ''}"]
    out += [f"{name}={value}" for name, value in environment.items()]
    out += [f"{name} = {value}" for name, value in finding.settings_of(case).items()]
    out += [f"fault {rule}" for rule in finding.rules]
    return out


def replay(scenario: Scenario, column: Column) -> list[str]:
    command = ["make", "audit", f"FINDING={scenario.id}"]
    if column.name in ("audited", "fixed", "php-fpm"):
        return [*command, f"COLUMN={column.name}"]
    return [*command, f"TARGET={column.target.path if column.target else column.name}"]


def _keep(scenario: Scenario, column: Column, trial: Trial, evidence: Path) -> None:
    """The bundle stays when the verdict is not the expected one."""
    if trial.verdict.kind in (column.expected(scenario.row), "not_applicable"):
        shutil.rmtree(evidence, ignore_errors=True)
        with contextlib.suppress(OSError):  # another try's bundle may be there
            evidence.parent.rmdir()
        return
    Bundle(evidence).write(trial.verdict, history=trial.history, replay=replay(scenario, column))
