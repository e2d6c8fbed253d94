"""The soak report: `python3 -m reports.soak RESULTS.json OUTDIR` writes OUTDIR/index.html and, beside it, the raw results.json.

Exit status: 0 written; 2 the results or the arguments are not as they should be (one line on stderr says which key and why).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from reports import command
from reports.account import make_sum
from reports.curves import make_stack
from reports.model import Results, ResultsError, read_results
from reports.page import render, write_atomically
from reports.phases import PHASES_MAX, make_phases, totals

WORDS = {"clean": "Clean", "reproduced": "Broken", "inconclusive": "Inconclusive", "not_applicable": "Not applicable"}
LOSSES_SHOWN_MAX = 50
LOG_LINES_MAX = 400
LOG_LINE_CHARS_MAX = 2000


def make_view(results: Results) -> dict[str, Any]:
    """Everything the template needs beyond the results themselves."""
    phases = make_phases(results)
    judges = sorted(results.verdict.reasons, key=lambda reason: {False: 0, None: 1, True: 2}[reason.ok])
    return {
        "results": results,
        "word": WORDS[results.verdict.kind],
        "judges": judges,
        "sum": make_sum(results.account, results.interrupted),
        "stack": make_stack(results, phases),
        "phases": phases,
        "totals": totals(results.phases),
        "phases_merged": len(results.phases) > PHASES_MAX,
        "raw_name": command.RAW_NAME,
        "losses": results.losses[:LOSSES_SHOWN_MAX],
        "log_tail": [line[:LOG_LINE_CHARS_MAX] for line in results.log_tail[-LOG_LINES_MAX:]],
    }


def make_page(results: Results) -> str:
    return render("soak.html.j2", scripts=("curves.js",), **make_view(results))


def write_report(results_path: Path, out_dir: Path) -> Path:
    results = read_results(results_path)
    page = make_page(results).encode("utf-8")
    command.write_raw(results_path, out_dir)
    write_atomically(out_dir / "index.html", page)
    return out_dir / "index.html"


def main(arguments: list[str] | None = None) -> int:
    return command.run("reports.soak", "report of a soak", write_report, ResultsError, arguments)


if __name__ == "__main__":
    sys.exit(main())
