"""Drift: is each step of the series more often up than down?

The interval of a trend (soak.stats.theilsen) assumes that the series wanders around a line. Memory often does not:
what was allocated stays, so today's level is yesterday's plus something, and the line's interval, widened for
that, says nothing any more. For such a series (a random walk, maybe with drift) the independent things are its
increments. Their centre is the drift; it is estimated robustly, so one large increment (a step) moves it little:

    level      |            ___       increments   + + + 0 + + +   drift: a leak
               |      __/‾‾                        0 0 0 9 0 0 0   none: a step
               |__/‾‾                              + − + − − + −   none: noise

Levels are medians of about `BLOCKS` blocks, so that noise does not drown the increments.

Source: M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods" (1999), 3.2 and 3.3: the Hodges–Lehmann
estimate (the median of all pairwise means) and its interval from Wilcoxon's signed-rank statistic.
Which of the two models holds is the old question of C. R. Nelson, C. I. Plosser, "Trends and random walks in
macroeconomic time series", J. Monetary Economics 10 (1982); here the autocorrelation of the residuals decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, sqrt

import numpy as np
from scipy.stats import norm

from soak.stats.series import Segment, thin
from soak.stats.theilsen import CONFIDENCE, Slope

BLOCKS = 16


def drift(segments: Sequence[Segment], confidence: float = CONFIDENCE) -> Slope:
    """Growth per second and its interval, from the increments of block medians within each segment."""
    levels = thin(segments, BLOCKS)
    rates = np.concatenate([np.diff(level.y) / np.diff(level.t) for level in levels] or [np.empty(0)])
    n = len(rates)
    if n == 0:
        return Slope(0.0, -inf, inf, 0)
    first, second = np.triu_indices(n)
    means = np.sort((rates[first] + rates[second]) / 2)
    half = norm.ppf((1 + confidence) / 2) * sqrt(n * (n + 1) * (2 * n + 1) / 24)
    rank = floor(n * (n + 1) / 4 - half)
    low, high = (float(means[rank - 1]), float(means[-rank])) if rank >= 1 else (-inf, inf)
    return Slope(float(np.median(means)), low, high, len(means))
