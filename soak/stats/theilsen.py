"""The Theil–Sen slope: the median of the slopes of all pairs of points, with its confidence interval.

Why not least squares: one outlier (a sample taken while 8 MB were being sent) bends a fitted line,
but not a median. A median of slopes has a breakdown point of 29 %.

Sources:
- P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", J. Am. Stat. Assoc. 63
  (1968): the estimator, and the interval: the slopes at ranks (N ∓ z·σ)/2, where N is the number of
  pairs and σ² the variance of Kendall's S.
- M. G. Kendall, "Rank Correlation Methods" (1970): σ² = [n(n−1)(2n+5) − Σ u(u−1)(2u+5)] / 18, where
  u are the sizes of the groups of equal values. Ties make σ smaller and the slope 0 more common.
- R. M. Hirsch, J. R. Slack, R. A. Smith, "Techniques of trend analysis for monthly water quality
  data", Water Resources Research 18 (1982): strata. Only pairs of the same stratum (there: month, here:
  segment) are compared; N and σ² are summed over the strata.

`inflation` widens the interval for autocorrelated points (soak.stats.autocorrelation).
For one segment and inflation 1 this is scipy.stats.theilslopes, up to the rounding of ranks; a test says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, sqrt

import numpy as np
from scipy.stats import norm

from soak.stats.series import Segment

CONFIDENCE = 0.99


@dataclass(frozen=True)
class Slope:
    """Growth per second with its interval; infinite bounds mean too few points for this confidence."""

    per_s: float
    low: float
    high: float
    pairs: int

    @property
    def rises(self) -> bool:
        return self.low > 0


def pair_slopes(segments: Sequence[Segment]) -> np.ndarray:
    """The slopes of all pairs of points of the same segment, sorted."""
    slopes = []
    for segment in segments:
        first, second = np.triu_indices(len(segment), k=1)
        dt = segment.t[second] - segment.t[first]
        later = dt > 0
        slopes.append((segment.y[second] - segment.y[first])[later] / dt[later])
    return np.sort(np.concatenate(slopes)) if slopes else np.empty(0)


def kendall_variance(values: np.ndarray) -> float:
    """The variance of Kendall's S for these values if they had no trend; ties are taken into account."""
    n = len(values)
    _, ties = np.unique(values, return_counts=True)
    ties = ties.astype(float)
    return float(n * (n - 1) * (2 * n + 5) - np.sum(ties * (ties - 1) * (2 * ties + 5))) / 18


def theil_sen(segments: Sequence[Segment], confidence: float = CONFIDENCE, inflation: float = 1.0) -> Slope:
    """The median slope over all segments, and the interval that holds it with `confidence`."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, expected a number between 0 and 1")
    if inflation < 1:
        raise ValueError(f"inflation is {inflation}, expected at least 1: it may only widen the interval")
    slopes = pair_slopes(segments)
    if not len(slopes):
        return Slope(0.0, -inf, inf, 0)
    variance = sum(kendall_variance(segment.y) for segment in segments) * inflation
    half = norm.ppf((1 + confidence) / 2) * sqrt(max(variance, 0.0))
    rank = floor((len(slopes) - half) / 2)  # the interval runs from the rank-th slope to the rank-th from above
    low, high = (float(slopes[rank - 1]), float(slopes[-rank])) if rank >= 1 else (-inf, inf)
    return Slope(float(np.median(slopes)), low, high, len(slopes))


def residuals(segments: Sequence[Segment], per_s: float) -> list[np.ndarray]:
    """What is left of each segment without its level and the common slope."""
    left = []
    for segment in segments:
        rest = segment.y - per_s * segment.t
        left.append(rest - np.median(rest))
    return left
