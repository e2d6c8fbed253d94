"""Charts as SVG that stretches: the plot has a fixed height in pixels and any width, so a phone and a desk get the same page.

The horizontal unit is the second (viewBox x = t), the vertical one the pixel, and `preserveAspectRatio="none"` stretches
only the horizontal; strokes keep their width (`vector-effect` in the style sheet). Text never lies in the SVG: the labels are HTML,
placed by the custom property `--t` (seconds) or by pixels. The script zooms by changing the viewBox and two custom
properties; without it everything is already drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Sequence

from reports.thin import Thinned, Value

PAD_TOP_PX, PAD_BOTTOM_PX = 6, 1
LOG_TICKS_MAX = 7
LINEAR_TICKS_MAX = 4
TIME_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
TIME_TICKS_MAX = 9
SHARE_MIN = 0.1


@dataclass(frozen=True)
class Series:
    """One column of the rows and how it is drawn: `style` names a class of the style sheet (colour and dashes)."""

    key: str
    label: str
    style: str
    drawn: bool = True


@dataclass(frozen=True)
class Scale:
    """Maps a value to pixels from the top of the plot."""

    low: float
    high: float
    height_px: int
    log: bool = False
    ticks: tuple[float, ...] = ()

    def y(self, value: float) -> float:
        low, high, at = (math.log10(max(v, 1e-9)) if self.log else v for v in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        inner = self.height_px - PAD_TOP_PX - PAD_BOTTOM_PX
        return round(PAD_TOP_PX + inner * (1 - min(1.0, max(0.0, share))), 1)


@dataclass(frozen=True)
class Path:
    style: str
    d: str


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Plot:
    """What the template draws."""

    height_px: int
    paths: list[Path]
    ticks: list[Tick]


def nice_step(width: float, ticks_max: int) -> float:
    """The smallest of 1, 2, 5 × 10^n of which at most `ticks_max` fit."""
    raw = max(width, 1e-9) / ticks_max
    size = 10 ** math.floor(math.log10(raw))
    return next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.9999)


def linear_scale(values: Sequence[float], height_px: int, from_zero: bool, unit: float = 1) -> Scale:
    """Rounded to nice ticks (of `unit`). A curve far from zero gets its own range, but at least a tenth of its height:
    noise must not look like a mountain."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    least = max(abs(high) * SHARE_MIN, unit)
    if from_zero:
        low = min(0.0, low)
    if high - low < least:
        middle = (low + high) / 2
        low, high = (low, low + least) if from_zero else (max(0.0, middle - least / 2), middle + least / 2)
    step = max(nice_step((high - low) / unit, LINEAR_TICKS_MAX) * unit, unit if unit > 1 else 0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(index * step, 9) for index in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], height_px, ticks=ticks)


def log_scale(values: Sequence[float], height_px: int) -> Scale:
    """From the 1-2-5 step below the least value to the one above the greatest; ticks at decades, finer when there are few."""
    known = [value for value in values if value > 0] or [1.0, 10.0]
    least, greatest = min(known), max(known)
    powers = range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(greatest)) + 2)
    steps = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    low = max(step for step in steps if step <= least * 1.0001)
    high = min(step for step in steps if step >= greatest * 0.9999 and step > low)
    inside = [step for step in steps if low <= step <= high]
    decades = [10.0**power for power in powers if low <= 10.0**power * 1.0001 and 10.0**power <= high * 1.0001]
    ticks = decades if len(decades) >= 3 else inside
    keep = math.ceil(len(ticks) / LOG_TICKS_MAX) if ticks is decades else 1
    return Scale(low, high, height_px, log=True, ticks=tuple(ticks[::keep]))


def make_scale(rows: Thinned, series: Sequence[Series], height_px: int, kind: str, unit: float = 1) -> Scale:
    """`kind` is log, zero (from zero up) or own (the curve's own range). A binary unit grows with the range: KiB, MiB, GiB."""
    values = [value for one in series if one.drawn for column in (rows.low, rows.high) for value in column[one.key] if value is not None]
    if kind == "log":
        return log_scale(values, height_px)
    while unit > 1 and max(values, default=0) - min(values, default=0) >= unit * unit:
        unit *= unit
    return linear_scale(values, height_px, kind == "zero", unit)


def number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def runs_of(rows: Thinned, key: str) -> list[list[int]]:
    """The buckets that have a value, as runs of neighbours: a gap in the data stays a gap in the curve."""
    runs: list[list[int]] = [[]]
    for index, value in enumerate(rows.high[key]):
        if value is not None:
            runs[-1].append(index)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def edge(rows: Thinned, column: Sequence[Value], run: Sequence[int], scale: Scale) -> list[str]:
    return [f"{number(rows.middle_s(index))} {number(scale.y(value))}" for index in run if (value := column[index]) is not None]


