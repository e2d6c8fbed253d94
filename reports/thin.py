"""Long series made short without losing an extreme.

Rows are put into at most `buckets_max` groups of neighbours; of each group and column the smallest and the greatest
value are kept. A spike of one second in six hours is therefore still drawn at its full height, and a page of a long
run is no bigger than that of a short one:

    thin([1, 2, 3, 4], {"p99": [5, 9, None, 7]}, 2)
    # start [1, 3], end [2, 4], low {"p99": [5, 7]}, high {"p99": [9, 7]}

With no more rows than buckets nothing is lost: low and high are the row's own value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

Value = float | None


@dataclass(frozen=True)
class Thinned:
    start_s: list[float]
    end_s: list[float]
    low: dict[str, list[Value]]
    high: dict[str, list[Value]]
    rows: int

    def __len__(self) -> int:
        return len(self.start_s)

    @property
    def exact(self) -> bool:
        return len(self) == self.rows

    def middle_s(self, index: int) -> float:
        return (self.start_s[index] + self.end_s[index]) / 2

    def empty(self, column: str) -> bool:
        return all(value is None for value in self.high.get(column, []))


def thin(times_s: Sequence[float], columns: Mapping[str, Sequence[Value]], buckets_max: int) -> Thinned:
    """Groups the rows; `times_s` must rise, each column must be as long as it."""
    assert buckets_max > 0
    assert all(len(column) == len(times_s) for column in columns.values())
    rows = len(times_s)
    count = min(rows, buckets_max)
    edges = [index * rows // count for index in range(count + 1)] if count else [0]
    groups = list(zip(edges, edges[1:]))
    return Thinned(
        start_s=[times_s[first] for first, _ in groups],
        end_s=[times_s[after - 1] for _, after in groups],
        low={name: [extreme(min, column[first:after]) for first, after in groups] for name, column in columns.items()},
        high={name: [extreme(max, column[first:after]) for first, after in groups] for name, column in columns.items()},
        rows=rows,
    )


def extreme(choose, values: Sequence[Value]) -> Value:
    known = [value for value in values if value is not None]
    return choose(known) if known else None
