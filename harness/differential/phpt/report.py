"""What a person reads: a table of folders, the differences in a file, one line of summary; and the JSON."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from harness.orchestrate.paths import OUT, shown

from .. import answer
from .causes import CAUSES
from .judged import Wrong
from .right import UNSTEADY
from .run import Outcome, Plan

FOLDER = OUT / "phpt"
SHOWN_MAX = 40
REASONS_MAX = 8


def name_of(plan: Plan) -> str:
    chaos = f"-chaos{plan.chaos}" if plan.chaos else ""
    return f"{plan.target.rpartition('/')[2].removesuffix('.toml')}-opcache{plan.opcache}{chaos}"


def replay(plan: Plan, *names: str) -> str:
    words = [f"--target {plan.target}", f"--control {plan.control}", f"--in-flight {plan.in_flight}", f"--chaos {plan.chaos}"]
    words += [f"--opcache {plan.opcache}", f"--seed {plan.seed}", f"--dirs '{' '.join(plan.folders)}'"]
    words += [f"--source {plan.source}"] if plan.source else []
    return "python3 -m harness.differential.phpt " + " ".join([*words, *(f"--only {name}" for name in names)])


def _percent(share: float) -> str:
    """Rounded down: 99.999 is not 100."""
    return f"{int(share * 10000) / 100:.2f} %"


def rows(plan: Plan, outcome: Outcome) -> list[tuple[str, int, int]]:
    """Folder, scripts compared, scripts that were answered the same."""
    compared, wrong = Counter[str](), Counter[str]()
    for name in outcome.control.right:
        compared[_folder(plan, name)] += 1
    for name in outcome.judged.wrong:
        wrong[_folder(plan, name)] += 1
    return [(folder, compared[folder], compared[folder] - wrong[folder]) for folder in plan.folders if compared[folder]]


def _folder(plan: Plan, name: str) -> str:
    return next(folder for folder in plan.folders if name.startswith(f"{folder}/"))


def table(plan: Plan, outcome: Outcome) -> str:
    lines = [f"{'folder':<16}{'compared':>10}{'same':>8}"]
    lines += [f"{folder:<16}{total:>10}{same:>8}  {_percent(same / total):>9}" for folder, total, same in rows(plan, outcome)]
    return "\n".join(lines)


def left_out(outcome: Outcome) -> str:
    """Why the other test files were not compared."""
    control = outcome.control
    lines = [
        f"left out: {sum(outcome.tree.refused.values())} cannot be asked{_reasons(outcome.tree.refused)}",
        f"          {sum(control.skipped.values())} skip themselves on the control{_reasons(control.skipped)}",
        f"          {len(control.lost)} the control does not answer (they hang, or end its process)",
        f"          {len(control.unstable)} the control answers differently each time",
    ]
    steadied = sum(one.steadied for one in control.right.values())
    lines.append(f"of those compared, {steadied} without: {'; '.join(why for _, _, why in UNSTEADY)}")
    return "\n".join(lines)


def _reasons(counted: Counter[str]) -> str:
    most = ", ".join(f"{count} × {reason[:60]}" for reason, count in counted.most_common(REASONS_MAX))
    return f" ({most}{', …' if len(counted) > REASONS_MAX else ''})" if most else ""


def brief(name: str, wrong: Wrong) -> str:
    lost = f": {wrong.got.lost}" if wrong.got.lost else ""
    return f"{name}: {wrong.how}{lost}; cause: {CAUSES.get(name, 'not known')}"


def difference_text(plan: Plan, name: str, wrong: Wrong) -> str:
    diff = answer.difference(name, wrong.right.reply, wrong.got, plan.control, plan.target)
    return "\n".join([brief(name, wrong), diff, f"again: {replay(plan, name)}"])


def differences(plan: Plan, outcome: Outcome) -> str:
    texts = [difference_text(plan, name, wrong) for name, wrong in sorted(outcome.judged.wrong.items())]
    return "\n\n".join([summary(plan, outcome), f"all of it again: {replay(plan)}", left_out(outcome), *texts]) + "\n"


def summary(plan: Plan, outcome: Outcome) -> str:
    how = Counter(wrong.how for wrong in outcome.judged.wrong.values())
    parts = [f"{outcome.same} of {outcome.compared} scripts the same ({_percent(outcome.share)}, wanted {plan.share_min:.1%})"]
    if how:
        parts.append(f"{how.total()} differ ({', '.join(f'{count} {kind}' for kind, count in how.most_common())})")
    if outcome.judged.caught_up:
        parts.append(f"{len(outcome.judged.caught_up)} lost with a worker and right when asked again")
    if problems := outcome.judged.ended + outcome.problems:
        parts.append(f"{len(problems)} problems of the server")
    setting = f"{plan.in_flight} in flight, chaos {plan.chaos or 'off'}, OPcache {'on' if plan.opcache else 'off'}, seed {plan.seed}"
    verdict = "good" if outcome.good(plan) else "BELOW"
    return f"phpt: {verdict}: {plan.target} against {plan.control}: {'; '.join(parts)}; {outcome.seconds['all']:.0f} s ({setting})"


def screen(plan: Plan, outcome: Outcome, kept: Path) -> str:
    wrong = sorted(outcome.judged.wrong.items())
    lines = [brief(name, one) for name, one in wrong[:SHOWN_MAX]]
    lines += [f"… and {len(wrong) - SHOWN_MAX} more"] if len(wrong) > SHOWN_MAX else []
    lines += [f"problem: {problem}" for problem in outcome.judged.ended + outcome.problems[:REASONS_MAX]]
    lines += [table(plan, outcome), left_out(outcome), f"each difference: {shown(kept)}", summary(plan, outcome)]
    return "\n".join(lines)


def as_json(plan: Plan, outcome: Outcome) -> dict:
    control, judged = outcome.control, outcome.judged
    return {
        "plan": {name: getattr(plan, name) for name in ("target", "control", "in_flight", "chaos", "opcache", "seed", "folders", "only")},
        "source": outcome.source.name,
        "good": outcome.good(plan),
        "compared": outcome.compared,
        "same": outcome.same,
        "share": round(outcome.share, 6),
        "share_min": plan.share_min,
        "folders": [{"folder": folder, "compared": total, "same": same} for folder, total, same in rows(plan, outcome)],
        "refused": dict(outcome.tree.refused.most_common()),
        "skipped": dict(control.skipped.most_common()),
        "control_lost": control.lost,
        "unstable": dict(sorted(control.unstable.items())),
        "caught_up": judged.caught_up,
        "problems": judged.ended + outcome.problems,
        "seconds": outcome.seconds,
        "differences": [
            {"script": name, "how": wrong.how, "lost": wrong.got.lost, "cause": CAUSES.get(name), "again": replay(plan, name)}
            for name, wrong in sorted(judged.wrong.items())
        ],
    }
