"""Runs a whole soak in a process of its own, and finds what it left behind.

Everything a soak starts inherits an environment variable that is this run's own, and puts its temporary files
below a folder that is this run's own; so what is left can be told from another test's processes.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TAG = "ORDEAL_TEST_TAG"
END_WITHIN_S = 180
VANISH_WITHIN_S = 60


@dataclass
class Soaking:
    """A running soak:  with Soaking("--duration", "12s") as soak: soak.wait()"""

    arguments: tuple[str, ...]
    out: Path
    tag: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: subprocess.Popen[str] = field(init=False)
    temp: tempfile.TemporaryDirectory[str] = field(init=False)
    output: str = ""

    def __enter__(self) -> Soaking:
        self.temp = tempfile.TemporaryDirectory(prefix="soak-")
        environment = {**os.environ, TAG: self.tag, "TMPDIR": self.temp.name}
        command = [sys.executable, "-m", "soak", "--out", str(self.out), *self.arguments]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.vanished()
        self.temp.cleanup()

    def until(self, text: str) -> None:
        """Reads the output up to a line that has this text."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return
        raise AssertionError(f"the soak ended without saying {text!r}:\n{self.output}")

    def wait(self) -> int:
        """The exit status, once all output was read."""
        rest, _ = self.process.communicate(timeout=END_WITHIN_S)
        self.output += rest or ""
        return self.process.returncode

    @property
    def results(self) -> dict[str, Any]:
        path = self.out / "results.json"
        assert path.exists(), f"no results were written:\n{self.output}"
        return json.loads(path.read_text())

    def judge(self, name: str) -> dict[str, Any]:
        found = [reason for reason in self.results["verdict"]["reasons"] if reason["judge"] == name]
        assert len(found) == 1, (name, self.results["verdict"])
        return found[0]

    def processes(self) -> list[int]:
        """Everything that this soak started and that still runs."""
        mark = f"{TAG}={self.tag}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != self.process.pid:
                try:
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found

    def vanished(self) -> list[str]:
        """Waits for the end of what is left; what does not end is named (and killed)."""
        stayed = []
        for pid in self.processes():
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            name = _name(pid)
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            if not poll.poll(VANISH_WITHIN_S * 1000):
                stayed.append(f"{name} (pid {pid})")
                os.kill(pid, 9)
            os.close(handle)
        return stayed

    def sockets(self) -> list[str]:
        return [str(path) for path in Path(self.temp.name).rglob("*") if path.is_socket()]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:120]
    except OSError:
        return "?"
