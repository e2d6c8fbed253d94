"""How much autocorrelated points are worth.

Samples of a process's memory resemble their neighbours: forty of them say as much as ten independent
ones, or fewer. An interval computed as if they were independent is too narrow, and a plateau that merely
wanders is called a leak (the false alarms of Mann–Kendall reported by Machida, Andrzejak, Matias and
Vicente, ISSREW 2013). So the variance of Kendall's S is multiplied by n / n_effective.

Sources:
- K. H. Hamed, A. R. Rao, "A modified Mann–Kendall trend test for autocorrelated data", J. Hydrology 204
  (1998): correct the variance of S by the autocorrelation of the *ranks* of the detrended values.
- G. V. Bayley, J. M. Hammersley, "The effective number of independent observations in an
  autocorrelated time series", J. R. Stat. Soc. Suppl. 8 (1946): n/n_eff = 1 + 2 Σ (1 − k/n) ρ^k.
- F. H. C. Marriott, J. A. Pope, "Bias in the estimation of autocorrelations", Biometrika 41 (1954): the
  estimate of ρ is too small in short series; after a trend was removed by about (2 + 4ρ)/n.

Only a first-order process is assumed. Negative correlation (a fast sawtooth) would narrow the
interval; it is counted as none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

RHO_MAX = 0.97


def lag_one(pieces: Sequence[np.ndarray]) -> float:
    """The bias-corrected correlation of neighbours, over the ranks of all pieces together."""
    n = sum(len(piece) for piece in pieces)
    if n < 4:
        return 0.0
    ranks = rankdata(np.concatenate(pieces)) - (n + 1) / 2
    if not np.any(ranks):
        return 0.0
    ends = np.cumsum([len(piece) for piece in pieces])[:-1]
    inside = np.ones(n - 1, dtype=bool)
    inside[ends - 1] = False  # the last point of a piece and the first of the next are no neighbours
    rho = float(np.sum((ranks[:-1] * ranks[1:])[inside]) / np.sum(ranks * ranks))
    corrected = (n * rho + 2) / (n - 4) if n > 8 else rho
    return min(RHO_MAX, max(0.0, corrected))


def inflation(rho: float, n: int) -> float:
    """n / n_effective of a first-order process: by how much the variance of S is to be multiplied."""
    if not 0 <= rho < 1:
        raise ValueError(f"rho is {rho}, expected at least 0 and less than 1")
    k = np.arange(1, max(n, 2))
    return float(max(1.0, 1 + 2 * np.sum((1 - k / max(n, 2)) * rho**k)))
