"""Where things are: the project's root and the programs that `make build` makes.

    >>> paths.program("ordeal")        # <root>/build/bin/ordeal, or a clear error when it was not built
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ROOT / "fixtures" / "targets"
APPS = ROOT / "fixtures" / "apps"
PLANS = ROOT / "fixtures" / "plans"
OUT = ROOT / "reports" / "out"


class NotBuilt(Exception):
    """A program of this project is needed and was not built."""


def build_dir() -> Path:
    """The build folder: `build/`, or what ORDEAL_BUILD names (a sanitizer build, say)."""
    return ROOT / os.environ.get("ORDEAL_BUILD", "build")


def program(name: str) -> Path:
    found = build_dir() / "bin" / name
    if not os.access(found, os.X_OK):
        raise NotBuilt(f"{shown(found)} is missing or not executable: run `make build` first")
    return found


def shown(path: Path | str) -> str:
    """A path as a person wants to read it: relative to the project where it lies inside."""
    try:
        return str(Path(path).resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
