"""Temporary folders of runs: which of them are still in use, and removing those that are not.

The launcher removes the work folder when the harness is killed; logs and the copy of the application stay behind, and are
removed by the next run. A folder is in use as long as a process holds the lock on its `.lease`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "ordeal-"


def take_lease(folder: Path) -> int:
    """A lock that lasts as long as this process: whoever can take it knows that the run is over."""
    unlocked = folder / ".lease.new"  # renamed when it is locked, so that nobody finds it unlocked
    lease = os.open(unlocked, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
    unlocked.rename(folder / ".lease")
    return lease


def remove_stale() -> list[Path]:
    """Removes the folders of runs whose process was killed: their logs were all that was left of them."""
    removed = []
    for lease in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/.lease"):
        try:
            handle = os.open(lease, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lease.parent, ignore_errors=True)
            removed.append(lease.parent)
        except OSError:
            pass
        finally:
            os.close(handle)
    return removed
