"""PHP's own test scripts on two servers, compared byte for byte.

Exit status: 0 as many are the same as are wanted; 1 fewer; 2 nothing could be compared.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from harness.orchestrate import LaunchError, NotMeasured, TargetError
from harness.orchestrate.paths import NotBuilt

from ..report import Progress
from . import report
from .run import FOLDERS, Busy, Outcome, Plan, run
from .source import SourceError
from .tree import TreeError

EXIT_GOOD, EXIT_BELOW, EXIT_COULD_NOT, EXIT_INTERRUPTED = 0, 1, 2, 130
COULD_NOT = (SourceError, TreeError, Busy, NotBuilt, LaunchError, NotMeasured, TargetError)

# option, type, least, help; the default is the plan's
OPTIONS = (
    ("target", str, None, "the target that is tested"),
    ("control", str, None, "the target that says what is right"),
    ("in-flight", int, 1, "scripts at a time"),
    ("chaos", int, 0, "a forced switch at every k-th internal call on average; 0: none"),
    ("opcache", int, 0, "1 on, 0 off, in both"),
    ("seed", int, None, "for the order"),
)


def parse(arguments: list[str] | None) -> tuple[Plan, Path | None]:
    parser = argparse.ArgumentParser(prog="python3 -m harness.differential.phpt", description=__doc__)
    for name, kind, _, text in OPTIONS:
        default = getattr(Plan, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=kind, default=default, help=f"{text} (default: {default})")
    parser.add_argument("--dirs", default=" ".join(FOLDERS), help="folders of PHP's source, in one word (default: %(default)s)")
    parser.add_argument("--only", action="append", default=[], metavar="CASE", help="this case alone, such as Zend/tests/001; may be repeated")
    parser.add_argument("--source", type=Path, help="a folder with test files, in place of Debian's source package")
    parser.add_argument("--json", type=Path, help="a file for the outcome, beside the one under reports/out/phpt")
    given = parser.parse_args(arguments)
    values = {name.replace("-", "_"): getattr(given, name.replace("-", "_")) for name, *_ in OPTIONS}
    for name, _, least, _ in OPTIONS:
        if least is not None and values[name.replace("-", "_")] < least:
            parser.error(f"--{name}: at least {least} is expected")
    if given.opcache > 1:
        parser.error("--opcache is 0 or 1")
    folders = tuple(name.strip("/") for name in given.dirs.split())
    only = tuple(name.removesuffix(".phpt").removesuffix(".php") for name in given.only)
    return Plan(**values, folders=folders, only=only, source=given.source and given.source.resolve()), given.json


def keep(plan: Plan, outcome: Outcome, also: Path | None) -> Path:
    """Writes the differences and the JSON; says where the differences are."""
    report.FOLDER.mkdir(parents=True, exist_ok=True)
    base = report.FOLDER / report.name_of(plan)
    kept, data = base.with_name(f"{base.name}.diff"), base.with_name(f"{base.name}.json")
    kept.write_text(report.differences(plan, outcome))
    data.write_text(json.dumps(report.as_json(plan, outcome), indent=1) + "\n")
    if also is not None:
        shutil.copy(data, also)
    return kept


def main(arguments: list[str] | None = None) -> int:
    plan, also = parse(arguments)
    try:
        outcome = run(plan, Progress())
    except COULD_NOT as error:
        print(f"phpt: {error}", file=sys.stderr)
        return EXIT_COULD_NOT
    except KeyboardInterrupt:
        print("phpt: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    print(report.screen(plan, outcome, keep(plan, outcome, also)))
    return EXIT_GOOD if outcome.good(plan) else EXIT_BELOW


if __name__ == "__main__":
    sys.exit(main())
