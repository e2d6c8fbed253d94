"""The phase planner: covers the duration, in order, nothing empty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soak import phases
from soak.phases import DURATION_S_MAX, DURATION_S_MIN, plan

DURATIONS = st.floats(DURATION_S_MIN, DURATION_S_MAX)
ORDER = (phases.FAULTS, phases.HEAL, phases.RELOAD, phases.KILL, phases.CALM_AGAIN)


@given(DURATIONS)
def test_phases_cover_the_duration_without_gap(duration_s: float) -> None:
    planned = plan(duration_s)
    assert planned[0].start_s == 0
    assert planned[-1].end_s == duration_s
    assert all(before.end_s == after.start_s for before, after in zip(planned, planned[1:]))


@given(DURATIONS)
def test_no_phase_is_empty(duration_s: float) -> None:
    assert all(phase.duration_s > 0.5 for phase in plan(duration_s))


@given(DURATIONS)
def test_phases_come_in_order_in_whole_cycles(duration_s: float) -> None:
    first, *rest = plan(duration_s)
    assert (first.name, first.cycle) == (phases.CALM, 0)
    assert len(rest) % len(ORDER) == 0
    for number, phase in enumerate(rest):
        assert (phase.name, phase.cycle) == (ORDER[number % len(ORDER)], number // len(ORDER) + 1)


def test_a_minute_has_one_cycle_and_hours_have_many() -> None:
    assert {phase.cycle for phase in plan(60)} == {0, 1}
    assert plan(3600)[-1].cycle == 5
    assert plan(8 * 3600)[-1].cycle == 47
    assert plan(DURATION_S_MAX)[-1].cycle == phases.CYCLES_MAX


@pytest.mark.parametrize("duration_s", [0, -1, 7.9, DURATION_S_MAX + 1, float("nan"), float("inf")])
def test_impossible_durations_are_refused(duration_s: float) -> None:
    with pytest.raises(ValueError, match="expected 8 s"):
        plan(duration_s)


def test_more_cycles_on_request() -> None:
    planned = plan(120, cycles=17)
    assert planned[-1].cycle == 17 and planned[-1].end_s == 120
    assert sum(phase.name == phases.RELOAD for phase in planned) == 17
    with pytest.raises(ValueError, match="19 cycles in 120 s: expected 5 s or more for each"):
        plan(120, cycles=19)
