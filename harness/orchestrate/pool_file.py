"""Settings of a target that has an FPM-style pool file among its files.

    with_settings(load_target("fiber"), {"pm.max_requests": "7"})
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from .target import Target

GLOBAL_SETTINGS = {"pid", "error_log", "log_level", "process_control_timeout", "daemonize"}
POOL_FILE = re.compile(r"^\s*pm\.max_children\s*=", re.M)


class NoPoolFile(Exception):
    """The target has none. The message names what was to be set."""


def with_settings(target: Target, settings: Mapping[str, str]) -> Target:
    """Puts settings into the target's FPM-style pool file, in the place of those that are there."""
    if not settings:
        return target
    pools = [name for name, text in target.files.items() if POOL_FILE.search(text)]
    if not pools:
        raise NoPoolFile(f"needs {', '.join(settings)} in a pool file, and target {target.name} has none")
    files = dict(target.files)
    for name in pools:
        files[name] = _set(files[name], settings)
    return replace(target, files=files)


def _set(text: str, settings: Mapping[str, str]) -> str:
    for key, value in settings.items():
        line = f"{key} = {value}"
        text, found = re.subn(rf"^[ \t]*{re.escape(key)}[ \t]*=.*$", lambda _: line, text, flags=re.M)
        if not found and key in GLOBAL_SETTINGS:
            text = text.replace("[global]", f"[global]\n{line}", 1)
        elif not found:
            text = f"{text.rstrip()}\n{line}\n"
    return text
