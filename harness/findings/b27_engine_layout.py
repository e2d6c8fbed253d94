"""B27: the server is started with a libphp in which one of the engine's globals has another size.

The audited server took sizes and places on trust: with another PHP it would have swapped the wrong bytes.
"""

import tempfile
from pathlib import Path

from harness.orchestrate import LaunchError

from .changed_library import changed_library
from .finding import Check, Finding, NotApplicable

SYMBOL = "executor_globals"

FINDING = Finding("B27", tried=f"a start with a libphp whose {SYMBOL} is 8 bytes larger", starts_itself=True)


def stimulate(server):
    executable = server.target.executable()
    if executable is None:
        raise NotApplicable("there is no executable")
    with server.launch():
        pass  # as it is, it starts
    with tempfile.TemporaryDirectory(prefix="ordeal-changed-") as folder:
        home, before, after = changed_library(executable, Path(folder), SYMBOL)
        seen = {"symbol": SYMBOL, "compiled": before, "there": after, "started": False, "said": ""}
        try:
            with server.launch({"LD_LIBRARY_PATH": str(home)}):
                seen["started"] = True
        except LaunchError as error:
            seen["said"] = str(error)
    return seen


def judge(seen):
    yield Check("it does not start", not seen["started"], "refused" if not seen["started"] else "it started, and answered")
    lines = [line.strip() for line in seen["said"].splitlines() if seen["symbol"] in line and "re-linking" not in line]
    both = any(str(seen["compiled"]) in line and str(seen["there"]) in line for line in lines)
    yield Check(
        "and names both sizes",
        both,
        lines[-1][:200] if lines else f"no line speaks of {seen['symbol']}",
        {"compiled": seen["compiled"], "there": seen["there"]},
    )
