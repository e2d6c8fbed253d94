"""How a run ended: of the main process, and of everything that was looked at afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from signal import Signals
from typing import Any

from .faults import FaultStatus


@dataclass(frozen=True)
class Exit:
    code: int | None
    signal: int | None
    leftovers: list[dict[str, Any]] = field(default_factory=list)  # processes that had outlived the main process
    log_errors: list[str] = field(default_factory=list)
    cores: list[str] = field(default_factory=list)
    sanitizer: dict[str, str] = field(default_factory=dict)
    forced: list[str] = field(default_factory=list)  # stop steps that were not enough, such as "quit: still running after 12 s"
    faults: FaultStatus | None = None  # the final counts, from the launcher's report

    @property
    def problems(self) -> list[str]:
        """Everything here that a clean end does not have, one line each."""
        out = [f"left over: {p.get('name')} (pid {p.get('pid')})" for p in self.leftovers]
        out += [f"log: {line}" for line in self.log_errors]
        out += [f"core file: {one}" for one in self.cores]
        out += [f"sanitizer report {name}: {text.strip().splitlines()[0][:200]}" for name, text in self.sanitizer.items()]
        out += [f"stop: {one}" for one in self.forced]
        if self.signal is not None:
            out.append(f"main process ended by {Signals(self.signal).name}")
        elif self.code:
            out.append(f"main process ended with status {self.code}")
        return out


def exit_of(status: int) -> dict[str, int]:
    """The launcher's own end: negative = killed, above 128 = the target was killed by that signal less 128."""
    if status < 0:
        return {"signal": -status}
    return {"signal": status - 128} if status > 128 else {"code": status}


def how_it_ended(status: int) -> str:
    """`exit status 1`, `signal SIGTERM`: of a process that subprocess has waited for."""
    return f"signal {Signals(-status).name}" if status < 0 else f"exit status {status}"
