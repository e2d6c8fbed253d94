"""The audit as data: what results.json holds, and the HTML page and --json are made from."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Any

from .audit import Audit, Cell, Line
from .options import Options
from .trial import Trial, replay

VERSION = 1


def build(options: Options, audit: Audit, interrupted: bool) -> dict[str, Any]:
    covered, of = audit.score()
    return {
        "ordeal": "audit",
        "version": VERSION,
        "started_ns": audit.started_ns,
        "command": shlex.join(options.command),
        "repeat": audit.repeat,
        "interrupted": interrupted,
        "columns": [_column(audit, column) for column in audit.columns],
        "score": {"covered": covered, "implemented": of} if audit.scored else None,
        "findings": [_line(line) for line in audit.done],
        "failures": audit.failures,
    }


def _column(audit: Audit, column: Any) -> dict[str, Any]:
    target = column.target
    return {
        "name": column.name,
        "what": target.what if target else "",
        "executable": str(target.executable() or "") if target else "",
        "missing": column.missing or "",
    }


def _line(line: Line) -> dict[str, Any]:
    row = asdict(line.row)
    return {
        **row,
        "tried": line.scenario.finding.tried if line.scenario else "",
        "source": f"harness/findings/{line.scenario.source}" if line.scenario else "",
        "as_expected": line.as_expected,
        "covered": line.covered,
        "seconds": round(line.seconds, 3),
        "cells": {name: _cell(line, cell) for name, cell in line.cells.items()},
    }


def _cell(line: Line, cell: Cell) -> dict[str, Any]:
    out: dict[str, Any] = {
        "kind": cell.kind,
        "text": cell.text,
        "expected": cell.expected,
        "as_expected": cell.as_expected,
        "missing": cell.missing,
        "tries": len(cell.trials),
        "right": cell.right,
        "counts": dict(cell.counts),
        "seconds": round(cell.seconds, 3),
        "story": None,
    }
    if cell.trials and line.scenario:
        out["story"] = {**_story(cell.telling), "replay": shlex.join(replay(line.scenario, cell.column))}
    return out


def _story(trial: Trial) -> dict[str, Any]:
    return {
        "verdict": trial.verdict.data(),
        "line": trial.verdict.line(),
        "seconds": round(trial.seconds, 3),
        "checks": [{"judge": one.title, "ok": one.ok, "text": one.text, "numbers": dict(one.numbers)} for one in trial.checks],
        "history": trial.history,
        "launched": trial.launched,
        "seen": trial.seen,
        "log": trial.log,
    }
