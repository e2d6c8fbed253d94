"""Has a series reached a plateau, or does it leak?

"It grew" is not a leak: processes warm up, build a cache once, fill and empty a heap. And "it did not
grow much" is no plateau if ten samples were taken. The verdict `leak` needs all of this:

1. enough points after the warm-up (soak.stats.series), else `unknown`;
2. a Theil–Sen slope whose 99 % interval, widened for autocorrelation, excludes zero
   (soak.stats.theilsen, soak.stats.autocorrelation); where the points resemble each other so much that
   they wander around no line, a drift whose interval excludes zero (soak.stats.increments);
3. growth over the measured window beyond a minimum effect, absolute *and* relative (`EFFECTS`);
4. growth on both sides of the largest jump (not a step: soak.stats.changes);
5. growth that still goes on in the last part (not a long warm-up);
6. where the target itself gives memory back (sawtooth), rising troughs;
7. if a leak-free baseline of the same load is given, a slope beyond the baseline's.

`flat` says which growth is excluded, so that a flat verdict on a short run cannot be mistaken for more
than it is. Example:

    >>> t = [i * 0.5 for i in range(120)]
    >>> judge_series("fds", t, [20 + i // 10 for i in range(120)]).verdict
    'leak'

Sources: Machida et al., ISSREW 2013 (a trend test alone gives false alarms); Matias, Andrzejak, Machida,
Elias and Trivedi, "A systematic differential analysis for fast and robust detection of software aging",
SRDS 2014 (compare with a leak-free baseline; heap use tells more than resident size); for the difference of
two slopes: R. G. Newcombe, Statistics in Medicine 17 (1998), and G. Y. Zou, A. Donner, ibid. 27 (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite, sqrt

import numpy as np
from scipy.stats import kendalltau

from soak.stats import autocorrelation, changes, increments, series, theilsen
from soak.stats.series import Segment
from soak.stats.theilsen import Slope

POINTS_MIN = 12
RHO_WALK = 0.7  # from here on the series is taken for a walk, and its increments are looked at too
LAST_PART = 0.4  # of the measured points: where growth must still be going on
STILL_GROWING = 0.3  # of the whole slope, in the last part
BOTH_SIDES = 0.5  # of the whole slope, when compared only on either side of the largest jump
TROUGHS_MIN = 5  # five rising troughs happen by chance once in 120
TROUGH_P_MAX = 0.01
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Effect:
    """The growth over the window below which nothing is called a leak."""

    absolute: float
    relative: float
    unit: str

    def minimum(self, level: float) -> float:
        return max(self.absolute, self.relative * abs(level))


# Most telling first: the heap that the runtime itself reports, then memory that no file backs (anon), then the
# proportional share of everything (PSS), then what the processes hold, and resident size last, which counts shared
# pages once a process. PSS depends on who else maps the same files: when another php-fpm on the same machine starts
# or ends, the PSS of this one falls or rises by megabytes. So a leak in PSS counts only if resident size leaks too (soak.judges).
EFFECTS: dict[str, Effect] = {
    "heap_kb": Effect(512, 0.02, "kB"),
    "anon_kb": Effect(2048, 0.03, "kB"),
    "pss_kb": Effect(2048, 0.03, "kB"),
    "fds": Effect(4, 0.05, "fds"),
    "threads": Effect(2, 0.05, "threads"),
    "children": Effect(2, 0.05, "processes"),
    "rss_kb": Effect(4096, 0.05, "kB"),
}


@dataclass(frozen=True)
class Trend:
    """What was computed for one series, before it is judged."""

    slope: Slope
    window_s: float
    points: int
    rho: float

    @property
    def growth(self) -> float:
        return self.slope.per_s * self.window_s


@dataclass(frozen=True)
class Plateau:
    """The verdict on one series. Slopes and bounds are per hour; effects are over the measured window."""

    series: str
    verdict: str  # flat | leak | unknown
    shape: str  # flat | rising | step | settling | sawtooth | short
    slope_per_hour: float | None
    ci_low: float | None
    ci_high: float | None
    effect: float | None
    effect_min: float
    n: int
    window_s: float
    rho: float
    baseline_slope: float | None
    text: str

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def trend(segments: Sequence[Segment]) -> Trend:
    """The common slope of all segments, its interval widened by how much neighbours resemble each other."""
    plain = theilsen.theil_sen(segments)
    points = sum(len(segment) for segment in segments)
    window_s = sum(segment.span_s for segment in segments)
    rho = autocorrelation.lag_one(theilsen.residuals(segments, plain.per_s))
    wide = theilsen.theil_sen(segments, inflation=autocorrelation.inflation(rho, points))
    if rho >= RHO_WALK and not wide.rises:
        walk = increments.drift(segments)
        if walk.rises or walk.high - walk.low < wide.high - wide.low:
            return Trend(walk, window_s, points, rho)
    return Trend(wide, window_s, points, rho)


def last_part(segments: Sequence[Segment]) -> list[Segment]:
    """The segments of the last `LAST_PART` of all points."""
    wanted = int(np.ceil(LAST_PART * sum(len(segment) for segment in segments)))
    kept: list[Segment] = []
    for segment in reversed(segments):
        if wanted < 2:
            break
        tail = Segment(segment.t[-wanted:], segment.y[-wanted:])
        wanted -= len(tail)
        kept.insert(0, tail)
    return kept


def _without_jumps(segments: Sequence[Segment]) -> list[Segment]:
    return [part for segment in segments for part in segment.split(changes.change_point(segment))]


def _beyond_baseline(own: Slope, base: Slope) -> bool:
    """Whether the difference of the two slopes has an interval above zero (MOVER: half widths in quadrature)."""
    half = sqrt((own.per_s - own.low) ** 2 + (base.high - base.per_s) ** 2)
    return isfinite(half) and own.per_s - base.per_s - half > 0


@dataclass(frozen=True)
class Finding:
    verdict: str
    shape: str
    why: str


def _judge_troughs(pieces: Sequence[Segment], effect_min: float, window_s: float) -> Finding | None:
    """The lowest points after each fall: what is never given back. None: not a sawtooth after all."""
    count = len(pieces) - 1
    after_falls = pieces[1:] if count > 1 else pieces  # the first piece may begin anywhere in a tooth
    troughs = Segment(
        np.array([float(piece.t[0]) for piece in after_falls]),
        np.array([float(np.quantile(piece.y, 0.1)) for piece in after_falls]),
    )
    kept = theilsen.theil_sen([troughs]).per_s * window_s
    if kept < effect_min:
        if count == 1 and _leaks_so_far(pieces, effect_min):
            return Finding("unknown", "sawtooth", "it rises throughout, but gave everything back once, unasked: "
                           "a longer run must show whether it does so again")
        return Finding("flat", "sawtooth", f"what it takes it gives back ({count} falls, troughs level)")
    if len(troughs) >= TROUGHS_MIN:
        tau, p_two_sided = kendalltau(troughs.t, troughs.y)
        if tau > 0 and p_two_sided / 2 < TROUGH_P_MAX:
            return Finding("leak", "sawtooth", f"its {len(troughs)} troughs rise")
        return Finding("flat", "sawtooth", f"its {len(troughs)} troughs do not rise steadily")
    if count == 1 and not _leaks_so_far(pieces, effect_min):
        return None
    return Finding("unknown", "sawtooth", f"its troughs rise, but {len(troughs)} of them are too few "
                   f"(expected at least {TROUGHS_MIN})")


def _leaks_so_far(pieces: Sequence[Segment], effect_min: float) -> bool:
    long = [piece for piece in pieces if len(piece) >= series.SEGMENT_POINTS_MIN]
    if not long:
        return False
    found = trend(long)
    return found.slope.rises and found.growth >= effect_min


def _judge_trend(segments: Sequence[Segment], found: Trend, effect_min: float, base: Slope | None) -> Finding:
    if sum(float(np.ptp(segment.y)) for segment in segments) < effect_min:
        return Finding("flat", "flat", "all of its ups and downs together are less than would be called a leak")
    if not isfinite(found.slope.low):
        return Finding("unknown", "short", "no interval can be given for its slope")
    sides = trend(_without_jumps(segments)).slope.per_s
    line = theilsen.theil_sen(segments).per_s * found.window_s
    if not found.slope.rises or found.growth < effect_min:
        stepped = line >= effect_min and sides * found.window_s < BOTH_SIDES * line
        if not stepped:
            return Finding("flat", "flat", "no growth to speak of")
        return Finding("flat", "step", "it grew once, and not before or after")
    if sides < BOTH_SIDES * found.slope.per_s:
        return Finding("flat", "step", "it grew once, and not before or after")
    if theilsen.theil_sen(last_part(segments)).per_s < STILL_GROWING * found.slope.per_s:
        return Finding("flat", "settling", "it grew at first, and has stopped")
    if base is not None and not _beyond_baseline(found.slope, base):
        return Finding("flat", "rising", "it grows no faster than the leak-free baseline")
    return Finding("leak", "rising", "it grows steadily")


def _prepare(t: Sequence[float], y: Sequence[float | None], breaks: Sequence[float]) -> list[Segment]:
    return series.thin(series.cut(series.clean(t, y), breaks))


def _split_at_falls(segments: Sequence[Segment], effect_min: float) -> list[Segment]:
    return [
        piece for segment in segments for piece in changes.pieces(segment, changes.falls(segment, effect_min))
    ]


def judge_series(
    name: str,
    t: Sequence[float],
    y: Sequence[float | None],
    breaks: Sequence[float] = (),
    baseline: Slope | None = None,
    effect: Effect | None = None,
) -> Plateau:
    """The verdict on one series, measured at the times `t` (seconds). `breaks`: when workers were replaced."""
    effect = effect or EFFECTS[name]
    segments = _prepare(t, y, breaks)
    points = sum(len(segment) for segment in segments)
    level = float(np.median(np.concatenate([s.y for s in segments]))) if segments else 0.0
    effect_min = effect.minimum(level)
    if points < POINTS_MIN:
        short = Finding("unknown", "short", f"{points} points after the warm-up, expected at least {POINTS_MIN}")
        return _plateau(name, short, None, effect_min, effect, points, baseline)
    found = trend(segments)
    finding = None
    pieces = _split_at_falls(segments, effect_min)
    if len(pieces) > len(segments) and len(segments) == 1:
        finding = _judge_troughs(pieces, effect_min, found.window_s)
    elif len(pieces) > len(segments):
        finding = _judge_falls_in_segments(segments, effect_min)
    if finding is None:
        finding = _judge_trend(segments, found, effect_min, baseline)
    return _plateau(name, finding, found, effect_min, effect, points, baseline)


def _judge_falls_in_segments(segments: Sequence[Segment], effect_min: float) -> Finding | None:
    """A sawtooth in several segments: each is judged by its own troughs, and the worst counts."""
    findings = []
    for segment in segments:
        pieces = _split_at_falls([segment], effect_min)
        if len(pieces) > 1:
            findings.append(_judge_troughs(pieces, effect_min, segment.span_s))
        elif _leaks_so_far([segment], effect_min):
            return None  # some segment rises without ever falling: judged by the trend of all
    real = [finding for finding in findings if finding is not None]
    for verdict in ("leak", "unknown", "flat"):
        for finding in real:
            if finding.verdict == verdict:
                return finding
    return None


def baseline_slope(t: Sequence[float], y: Sequence[float | None], breaks: Sequence[float] = ()) -> Slope | None:
    """The slope of a leak-free run of the same load, for `judge_series`; None if it says too little."""
    segments = _prepare(t, y, breaks)
    if sum(len(segment) for segment in segments) < POINTS_MIN:
        return None
    slope = trend(segments).slope
    return slope if isfinite(slope.low) else None


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _plateau(
    name: str,
    finding: Finding,
    found: Trend | None,
    effect_min: float,
    effect: Effect,
    points: int,
    base: Slope | None,
) -> Plateau:
    slope = found.slope if found else Slope(0.0, -inf, inf, 0)
    return Plateau(
        series=name,
        verdict=finding.verdict,
        shape=finding.shape,
        slope_per_hour=slope.per_s * SECONDS_PER_HOUR if found else None,
        ci_low=_finite(slope.low * SECONDS_PER_HOUR),
        ci_high=_finite(slope.high * SECONDS_PER_HOUR),
        effect=found.growth if found else None,
        effect_min=effect_min,
        n=points,
        window_s=found.window_s if found else 0.0,
        rho=found.rho if found else 0.0,
        baseline_slope=base.per_s * SECONDS_PER_HOUR if base else None,
        text=_text(name, finding, found, effect_min, effect.unit),
    )


def _amount(value: float, unit: str, sign: str = "") -> str:
    """A figure for a sentence: kB grow into MB, and nothing is written as a power of ten."""
    if unit == "kB" and abs(value) >= 10_000:
        value, unit = value / 1024, "MB"
    return f"{value:{sign},.1f} {unit}" if abs(value) < 100 and value != round(value) else f"{value:{sign},.0f} {unit}"


def _text(name: str, finding: Finding, found: Trend | None, effect_min: float, unit: str) -> str:
    head = f"{name}: {finding.verdict}: {finding.why}"
    if found is None:
        return head
    body = f"{_amount(found.growth, unit, '+')} over {found.window_s:.4g} s ({found.points} points"
    if isfinite(found.slope.high):
        low, high = found.slope.low * found.window_s, found.slope.high * found.window_s
        body += f"; 99 % interval {_amount(low, unit, '+')} to {_amount(high, unit, '+')}"
    return f"{head}; {body}; called a leak from {_amount(effect_min, unit)})"
