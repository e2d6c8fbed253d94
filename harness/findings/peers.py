"""Peers: small servers in fixtures/peers/ that a probe talks to, and that behave badly on purpose.

    peer = Peer("one_record", folder, tls=True)
    peer.port                       # its first line was `port N`
    peer.tell("send")               # one line to its standard input
    peer.wait_line("accepted")      # one line of its standard output

A peer ends when its standard input is closed, so none outlives the harness.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from harness.orchestrate.paths import ROOT

from .finding import MarkMissed

FOLDER = ROOT / "fixtures" / "peers"
START_WITHIN_S = 20.0
END_WITHIN_S = 5.0


class Peer:
    def __init__(self, name: str, folder: Path, tls: bool = False) -> None:
        self.name = name
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._gone = False
        words = [str(_certificate(folder))] if tls else []
        self._process = subprocess.Popen(
            [sys.executable, "-u", str(FOLDER / f"{name}.py"), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        threading.Thread(target=self._read, name=f"peer {name}", daemon=True).start()
        self.port = int(self.wait_line("port ", START_WITHIN_S).split()[1])

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            pass

    def wait_line(self, start: str, within_s: float = 10.0) -> str:
        def found() -> str | None:
            return next((line for line in self.lines if line.startswith(start)), None)

        with self._changed:
            self._changed.wait_for(lambda: found() is not None or self._gone, within_s)
            if (line := found()) is None:
                raise MarkMissed(f"the peer {self.name} saying {start.strip()!r}")
            return line

    def stop(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._gone = True
            self._changed.notify_all()


def _certificate(folder: Path) -> Path:
    """A self-signed certificate with its key, made once for each trial."""
    path = folder / "peer.pem"
    if not path.exists():
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        done = subprocess.run(
            [*command, "-subj", "/CN=localhost", "-keyout", "-", "-out", "-"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        path.write_text(done.stdout)
    return path
