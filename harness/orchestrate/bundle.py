"""The evidence of one trial, as a folder that can be read without running anything, and that can run it again.

    verdict.json    what was found                      trace.bin, trace.json   injected faults; the JSON opens in Perfetto
    plan.toml       target, rules, seed, workers        report.json             the launcher's own account
    seed            the number alone                    history.jsonl           what was done and answered
    logs/           the target's log and sanitizers'    replay.sh               does it again

    >>> Bundle(folder).write(Verdict("reproduced", ["..."]), seed=7, replay=["make", "soak", "SEED=7"])
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from . import paths
from .verdict import Verdict

if TYPE_CHECKING:
    from .running import Running

EXPORT_WITHIN_S = 60.0

REPLAY = """\
#!/bin/sh
# Does this trial again, with the same seed. ORDEAL_ROOT may name another copy of the project.
ORDEAL_BUNDLE=$(cd "$(dirname "$0")" && pwd)
export ORDEAL_BUNDLE
cd "${{ORDEAL_ROOT:-{root}}}" || exit 125
if [ ! -f conftest.py ]; then
    echo "replay.sh: $PWD is not the Ordeal project; set ORDEAL_ROOT to its folder" >&2
    exit 125
fi
echo {shown}
exec {command}
"""


class Bundle:
    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(
        self,
        verdict: Verdict | None = None,
        *,
        plan: Mapping[str, Any] | None = None,
        seed: int | None = None,
        history: Iterable[Mapping[str, Any]] | None = None,
        logs: Mapping[str, str] | None = None,
        replay: Sequence[str] | None = None,
    ) -> Path:
        """Writes whichever parts are given; may be called more than once. Returns the folder."""
        if verdict is not None:
            self._put("verdict.json", json.dumps(verdict.data(), indent=1) + "\n")
        if plan is not None:
            self._put("plan.toml", toml(plan))
        if seed is not None:
            self._put("seed", f"{seed}\n")
        if history is not None:
            self._put("history.jsonl", "".join(json.dumps(dict(one)) + "\n" for one in history))
        for name, text in (logs or {}).items():
            self._put(f"logs/{name}", text)
        if replay is not None:
            self._put("replay.sh", replay_script(replay))
            (self.folder / "replay.sh").chmod(0o755)
        return self.folder

    def keep_run(self, run: "Running") -> None:
        """Keeps what a run has left: called by launch(bundle=...) when the target has been stopped."""
        command = run.options.replay or (None if (self.folder / "replay.sh").exists() else own_command())
        self.write(plan=run.plan_data(), seed=run.seed, replay=command)
        for path in sorted(run.logs.iterdir()):
            if path.is_file() and path != run.ctl:
                home = self.folder if path in (run.trace, run.report_path) else self.folder / "logs"
                home.mkdir(exist_ok=True)
                shutil.copyfile(path, home / path.name)
        if run.exit is not None:
            problems = "".join(f"{line}\n" for line in run.exit.problems)
            self._put("logs/aftermath.txt", problems or "nothing: the target ended as it should\n")
        self.export_trace()

    def export_trace(self) -> Path | None:
        """trace.bin as Chrome's trace format, which Perfetto and chrome://tracing show."""
        trace = self.folder / "trace.bin"
        if not trace.exists() or trace.stat().st_size == 0:
            return None
        out = self.folder / "trace.json"
        command = [str(paths.program("ordeal")), "trace", str(trace), "--chrome"]
        with open(out, "wb") as f:
            done = subprocess.run(command, stdout=f, stderr=subprocess.PIPE, timeout=EXPORT_WITHIN_S)
        if done.returncode != 0:
            out.unlink()
            self._put("logs/trace-export.txt", f"{shlex.join(command)}: {done.stderr.decode(errors='replace')}")
            return None
        return out

    def _put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def replay_script(command: Sequence[str]) -> str:
    line = shlex.join(command)
    return REPLAY.format(root=paths.ROOT, command=line, shown=shlex.quote(f"+ {line}"))


def own_command() -> list[str]:
    """How this process was started: `-m module` is told by argv[0] being the file of a package's __main__."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if main is not None:
        return [sys.executable, "-m", main.name.removesuffix(".__main__"), *sys.argv[1:]]
    return [sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:]]


def toml(data: Mapping[str, Any]) -> str:
    """Texts, numbers, truth values and lists of them, one key a line. None is left out: TOML has no such thing."""
    return "".join(f"{key} = {_toml_value(value)}\n" for key, value in data.items() if value is not None)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml_value(one) for one in value)}]"
    text = str(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "backslashreplace").decode()
    # A JSON string is a TOML basic string, but for DEL and characters outside the BMP written as pairs.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