def line_path(rows: Thinned, key: str, scale: Scale) -> str:
    """A line through the greatest value of each bucket; a lonely one is a dot."""
    runs = [edge(rows, rows.high[key], run, scale) for run in runs_of(rows, key)]
    return "".join("M" + "L".join(run) + ("h0" if len(run) == 1 else "") for run in runs)


def spread_path(rows: Thinned, key: str, scale: Scale) -> str:
    """The area between the greatest and the least value of each bucket; empty when no bucket has more than one value."""
    if rows.low[key] == rows.high[key]:
        return ""
    runs = runs_of(rows, key)
    return "".join("M" + "L".join(edge(rows, rows.high[key], run, scale) + edge(rows, rows.low[key], run[::-1], scale)) + "Z" for run in runs)


def stem_path(rows: Thinned, key: str, scale: Scale, shift_s: float) -> str:
    """A stem for each bucket that is not zero: for counts that are zero nearly always."""
    return "".join(
        f"M{number(rows.middle_s(index) + shift_s)} {scale.height_px}V{number(scale.y(high))}"
        for index, high in enumerate(rows.high[key])
        if high
    )


def make_plot(rows: Thinned, series: Sequence[Series], scale: Scale, text: Callable[[float], str], stems: bool = False) -> Plot:
    drawn = [one for one in series if one.drawn and not rows.empty(one.key)]
    gap_s = (rows.end_s[-1] - rows.start_s[0]) / max(1, len(rows)) if len(rows) else 0
    paths = []
    for index, one in enumerate(drawn) if stems else reversed(list(enumerate(drawn))):
        if stems:
            shift_s = gap_s * 0.3 * (index - (len(drawn) - 1) / 2)
            paths.append(Path(f"{one.style} stems", stem_path(rows, one.key, scale, shift_s)))
            continue
        paths.append(Path(f"{one.style} spread", spread_path(rows, one.key, scale)))
        paths.append(Path(one.style, line_path(rows, one.key, scale)))
    return Plot(scale.height_px, [path for path in paths if path.d], [Tick(scale.y(value), text(value)) for value in scale.ticks])


@dataclass(frozen=True)
class Fit:
    """A robust line through the settled part of a curve, and the wedge of its confidence interval."""

    line: str
    wedge: str
    verdict: str


Point = tuple[float, float]


def make_fit(points: Sequence[Point], slopes: tuple[float, float | None, float | None], scale: Scale, verdict: str) -> Fit | None:
    """The lines of the slopes (per second: estimate, low, high) through the median point. None when there is nothing to fit."""
    if len(points) < 2:
        return None
    slope, low, high = slopes
    middle_s = median([t_s for t_s, _ in points])
    middle = (middle_s, median([value - slope * t_s for t_s, value in points]) + slope * middle_s)
    first_s, last_s = points[0][0], points[-1][0]
    line = through(middle, slope, first_s, last_s, scale)
    if low is None or high is None:
        return Fit(polyline(line, scale), "", verdict)
    low_line, high_line = (through(middle, one, first_s, last_s, scale) for one in (low, high))
    corners = [low_line[0], middle, high_line[1], low_line[1], middle, high_line[0]]
    return Fit(polyline(line, scale), polyline(corners, scale) + "Z", verdict)


def joined(fits: Sequence[Fit]) -> Fit | None:
    """Several fits of one verdict as one, to be drawn as two paths."""
    if not fits:
        return None
    return Fit("".join(fit.line for fit in fits), "".join(fit.wedge for fit in fits), fits[0].verdict)


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def through(pivot: Point, slope: float, first_s: float, last_s: float, scale: Scale) -> list[Point]:
    """The two ends of a line through the pivot, cut where it leaves the plot."""
    return [cut((t_s, pivot[1] + slope * (t_s - pivot[0])), pivot, scale) for t_s in (first_s, last_s)]


def cut(end: Point, pivot: Point, scale: Scale) -> Point:
    """The end of a line, moved towards the pivot until it lies within the scale."""
    inside = min(scale.high, max(scale.low, end[1]))
    if inside == end[1] or end[1] == pivot[1]:
        return end[0], inside
    share = min(1.0, max(0.0, (inside - pivot[1]) / (end[1] - pivot[1])))
    return pivot[0] + (end[0] - pivot[0]) * share, inside


def polyline(points: Sequence[Point], scale: Scale) -> str:
    return "M" + "L".join(f"{number(t_s)} {number(scale.y(value))}" for t_s, value in points)


def time_ticks(start_s: float, end_s: float, text: Callable[[float], str]) -> list[Tick]:
    """Ticks of the common axis, at steps that people count in."""
    width_s = end_s - start_s
    step = next((step for step in TIME_STEPS_S if width_s / step <= TIME_TICKS_MAX), 86400 * math.ceil(width_s / 86400 / TIME_TICKS_MAX))
    first = math.ceil(start_s / step - 1e-9)
    return [Tick(round(index * step, 3), text(index * step)) for index in range(first, math.floor(end_s / step + 1e-9) + 1)]
