"""The judges of a soak: each looks at what was measured and says whether one promise was kept.

A judge answers with a Reason: `ok` is True (kept), False (broken) or None (could not be told: inconclusive),
with one sentence and the numbers it rests on. The verdict follows from all reasons: one broken promise makes the
run `reproduced`, otherwise one open question makes it `inconclusive`, otherwise it is `clean`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from soak.explain import Explained, explain
from soak.measured import Measured, PhaseRun, Unanswered
from soak.phases import HEAL
from soak.plateau import Plateau

CLEAN, REPRODUCED, INCONCLUSIVE = "clean", "reproduced", "inconclusive"
LEAK_SERIES = ("heap_kb", "anon_kb", "pss_kb", "fds", "threads", "children")
SHOWN_MAX = 3


@dataclass(frozen=True)
class Reason:
    judge: str
    ok: bool | None
    text: str
    numbers: dict[str, int | float | str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """What a judge is given."""

    measured: Measured
    explained: Explained
    plateau: Sequence[Plateau]


def case_of(measured: Measured, plateau: Sequence[Plateau]) -> Case:
    found = explain(measured.unanswered, measured.kills, measured.armed, measured.requests_per_worker, measured.gateway)
    return Case(measured, found, plateau)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _reasons(unanswered: Sequence[Unanswered]) -> str:
    common = Counter(f"{one.target}: {one.kind}" for one in unanswered).most_common(SHOWN_MAX)
    return "; ".join(f"{count} × {text}" for text, count in common)


def accounting(case: Case) -> list[Reason]:
    """Every request sent was answered, refused with a reason while rules were armed, or lost to a kill of ours.

    What a killed worker held and the web server before it answered 502 is refused to the client, and due to the kill."""
    total, found = case.measured.total, case.explained
    recorded = Counter(one.outcome for one in case.measured.unanswered)
    numbers: dict[str, int | float | str | None] = {
        "sent": total.sent, "answered": total.answered, "refused": total.refused, "lost": total.lost,
        "in_flight_at_end": total.in_flight, "unaccounted": total.balance,
        "lost_explained": found.lost_explained, "lost_unexplained": len(found.lost_unexplained),
        "refused_by_fault": len(found.refused_by_fault), "refused_by_kill": len(found.refused_by_kill),
        "refused_unexplained": len(found.refused_unexplained),
    }
    broken = []
    if total.balance:
        broken.append(f"{total.balance} requests are in no column of the account")
    if found.lost_unexplained:
        broken.append(f"{len(found.lost_unexplained)} lost without explanation ({_reasons(found.lost_unexplained)})")
    if found.refused_unexplained:
        broken.append(f"{len(found.refused_unexplained)} refused while no rule was armed ({_reasons(found.refused_unexplained)})")
    if broken:
        return [Reason("accounting", False, "; ".join(broken), numbers)]
    open_question = _account_is_open(case.measured, recorded)
    if open_question:
        return [Reason("accounting", None, open_question, numbers)]
    text = (
        f"{total.sent} sent, {total.answered} answered; {len(found.refused_by_fault)} refused with a reason while "
        f"rules were armed; {found.lost_explained} lost, all to kills of ours"
    )
    if case.measured.gateway:
        text += f"; {len(found.refused_by_kill)} answered 502 by the web server, all due to kills of ours"
    return [Reason("accounting", True, text, numbers)]


def _account_is_open(measured: Measured, recorded: Counter[str]) -> str | None:
    total = measured.total
    if measured.load_failure:
        return f"the load generator {measured.load_failure}"
    if measured.summary is None:
        return "the load generator was ended before it could write its account"
    if total.sent == 0:
        return "no request was sent"
    if total.in_flight:
        return f"{total.in_flight} requests were still in flight at the end"
    if (recorded["lost"], recorded["refused"], recorded["isolation"]) != (total.lost, total.refused, total.isolation):
        return f"the list of unanswered requests has {sum(recorded.values())} lines, the account has " \
               f"{total.lost + total.refused + total.isolation}"
    return None


def isolation(case: Case) -> list[Reason]:
    """No answer carried the marker of another request."""
    total = case.measured.total
    numbers: dict[str, int | float | str | None] = {"isolation": total.isolation, "answered": total.answered}
    if total.isolation:
        seen = _reasons(case.explained.isolation)
        return [Reason("isolation", False, f"{total.isolation} answers carried another request's marker ({seen})", numbers)]
    if total.answered == 0:
        return [Reason("isolation", None, "no answer was seen, so no marker was compared", numbers)]
    return [Reason("isolation", True, f"{total.answered} answers, each with its own marker", numbers)]


def liveness(case: Case) -> list[Reason]:
    """Once the rules are disarmed, everything is answered again."""
    heals = [phase for phase in case.measured.phases if phase.name == HEAL]
    if not heals:
        return [Reason("liveness", None, "the run ended before its rules were disarmed")]
    failed = [one for one in case.measured.unanswered if any(_sent_in(phase, one) for phase in heals)]
    probes_bad = [probe for probe in case.measured.probes if probe.status != 200]
    numbers: dict[str, int | float | str | None] = {
        "heal_phases": len(heals), "unanswered": len(failed),
        "probes": len(case.measured.probes), "probes_failed": len(probes_bad),
    }
    if failed or probes_bad:
        what = _reasons(failed) or str(probes_bad[0].error or f"probe answered status {probes_bad[0].status}")
        return [Reason("liveness", False, f"after the rules were disarmed not everything was answered: {what}", numbers)]
    if not case.measured.probes:
        return [Reason("liveness", None, "the run ended before the target was asked after healing", numbers)]
    return [Reason("liveness", True, f"everything was answered once the rules were disarmed ({counted(len(heals), 'time')})", numbers)]


def _sent_in(phase: PhaseRun, one: Unanswered) -> bool:
    return phase.start_ns <= one.sent_ns < phase.end_ns


def faults(case: Case) -> list[Reason]:
    """The faults that were asked for really happened; otherwise surviving them means nothing."""
    rules = case.measured.faults
    numbers: dict[str, int | float | str | None] = {
        "rules": len(rules), "fired": sum(rule.fired for rule in rules), "matched": sum(rule.matched for rule in rules),
    }
    if not case.measured.armed:
        return [Reason("faults", None, "the run ended before its rules were armed", numbers)]
    if not rules:
        return [Reason("faults", None, "no rule was given, so no fault was survived", numbers)]
    wanted = [rule for rule in rules if rule.active]
    silent = [f"rule {rule.id} `{rule.text}` never matched a call" for rule in wanted if not rule.matched]
    silent += [f"rule {rule.id} `{rule.text}` matched {rule.matched} calls and never fired"
               for rule in wanted if rule.matched and not rule.fired]
    if silent or not wanted:
        return [Reason("faults", None, "; ".join(silent) or "no rule was active", numbers)]
    return [Reason("faults", True, f"{numbers['fired']} faults of {counted(len(wanted), 'rule')} really happened", numbers)]


def reload(case: Case) -> list[Reason]:
    """After a reload under load all workers are new ones."""
    measured = case.measured
    if not measured.can_reload:
        return []
    if not measured.reloads:
        return [Reason("reload", None, "the run ended before the target was told to reload")]
    broken = []
    for number, one in enumerate(measured.reloads, 1):
        stayed = one.before & one.after
        if one.done_ns is None and stayed:
            broken.append(f"reload {number}: {len(stayed)} of {len(one.before)} workers are still the old ones")
        elif one.done_ns is None:
            broken.append(f"reload {number}: {len(one.after)} new workers, expected {measured.workers}")
    numbers: dict[str, int | float | str | None] = {"reloads": len(measured.reloads), "workers": measured.workers}
    if broken:
        return [Reason("reload", False, "; ".join(broken), numbers)]
    numbers["longest_s"] = round(max((one.done_ns or 0) - one.at_ns for one in measured.reloads) / 1e9, 3)
    text = f"all {counted(measured.workers, 'worker')} were replaced ({counted(len(measured.reloads), 'reload')})"
    return [Reason("reload", True, text, numbers)]


def kill(case: Case) -> list[Reason]:
    """A worker that is killed under load is replaced."""
    measured = case.measured
    if not measured.can_kill:
        return []
    if not measured.kills:
        return [Reason("kill", None, "the run ended before a worker was killed")]
    broken = [f"worker {one.pid} was not replaced: {len(one.after)} workers, expected {measured.workers}"
              for one in measured.kills if one.replaced_ns is None]
    numbers: dict[str, int | float | str | None] = {
        "kills": len(measured.kills), "lost_by_them": case.explained.lost_explained,
        "answered_502": len(case.explained.refused_by_kill), "not_replaced": len(broken),
    }
    if broken:
        return [Reason("kill", False, "; ".join(broken[:SHOWN_MAX]), numbers)]
    text = f"{counted(len(measured.kills), 'worker')} killed and replaced; {counted(case.explained.lost_explained, 'request')} lost by that"
    if measured.gateway:
        text += f", {len(case.explained.refused_by_kill)} answered 502"
    return [Reason("kill", True, text, numbers)]


def shutdown(case: Case) -> list[Reason]:
    """The target ends when asked to, and leaves nothing: no process, no socket, no core, no complaint in its log."""
    end = case.measured.shutdown
    if end is None:
        return [Reason("shutdown", None, "how the target ended was not seen")]
    broken = []
    if end.signal is not None:
        broken.append(f"ended by signal {end.signal}")
    elif end.code != 0:
        broken.append(f"ended with status {end.code}")
    if end.leftovers:
        broken.append(f"left processes: {', '.join(end.leftovers[:SHOWN_MAX])}")
    if end.socket_left:
        broken.append("left its socket")
    if end.cores:
        broken.append(f"left cores: {', '.join(end.cores[:SHOWN_MAX])}")
    if end.log_errors:
        broken.append(f"{len(end.log_errors)} unexpected log lines: {'; '.join(end.log_errors[:SHOWN_MAX])}")
    broken += end.others[:SHOWN_MAX]
    numbers: dict[str, int | float | str | None] = {
        "code": end.code, "signal": end.signal, "leftovers": len(end.leftovers),
        "cores": len(end.cores), "unexpected_log_lines": len(end.log_errors),
    }
    if broken:
        return [Reason("shutdown", False, "; ".join(broken), numbers)]
    return [Reason("shutdown", True, "ended with status 0; no process, socket, core or unexpected log line left", numbers)]


def leak(case: Case) -> list[Reason]:
    """Each series has reached a plateau. Resident size is judged only where nothing better was measured."""
    measured_names = {one.series for one in case.plateau}
    wanted = [name for name in LEAK_SERIES if name in measured_names]
    if "pss_kb" not in measured_names and "rss_kb" in measured_names:
        wanted.append("rss_kb")
    if not wanted:
        return [Reason("leak", None, "no series was sampled")]
    by_name = {one.series: one for one in case.plateau}
    return [_leak_of(by_name[name], by_name) for name in wanted]


def _leak_of(one: Plateau, by_name: dict[str, Plateau]) -> Reason:
    ok = {"flat": True, "leak": False}.get(one.verdict)
    text = one.text
    if one.series == "pss_kb" and ok is not True and _sharing_changed(by_name):
        ok = True
        text += "; yet neither private memory nor resident size grows: others began or ceased to share its pages"
    numbers: dict[str, int | float | str | None] = {
        "growth": one.effect, "growth_min": one.effect_min, "slope_per_hour": one.slope_per_hour,
        "ci_low_per_hour": one.ci_low, "ci_high_per_hour": one.ci_high, "points": one.n, "shape": one.shape,
    }
    return Reason(f"leak:{one.series.removesuffix('_kb')}", ok, text, numbers)


def _sharing_changed(by_name: dict[str, Plateau]) -> bool:
    """Memory that really grows shows in resident size as well, however many share it."""
    return all(name in by_name and by_name[name].verdict == "flat" for name in ("anon_kb", "rss_kb"))


JUDGES: tuple[Callable[[Case], list[Reason]], ...] = (
    accounting, isolation, liveness, faults, reload, kill, leak, shutdown,
)


@dataclass(frozen=True)
class Verdict:
    kind: str
    summary: str
    reasons: list[Reason]


def verdict_of(case: Case) -> Verdict:
    reasons = [reason for judge in JUDGES for reason in judge(case)]
    broken = [reason for reason in reasons if reason.ok is False]
    unsure = [reason for reason in reasons if reason.ok is None]
    total = case.measured.total
    seconds = case.measured.seconds(case.measured.ended_ns)
    head = f"{total.sent} requests in {seconds:.0f} s"
    if broken:
        return Verdict(REPRODUCED, f"{head}: {counted(len(broken), 'promise')} broken: {_named(broken)}", reasons)
    if unsure:
        return Verdict(INCONCLUSIVE, f"{head}: inconclusive: {_named(unsure)}", reasons)
    due = f"{case.explained.lost_explained} lost to kills of ours"
    if case.measured.gateway:
        due += f", {len(case.explained.refused_by_kill)} answered 502 because of them"
    return Verdict(CLEAN, f"{head}: all {len(reasons)} promises kept, {due}", reasons)


def _named(reasons: Sequence[Reason]) -> str:
    return "; ".join(f"{reason.judge} ({reason.text})" for reason in reasons)
