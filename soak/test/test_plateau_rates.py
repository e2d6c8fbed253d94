"""How often the plateau verdict is right: 500 seeded series of each kind, and the bounds it must keep.

The seeds are fixed, so the rates are the same on every run; a change of the statistics that makes them worse
fails here. `false alarms` are leak verdicts on series that do not leak.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from soak.plateau import judge_series
from soak.test import synthetic

SERIES = 500
FIRST_SEED = 20_000


def verdicts(make: synthetic.Maker, name: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in range(FIRST_SEED, FIRST_SEED + SERIES):
        t, y, breaks = make(np.random.default_rng(seed))
        counted[judge_series(name, t, y, breaks).verdict] += 1
    return counted


# kind, series name, most leak verdicts allowed (a rate), most `unknown` allowed
NO_LEAK = [
    (synthetic.noise, "pss_kb", 0.0, 0.0),
    (synthetic.constant, "fds", 0.0, 0.0),
    (synthetic.mostly_tied, "fds", 0.0, 0.0),
    (synthetic.wandering_noise, "pss_kb", 0.002, 0.01),
    (synthetic.slowly_wandering_noise, "pss_kb", 0.02, 0.10),
    (synthetic.walk, "pss_kb", 0.07, 0.02),
    (synthetic.outliers, "pss_kb", 0.0, 0.0),
    (synthetic.step, "pss_kb", 0.0, 0.0),
    (synthetic.two_steps, "pss_kb", 0.0, 0.0),
    (synthetic.long_warmup, "pss_kb", 0.01, 0.0),
    (synthetic.sawtooth, "pss_kb", 0.0, 0.0),
    (synthetic.restart, "pss_kb", 0.01, 0.0),
    (synthetic.unannounced_restart, "pss_kb", 0.0, 0.0),
]

# kind, series name, fewest leak verdicts allowed (a rate)
LEAK = [
    (synthetic.leak, "pss_kb", 1.0),
    (synthetic.leak_in_wandering_noise, "pss_kb", 0.98),
    (synthetic.bending_leak, "pss_kb", 0.98),
    (synthetic.leak_with_outliers, "pss_kb", 0.98),
    (synthetic.leak_across_restart, "pss_kb", 0.98),
    (synthetic.leak_under_sawtooth, "pss_kb", 0.90),
    (synthetic.tied_leak, "fds", 1.0),
]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("make, name, leak_max, unknown_max", NO_LEAK, ids=lambda v: getattr(v, "__name__", str(v)))
def test_no_false_alarm(make: synthetic.Maker, name: str, leak_max: float, unknown_max: float) -> None:
    counted = verdicts(make, name)
    assert counted["leak"] / SERIES <= leak_max, dict(counted)
    assert counted["unknown"] / SERIES <= unknown_max, dict(counted)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("make, name, leak_min", LEAK, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_leak_is_found(make: synthetic.Maker, name: str, leak_min: float) -> None:
    counted = verdicts(make, name)
    assert counted["leak"] / SERIES >= leak_min, dict(counted)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_leak_that_an_unannounced_restart_hides_is_never_called_clean() -> None:
    """One unasked fall: a sawtooth with a long period, or a leak and a crash. `flat` would be a guess."""
    counted = verdicts(synthetic.leak_across_unannounced_restart, "pss_kb")
    assert counted["flat"] / SERIES <= 0.05, dict(counted)
