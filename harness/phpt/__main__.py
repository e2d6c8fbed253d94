"""The command line. Exit status: 0 enough answers are the same; 1 too few are; 2 nothing could be compared."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from harness.differential.report import Progress
from harness.orchestrate import LaunchError, NotMeasured, TargetError
from harness.orchestrate.paths import ROOT, NotBuilt

from . import report
from .run import FOLDERS, Plan, run
from .source import NoSource
from .stage import PlaceTaken

EXIT_SAME, EXIT_DIFFERENT, EXIT_COULD_NOT, EXIT_INTERRUPTED = 0, 1, 2, 130
OUT = ROOT / "reports" / "out" / "phpt"


def parse(arguments: list[str] | None) -> tuple[Plan, Path]:
    parser = argparse.ArgumentParser(prog="python3 -m harness.phpt", description="PHP's own test scripts on two servers, compared.")
    parser.add_argument("--target", default=Plan.target, help="the target that is tested")
    parser.add_argument("--control", default=Plan.control, help="the target that says what is right")
    parser.add_argument("--in-flight", type=int, default=Plan.in_flight, help="scripts at a time")
    parser.add_argument("--chaos", type=int, default=Plan.chaos, help="a forced switch at every k-th internal call on average; 0: none")
    parser.add_argument("--opcache", type=int, choices=(0, 1), default=Plan.opcache, help="in both")
    parser.add_argument("--audit", type=int, choices=(0, 1), default=0, help="1: ask the target what changes that is in no image")
    parser.add_argument("--seed", type=int, default=Plan.seed, help="for the order")
    parser.add_argument("--dirs", nargs="+", default=list(FOLDERS), help="folders of PHP's source")
    parser.add_argument("--only", default="", help="only scripts whose path has this in it")
    parser.add_argument("--out", type=Path, default=OUT, help="a folder for differences and summary.json")
    given = vars(parser.parse_args(arguments))
    if given["in_flight"] < 1 or given["chaos"] < 0:
        parser.error("--in-flight is at least 1, --chaos at least 0")
    out = given.pop("out")
    return Plan(**given | {"audit": bool(given["audit"]), "dirs": tuple(one.strip("/") for one in given["dirs"])}), out


def main(arguments: list[str] | None = None) -> int:
    plan, out = parse(arguments)
    try:
        outcome = run(plan, Progress())
    except (NoSource, PlaceTaken, NotBuilt, LaunchError, NotMeasured, TargetError) as error:
        print(f"phpt: {error}", file=sys.stderr)
        return EXIT_COULD_NOT
    except KeyboardInterrupt:
        print("phpt: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    print(report.table(plan, outcome), report.reasons(outcome), sep="\n\n", end="\n\n")
    for path in report.differences(plan, outcome, out):
        print(f"different: {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
    for line in outcome.audit:
        print(line)
    (out / "summary.json").write_text(report.as_json(plan, outcome))
    print(report.summary(plan, outcome))
    if not outcome.compared:
        return EXIT_COULD_NOT
    return EXIT_SAME if report.passed(plan, outcome) else EXIT_DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
