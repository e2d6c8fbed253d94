"""Sudden changes in a segment: the one upward jump of a step, the falls of a sawtooth.

Step. Growth that happened once (a cache was built, an arena enlarged) is no leak. Where a jump would be is
found with Pettitt's statistic; the segment is then cut there, and the slope looked at again within the
two parts. A leak goes on in both of them, a step is gone:

        ____            ./            cut at |: flat parts    cut at |: parts that rise
    ___|            ../|
                 ../
Source: A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics
28 (1979): U(k) = 2 Σ_{i≤k} R_i − k(n+1) over the ranks R; the change is where |U| is largest.

Falls. Garbage collection and worker recycling give memory back: the series climbs and falls. A fall is a
drop of the median of five points against the five before, larger than noise, larger than what is
called an effect, and not small against the whole range. Two outliers of five do not move a median.
Noise is the median absolute difference of neighbours (Rousseeuw & Croux, "Alternatives to the median
absolute deviation", J. Am. Stat. Assoc. 88 (1993), for the constant 1.4826).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from soak.stats.series import Segment

WINDOW = 5
FALL_NOISE_MULTIPLE = 6.0
FALL_RANGE_FRACTION = 0.4
MAD_TO_SIGMA = 1.4826


def change_point(segment: Segment) -> int:
    """The index at which the part after the largest shift begins; both parts keep at least two points."""
    n = len(segment)
    if n < 4:
        return 0
    u = 2 * np.cumsum(rankdata(segment.y)) - np.arange(1, n + 1) * (n + 1)
    return int(np.argmax(np.abs(u[1 : n - 2]))) + 2


def noise(values: np.ndarray) -> float:
    """The standard deviation of a difference of neighbours, estimated so that jumps do not count."""
    if len(values) < 3:
        return 0.0
    steps = np.diff(values)
    return float(MAD_TO_SIGMA * np.median(np.abs(steps - np.median(steps))))


def falls(segment: Segment, size_min: float) -> list[int]:
    """The indexes at which the series has just fallen by at least `size_min`, one for each fall."""
    n = len(segment)
    if n < 2 * WINDOW:
        return []
    low, high = np.quantile(segment.y, [0.05, 0.95])
    threshold = max(size_min, FALL_NOISE_MULTIPLE * noise(segment.y), FALL_RANGE_FRACTION * (high - low))
    medians = np.array([np.median(segment.y[i : i + WINDOW]) for i in range(n - WINDOW + 1)])
    drop = medians[:-WINDOW] - medians[WINDOW:]  # drop[i] is the fall at index i + WINDOW
    found: list[int] = []
    for i in np.argsort(-drop, kind="stable"):
        if drop[i] < threshold or drop[i] <= 0:
            break
        if all(abs(int(i) + WINDOW - other) >= WINDOW for other in found):
            found.append(int(i) + WINDOW)
    return sorted(found)


def pieces(segment: Segment, at: list[int]) -> list[Segment]:
    """The segment cut at the given indexes."""
    bounds = [0, *at, len(segment)]
    return [Segment(segment.t[a:b], segment.y[a:b]) for a, b in zip(bounds, bounds[1:]) if b > a]
