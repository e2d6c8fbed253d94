"""The two servers: target files as they are, with OPcache switched, sessions left to the scripts, chaos in the environment, and one worker.

A target that keeps several requests alive in one process has to do with one: all of them meet there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.orchestrate import Running, Target, launch, load_target

OPCACHE = "opcache.enable={}"
SETTINGS = ("php_admin_value[session.", "php_value[session.")  # scripts choose the handler and the folder of their sessions
HARMLESS = (r'said into stderr: "(lines|Next \w+Exception: )',)  # further lines of messages that scripts have caused
CHAOS = "ORDEAL_CHAOS"
PREFORK_WORKERS = 4  # of a target with one request a process, when many are to be in flight


def target_of(name: str, opcache: int) -> Target:
    target = load_target(name)
    command = tuple(word.replace(OPCACHE.format(1), OPCACHE.format(opcache)) for word in target.command)
    files = {name: text.replace(*SETTINGS) for name, text in target.files.items()}
    return replace(target, command=command, files=files, log_harmless=(*target.log_harmless, *HARMLESS))


def start(target: Target, folder: Path, *, alone: bool, chaos: int = 0, env: Mapping[str, str] | None = None) -> Running:
    """`folder` is served in place, so that paths in answers are the same everywhere; info.php in it says when it is ready."""
    workers = 1 if alone or "concurrent" in target.capabilities else PREFORK_WORKERS
    wanted = {"ORDEAL_DIFFERENTIAL": "yes", **(env or {})} | ({CHAOS: str(chaos)} if chaos else {})
    return launch(target, app=folder, app_in_place=True, workers=workers, shim=False, env=wanted)


def socket_of(run: Running) -> str:
    return run.endpoint.removeprefix("unix:")


def workers_ended(before: list[int], running: Running) -> list[str]:
    gone = set(before) - set(running.workers())
    if not gone:
        return []
    tail = "\n".join(running.log().splitlines()[-10:])
    return [f"{len(gone)} of {len(before)} workers ended while they were asked; the log's end:\n{tail}"]
