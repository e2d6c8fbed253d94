"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess


def describe(php: str = "") -> dict[str, str | int]:
    return {"cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "machine": platform.machine(), "php": php}


def php_version(executable: str) -> str:
    """The first line of `php-fpm -v`, or an empty text where the target is no PHP."""
    try:
        done = subprocess.run([executable, "-v"], capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    first = done.stdout.splitlines()[:1]
    return first[0] if first and first[0].startswith("PHP") else ""
