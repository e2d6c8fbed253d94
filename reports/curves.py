"""Which curves a soak page shows, as a table, and the view that its template and script take.

A curve is data: its title, its columns, its scale. To add one, add a line to CURVES.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable

from reports import units
from reports.chart import Fit, Plot, Scale, Series, Tick, joined, make_fit, make_plot, make_scale, time_ticks
from reports.model import LOAD_COLUMNS, SAMPLE_COLUMNS, Event, Phase, Plateau, Results
from reports.phases import PhaseView, cycles_of
from reports.stretches import stretches
from reports.thin import Thinned, thin

BUCKETS_MAX = 640
TABLE_ROWS_MAX = 120
EVENTS_EMBEDDED_MAX = 600
EVENT_TICKS_MAX = 300
EVENT_CHARS_MAX = 200
LINES_MAX = 16
CYCLES_MAX = 120
HOUR_S = 3600


@dataclass(frozen=True)
class Curve:
    key: str
    title: str
    rows: str
    series: tuple[Series, ...]
    text: Callable[[float | None], str]
    unit: str
    scale: str = "zero"
    height_px: int = 92
    stems: bool = False
    scale_unit: float = 1


CURVES = (
    Curve(
        "latency", "Latency", "load",
        (
            Series("p50_us", "p50", "s-p50"), Series("p90_us", "p90", "s-p90"), Series("p99_us", "p99", "s-p99"),
            Series("p999_us", "p99.9", "s-p999"), Series("max_us", "max", "s-max"),
        ),
        units.micros, "from the intended send time, log scale", scale="log", height_px=190,
    ),
    Curve("rate", "Rate", "load", (Series("rate", "rate", "s-1"),), units.per_second, "requests per second"),
    Curve(
        "errors", "Not answered", "load",
        (Series("refused", "refused", "s-refused"), Series("lost", "lost", "s-lost"), Series("isolation", "isolation", "s-isolation")),
        units.per_second, "requests per second", stems=True,
    ),
    Curve("in_flight", "In flight", "load", (Series("in_flight", "in flight", "s-1"),), units.plain, "requests"),
    Curve(
        "memory", "Memory", "samples",
        (Series("pss_kb", "PSS", "s-1"), Series("heap_kb", "heap", "s-2"), Series("rss_kb", "RSS", "s-3", drawn=False)),
        units.kibibytes, "all processes", scale="own", height_px=120, scale_unit=1024,
    ),
    Curve("fds", "File descriptors", "samples", (Series("fds", "fds", "s-1"),), units.plain, "all processes", scale="own"),
    Curve(
        "processes", "Children and threads", "samples",
        (Series("children", "children", "s-1"), Series("threads", "threads", "s-2")), units.plain, "alive",
    ),
)


@dataclass(frozen=True)
class TableRow:
    time: str
    cells: list[str]


@dataclass(frozen=True)
class CurveView:
    curve: Curve
    plot: Plot
    legend: list[Series]
    fits: list[Fit]
    plateau: list[Plateau]
    head: list[str]
    table: list[TableRow]
    row_s: float
    exact: bool


@dataclass(frozen=True)
class Lane:
    """The events of one kind: ticks as one path, and how many there were."""

    kind: str
    d: str
    total: int
    lines: list[float]


@dataclass(frozen=True)
class Axis:
    start_s: float
    end_s: float
    ticks: list[Tick]


@dataclass(frozen=True)
class Stack:
    axis: Axis
    phases: list[PhaseView]
    cycles: list[Phase]
    bands: list[str]
    lanes: list[Lane]
    curves: list[CurveView]
    thinned_s: float
    data: dict[str, Any]


def columns(rows: list[Any], names: tuple[str, ...]) -> tuple[list[float], dict[str, list[float | None]]]:
    return [row.t_s for row in rows], {name: [getattr(row, name) for row in rows] for name in names}


def make_stack(results: Results, phases: list[PhaseView]) -> Stack:
    sources = {"load": columns(results.load, LOAD_COLUMNS), "samples": columns(results.samples, SAMPLE_COLUMNS)}
    thinned = {name: thin(times_s, values, BUCKETS_MAX) for name, (times_s, values) in sources.items()}
    tables = {name: thin(times_s, values, TABLE_ROWS_MAX) for name, (times_s, values) in sources.items()}
    end_s = results.duration_s or 1.0
    views = [make_curve(curve, thinned[curve.rows], tables[curve.rows], results) for curve in CURVES]
    views = [view for view in views if view.legend]
    cycles = cycles_of(results.phases)
    exact = all(rows.exact for rows in thinned.values())
    return Stack(
        axis=Axis(0.0, end_s, time_ticks(0.0, end_s, units.clock)),
        phases=phases,
        cycles=cycles if len(cycles) <= CYCLES_MAX else [],
        bands=[band_path(phases[first::2]) for first in (0, 1)],
        lanes=make_lanes(results, end_s),
        curves=views,
        thinned_s=0.0 if exact else max(bucket_s(rows) for rows in thinned.values()),
        data=script_data(results, phases, thinned, views, end_s),
    )


def bucket_s(rows: Thinned) -> float:
    return (rows.end_s[-1] - rows.start_s[0]) / len(rows) if len(rows) else 0.0


def make_curve(curve: Curve, rows: Thinned, table: Thinned, results: Results) -> CurveView:
    shown = [one for one in curve.series if not rows.empty(one.key)]
    if not any(one.drawn for one in shown):
        shown = [replace(one, drawn=True) for one in shown]
    scale = make_scale(rows, shown, curve.height_px, curve.scale, curve.scale_unit)
    plateau = [one for one in results.plateau if one.series in {series.key for series in shown}]
    fits = [joined(plateau_fits(one, results, scale)) for one in plateau if curve.rows == "samples"]
    return CurveView(
        curve, make_plot(rows, shown, scale, curve.text, curve.stems), shown, [fit for fit in fits if fit], plateau,
        [one.label for one in shown], table_rows(table, shown, curve.text), bucket_s(table), table.exact,
    )


def plateau_fits(plateau: Plateau, results: Results, scale: Scale) -> list[Fit]:
    """The fitted line of each stretch."""
    if plateau.slope_per_hour is None:
        return []
    points = [(row.t_s, value) for row in results.samples if (value := getattr(row, plateau.series)) is not None]
    breaks_s = [event.t_s for event in results.events if event.kind in ("reload", "kill")]
    low, high = (None if value is None else value / HOUR_S for value in (plateau.ci_low, plateau.ci_high))
    slopes = (plateau.slope_per_hour / HOUR_S, low, high)
    fits = [make_fit(part, slopes, scale, plateau.verdict) for part in stretches(points, breaks_s)]
    return [fit for fit in fits if fit]


def range_text(low: float | None, high: float | None, text: Callable[[float | None], str]) -> str:
    return text(high) if low == high else f"{text(low)} … {text(high)}"


def table_rows(rows: Thinned, series: list[Series], text: Callable[[float | None], str]) -> list[TableRow]:
    return [
        TableRow(
            range_text(rows.start_s[index], rows.end_s[index], units.clock),
            [range_text(rows.low[one.key][index], rows.high[one.key][index], text) for one in series],
        )
        for index in range(len(rows))
    ]


def band_path(phases: list[PhaseView]) -> str:
    """The phases as boxes of height 1, which each plot stretches to its own."""
    return "".join(f"M{view.phase.start_s:.3f} 0H{view.phase.end_s:.3f}V1H{view.phase.start_s:.3f}Z" for view in phases)


def make_lanes(results: Results, end_s: float) -> list[Lane]:
    lanes = []
    for kind in ("fault", "reload", "kill", "arm", "disarm", "mark"):
        times_s = [event.t_s for event in results.events if event.kind == kind]
        if not times_s:
            continue
        total = max(len(times_s), results.faults_total or 0) if kind == "fault" else len(times_s)
        lines = times_s if kind in ("reload", "kill") and len(times_s) <= LINES_MAX else []
        lanes.append(Lane(kind, ticks_path(times_s, end_s), total, lines))
    return lanes


def ticks_path(times_s: list[float], end_s: float) -> str:
    """One tick for all events that fall on the same place."""
    places = sorted({round(t_s / end_s * EVENT_TICKS_MAX): t_s for t_s in reversed(times_s)}.values())
    return "".join(f"M{t_s:.3f} 0V1" for t_s in places)


def script_data(results: Results, phases: list[PhaseView], thinned: dict[str, Thinned], views: list[CurveView], end_s: float) -> dict[str, Any]:
    """What the cursor reads. Values are given as text already, so that the script knows nothing of units."""
    used = {name for name in thinned if any(view.curve.rows == name for view in views)}
    return {
        "end": end_s,
        "rows": {name: {"t": [round(rows.middle_s(i), 3) for i in range(len(rows))]} for name, rows in thinned.items() if name in used},
        "curves": [
            {
                "title": view.curve.title,
                "rows": view.curve.rows,
                "series": [
                    {"label": one.label, "style": one.style, "text": cursor_texts(thinned[view.curve.rows], one.key, view.curve.text)}
                    for one in view.legend
                ],
            }
            for view in views
        ],
        "phases": [{"name": view.phase.name, "start": view.phase.start_s, "end": view.phase.end_s} for view in phases],
        "events": [{"t": event.t_s, "kind": event.kind, "text": event.text[:EVENT_CHARS_MAX], "pid": event.pid} for event in embedded(results.events)],
    }


def cursor_texts(rows: Thinned, key: str, text: Callable[[float | None], str]) -> list[str]:
    return [range_text(low, high, text) for low, high in zip(rows.low[key], rows.high[key])]


def embedded(events: list[Event]) -> list[Event]:
    """The events the cursor names: all but faults first, then faults evenly, within a limit."""
    rare = [event for event in events if event.kind != "fault"]
    faults = [event for event in events if event.kind == "fault"]
    rare = evenly(rare, EVENTS_EMBEDDED_MAX)
    return sorted(rare + evenly(faults, EVENTS_EMBEDDED_MAX - len(rare)), key=lambda event: event.t_s)


def evenly(events: list[Event], count_max: int) -> list[Event]:
    return events[:: max(1, -(-len(events) // count_max))] if count_max else []
