"""The audit report: `python3 -m reports.audit RESULTS.json OUTDIR` writes OUTDIR/index.html, and results.json beside it.

The matrix of findings and columns; each cell opens its story: what was done, what was seen, each judge with its numbers, the
server's log, and the line that does it again.

Exit status: 0 written; 2 the results are not an audit's, or the folder cannot be written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from reports import command
from reports.page import asset, render, write_atomically
from reports.units import span

VERSION = 1
TITLES = {"fiber": "Fiber server", "sessions over the network": "Sessions over the network"}
KIND_OF = {"clean": True, "reproduced": False}
SEEN_CHARS_MAX = 6000


class BadResults(Exception):
    """The file is not the results of an audit."""


def make_page(results: dict[str, Any]) -> str:
    lines = results["findings"]
    asked = [line for line in lines if any(cell["tries"] for cell in line["cells"].values())]
    cells = [cell for line in asked for cell in line["cells"].values() if cell["tries"]]
    right = sum(cell["as_expected"] for cell in cells)
    return render(
        "audit.html.j2",
        audit_style=asset("audit.css"),
        results=results,
        lines=lines,
        stories=[
            (line, name, cell, told(cell["story"])) for line in lines for name, cell in line["cells"].items() if cell["story"]
        ],
        kind=kind_of(results, cells, right),
        right=right,
        judged=len(cells),
        surprises=[
            (line, name, cell)
            for line in asked
            for name, cell in line["cells"].items()
            if cell["tries"] and not cell["as_expected"]
        ],
        seconds=span(sum(line["seconds"] for line in lines)),
        raw_name=command.RAW_NAME,
    )


def kind_of(results: dict[str, Any], cells: list[dict[str, Any]], right: int) -> tuple[str, str]:
    """The banner's tone and its word."""
    wrong = [cell for cell in cells if not cell["as_expected"] and cell["kind"] != "inconclusive"]
    if wrong:
        return "reproduced", "Not as expected"
    if right < len(cells) or not cells or results["interrupted"]:
        return "inconclusive", "Inconclusive"
    return "clean", "As expected"


def told(story: dict[str, Any]) -> dict[str, Any]:
    """The story with what was seen as text, cut to a readable length."""
    seen = json.dumps(story["seen"], indent=1, ensure_ascii=False)
    return {
        **story,
        "seen_text": seen if len(seen) <= SEEN_CHARS_MAX else seen[:SEEN_CHARS_MAX] + "\n… (results.json has all of it)",
    }


def read(path: Path) -> dict[str, Any]:
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadResults(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(results, dict) or results.get("ordeal") != "audit" or results.get("version") != VERSION:
        raise BadResults(f'{path}: expected "ordeal": "audit" and "version": {VERSION} (is this the results file of an audit?)')
    return results


def write_report(path: Path, out_dir: Path) -> Path:
    results = read(path)
    command.write_raw(path, out_dir)
    write_atomically(out_dir / "index.html", make_page(results).encode("utf-8"))
    return out_dir / "index.html"


def main(arguments: list[str] | None = None) -> int:
    return command.run("reports.audit", "matrix of an audit", write_report, BadResults, arguments)


if __name__ == "__main__":
    sys.exit(main())
