"""What `python3 -m reports.NAME RESULTS.json OUTDIR` does, whichever report it is.

Exit status: 0 written; 2 the results or the arguments are not as they should be (one line on stderr says what and why).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from reports.page import write_atomically

EXIT_BAD = 2
RAW_NAME = "results.json"


def run(name: str, what: str, write_report: Callable[[Path, Path], Path], bad: type[Exception], arguments: list[str] | None) -> int:
    """`write_report(results, folder)` gives the page's path, or raises `bad` for results that it cannot show."""
    parser = argparse.ArgumentParser(prog=name, description=f"Writes the HTML {what}.")
    parser.add_argument("results", type=Path, help=f"results.json of the {name.rpartition('.')[2]}")
    parser.add_argument("out_dir", type=Path, help="folder for index.html")
    options = parser.parse_args(arguments)
    try:
        print(write_report(options.results, options.out_dir))
    except bad as error:
        print(f"{name}: {error}", file=sys.stderr)
        return EXIT_BAD
    except OSError as error:
        print(f"{name}: {options.out_dir}: expected a folder that can be written: {error.strerror or error}", file=sys.stderr)
        return EXIT_BAD
    return 0


def write_raw(results: Path, out_dir: Path) -> None:
    """The results beside the page, unless they are that file."""
    raw = out_dir / RAW_NAME
    if not (raw.exists() and results.samefile(raw)):
        write_atomically(raw, results.read_bytes())
