"""The command line of the soak, checked before anything is started.

Whatever can be known to be wrong is refused here with status 2: an unknown target, a bad duration, a rule
with a typing error, a mix that is not there, a folder that cannot be written.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.orchestrate import Target, TargetError, load_target
from harness.orchestrate.paths import APPS, ROOT, NotBuilt, program
from soak import phases
from soak.duration import format_duration, parse_duration
from soak.mix import PROBES

GENTLE = Path(__file__).parent / "plans" / "gentle.plan"
MIX = ROOT / "fixtures" / "mixes" / "php.mix"
OUT = Path("reports/out/soak")
TARGET, DURATION, RATE = "php-fpm", "60s", 100.0
RATE_MAX = 1_000_000.0
WORKERS_MAX = 1024
SEED_MAX = 2**32
CHECK_S_MAX = 30
LOCK = ".lock"
WRITTEN = ("results.json", "junit.xml", "index.html")
EVIDENCE = "evidence"


class Refused(Exception):
    """The soak cannot be started as asked; the message says what was expected."""


@dataclass(frozen=True)
class Options:
    target: Target
    target_name: str
    duration_s: float
    seed: int
    rate: float
    workers: int | None
    cycles: int | None
    mix: Path
    plan: Path
    rules: tuple[str, ...]
    probes: tuple[str, ...]
    out: Path
    baseline: Path | None
    app: Path

    def words(self) -> list[str]:
        """Target, duration and seed."""
        return ["--target", self.target_name, "--duration", format_duration(self.duration_s), "--seed", str(self.seed)]

    def extra_words(self) -> list[str]:
        """What differs from the defaults."""
        extra = ["--rate", f"{self.rate:g}"] if self.rate != RATE else []
        extra += ["--workers", str(self.workers)] if self.workers is not None else []
        extra += ["--cycles", str(self.cycles)] if self.cycles is not None else []
        extra += ["--mix", os.fspath(self.mix)] if self.mix != MIX else []
        extra += ["--plan", os.fspath(self.plan)] if self.plan != gentle(self.target) else []
        for option, values in (("--rule", self.rules), ("--probe", self.probes)):
            extra += [word for value in values for word in (option, value)]
        extra += ["--baseline", os.fspath(self.baseline)] if self.baseline is not None else []
        return extra + (["--app", os.fspath(self.app)] if self.app != APPS else [])

    def replay_words(self) -> list[str]:
        return ["/usr/bin/python3", "-m", "soak", *self.words(), *self.extra_words()]

    def replay(self) -> list[str]:
        """Commands that do the same again: through make where it has a word for every option, and without it."""
        make = self._make_words()
        return ([shlex.join(make)] if make else []) + [shlex.join(self.replay_words())]

    def _make_words(self) -> list[str] | None:
        simple = not any(set(rule) & set(" '$#") for rule in self.rules)
        if (self.mix, self.app, self.baseline) != (MIX, APPS, None) or len(self.probes) > 1 or not simple:
            return None
        words = ["make", "soak", f"TARGET={self.target_name}", f"DURATION={format_duration(self.duration_s)}", f"SEED={self.seed}"]
        words += [f"RATE={self.rate:g}"] if self.rate != RATE else []
        words += [f"WORKERS={self.workers}"] if self.workers is not None else []
        words += [f"CYCLES={self.cycles}"] if self.cycles is not None else []
        words += [f"PLAN={self.plan}"] if self.plan != gentle(self.target) else []
        words += [f"PROBE={self.probes[0]}"] if self.probes else []
        return words + ([f"RULE={' '.join(self.rules)}"] if self.rules else [])


def gentle(target: Target) -> Path:
    """The rules of the fault phases, when nobody asks for others."""
    return target.fault_plan or GENTLE


def parse(arguments: list[str] | None = None) -> Options:
    """The options, checked; argparse ends the program with status 2 for what it refuses itself."""
    given = _parser().parse_args(arguments)
    target = _target(given.target)
    if given.cycles is not None:
        _within("--cycles", given.cycles, 1, phases.CYCLES_MAX)
    duration_s = _duration(given.duration, given.cycles)
    _within("--rate", given.rate, 0.1, RATE_MAX)
    _within("--seed", given.seed, 0, SEED_MAX)
    if given.workers is not None:
        _within("--workers", given.workers, 1, WORKERS_MAX)
    options = Options(
        target=target,
        target_name=given.target,
        duration_s=duration_s,
        seed=given.seed if given.seed is not None else random.SystemRandom().randrange(SEED_MAX),
        rate=given.rate,
        workers=given.workers,
        cycles=given.cycles,
        mix=_readable("--mix", given.mix),
        plan=_readable("--plan", given.plan or gentle(target)),
        rules=tuple(given.rule),
        probes=tuple(given.probe),
        out=given.out,
        baseline=_readable("--baseline", given.baseline) if given.baseline else None,
        app=given.app,
    )
    if options.baseline:
        _check_baseline(options.baseline)
    if not options.app.is_dir():
        raise Refused(f"--app {options.app}: expected a folder with the pages of the mix")
    _check_mix(options)
    _check_rules(options)
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="soak",
        description="Soaks a target: steady load through faults, healing, a reload and a killed worker; then judges "
        "the account of all requests, liveness, shutdown and leaks, and writes a report.",
        epilog="Exit status: 0 clean; 1 a promise is broken; 2 could not be measured, or bad usage; 3 inconclusive; 130 interrupted.",
    )
    add = parser.add_argument
    add("--target", default=TARGET, help=f"name of fixtures/targets/NAME.toml, or a path to a target file ({TARGET})")
    add("--duration", default=DURATION, help=f"such as 60s, 10m, 8h ({DURATION})")
    add("--seed", type=int, help="same seed: same requests, same faults, same victim (default: a random one, which is printed)")
    add("--rate", type=float, default=RATE, metavar="N", help=f"requests per second, whatever the answers do ({RATE:g})")
    add("--workers", type=int, metavar="N", help="workers of the target (default: as its file says)")
    add("--cycles", type=int, metavar="N", help="how often faults, a reload and a killed worker come (default: about every ten minutes)")
    add("--mix", type=Path, default=MIX, metavar="FILE", help="what is asked for (fixtures/mixes/php.mix)")
    add("--plan", type=Path, metavar="FILE", help="rules of the fault phases (the target's faults.plan, or soak/plans/gentle.plan)")
    add("--rule", action="append", default=[], metavar="RULE", help="one more rule for the fault phases; may be repeated")
    add("--probe", action="append", default=[], choices=sorted(PROBES), help="add a page that breaks a promise on purpose")
    add("--baseline", type=Path, metavar="RESULTS", help="results.json of a leak-free run of the same load, to compare growth with")
    add("--app", type=Path, default=APPS, metavar="DIR", help="folder of the pages (fixtures/apps)")
    add("--out", type=Path, default=OUT, metavar="DIR", help=f"folder for the report ({OUT})")
    return parser


def _target(name: str) -> Target:
    try:
        target = load_target(name)
    except TargetError as error:
        raise Refused(str(error)) from None
    missing = target.missing()
    if missing:
        raise Refused(f"{name}: {missing}")
    return target


def _duration(text: str, cycles: int | None) -> float:
    try:
        seconds = parse_duration(text)
        phases.plan(seconds, cycles)
    except ValueError as error:
        raise Refused(f"--duration: {error}") from None
    return seconds


def _within(option: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise Refused(f"{option} {value:g}: expected {low:g} to {high:g}")


def _readable(option: str, path: Path) -> Path:
    try:
        path.open("rb").close()
    except OSError as error:
        raise Refused(f"{option} {path}: {error.strerror}: expected a file that can be read") from None
    return path


def _check_baseline(path: Path) -> None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["ordeal"] == "soak" and found["samples"]:
            return
    except (ValueError, KeyError, TypeError):
        pass
    raise Refused(f"--baseline {path}: expected the results.json of a soak, with samples")


def _tool(name: str) -> str:
    try:
        return os.fspath(program(name))
    except NotBuilt as error:
        raise Refused(str(error)) from None


def _check_rules(options: Options) -> None:
    """Lets the launcher read the rules and run nothing worth mentioning; it refuses a bad rule before it starts anything."""
    command = [_tool("ordeal"), "run", "--quiet", "--disarmed", "--seed", str(options.seed), "--plan", os.fspath(options.plan)]
    for rule in options.rules:
        command += ["-f", rule]
    _check("rules", [*command, "--", "true"])


def _check_mix(options: Options) -> None:
    """Lets the load generator read the mix; it finds nobody to send to."""
    command = [_tool("ordeal-load"), "--target", "unix:/nowhere", "--root", "/", "--mix", os.fspath(options.mix),
               "--rate", f"{options.rate:g}/s", "--requests", "1", "--quiet"]
    _check("mix", command, refused=(2,))


def _check(what: str, command: list[str], refused: tuple[int, ...] | None = None) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CHECK_S_MAX, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{what}: {error}") from None
    bad = done.returncode != 0 if refused is None else done.returncode in refused
    if bad:
        raise Refused(f"{what}: {(done.stderr or done.stdout).strip() or f'{command[0]} ended with {done.returncode}'}")


def claim(out: Path) -> IO[bytes]:
    """Makes the report folder and locks it against a second soak; close to let go.

    What an earlier soak left there is removed, so that what is there afterwards is this run's. This also proves
    that everything can be written, before anything is started.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / LOCK).open("wb")
    except OSError as error:
        raise _cannot_write(out, error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in WRITTEN:
            (out / name).unlink(missing_ok=True)
        if (out / EVIDENCE).exists():
            shutil.rmtree(out / EVIDENCE)
    except BlockingIOError:
        lock.close()
        raise Refused(f"--out {out}: another soak is writing there; wait for it, or give another folder") from None
    except OSError as error:
        lock.close()
        raise _cannot_write(out, error) from None
    return lock


def _cannot_write(out: Path, error: OSError) -> Refused:
    return Refused(f"--out {error.filename or out}: {error.strerror}: expected a folder that can be written")


def complain(error: Exception) -> None:
    print(f"soak: {error}", file=sys.stderr)
