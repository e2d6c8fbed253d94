"""Phases, cycles and stretches of runs short and long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reports.model import Phase, parse_results
from reports.phases import PHASES_MAX, condense, cycles_of, make_phases, totals
from reports.reader import Node
from reports.stretches import stretches
from reports.test.synthetic import make

NAMES = ("faults", "heal", "reload")


def plan(cycles: int) -> list[Phase]:
    calm = Phase("calm", 0, 0.0, 10.0, 5, 5, 0, 0, 0, "")
    rest = [(cycle, name) for cycle in range(1, cycles + 1) for name in NAMES]
    return [calm, *(Phase(name, cycle, 10.0 + at, 11.0 + at, 4, 3, 1, 0, None, "n") for at, (cycle, name) in enumerate(rest))]


@given(cycles=st.integers(min_value=0, max_value=1500))
def test_condensed_phases_are_few_and_keep_the_sums(cycles: int) -> None:
    phases = plan(cycles)
    found = condense(phases)
    assert len(found) <= PHASES_MAX
    assert sum(phase.sent or 0 for phase in found) == sum(phase.sent or 0 for phase in phases)
    assert (found[0].start_s, found[-1].end_s) == (phases[0].start_s, phases[-1].end_s)
    assert all(one.end_s == other.start_s for one, other in zip(found, found[1:]))


def test_few_phases_stay_as_they_are() -> None:
    assert condense(plan(3)) == plan(3)


def test_cycles_are_shown_when_there_are_several() -> None:
    assert cycles_of(plan(1)) == []
    assert [(cycle.name, cycle.start_s, cycle.end_s, cycle.sent) for cycle in cycles_of(plan(2))] == [("cycle 1", 10, 13, 12), ("cycle 2", 13, 16, 12)]


def test_totals_are_by_name() -> None:
    assert totals(plan(1)) == []
    assert [(one.name, one.times, one.counts["refused"], one.counts["isolation"], one.rate) for one in totals(plan(4))] == [
        ("calm", 1, 0, 0, 0.5), *((name, 4, 4, None, 4.0) for name in NAMES)
    ]


def test_numbers_of_a_phase_are_those_of_its_time() -> None:
    results = make()
    faults = make_phases(parse_results(Node(results, "", "results.json")))[1]
    rows = [row for row in results["load"] if faults.phase.start_s <= row["t_s"] < faults.phase.end_s]
    assert faults.phase.sent == sum(row["rate"] for row in rows)
    assert faults.p99_us_max == max(row["p99_us"] for row in rows)
    assert faults.events["fault"] == sum(event["kind"] == "fault" for event in results["events"])


def test_stretches_are_cut_at_breaks_and_lose_their_warm_up() -> None:
    points = [(float(t_s), 1.0) for t_s in range(100)]
    first, second = stretches(points, [50.0])
    assert (first[0][0], first[-1][0]) == (5.0, 49.0)
    assert (second[0][0], second[-1][0]) == (55.0, 99.0)


def test_short_stretches_are_left_out() -> None:
    points = [(float(t_s), 1.0) for t_s in range(100)]
    assert [part[0][0] for part in stretches(points, [50.0, 53.0, 55.0])] == [5.0, 60.0]
    assert stretches([], [1.0]) == [] and stretches(points[:3], []) == []
