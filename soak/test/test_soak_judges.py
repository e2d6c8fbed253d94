"""Each judge proved both ways: a kept promise, a broken one, and what cannot be told."""

from __future__ import annotations

import pytest

from soak.judges import CLEAN, INCONCLUSIVE, REPRODUCED, verdict_of
from soak.measured import Fault, Kill, Interval, Measured, Probe, Reload, Shutdown
from soak.test.made_up import NEW, OLD, at, case, measured, plateaus, reason, requests, unanswered


def test_a_clean_soak_is_clean() -> None:
    verdict = verdict_of(case(measured()))
    assert verdict.kind == CLEAN, verdict.summary
    assert {one.judge for one in verdict.reasons} >= {"accounting", "isolation", "liveness", "faults", "reload", "kill", "shutdown"}
    assert all(one.text for one in verdict.reasons)


BROKEN: list[tuple[str, Measured]] = [
    ("accounting", measured(unanswered("lost", 5, 6))),
    ("accounting", measured(unanswered("refused", 50, 51, "status 500"))),
    ("accounting", measured(summary={"requests": {**requests(6000), "answered": 5990}})),
    ("isolation", measured(unanswered("isolation", 5, 6, "marker of another request"))),
    ("liveness", measured(unanswered("lost", 29, 30))),
    ("liveness", measured(unanswered("refused", 29, 30, "status 500"))),
    ("liveness", measured(probes=[Probe(at(28.1), 0, "connect refused")])),
    ("liveness", measured(probes=[Probe(at(28.1), 500, None)])),
    ("reload", measured(reloads=[Reload(at(35), OLD, frozenset({11, 22, 23, 24}))])),
    ("reload", measured(reloads=[Reload(at(35), OLD, frozenset({21, 22}))])),
    ("kill", measured(kills=[Kill(22, Interval(at(42), at(42.001)), NEW, frozenset({21, 23, 24}))])),
    ("shutdown", measured(shutdown=Shutdown(None, 9, [], [], False, []))),
    ("shutdown", measured(shutdown=Shutdown(70, None, [], [], False, []))),
    ("shutdown", measured(shutdown=Shutdown(0, None, ["php-fpm8.2 (pid 7)"], [], False, []))),
    ("shutdown", measured(shutdown=Shutdown(0, None, [], ["ALERT: oops"], False, []))),
    ("shutdown", measured(shutdown=Shutdown(0, None, [], [], True, []))),
    ("shutdown", measured(shutdown=Shutdown(0, None, [], [], False, ["core.7"]))),
    ("shutdown", measured(shutdown=Shutdown(0, None, [], [], False, [], ["quit: still running after 12 s"]))),
]


@pytest.mark.parametrize("judge, made", BROKEN, ids=[f"{i}-{judge}" for i, (judge, _) in enumerate(BROKEN)])
def test_a_broken_promise_is_seen(judge: str, made: Measured) -> None:
    assert reason(judge, measured()).ok is True
    assert reason(judge, made).ok is False
    assert verdict_of(case(made)).kind == REPRODUCED


OPEN: list[tuple[str, Measured]] = [
    ("accounting", measured(summary=None)),
    ("accounting", measured(summary=None, live=[])),
    ("accounting", measured(load_failure="it ended with status 1: target never reachable")),
    ("accounting", measured(summary={"requests": requests(6000, in_flight=3)})),
    ("accounting", measured(summary={"requests": requests(6000, lost=2)})),
    ("isolation", measured(summary={"requests": requests(0)})),
    ("liveness", measured(phases=[])),
    ("liveness", measured(probes=[])),
    ("faults", measured(armed=[])),
    ("faults", measured(faults=[])),
    ("faults", measured(faults=[Fault(1, "mmap:errno=ENOMEM", 0, 0)])),
    ("faults", measured(faults=[Fault(1, "flock:errno=EINTR", 9, 3), Fault(2, "mmap:nth=900:errno=ENOMEM", 80, 0)])),
    ("faults", measured(faults=[Fault(1, "flock:errno=EINTR", 0, 0, active=False)])),
    ("reload", measured(reloads=[])),
    ("kill", measured(kills=[])),
    ("shutdown", measured(shutdown=None)),
]


@pytest.mark.parametrize("judge, made", OPEN, ids=[f"{i}-{judge}" for i, (judge, _) in enumerate(OPEN)])
def test_what_cannot_be_told_is_inconclusive_and_not_passed(judge: str, made: Measured) -> None:
    assert reason(judge, made).ok is None
    assert verdict_of(case(made)).kind == INCONCLUSIVE


