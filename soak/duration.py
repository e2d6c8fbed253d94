"""Durations as people write them: `60s`, `90`, `5m`, `1h30m`, `2d`."""

from __future__ import annotations

import re

UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def parse_duration(text: str) -> float:
    """Seconds; ValueError says what was expected. A bare number is seconds."""
    try:
        return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else _parts(text)
    except ValueError:
        raise ValueError(f"duration {text!r}: expected something like 60s, 5m or 1h30m") from None


def _parts(text: str) -> float:
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError
    return sum(float(number) * UNIT_S[unit] for number, unit in parts)


def format_duration(seconds: float) -> str:
    """The shortest form that parse_duration reads back: 5400 -> 1h30m."""
    if seconds != int(seconds):
        return f"{seconds:g}s"
    rest, text = int(seconds), ""
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text + (f"{rest}s" if rest or not text else "")
