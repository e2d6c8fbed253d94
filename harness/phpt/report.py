"""What a person reads: a table, a file for each difference, one line of summary; and the JSON."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

from harness.differential import answer

from .known import KNOWN
from .phpt import Test
from .run import Outcome, Plan

COLUMNS = ("scripts", "skipped", "left out", "compared", "same", "known", "different", "%")
ENOUGH, ENOUGH_WITH_CHAOS = 0.998, 0.995


def enough(plan: Plan) -> float:
    return ENOUGH_WITH_CHAOS if plan.chaos else ENOUGH


def passed(plan: Plan, outcome: Outcome) -> bool:
    return bool(outcome.compared) and outcome.share >= enough(plan)


def _folder(plan: Plan, test: Test) -> str:
    fitting = [one for one in plan.dirs if test.name.startswith(one.rstrip("/") + "/")]
    return max(fitting, key=len, default="")


def row(outcome: Outcome, tests: list[Test]) -> dict[str, float]:
    names = [one.name for one in tests]
    of = (outcome.skipped, outcome.left_out, outcome.found, outcome.new)
    skipped, left_out, found, different = (sum(name in one for name in names) for one in of)
    compared, known = len(names) - skipped - left_out, found - different
    same = compared - found
    share = round(100 * same / (compared - known), 2) if compared > known else 0.0
    return dict(zip(COLUMNS, (len(names), skipped, left_out, compared, same, known, different, share)))


def rows(plan: Plan, outcome: Outcome) -> dict[str, dict[str, float]]:
    of: dict[str, list[Test]] = {one: [] for one in plan.dirs}
    for test in outcome.tests:
        of.setdefault(_folder(plan, test), []).append(test)
    return {name: row(outcome, tests) for name, tests in of.items()} | {"all": row(outcome, outcome.tests)}


def table(plan: Plan, outcome: Outcome) -> str:
    lines = [f"{'':14}" + "".join(f"{name:>10}" for name in COLUMNS)]
    for name, found in rows(plan, outcome).items():
        cells = [f"{found[column]:>10}" if column != "%" else f"{found[column]:>10.2f}" for column in COLUMNS]
        lines.append(f"{name:14}" + "".join(cells))
    return "\n".join(lines)


def reasons(outcome: Outcome) -> str:
    lines = []
    for what, given in (("skipped", outcome.skipped), ("left out", outcome.left_out)):
        lines += [f"{what:9}{count:>6}  {why}" for why, count in Counter(given.values()).most_common()]
    return "\n".join(lines)


def replay(plan: Plan, name: str) -> str:
    words = [f"--target {plan.target}", f"--in-flight {plan.in_flight}", f"--chaos {plan.chaos}", f"--opcache {plan.opcache}"]
    return " ".join(["python3 -m harness.phpt", *words, f"--seed {plan.seed}", f"--dirs {name.rpartition('/')[0]}", f"--only {name}"])


def differences(plan: Plan, outcome: Outcome, folder: Path) -> list[Path]:
    """One file each, of an earlier run none; the files of those that are not known."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    written: list[Path] = []
    for name, found in sorted(outcome.found.items()):
        alone = "as php-fpm" if found.only_in_company else "as with others" if found.alone == found.got else "differently again"
        known = [f"known: {KNOWN[name]}"] if name in KNOWN else []
        lines = [*known, f"{name}: alone, {plan.target} answers {alone}", answer.difference(name, found.right, found.got, plan.control, plan.target)]
        if found.alone not in (None, found.got, found.right):
            lines += ["alone:", answer.difference(name, found.right, found.alone, plan.control, plan.target)]
        path = folder / f"{name.replace('/', '+')}.diff"
        path.write_text("\n".join([*lines, f"again: {replay(plan, name)}"]) + "\n")
        if not known:
            written.append(path)
    return written


def summary(plan: Plan, outcome: Outcome) -> str:
    parts = [f"{len(outcome.new)} differences in {len(outcome.compared)} scripts, {100 * outcome.share:.2f} % the same"]
    if known := len(outcome.found) - len(outcome.new):
        parts.append(f"{known} known")
    if in_company := sum(one.only_in_company for one in outcome.new.values()):
        parts.append(f"{in_company} only in company")
    if outcome.lost_with_another:
        parts.append(f"{len(outcome.lost_with_another)} asked again")
    if outcome.ended:
        parts.append("a worker ended")
    if plan.audit:
        parts.append(f"{len(outcome.audit)} places that AUDIT names")
    how = f"{plan.in_flight} in flight, chaos {plan.chaos or 'off'}, OPcache {'on' if plan.opcache else 'off'}, seed {plan.seed}"
    verdict = "" if passed(plan, outcome) else f"; FAILED: {100 * enough(plan):g} % are wanted"
    return f"phpt: {plan.target} against {plan.control}: {', '.join(parts)}; {outcome.seconds:.0f} s ({how}){verdict}"


def as_json(plan: Plan, outcome: Outcome) -> str:
    found = {
        name: {"known": KNOWN.get(name), "only_in_company": one.only_in_company, "diff": answer.difference(name, one.right, one.got, plan.control, plan.target).splitlines()}
        for name, one in sorted(outcome.found.items())
    }
    data = {
        "plan": plan.__dict__,
        "passed": passed(plan, outcome),
        "seconds": round(outcome.seconds, 1),
        "folders": rows(plan, outcome),
        "skipped": Counter(outcome.skipped.values()),
        "left_out": outcome.left_out,
        "asked_again": outcome.lost_with_another,
        "worker_ended": bool(outcome.ended),
        "audit": outcome.audit,
        "unstable": {name: answer.difference(name, *both, "first", "second").splitlines() for name, both in sorted(outcome.unstable.items())},
        "differences": found,
    }
    return json.dumps(data, indent=1) + "\n"
