"""The command line. Exit status: 0 all answers are the same; 1 some differ, or the server was in trouble; 2 nothing could be compared."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from harness.orchestrate import LaunchError, NotMeasured, TargetError
from harness.orchestrate.paths import NotBuilt

from . import report
from .run import Plan, run
from .script import ScriptError
from .suite import NotDeterministic

EXIT_SAME, EXIT_DIFFERENT, EXIT_COULD_NOT, EXIT_INTERRUPTED = 0, 1, 2, 130

# option, type, help; the default is the plan's
OPTIONS = (
    ("target", str, "the target that is tested"),
    ("control", str, "the target that says what is right"),
    ("in-flight", int, "requests at a time"),
    ("rounds", int, "how often every script is asked"),
    ("chaos", int, "a forced switch at every k-th internal call on average; 0: none"),
    ("opcache", int, "1 on, 0 off, in both"),
    ("seed", int, "for the order"),
    ("only", str, "only scripts with a name like this"),
    ("mixed", int, "so many requests at random, in place of rounds"),
    ("fatals", float, "the share of these that ends in a fatal error"),
    ("folder", Path, "other scripts"),
)


def parse(arguments: list[str] | None) -> tuple[Plan, Path | None]:
    parser = argparse.ArgumentParser(prog="python3 -m harness.differential", description=__doc__)
    for name, kind, text in OPTIONS:
        default = getattr(Plan, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"{text} (default: {str(default).replace('%', '%%')})")
    parser.add_argument("--json", type=Path, help="a file for the outcome")
    given = vars(parser.parse_args(arguments))
    out = given.pop("json")
    bounds = {"in_flight": 1, "rounds": 1, "chaos": 0, "opcache": 0, "mixed": 0}
    for name, least in bounds.items():
        if given[name] < least:
            parser.error(f"--{name.replace('_', '-')} {given[name]}: at least {least} is expected")
    if given["opcache"] > 1 or not 0 <= given["fatals"] <= 1:
        parser.error("--opcache is 0 or 1, and --fatals lies between 0 and 1")
    given["folder"] = given["folder"].resolve()
    return Plan(**given), out


def main(arguments: list[str] | None = None) -> int:
    plan, out = parse(arguments)
    try:
        outcome = run(plan, report.Progress())
    except NotDeterministic as error:
        print(f"differential: scripts that differ from themselves on {plan.control}:\n{error}", file=sys.stderr)
        return EXIT_COULD_NOT
    except (ScriptError, NotBuilt, LaunchError, NotMeasured, TargetError) as error:
        print(f"differential: {error}", file=sys.stderr)
        return EXIT_COULD_NOT
    except KeyboardInterrupt:
        print("differential: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    for _, found in sorted(outcome.new.items()):
        print(report.difference_text(plan, outcome, found), end="\n\n")
    for problem in outcome.problems:
        print(f"problem: {problem}")
    if out is not None:
        out.write_text(json.dumps(report.as_json(plan, outcome), indent=1) + "\n")
    print(report.summary(plan, outcome))
    return EXIT_SAME if outcome.clean else EXIT_DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