def test_the_rule_that_never_fired_is_named() -> None:
    silent = measured(faults=[Fault(1, "flock:errno=EINTR", 9, 3), Fault(2, "mmap:nth=900:errno=ENOMEM", 0, 0)])
    assert "rule 2 `mmap:nth=900:errno=ENOMEM` never matched" in reason("faults", silent).text
    assert "flock" not in reason("faults", silent).text


def test_a_loss_to_a_kill_of_ours_is_explained() -> None:
    made = measured(unanswered("lost", 41.9, 42.01))
    assert verdict_of(case(made)).kind == CLEAN
    assert reason("accounting", made).numbers["lost_explained"] == 1


def test_a_second_loss_to_the_same_kill_is_not() -> None:
    made = measured(unanswered("lost", 41.9, 42.01), unanswered("lost", 41.8, 42.02))
    assert reason("accounting", made).ok is False
    assert reason("accounting", made).numbers["lost_unexplained"] == 1


def test_a_refusal_while_rules_are_armed_is_allowed_and_counted() -> None:
    made = measured(unanswered("refused", 20, 21, "status 500"))
    assert verdict_of(case(made)).kind == CLEAN
    assert reason("accounting", made).numbers["refused_by_fault"] == 1


def test_a_502_due_to_a_kill_is_told_and_breaks_nothing() -> None:
    made = measured(unanswered("refused", 41.9, 42.01, "status 502: Bad Gateway"), gateway=True)
    assert verdict_of(case(made)).kind == CLEAN
    assert "1 answered 502 because of them" in verdict_of(case(made)).summary
    assert reason("accounting", made).numbers["refused_by_kill"] == 1
    assert "1 answered 502" in reason("kill", made).text


def test_a_502_that_no_kill_explains_is_not_allowed() -> None:
    made = measured(unanswered("refused", 38, 38.1, "status 502: Bad Gateway"), gateway=True)
    assert reason("accounting", made).ok is False
    assert reason("accounting", made).numbers["refused_unexplained"] == 1


def test_a_loss_while_rules_are_armed_is_not_allowed() -> None:
    assert reason("accounting", measured(unanswered("lost", 20, 21))).ok is False


def test_a_target_that_cannot_reload_is_not_judged_for_it() -> None:
    made = measured(can_reload=False, can_kill=False, reloads=[], kills=[])
    verdict = verdict_of(case(made))
    assert verdict.kind == CLEAN
    assert not {"reload", "kill"} & {one.judge for one in verdict.reasons}


def test_leak_verdicts() -> None:
    assert reason("leak:pss", measured(), plateaus()).ok is True
    assert reason("leak:pss", measured(), plateaus(growth=30_000)).ok is False
    assert reason("leak:pss", measured(), plateaus(points=4)).ok is None
    assert reason("leak", measured(), []).ok is None


def test_resident_size_is_judged_only_without_a_better_series() -> None:
    grown = plateaus("rss_kb", growth=60_000)
    assert reason("leak:rss", measured(), grown).ok is False
    verdict = verdict_of(case(measured(), plateaus() + grown))
    assert "leak:rss" not in {one.judge for one in verdict.reasons}


def test_a_change_of_sharing_is_no_leak() -> None:
    """Another php-fpm on the machine ended, so this one's share of the common pages grew."""
    grown = plateaus("pss_kb", growth=30_000)
    calm = plateaus("anon_kb") + plateaus("rss_kb")
    assert reason("leak:pss", measured(), grown + calm).ok is True
    assert "share" in reason("leak:pss", measured(), grown + calm).text
    assert reason("leak:pss", measured(), grown + plateaus("anon_kb") + plateaus("rss_kb", growth=60_000)).ok is False
    assert reason("leak:pss", measured(), grown + plateaus("anon_kb")).ok is False


def test_private_memory_is_judged() -> None:
    assert reason("leak:anon", measured(), plateaus() + plateaus("anon_kb", growth=30_000)).ok is False


def test_one_broken_promise_outweighs_open_questions() -> None:
    assert verdict_of(case(measured(unanswered("lost", 5, 6), faults=[]))).kind == REPRODUCED


def test_the_summary_names_what_broke() -> None:
    assert "accounting" in verdict_of(case(measured(unanswered("lost", 5, 6)))).summary
