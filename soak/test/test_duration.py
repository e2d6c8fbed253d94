"""Durations as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soak.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    "text, seconds",
    [("60s", 60), ("90", 90), ("5m", 300), ("1h30m", 5400), ("1.5h", 5400), ("2d", 172_800), ("0s", 0)],
)
def test_known_forms(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "s", "60 s", "1h 30m", "-5s", "5x", "60sm", "m5", "1e3", "inf", "nan", "5s junk"],
)
def test_other_forms_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="expected something like 60s"):
        parse_duration(text)


@given(st.integers(0, 10_000_000))
def test_what_is_written_is_read_back(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds
