"""Runs ordeal-load for its tests and reads what it wrote."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
BINARY = ROOT / os.environ.get("BUILD", "build") / "bin" / "ordeal-load"
RUN_TIMEOUT_S = 120
COLUMNS = ("answered", "refused", "lost", "isolation")


@dataclass
class Run:
    """One run: its exit status, output, and files."""

    status: int
    text: str
    errors: str
    summary: dict[str, Any]
    losses: list[dict[str, Any]]
    live: list[dict[str, Any]]

    @property
    def columns(self) -> dict[str, int]:
        """The columns that are not zero."""
        return {name: self.summary["requests"][name] for name in COLUMNS if self.summary["requests"][name]}

    def reasons(self, column: str) -> dict[str, int]:
        return self.summary["reasons"][column]


def command(*arguments: str, files: Path | None = None) -> list[str]:
    outputs = [f"--{name}={files / name}" for name in ("json", "live", "losses")] if files else []
    return [str(BINARY), *arguments, *outputs]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def collect(status: int, text: str, errors: str, files: Path) -> Run:
    """Reads the files of a run, and checks what must hold for every run."""
    run = Run(status, text, errors, json.loads((files / "json").read_text()), _lines(files / "losses"), _lines(files / "live"))
    requests = run.summary["requests"]
    assert requests["sent"] == sum(requests[name] for name in COLUMNS) + requests["in_flight"]
    for name in ("sent", *COLUMNS):
        assert requests[name] == sum(line["requests"][name] for line in run.summary["by_target"]), name
        assert run.live[-1][name] == requests[name], f"the last live line's {name}"
    for name in COLUMNS[1:]:
        assert sum(run.reasons(name).values()) == requests[name]
        assert sum(loss["outcome"] == name for loss in run.losses) == requests[name]
    assert len({loss["marker"] for loss in run.losses}) == len(run.losses)
    assert run.summary["latency_us"]["count"] == requests["answered"]
    assert sum(count for _, count in run.summary["histogram"]) == requests["answered"]
    return run


def run_load(files: Path, *arguments: str) -> Run:
    """Runs it to its end."""
    done = subprocess.run(command(*arguments, files=files), capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    return collect(done.returncode, done.stdout, done.stderr, files)


def run_while(files: Path, stimulus: Callable[[subprocess.Popen[str]], None], *arguments: str) -> Run:
    """Runs it, and does something to it meanwhile."""
    with subprocess.Popen(command(*arguments, files=files), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            stimulus(process)
            text, errors = process.communicate(timeout=RUN_TIMEOUT_S)
        except BaseException:
            process.kill()
            raise
    return collect(process.returncode, text, errors, files)
