"""`python3 -m harness.findings`: the audit from the command line to its report; `make audit` calls it.

Exit status: 0 all asked verdicts are as expected; 1 one is not; 2 a column could not be measured or the audit was refused;
3 nothing is wrong but something stayed inconclusive; 130 interrupted.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from harness.orchestrate.paths import ROOT

from . import results
from .audit import Audit
from .finding import scenarios
from .options import Options, Refused, parse
from .table import Table, summary

EXIT_RIGHT, EXIT_WRONG, EXIT_COULD_NOT, EXIT_INCONCLUSIVE, EXIT_INTERRUPTED = 0, 1, 2, 3, 130
REPORT_S_MAX = 120
EVIDENCE = "evidence"


def main(arguments: list[str] | None = None, known: dict | None = None, attempt: object = None) -> int:
    """`known` and `attempt` stand in for the scenarios and for try_once() in tests."""
    known = scenarios() if known is None else known
    try:
        options = parse(arguments, known)
        options.out.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(options.out / EVIDENCE, ignore_errors=True)
    except (Refused, OSError) as error:
        print(f"audit: {error}", file=sys.stderr)
        return EXIT_COULD_NOT
    audit = Audit(
        options.ids, known, options.columns, options.repeat, options.jobs, options.out / EVIDENCE,
        **({"attempt": attempt} if attempt else {}),
    )  # fmt: skip
    screen = sys.stderr if options.json else sys.stdout
    table = Table([column.name for column in options.columns], options.repeat)
    interrupted = False
    print(table.head(), file=screen, flush=True)
    try:
        for line in audit.lines():
            print(table.line(line), file=screen, flush=True)
    except KeyboardInterrupt:
        interrupted = True
        audit.stopping.set()
        print("audit: interrupted", file=screen)
    document = results.build(options, audit, interrupted)
    for text in summary(audit):
        print(text, file=screen)
    page = _report(options, document)
    print(f"audit: report {page}", file=screen, flush=True)
    if options.json:
        json.dump(document, sys.stdout, indent=1, ensure_ascii=False)
        print()
    return EXIT_INTERRUPTED if interrupted else status_of(options, audit)


def status_of(options: Options, audit: Audit) -> int:
    cells = [cell for line in audit.asked for cell in line.cells.values()]
    kinds = {cell.kind for cell in cells if cell.trials and not cell.as_expected}
    if kinds - {"inconclusive"}:
        return EXIT_WRONG
    if kinds:
        return EXIT_INCONCLUSIVE
    if any(column.missing for column in options.columns):
        return EXIT_COULD_NOT
    return EXIT_RIGHT


def _report(options: Options, document: dict) -> str:
    """Writes results.json and index.html; says where, or what went wrong (the verdicts stand all the same)."""
    path = options.out / "results.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "reports.audit", os.fspath(path.resolve()), os.fspath(options.out.resolve())]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=REPORT_S_MAX, stdin=subprocess.DEVNULL)
        failure = (done.stderr.strip() or f"status {done.returncode}") if done.returncode else None
    except (OSError, subprocess.TimeoutExpired) as error:
        failure = str(error)
    if failure is None:
        return os.fspath(options.out / "index.html")
    print(f"audit: the page was not made: {failure}", file=sys.stderr)
    return os.fspath(path)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    sys.exit(main())
