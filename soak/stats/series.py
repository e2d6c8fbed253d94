"""A measured series, cut into segments, without its warm-up, and thinned.

Segment. Memory falls when workers are replaced, because new ones are small. A fall that the
harness itself caused (a reload, a kill) says nothing about leaks, and neither does a difference
between two points on either side of it. So the series is cut at those instants, and only points of
the same segment are ever compared:

    kB |    ../     ../        two segments, both rising by the same slope;
       |  ../     ../          a line through all points would hardly rise
       +---------|--------> t
              reload

Warm-up. A process grows until it has seen every kind of request once: code pages, caches, arenas.
At the start of each segment some seconds are dropped. How many is a fixed rule and not one
fitted to the data (rules such as MSER cut for as long as the series rises, so they hide leaks): a
tenth of the segment, at least 2 s, at most 60 s. A warm-up that lasts longer than that is
caught later, by asking whether the growth still goes on at the end (soak.plateau).

Thinning. More than `POINTS_MAX` points say nothing new, cost n² pairs and are strongly
autocorrelated. They are replaced by medians of blocks of equal time; a median, so that one outlier
does not survive in its block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

POINTS_MAX = 120
SEGMENT_POINTS_MIN = 4
WARMUP_FRACTION = 0.10
WARMUP_S_MIN = 2.0
WARMUP_S_MAX = 60.0


@dataclass(frozen=True)
class Segment:
    """Points that may be compared with each other; times in seconds, rising."""

    t: np.ndarray
    y: np.ndarray

    def __post_init__(self) -> None:
        if len(self.t) != len(self.y):
            raise ValueError(f"a segment has {len(self.t)} times, but {len(self.y)} values")

    def __len__(self) -> int:
        return len(self.t)

    @property
    def span_s(self) -> float:
        return float(self.t[-1] - self.t[0]) if len(self.t) > 1 else 0.0

    def split(self, index: int) -> list[Segment]:
        """The points before `index` and those from it on, each if there are any."""
        parts = [Segment(self.t[:index], self.y[:index]), Segment(self.t[index:], self.y[index:])]
        return [part for part in parts if len(part)]


def warmup_s(duration_s: float) -> float:
    """How many seconds are dropped at the start of a segment that lasts `duration_s`."""
    return min(WARMUP_S_MAX, max(WARMUP_S_MIN, WARMUP_FRACTION * duration_s))


def clean(t: Sequence[float], y: Sequence[float | None]) -> Segment:
    """The points that were really measured (a sampler writes None where it could not read)."""
    times = np.asarray(t, dtype=float)
    values = np.asarray([np.nan if value is None else value for value in y], dtype=float)
    if len(times) != len(values):
        raise ValueError(f"a series has {len(times)} times, but {len(values)} values")
    good = np.isfinite(times) & np.isfinite(values)
    order = np.argsort(times[good], kind="stable")
    return Segment(times[good][order], values[good][order])


def cut(whole: Segment, breaks: Sequence[float]) -> list[Segment]:
    """Segments between the breaks, without their warm-up; those too short to say anything are left out."""
    if not len(whole):
        return []
    starts = [float(whole.t[0]), *sorted(b for b in breaks if whole.t[0] < b <= whole.t[-1])]
    ends = [*starts[1:], float(whole.t[-1])]
    segments = []
    for start, end in zip(starts, ends):
        last = end == ends[-1]
        keep = (whole.t >= start + warmup_s(end - start)) & ((whole.t < end) | last)
        if np.count_nonzero(keep) >= SEGMENT_POINTS_MIN:
            segments.append(Segment(whole.t[keep], whole.y[keep]))
    return segments


def thin(segments: Sequence[Segment], points_max: int = POINTS_MAX) -> list[Segment]:
    """Block medians, so that all segments together have about `points_max` points."""
    total = sum(len(segment) for segment in segments)
    if total <= points_max:
        return list(segments)
    block_s = sum(segment.span_s for segment in segments) / points_max
    return [_blocks(segment, block_s) for segment in segments]


def _blocks(segment: Segment, block_s: float) -> Segment:
    block = ((segment.t - segment.t[0]) // block_s).astype(int)
    t, y = [], []
    for number in np.unique(block):
        inside = block == number
        t.append(float(np.mean(segment.t[inside])))
        y.append(float(np.median(segment.y[inside])))
    return Segment(np.asarray(t), np.asarray(y))
