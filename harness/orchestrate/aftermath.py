"""What a run left behind, looked at after every run, also one that passed.

    >>> inspect(target, log_text, folders=[logs, docroot], killed={812})
    Aftermath(log_errors=['WARNING: [pool www] child 815 exited on signal 11 (SIGSEGV) ...'], cores=[], sanitizer={})

Three places tell of trouble that no answer showed: the target's log, core files, and the logs of sanitizers. A line that
the target file calls harmless is left out, and so is one about a process that the harness itself killed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable

from .target import Target

LOG_ERRORS_MAX = 200
SANITIZER_PREFIX = "sanitizer"
SANITIZERS = ("ASAN", "UBSAN", "TSAN", "LSAN", "MSAN")
CORE = re.compile(r"core(\.\d+)?")


@dataclass(frozen=True)
class Aftermath:
    log_errors: list[str] = field(default_factory=list)
    cores: list[str] = field(default_factory=list)
    sanitizer: dict[str, str] = field(default_factory=dict)  # file name -> text

    @property
    def clean(self) -> bool:
        return not (self.log_errors or self.cores or self.sanitizer)


def inspect(target: Target, log: str, folders: Iterable[Path], killed: Iterable[int] = ()) -> Aftermath:
    cores, sanitizer = [], {}
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and CORE.fullmatch(path.name):
                cores.append(f"{path} ({path.stat().st_size} bytes)")
            elif path.is_file() and path.name.startswith(SANITIZER_PREFIX + ".") and path.stat().st_size:
                sanitizer[path.name] = path.read_text(errors="replace")
    return Aftermath(log_errors(target, log, killed), cores, sanitizer)


def log_errors(target: Target, log: str, killed: Iterable[int] = ()) -> list[str]:
    wanted = [re.compile(one) for one in target.log_errors]
    harmless = [re.compile(one) for one in target.log_harmless]
    harmless += [re.compile(rf"\b{pid}\b.*(SIGKILL|signal 9|died at once)\b") for pid in killed]
    found = []
    for line in log.splitlines():
        if any(one.search(line) for one in wanted) and not any(one.search(line) for one in harmless):
            found.append(line.strip())
            if len(found) == LOG_ERRORS_MAX:
                return [*found, "… (more)"]
    return found


def sanitizer_env(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """Options that send each sanitizer's report to its own file; what the user has set already stays."""
    out = {}
    for name in SANITIZERS:
        key = f"{name}_OPTIONS"
        own = f"log_path={folder}/{SANITIZER_PREFIX}.{name.lower()}"
        out[key] = f"{own}:{environment[key]}" if environment.get(key) else own
    return out
