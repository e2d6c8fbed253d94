"""The command line of the audit, checked before anything is started."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from harness.orchestrate import TargetError
from harness.orchestrate.template import suggestion

from . import catalogue
from .columns import STANDARD, Column, columns
from .finding import Scenario

OUT = Path("reports/out/audit")
REPEAT_MAX = 100_000
JOBS = min(2, os.cpu_count() or 1)


class Refused(Exception):
    """The audit cannot be started as asked; the message says what was expected."""


@dataclass(frozen=True)
class Options:
    ids: tuple[str, ...]
    chosen: bool  # findings were named
    columns: tuple[Column, ...]
    repeat: int
    jobs: int
    out: Path
    json: bool
    command: tuple[str, ...]


def parse(arguments: list[str] | None, known: dict[str, Scenario]) -> Options:
    given = _parser().parse_args(arguments)
    ids = _findings(given.finding, known)
    own = given.target or None
    names = _names(given.column) if given.column else ([] if own else list(STANDARD))
    try:
        chosen = columns(names, own)
    except (TargetError, ValueError) as error:
        raise Refused(str(error)) from error
    command = ["make", "audit"]
    command += [f"{name}={value}" for name, value in _words(given) if value]
    return Options(
        ids, bool(given.finding), tuple(chosen), _number("REPEAT", given.repeat, REPEAT_MAX), _number("JOBS", given.jobs, 64),
        given.out, given.json, tuple(command),
    )  # fmt: skip


def _words(given: argparse.Namespace) -> list[tuple[str, str]]:
    repeat = given.repeat if given.repeat != "1" else ""
    return [
        ("FINDING", ",".join(given.finding)),
        ("COLUMN", ",".join(given.column)),
        ("TARGET", given.target),
        ("REPEAT", repeat),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make audit", description="The findings matrix.")
    parser.add_argument("--finding", action="append", default=[], help="B1,B7: these findings only")
    parser.add_argument("--column", action="append", default=[], help=f"{', '.join(STANDARD)}: these columns only")
    parser.add_argument("--target", default="", help="a name of fixtures/targets/ or a file: try the findings on it alone")
    parser.add_argument("--repeat", default="1", help="each verdict so often")
    parser.add_argument("--jobs", default=str(JOBS), help="trials at a time")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the report")
    parser.add_argument("--json", action="store_true", help="the results as JSON on standard output, the table on standard error")
    return parser


def _number(name: str, text: str, high: int) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= high:
        raise Refused(f"{name}={text}: expected a whole number from 1 to {high}")
    return int(text)


def _names(given: list[str]) -> list[str]:
    return list(dict.fromkeys(name.strip() for one in given for name in one.split(",") if name.strip()))


def _findings(given: list[str], known: dict[str, Scenario]) -> tuple[str, ...]:
    wanted = [name.upper() for name in _names(given)]
    for name in wanted:
        if name not in catalogue.IDS:
            raise Refused(f"FINDING={name}: no such finding; {suggestion(name, catalogue.IDS)}")
        if name not in known and not catalogue.row(name).not_applicable:
            raise Refused(f"FINDING={name}: not measured: there is no scenario for it yet (there is for {', '.join(known)})")
    return tuple(id for id in catalogue.IDS if id in wanted) if wanted else catalogue.IDS
