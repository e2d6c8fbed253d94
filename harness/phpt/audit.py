"""The AUDIT lines of a server's log, each place once, and words that lie side by side as one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

LINE = re.compile(r"AUDIT: (?P<object>\S+)\+0x(?P<offset>[0-9a-f]+)(?: \((?P<symbol>[^)]*)\))? changed")
WORD = 8
APART = 4 * WORD  # a table has words that stay as they are


@dataclass
class Place:
    object: str
    first: int
    last: int
    symbols: list[str]
    words: int = 1

    def __str__(self) -> str:
        end = f"…0x{self.last:x}, {self.words} words" if self.words > 1 else ""
        return f"AUDIT: {self.object}+0x{self.first:x}{end}" + (f" ({self.symbols[0]})" if self.symbols else "")


def places(log: str) -> set[tuple[str, int, str]]:
    """Object, offset, symbol."""
    return {(one["object"], int(one["offset"], 16), one["symbol"] or "") for one in LINE.finditer(log)}


def merged(found: Iterable[tuple[str, int, str]]) -> list[str]:
    out: list[Place] = []
    for name, offset, symbol in sorted(found):
        last = out[-1] if out else None
        if last is None or last.object != name or offset - last.last > APART:
            out.append(Place(name, offset, offset, [symbol] if symbol else []))
        else:
            last.last, last.words = offset, last.words + 1
    return [str(one) for one in out]
