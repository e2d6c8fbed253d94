"""What the shim costs: nothing armed, one rule armed that does not match, and what others pay for the same."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator

from harness.bench.measure import BIN, ROOT, Row, Unavailable, best_of_turns

PROGRAM = ROOT / "build/bench/hooked_calls"
SHIM = ROOT / "build/lib/libordeal.so"
FULL = ("100", "20000", "2000")
TRACED = ("2", "1000", "4000")  # every read stops the program twice: fewer of them, well below strace's when= limit


def _timed(command: list[str], env: dict[str, str] | None = None) -> dict[str, float]:
    done = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def _bare() -> dict[str, float]:
    return _timed([str(PROGRAM), *FULL])


def _idle() -> dict[str, float]:
    return _timed([str(PROGRAM), *FULL], {"LD_PRELOAD": str(SHIM)})


def _armed() -> dict[str, float]:
    rules = ["pthread_mutex_lock:robust:errno=EAGAIN", "pthread_mutex_unlock:robust:errno=EPERM", "read:size=77:errno=EIO"]
    command = [str(BIN / "ordeal"), "run", "--quiet"]
    for rule in rules:
        command += ["-f", rule]
    return _timed([*command, "--", str(PROGRAM), *FULL])


def _fiu() -> dict[str, float]:
    if shutil.which("fiu-run") is None:
        raise Unavailable("libfiu is not installed (Debian: fiu-utils)")
    return _timed(["fiu-run", "-x", str(PROGRAM), *FULL])


def _strace() -> dict[str, float]:
    if shutil.which("strace") is None:
        raise Unavailable("strace is not installed")
    inject = "inject=read:error=EIO:when=65000"
    return _timed(["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=read", "-e", inject, str(PROGRAM), *TRACED])


def rows(rounds: int) -> Iterator[Row]:
    contenders = {"bare": _bare, "idle": _idle, "armed": _armed, "libfiu": _fiu, "strace": _strace}
    best = best_of_turns(contenders, rounds, min)
    lock = {name: figures["lock_unlock_ns"] for name, figures in best.items()}
    read = {name: figures["read_ns"] for name, figures in best.items()}
    per_call = (lock["idle"] - lock["bare"]) / 2
    lock_figures = {f"{name} ns": lock[name] for name in ("bare", "idle", "armed")}
    read_figures = {f"{name} ns": value for name, value in read.items()}

    def at_most(name: str, value: float, limit: float, unit: str, figures: dict[str, float], note: str = "") -> Row:
        return Row(name, value, unit, f"≤ {limit:g} {unit}", value <= limit, figures, note)

    yield at_most("shim idle, lock+unlock", lock["idle"] / lock["bare"], 1.3, "× bare", lock_figures)
    yield at_most("shim idle, read of 1 byte", read["idle"] / read["bare"], 1.3, "× bare", read_figures)
    yield at_most("shim idle, added to a call", per_call, 2, "ns", lock_figures)
    armed = (lock["armed"] - lock["bare"]) / 2
    yield at_most("one armed rule that does not match, added to a call", armed, 15, "ns", lock_figures)
    yield at_most("shim idle against libfiu idle, read", read["idle"] / read["libfiu"], 1, "× libfiu", read_figures)
    times = read["strace"] / read["idle"]
    yield Row("strace -f -e inject against shim idle, read", times, "× the shim", "≥ 20 × the shim", times >= 20, read_figures)
