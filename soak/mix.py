"""The mix that a soak really uses: the file as given, and the leaking page when that probe was asked for."""

from __future__ import annotations

import os
import re
from pathlib import Path

# One request in six leaks 100 KB: at 100 requests/s about 1.7 MB/s in all.
PROBES = {"leak": "20 GET /leak.php?kb=100 name=leak\n"}


# A body file is looked for beside its mix; the copy lies elsewhere.
BODY_FILE = re.compile(r"\bbody=@(?!/)")


def write_mix(source: Path, probes: list[str], out: Path) -> Path:
    """Copies the mix to `out`, so that the evidence holds what was asked for; adds the probes' lines."""
    folder = os.fspath(source.resolve().parent)
    text = BODY_FILE.sub(lambda _: f"body=@{folder}/", source.read_text(encoding="utf-8"))
    if text and not text.endswith("\n"):
        text += "\n"
    out.write_text(text + "".join(PROBES[probe] for probe in probes), encoding="utf-8")
    return out
