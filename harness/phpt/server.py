"""The servers: target files with the settings that PHP's runner gives to its tests, and nothing else set."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from harness.differential.server import CHAOS, OPCACHE
from harness.orchestrate import Running, Target, launch, load_target

AUDIT = "ORDEAL_AUDIT"
# run-tests.php has them too; what is missing of its list is the default anyway
SETTINGS = {
    "error_reporting": "32767",
    "display_errors": "1",
    "display_startup_errors": "1",
    "log_errors": "0",
    "html_errors": "0",
    "output_buffering": "0",
    "precision": "14",
    "serialize_precision": "-1",
    "memory_limit": "128M",
    "zend.assertions": "1",
    "zend.exception_ignore_args": "0",
    "zend.exception_string_param_max_len": "15",
    "short_open_tag": "0",
    "date.timezone": "UTC",
    "session.gc_probability": "0",  # the sessions of others are in the same temporary folder
    "variables_order": "EGPCS",
    "opcache.file_update_protection": "0",
}
POOL_SETTING = re.compile(r"^php_(admin_)?(value|flag)\[.*\n", re.M)
# tests that look for these leave out what takes long or needs another host
ENVIRONMENT = {"SKIP_SLOW_TESTS": "1", "SKIP_ONLINE_TESTS": "1", "SKIP_PERF_SENSITIVE": "1", "NO_INTERACTION": "1"}
# A process for each request: PHP_VALUE stays in a php-fpm worker, and a script may leave anything there for the next.
CONTROL = "pm.max_requests = 1\nrequest_terminate_timeout = {}s\n"
TEMPORARY = "php_value[sys_temp_dir] = {{DATA}}\n"


def target_of(name: str, opcache: int, more: str = "") -> Target:
    target = load_target(name)
    command = [word.replace(OPCACHE.format(1), OPCACHE.format(opcache)) for word in target.command]
    command += [word for setting, value in SETTINGS.items() for word in ("-d", f"{setting}={value}")]
    files = {name: POOL_SETTING.sub("", text) + more + TEMPORARY for name, text in target.files.items()}
    return replace(target, command=tuple(command), files=files)


def control_of(name: str, opcache: int, within_s: float) -> Target:
    return target_of(name, opcache, CONTROL.format(int(within_s)))


def start(target: Target, folder: Path, *, workers: int, chaos: int = 0, audit: bool = False) -> Running:
    """Scripts count the variables of the environment, so both servers have the same."""
    env = ENVIRONMENT | {CHAOS: str(chaos), AUDIT: str(int(audit))}
    return launch(target, app=folder, app_in_place=True, workers=workers, shim=False, env=env)
