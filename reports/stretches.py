"""The stretches of a series that the plateau statistics compare, so that the fitted line is drawn where it was fitted.

Workers that were replaced begin small, so a series is cut at each reload and kill, and the first seconds of each
stretch are warm-up (a tenth, at least 2 s, at most 60 s). All stretches share one slope, each has its own level.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Sequence

Point = tuple[float, float]
POINTS_MIN = 4
WARMUP_SHARE, WARMUP_S_MIN, WARMUP_S_MAX = 0.1, 2.0, 60.0
STRETCHES_MAX = 400


def stretches(points: Sequence[Point], breaks_s: Sequence[float]) -> list[list[Point]]:
    """`points` must rise in time. Too short ones are left out; beyond STRETCHES_MAX every second, third … stays."""
    if not points:
        return []
    times_s = [t_s for t_s, _ in points]
    starts = [times_s[0], *(at_s for at_s in sorted(breaks_s) if times_s[0] < at_s <= times_s[-1])]
    found = []
    for start_s, end_s in zip(starts, [*starts[1:], times_s[-1]]):
        warm_s = start_s + min(WARMUP_S_MAX, max(WARMUP_S_MIN, WARMUP_SHARE * (end_s - start_s)))
        after = len(points) if end_s == times_s[-1] else bisect_left(times_s, end_s)
        found.append(list(points[bisect_left(times_s, warm_s) : after]))
    long = [part for part in found if len(part) >= POINTS_MIN]
    return long[:: max(1, -(-len(long) // STRETCHES_MAX))]
