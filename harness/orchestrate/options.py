"""What a run was asked for; see launch() for what each means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    app: Path
    rules: tuple[str, ...]
    plan: Path | None
    seed: int
    armed: bool
    workers: int
    swarm: float | None
    shim: bool
    trace: bool
    trace_calls: str | None
    env: dict[str, str]
    app_in_place: bool
    bundle: Path | None
    replay: tuple[str, ...] | None
