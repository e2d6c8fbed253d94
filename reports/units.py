"""How numbers are written: one function for each unit, used by the templates as filters and by the charts for their axes."""

from __future__ import annotations

from datetime import datetime, timezone

NONE = "–"
WHOLE_FROM = 1000


def plain(value: float | None, digits: int = 3) -> str:
    """A number with as many digits as it deserves: 60,000; 12.5; 0.0031."""
    if value is None:
        return NONE
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    if abs(value) >= WHOLE_FROM:
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def scaled(value: float | None, units: tuple[tuple[float, str], ...]) -> str:
    """The value in the greatest unit that leaves at least one before the point."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    for size, name in units:
        if abs(value) >= size * 0.9995:
            return f"{plain(value / size)} {name}"
    return f"{plain(value / units[-1][0])} {units[-1][1]}"


def micros(value: float | None) -> str:
    return scaled(value, ((1e6, "s"), (1e3, "ms"), (1, "µs")))


def kibibytes(value: float | None) -> str:
    return scaled(value, ((1024**2, "GiB"), (1024, "MiB"), (1, "KiB")))


def per_second(value: float | None) -> str:
    return NONE if value is None else f"{plain(value)}/s"


def percent(part: float | None, whole: float | None) -> str:
    if part is None or not whole:
        return NONE
    share = 100 * part / whole
    return "100 %" if part == whole else f"{min(share, 99.99):.2f} %" if share >= 0.01 or not part else "< 0.01 %"


def clock(seconds: float | None) -> str:
    """A point in the run: 12.5 s; 3:05; 2:00:07."""
    if seconds is None:
        return NONE
    if seconds < 120:
        return f"{round(seconds, 1):g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def span(seconds: float | None) -> str:
    """A length of time: 0.62 s; 12.5 s; 3 min 5 s; 5 h 33 min."""
    if seconds is None:
        return NONE
    if seconds < 120:
        return f"{round(seconds, 2 if seconds < 10 else 1):g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{value:,} {name}" for value, name in parts if value)


def date(nanoseconds: int | None) -> str:
    """Time of day in UTC; a report is read elsewhere than where it was made."""
    if nanoseconds is None:
        return NONE
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{nanoseconds} ns"


def number(value: object) -> str:
    """A value of unknown kind, as judges and machines give them."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(value, 4) if isinstance(value, (int, float)) else str(value)


SUFFIXES = (
    ("_us", micros, 1),
    ("_ns", micros, 1e-3),
    ("_ms", micros, 1e3),
    ("_kb", kibibytes, 1),
    ("_bytes", kibibytes, 1 / 1024),
    ("_s", span, 1),
)


def named(item: tuple[str, object]) -> tuple[str, str]:
    """A judge's number with its name, the unit moved from the name to the value: ("stop_ms", 1500) -> ("stop", "1.5 s")."""
    name, value = item
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for suffix, write, factor in SUFFIXES:
            if name.endswith(suffix):
                return name.removesuffix(suffix).replace("_", " "), write(value * factor)
    return name.replace("_", " "), number(value)


def amount(value: float | None, series: str) -> str:
    """A value of a series, in its own unit."""
    return kibibytes(value) if series.endswith("_kb") else plain(value)


def slope(value: float | None, series: str) -> str:
    """Growth in an hour, with its sign."""
    return NONE if value is None else f"{'+' if value > 0 else ''}{amount(value, series)}/h"


FILTERS = {
    "named": named,
    "amount": amount,
    "slope": slope,
    "plain": plain,
    "micros": micros,
    "kibibytes": kibibytes,
    "per_second": per_second,
    "clock": clock,
    "span": span,
    "date": date,
    "number": number,
}
