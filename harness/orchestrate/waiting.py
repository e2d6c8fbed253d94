"""Waiting for what must come: looked for again and again, bounded, and named when it does not come.

    eventually(lambda: not run.workers(), "the end of the workers")

The bound is for what goes wrong only: a slow machine makes things later, not wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

WITHIN_S = 20.0
LOOK_AGAIN_S = 0.005


class NotReached(AssertionError):
    """It did not come within its bound. The message says what."""


def comes(happened: Callable[[], Any], within_s: float) -> Any:
    """What `happened` returns as soon as that is true, or false after `within_s`."""
    end = time.monotonic() + within_s
    while not (found := happened()):
        if time.monotonic() > end:
            break
        time.sleep(LOOK_AGAIN_S)
    return found


def eventually(happened: Callable[[], Any], what: str, within_s: float = WITHIN_S) -> Any:
    """The same for what has to come: NotReached names it when it does not."""
    if found := comes(happened, within_s):
        return found
    raise NotReached(f"{what}: not within {within_s:g} s")
