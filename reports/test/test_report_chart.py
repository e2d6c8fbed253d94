"""Scales, paths, fits and ticks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import chart, units
from reports.thin import thin

POSITIVE = st.lists(st.floats(min_value=1e-3, max_value=1e12), min_size=1, max_size=50)
STYLE = chart.Series("x", "x", "s-1")


def heights(path: str) -> list[float]:
    return [float(y) for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)", path)]


@given(values=POSITIVE, kind=st.sampled_from(("log", "zero", "own")))
def test_scale_holds_every_value(values: list[float], kind: str) -> None:
    scale = chart.make_scale(thin(range(len(values)), {"x": values}, 60), [STYLE], 100, kind)
    assert scale.low <= min(values) * 1.001 and max(values) <= scale.high * 1.001
    assert 1 <= len(scale.ticks) <= 14
    assert all(0 <= scale.y(value) <= 100 for value in (*values, *scale.ticks))


@given(low=st.floats(min_value=1, max_value=1e6), factor=st.floats(min_value=1.01, max_value=1e3))
def test_greater_is_higher(low: float, factor: float) -> None:
    for log in (False, True):
        scale = chart.Scale(0.5, 1e9, 1000, log)
        assert scale.y(low * factor) <= scale.y(low)


def test_noise_does_not_fill_the_plot() -> None:
    scale = chart.linear_scale([1000, 1002], 100, from_zero=False)
    assert scale.high - scale.low >= 100


def test_binary_unit_gives_binary_ticks() -> None:
    gib = 1024 * 1024
    scale = chart.make_scale(thin([0, 1], {"x": [0, 3 * gib]}, 9), [STYLE], 100, "own", 1024)
    assert [units.kibibytes(tick) for tick in scale.ticks] == ["0", "1 GiB", "2 GiB", "3 GiB"]


def test_no_values_is_no_trouble() -> None:
    rows = thin([], {"x": []}, 5)
    for kind in ("log", "zero", "own"):
        assert chart.make_plot(rows, [STYLE], chart.make_scale(rows, [STYLE], 80, kind), str).paths == []


def test_gaps_stay_gaps() -> None:
    rows = thin(range(5), {"x": [1, 2, None, 4, 5]}, 9)
    assert chart.line_path(rows, "x", chart.Scale(0, 5, 100)).count("M") == 2


def test_a_lonely_value_is_a_dot() -> None:
    rows = thin(range(3), {"x": [None, 2, None]}, 9)
    assert chart.line_path(rows, "x", chart.Scale(0, 5, 100)).endswith("h0")


def test_a_spike_is_drawn_at_its_height_after_thinning() -> None:
    values = [10.0] * 20_000
    values[12_345] = 900.0
    scale = chart.Scale(0, 1000, 100)
    rows = thin(range(20_000), {"x": values}, 640)
    assert min(heights(chart.line_path(rows, "x", scale))) == scale.y(900)


def test_fit_goes_through_a_straight_line() -> None:
    points = [(float(t_s), 100 + 2.0 * t_s) for t_s in range(50)]
    scale = chart.Scale(0, 300, 300)
    fit = chart.make_fit(points, (2.0, 1.9, 2.1), scale, "leak")
    assert fit is not None and fit.wedge.endswith("Z")
    assert heights(fit.line) == [scale.y(100), scale.y(198)]


def test_fit_is_cut_at_the_edge_of_the_plot() -> None:
    fit = chart.make_fit([(0.0, 50.0), (10.0, 50.0), (20.0, 50.0)], (100.0, None, None), chart.Scale(0, 100, 100), "leak")
    assert fit is not None and fit.wedge == ""
    assert [float(x) for x in re.findall(r"[ML]([\d.]+) ", fit.line)] == [9.5, 10.5]


def test_fit_needs_two_points() -> None:
    assert chart.make_fit([(1.0, 2.0)], (0.0, None, None), chart.Scale(0, 1, 10), "flat") is None


@given(width=st.floats(min_value=0.5, max_value=1e7))
def test_time_ticks_are_few_and_within(width: float) -> None:
    ticks = chart.time_ticks(0.0, width, units.clock)
    assert 1 <= len(ticks) <= chart.TIME_TICKS_MAX + 1
    assert all(0 <= tick.at <= width * 1.001 for tick in ticks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (units.micros(830), "830 µs"), (units.micros(1240), "1.24 ms"), (units.micros(2.5e6), "2.5 s"), (units.micros(None), "–"), (units.kibibytes(1024), "1 MiB"), (units.kibibytes(-900), "−900 KiB"),
        (units.plain(60000), "60,000"), (units.plain(0.00312), "0.00312"), (units.clock(12.5), "12.5 s"), (units.clock(185), "3:05"), (units.clock(7207), "2:00:07"), (units.span(20000), "5 h 33 min"), (units.span(0.62), "0.62 s"),
        (units.percent(99999, 100000), "99.99 %"), (units.percent(1, 10**9), "< 0.01 %"), (units.percent(5, 5), "100 %"), (units.percent(1, None), "–"), (units.slope(310, "pss_kb"), "+310 KiB/h"), (units.slope(None, "fds"), "–"),
        (units.date(0), "1970-01-01 00:00:00 UTC"), (units.named(("stop_ms", 1500)), ("stop", "1.5 s")), (units.named(("ok_count", True)), ("ok count", "yes")), (units.named(("who_ms", "x")), ("who ms", "x")),
    ],
)
def test_numbers_are_written(text: object, expected: object) -> None:
    assert text == expected
