"""The load: one `ordeal-load` for the whole soak, under `ordeal guard`, and what it writes while it runs.

It lives in a session of its own, so a Ctrl-C at the terminal does not reach it: the soak decides when it stops.
The guard dies with the soak, and everything under it dies with the guard; so even a soak that is killed leaves none.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soak.interrupts import Interrupts
from soak.measured import Unanswered

TIMEOUT_S = 10
STOP_MARGIN_S = 20
ERROR_CHARS_MAX = 2000


@dataclass(frozen=True)
class LoadFiles:
    folder: Path

    @property
    def live(self) -> Path:
        return self.folder / "load-live.jsonl"

    @property
    def losses(self) -> Path:
        return self.folder / "load-unanswered.jsonl"

    @property
    def summary(self) -> Path:
        return self.folder / "load.json"

    @property
    def errors(self) -> Path:
        return self.folder / "load.log"

    def clear(self) -> None:
        for path in (self.live, self.losses, self.summary, self.errors):
            path.unlink(missing_ok=True)


class LineTail:
    """The JSON lines of a file that is still being written; a line without its end is left for later."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0

    def read(self) -> list[dict[str, Any]]:
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [json.loads(line) for line in whole.splitlines() if line.strip()]


class Load:
    """A running load generator."""

    def __init__(self, command: list[str], files: LoadFiles, interrupts: Interrupts) -> None:
        self.files = files
        self._interrupts = interrupts
        self._tail = LineTail(files.live)
        files.clear()
        with files.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True
            )
        interrupts.on_second(self._process.pid)

    def new_lines(self) -> list[dict[str, Any]]:
        return self._tail.read()

    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> str | None:
        """Stops sending, waits for what is in flight. None, or why there is no complete account."""
        if self.running():
            self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(TIMEOUT_S + STOP_MARGIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._interrupts.done(self._process.pid)
        if status == 0:
            return None
        said = self.files.errors.read_text(encoding="utf-8", errors="replace")[-ERROR_CHARS_MAX:].strip()
        return f"ended with status {status}: {said or 'no message'}"

    def summary(self) -> dict[str, Any] | None:
        try:
            return json.loads(self.files.summary.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def unanswered(self) -> list[Unanswered]:
        return [Unanswered.from_json(line) for line in LineTail(self.files.losses).read()]


def load_command(
    bin_folder: Path, endpoint: str, root: str | Path, mix: Path, rate: float, duration_s: float, seed: int, files: LoadFiles
) -> list[str]:
    """The command line; it would go on for longer than the soak, which stops it."""
    guard = [os.fspath(bin_folder / "ordeal"), "guard", "--die-with-parent", "--"]
    return guard + [
        os.fspath(bin_folder / "ordeal-load"), "--target", endpoint, "--root", os.fspath(root),
        "--mix", os.fspath(mix), "--rate", f"{rate:g}/s", "--duration", f"{duration_s + 3600:.0f}s",
        "--timeout", f"{TIMEOUT_S}s", "--seed", str(seed), "--quiet",
        "--live", os.fspath(files.live), "--losses", os.fspath(files.losses), "--json", os.fspath(files.summary),
    ]
