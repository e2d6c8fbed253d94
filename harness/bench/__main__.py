"""make bench: every figure as a ratio, measured side by side in this run; a table, and JSON for machines."""
from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from harness.bench import fiber_rows, load_rows, shim_rows
from harness.bench.measure import ROOT, Clock, NotThis, Row, Unavailable

GROUPS: dict[str, tuple[str, Callable[[int], Iterator[Row | NotThis]]]] = {
    "shim": ("the shim against bare calls, libfiu and strace", shim_rows.rows),
    "load": ("ordeal-load against wrk", load_rows.rows),
    "fiber": ("fiber-fpm against php-fpm", fiber_rows.rows),
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=sorted(GROUPS), action="append", help="measure this group (may be repeated)")
    parser.add_argument("--rounds", type=int, default=5, help="turns that each contender takes (default 5)")
    parser.add_argument("--json", type=Path, default=ROOT / "reports/out/bench/results.json", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {arguments.rounds}")
    return arguments


def _measure(names: list[str], rounds: int, console: Console) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    missing: list[str] = []
    clock = Clock()
    for name in names:
        title, measure = GROUPS[name]
        console.print(f"[{clock():5.1f} s] measuring {title} …", highlight=False, markup=False)
        try:
            for row in measure(rounds):
                if isinstance(row, NotThis):
                    missing.append(f"{row.name}: not measured: {row.why}")
                else:
                    rows.append(row)
        except Unavailable as reason:
            missing.append(f"{title}: not measured: {reason}")
    return rows, missing


def _print(console: Console, rows: list[Row]) -> None:
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        verdict, colour = ("met", "green") if row.met else ("missed", "red")
        console.print(f"{row.name:<{width}}  {row.value:8.2f} {row.unit:<10}  {row.goal:<16}", end="", highlight=False, soft_wrap=True)
        console.print(f" {verdict}", style=colour)
        figures = ", ".join(f"{name} {value:,.1f}" for name, value in row.figures.items())
        console.print(f"    {figures}", style="dim", highlight=False, soft_wrap=True)


def _write(path: Path, rows: list[Row], missing: list[str], rounds: int) -> None:
    machine = {"cpus": os.cpu_count(), "kernel": platform.release(), "machine": platform.machine()}
    document = {
        "version": 1,
        "ordeal": "bench",
        "rounds": rounds,
        "machine": machine,
        "rows": [asdict(row) for row in rows],
        "not_measured": missing,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def main() -> int:
    arguments = _arguments()
    console = Console()
    rows, missing = _measure(arguments.only or list(GROUPS), arguments.rounds, console)
    _print(console, rows)
    for line in missing:
        console.print(line, markup=False)
    _write(arguments.json, rows, missing, arguments.rounds)
    met = sum(row.met for row in rows)
    console.print(f"bench: {met} of {len(rows)} goals met, {len(missing)} not measured; {arguments.json}", markup=False, soft_wrap=True)
    return 0 if met == len(rows) and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
