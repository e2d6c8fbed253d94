"""Thinning keeps every extreme, whatever the series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reports.thin import thin

VALUES = st.lists(st.one_of(st.none(), st.floats(min_value=-1e12, max_value=1e12)), max_size=400)
BUCKETS = st.integers(min_value=1, max_value=60)


@given(values=VALUES, buckets=BUCKETS)
def test_extremes_are_kept(values: list[float | None], buckets: int) -> None:
    rows = thin(range(len(values)), {"x": values}, buckets)
    known = [value for value in values if value is not None]
    assert max((value for value in rows.high["x"] if value is not None), default=None) == max(known, default=None)
    assert min((value for value in rows.low["x"] if value is not None), default=None) == min(known, default=None)


@given(values=VALUES, buckets=BUCKETS)
def test_every_value_lies_in_its_bucket(values: list[float | None], buckets: int) -> None:
    rows = thin(range(len(values)), {"x": values}, buckets)
    assert len(rows) <= buckets
    for index in range(len(rows)):
        inside = values[int(rows.start_s[index]) : int(rows.end_s[index]) + 1]
        known = [value for value in inside if value is not None]
        assert (rows.low["x"][index], rows.high["x"][index]) == (min(known, default=None), max(known, default=None))


@given(values=VALUES, buckets=BUCKETS)
def test_buckets_cover_all_rows_once(values: list[float | None], buckets: int) -> None:
    rows = thin(range(len(values)), {"x": values}, buckets)
    covered = [at for start, end in zip(rows.start_s, rows.end_s) for at in range(int(start), int(end) + 1)]
    assert covered == list(range(len(values)))


@given(values=VALUES)
def test_a_short_series_is_exact(values: list[float | None]) -> None:
    rows = thin(range(len(values)), {"x": values}, max(1, len(values)))
    assert rows.exact
    assert rows.low["x"] == rows.high["x"] == values


def test_columns_are_thinned_apart() -> None:
    rows = thin([1, 2, 3, 4], {"a": [5, 9, None, 7], "b": [None] * 4}, 2)
    assert (rows.start_s, rows.end_s) == ([1, 3], [2, 4])
    assert (rows.low["a"], rows.high["a"]) == ([5, 7], [9, 7])
    assert rows.empty("b") and not rows.empty("a")
