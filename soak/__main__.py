"""`python3 -m soak`: one soak from the command line to its report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys


def _too_early(*_: object) -> None:
    """The imports below take a moment, in which there is nothing yet that could be stopped or reported."""
    os.write(2, b"soak: interrupted before it began\n")
    os._exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _too_early)
    signal.signal(signal.SIGTERM, _too_early)

from harness.orchestrate import Running
from harness.orchestrate.paths import ROOT
from soak import judges, junit, results
from soak.evidence import write_bundle
from soak.interrupts import Interrupts
from soak.measured import Measured
from soak.options import Options, Refused, claim, complain, parse
from soak.progress import Display, display
from soak.scenario import Soak

EXIT_CLEAN, EXIT_BROKEN, EXIT_COULD_NOT, EXIT_INCONCLUSIVE, EXIT_INTERRUPTED = 0, 1, 2, 3, 130
STATUS = {judges.CLEAN: EXIT_CLEAN, judges.REPRODUCED: EXIT_BROKEN, judges.INCONCLUSIVE: EXIT_INCONCLUSIVE}
REPORT_S_MAX = 120


def main(arguments: list[str] | None = None) -> int:
    try:
        options = parse(arguments)
        lock = claim(options.out)
    except Refused as error:
        complain(error)
        return EXIT_COULD_NOT
    with lock, Interrupts() as interrupts:
        print(f"soak of {options.target.name}, {options.duration_s:g} s, seed {options.seed}", flush=True)
        screen = display(options.duration_s)
        try:
            return Soak(options, interrupts, screen).run(lambda measured, run: report(options, measured, run, screen))
        except Exception as error:  # whatever the reason, it was not measured: say so, with a status that says so
            complain(error)
            return EXIT_INTERRUPTED if interrupts.stop else EXIT_COULD_NOT
        finally:
            screen.close()


def report(options: Options, measured: Measured, run: Running, screen: Display) -> int:
    """Judges, writes everything, says where, and returns the exit status."""
    screen.close()
    case = judges.case_of(measured, results.plateaus(measured, options.baseline))
    verdict = judges.verdict_of(case)
    replay = options.replay()
    path = options.out / "results.json"
    try:
        results.write(path, results.build(options, case, verdict))
        junit.write_junit(options.out / "junit.xml", options.target.name, verdict.reasons, measured.seconds(measured.ended_ns), replay)
        if verdict.kind == judges.REPRODUCED:
            write_bundle(options, verdict, measured, run)
    except OSError as error:
        complain(error)
        return EXIT_COULD_NOT
    page = _page(options)
    interrupted = "interrupted: " if measured.interrupted else ""
    print(f"soak: {interrupted}{verdict.kind}: {verdict.summary}")
    print(f"soak: report {page}")
    for command in replay:
        print(f"soak: again: {command}")
    if measured.load_failure and not measured.total.sent and not measured.interrupted:
        complain(RuntimeError(f"nothing was measured: the load generator {measured.load_failure}"))
        return EXIT_COULD_NOT
    return EXIT_INTERRUPTED if measured.interrupted else STATUS[verdict.kind]


def _page(options: Options) -> str:
    """The HTML page, or where the figures are if it could not be made (the verdict stands all the same)."""
    out = options.out
    command = [sys.executable, "-m", "reports.soak", os.fspath((out / "results.json").resolve()), os.fspath(out.resolve())]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=REPORT_S_MAX, stdin=subprocess.DEVNULL, start_new_session=True
        )
        failure = (done.stderr.strip() or f"status {done.returncode}") if done.returncode else None
    except (OSError, subprocess.TimeoutExpired) as error:
        failure = str(error)
    if failure is None:
        return os.fspath(out / "index.html")
    print(f"soak: the page was not made: {failure}", file=sys.stderr)
    return os.fspath(out / "results.json")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before anything was started
        sys.exit(EXIT_INTERRUPTED)
