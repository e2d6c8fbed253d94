"""The plateau verdict, one rule a test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from soak.plateau import EFFECTS, Effect, baseline_slope, judge_series
from soak.test import synthetic


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_too_few_points_are_unknown_and_not_flat() -> None:
    verdict = judge_series("pss_kb", [0, 1, 2, 3, 4, 5], [1000.0] * 6)
    assert (verdict.verdict, verdict.shape) == ("unknown", "short")
    assert "expected at least 12" in verdict.text


def test_nothing_measured_is_unknown() -> None:
    assert judge_series("heap_kb", [], []).verdict == "unknown"
    assert judge_series("heap_kb", [0.0, 1.0], [None, None]).verdict == "unknown"


def test_steady_growth_below_the_minimum_effect_is_no_leak() -> None:
    """Significance alone is not enough: 1 MB over the run is certain, and still less than the 2 MB asked for."""
    t = synthetic.times()
    verdict = judge_series("pss_kb", t, synthetic.LEVEL_KB + 1_000 * t / t[-1])
    assert verdict.ci_low is not None and verdict.ci_low > 0
    assert verdict.verdict == "flat"
    assert judge_series("pss_kb", t, synthetic.LEVEL_KB + 1_000 * t / t[-1], effect=Effect(500, 0.0, "kB")).verdict == "leak"


def test_the_minimum_effect_is_absolute_and_relative() -> None:
    """4 MB are a leak in a process of 60 MB, and nothing in one of 600 MB."""
    t = synthetic.times()
    grown = 4_000 * t / t[-1]
    assert judge_series("pss_kb", t, 60_000 + grown).verdict == "leak"
    assert judge_series("pss_kb", t, 600_000 + grown).verdict == "flat"


def test_shrinking_is_no_leak() -> None:
    t = synthetic.times()
    assert judge_series("pss_kb", t, synthetic.LEVEL_KB - 20_000 * t / t[-1]).verdict == "flat"


@pytest.mark.parametrize(
    "make, shape",
    [(synthetic.step, "step"), (synthetic.sawtooth, "sawtooth"), (synthetic.leak, "rising"), (synthetic.noise, "flat")],
)
def test_shapes_are_named(make: synthetic.Maker, shape: str) -> None:
    seen = []
    for seed in range(20):
        t, y, breaks = make(rng(seed))
        seen.append(judge_series("pss_kb", t, y, breaks).shape)
    assert seen.count(shape) >= 12, seen


def test_an_unannounced_fall_in_a_rising_series_is_unknown() -> None:
    t, y, _ = synthetic.leak_across_restart(rng(3))
    assert judge_series("pss_kb", t, y).verdict == "unknown"


def test_the_warmup_is_dropped() -> None:
    """All growth in the first two seconds: nothing of it is seen."""
    t = synthetic.times()
    y = synthetic.LEVEL_KB + np.where(t < 1.75, 30_000 * t / 1.75, 30_000)
    verdict = judge_series("pss_kb", t, y)
    assert verdict.effect == 0
    assert verdict.verdict == "flat"


def test_every_segment_has_its_own_warmup() -> None:
    t = synthetic.times()
    y = np.where(t < 10, 60_000.0, 40_000 + 20_000 * np.minimum(t - 10, 2) / 2)
    assert judge_series("pss_kb", t, y, breaks=[10.0]).verdict == "flat"


def test_a_series_that_hardly_moves_is_flat_however_its_points_resemble_each_other() -> None:
    """Memory that creeps by 30 kB in steps of one page: strongly autocorrelated, and of no importance."""
    t = synthetic.times()
    verdict = judge_series("pss_kb", t, 20_000 + np.cumsum(rng(4).integers(0, 2, len(t))))
    assert verdict.verdict == "flat" and "ups and downs" in verdict.text


def test_missing_samples_are_skipped() -> None:
    t, y, _ = synthetic.leak(rng(5))
    holes: list[float | None] = [None if i % 7 == 0 else float(v) for i, v in enumerate(y)]
    verdict = judge_series("pss_kb", t, holes)
    assert verdict.verdict == "leak"
    assert verdict.n < len(t)


def test_growth_like_the_leak_free_baseline_is_no_leak() -> None:
    """The same load on a leak-free build grew just as much: it is the load, not the target."""
    t, y, _ = synthetic.leak(rng(6))
    base = baseline_slope(t, y + rng(7).normal(0, 100, len(t)))
    assert base is not None
    assert judge_series("pss_kb", t, y).verdict == "leak"
    same = judge_series("pss_kb", t, y, baseline=base)
    assert same.verdict == "flat"
    assert same.baseline_slope == pytest.approx(base.per_s * 3600)


def test_growth_beyond_a_flat_baseline_is_a_leak() -> None:
    t, y, _ = synthetic.leak(rng(8))
    base = baseline_slope(t, synthetic.noise(rng(9))[1])
    assert judge_series("pss_kb", t, y, baseline=base).verdict == "leak"


def test_a_baseline_that_says_too_little_is_none() -> None:
    assert baseline_slope([], []) is None
    assert baseline_slope([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]) is None


def test_long_runs_are_thinned_and_judged_alike() -> None:
    t = np.arange(20_000) * 0.5
    y = 60_000 + rng(10).normal(0, 300, len(t))
    flat = judge_series("pss_kb", t, y)
    assert flat.verdict == "flat" and flat.n <= 130
    assert judge_series("pss_kb", t, y + 8_000 * t / t[-1]).verdict == "leak"


def test_a_verdict_is_plain_json() -> None:
    short = judge_series("pss_kb", [0.0], [1.0]).as_json()
    long = judge_series("pss_kb", *synthetic.leak(rng(11))[:2]).as_json()
    for number in (*short.values(), *long.values()):
        assert number is None or isinstance(number, str) or math.isfinite(number)
    assert isinstance(long["effect"], float)


def test_the_heap_is_judged_before_resident_memory() -> None:
    assert list(EFFECTS).index("heap_kb") < list(EFFECTS).index("pss_kb") < list(EFFECTS).index("rss_kb")
