"""The pieces of the plateau statistics, against independent computations and extreme inputs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import theilslopes

from soak.stats import autocorrelation, changes, increments, series
from soak.stats.series import Segment
from soak.stats.theilsen import kendall_variance, theil_sen

VALUES = st.lists(st.integers(-50, 50), min_size=3, max_size=40)


def segment(values: list[float] | np.ndarray, start: float = 0.0) -> Segment:
    return Segment(start + np.arange(len(values), dtype=float), np.asarray(values, dtype=float))


@given(VALUES)
def test_the_slope_is_scipys(values: list[int]) -> None:
    ours = theil_sen([segment(values)])
    assert ours.per_s == pytest.approx(theilslopes(values, np.arange(len(values)))[0])


@given(VALUES)
def test_the_interval_is_scipys_or_one_rank_wider(values: list[int]) -> None:
    """scipy rounds ranks to the nearest, this module outwards."""
    ours = theil_sen([segment(values)], confidence=0.95)
    _, _, low, high = theilslopes(values, np.arange(len(values)), 0.95)
    assert ours.low <= low + 1e-9 and ours.high >= high - 1e-9


@given(VALUES, st.floats(1, 20))
def test_inflation_only_widens(values: list[int], factor: float) -> None:
    plain, wide = theil_sen([segment(values)]), theil_sen([segment(values)], inflation=factor)
    assert wide.low <= plain.low <= plain.high <= wide.high
    assert wide.per_s == plain.per_s


@given(VALUES)
def test_growth_is_mirrored(values: list[int]) -> None:
    up, down = theil_sen([segment(values)]), theil_sen([segment([-v for v in values])])
    assert up.per_s == -down.per_s and up.low == -down.high


def test_points_of_different_segments_are_not_compared() -> None:
    both = [segment([0, 1, 2, 3, 4, 5]), segment([0, 1, 2, 3, 4, 5], start=6)]
    assert theil_sen(both).per_s == 1
    joined = segment([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
    assert theil_sen([joined]).per_s < 1


def test_too_few_points_give_no_interval() -> None:
    assert theil_sen([segment([0, 1, 2])]).low == -np.inf
    assert theil_sen([]).high == np.inf


@pytest.mark.parametrize("values", [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [3, 3, 3, 1, 2]])
def test_kendalls_variance_by_all_permutations(values: list[int]) -> None:
    """The formula with ties, against the mean of S² over all orders of the values."""
    from itertools import permutations

    squares = [
        sum(np.sign(later - earlier) for earlier, later in combinations(order, 2)) ** 2
        for order in permutations(values)
    ]
    assert kendall_variance(np.array(values)) == pytest.approx(np.mean(squares))


def test_lag_one_of_independent_and_of_smooth_values() -> None:
    rng = np.random.default_rng(1)
    assert autocorrelation.lag_one([rng.normal(size=200)]) < 0.2
    assert autocorrelation.lag_one([np.cumsum(rng.normal(size=200))]) > 0.8
    assert autocorrelation.lag_one([np.zeros(50)]) == 0
    assert autocorrelation.lag_one([]) == 0


def test_alternating_values_count_as_independent() -> None:
    assert autocorrelation.lag_one([np.array([1.0, -1.0] * 20)]) == 0


def test_inflation_grows_with_the_correlation() -> None:
    assert autocorrelation.inflation(0.0, 100) == 1
    assert autocorrelation.inflation(0.5, 1000) == pytest.approx(3, rel=0.01)  # (1 + ρ) / (1 − ρ)
    assert autocorrelation.inflation(0.9, 100) > autocorrelation.inflation(0.5, 100)


@given(st.integers(4, 60), st.data())
def test_the_change_point_is_where_the_step_is(n: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(2, n - 2))
    assert changes.change_point(segment([0.0] * at + [1.0] * (n - at))) == at


@given(st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=60))
def test_a_segment_is_always_cut_into_all_its_points(values: list[float]) -> None:
    whole = segment(values)
    parts = whole.split(changes.change_point(whole))
    assert sum(len(part) for part in parts) == len(whole)


def test_drift_is_the_slope_of_what_only_rises() -> None:
    found = increments.drift([segment(np.arange(160) * 5.0)])
    assert found.low == pytest.approx(5) and found.high == pytest.approx(5)


def test_one_step_is_no_drift() -> None:
    found = increments.drift([segment([0.0] * 80 + [1e6] * 80)])
    assert found.per_s == 0 and found.low <= 0


def test_drift_of_too_few_points_has_no_interval() -> None:
    assert increments.drift([segment([1, 2, 3])]).low == -np.inf
    assert increments.drift([]).high == np.inf


def test_falls_are_found_and_outliers_are_none() -> None:
    teeth = segment([float(i % 20) * 500 for i in range(80)])
    assert changes.falls(teeth, 1000) == [20, 40, 60]
    spiky = [60_000.0] * 80
    spiky[10] = spiky[40] = spiky[41] = 80_000.0
    assert changes.falls(segment(spiky), 1000) == []
    assert changes.falls(segment([1.0] * 80), 0) == []


def test_pieces_hold_every_point_once() -> None:
    whole = segment(list(range(20)))
    assert [len(piece) for piece in changes.pieces(whole, [5, 6])] == [5, 1, 14]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1000), min_size=1, max_size=300, unique=True), st.lists(st.floats(0, 1000), max_size=5))
def test_cut_and_thin_keep_order_and_bounds(t: list[float], breaks: list[float]) -> None:
    whole = series.clean(t, [1.0] * len(t))
    segments = series.thin(series.cut(whole, breaks), points_max=50)
    ends = [float(s.t[-1]) for s in segments]
    starts = [float(s.t[0]) for s in segments]
    assert all(np.all(np.diff(s.t) > 0) for s in segments)
    assert all(end <= start for end, start in zip(ends, starts[1:]))
    assert all(np.all(s.t >= min(t) + 2.0) for s in segments)


def test_warmup_is_a_tenth_within_limits() -> None:
    assert series.warmup_s(10) == 2
    assert series.warmup_s(300) == 30
    assert series.warmup_s(86_400) == 60


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 times, but 1 values"):
        series.clean([0, 1], [1])
    with pytest.raises(ValueError, match="segment"):
        Segment(np.arange(2.0), np.arange(3.0))
