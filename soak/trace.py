"""The faults that really happened, read from the shim's trace after the run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness.orchestrate.paths import program
from soak.measured import Event

READ_S_MAX = 120


def faults(path: Path, rules: dict[int, str]) -> list[Event]:
    """Every injected fault that is still in the rings (the oldest of very many are overwritten), in order of time."""
    events = [
        Event(int(line["t_ns"]), "fault", f"{line.get('call', '?')} {action(rules.get(line.get('rule'), ''))}".strip(), line.get("pid"))
        for line in _lines(path)
    ]
    return sorted(events, key=lambda event: event.at_ns)


def action(rule: str) -> str:
    """What a rule does: `flock:nth=2:errno=EINTR` -> EINTR, `accept:p=0.1:delay=2ms` -> delay=2ms."""
    return rule.rpartition(":")[2].removeprefix("errno=")


def _lines(path: Path) -> Iterator[dict]:
    if not Path(path).exists():
        return
    command = [os.fspath(program("ordeal")), "trace", os.fspath(path), "--json", "--faults"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=READ_S_MAX, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return
    for line in done.stdout.splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue
