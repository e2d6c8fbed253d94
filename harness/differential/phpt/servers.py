"""Both servers, with the settings that PHP's own test runner gives to every test in place of those of the target files.

A server with one request a process is started twice. php-fpm keeps what PHP_VALUE sets for the requests that follow in the same
process, so scripts with settings of their own go to a second pool, whose processes end after one request. A server that keeps
its requests apart gets all of them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from harness.orchestrate import Running, Target, launch

from .. import server
from .tree import Tree

# as in PHP's run-tests.php; the folders are a server's own, and gone with it
SETTINGS = {
    "error_reporting": "32767",
    "display_errors": "1",
    "display_startup_errors": "1",
    "log_errors": "0",
    "html_errors": "0",
    "docref_root": "",
    "docref_ext": ".html",
    "error_prepend_string": "",
    "error_append_string": "",
    "ignore_repeated_errors": "0",
    "output_buffering": "0",
    "precision": "14",
    "serialize_precision": "-1",
    "memory_limit": "128M",
    "short_open_tag": "0",
    "zend.assertions": "1",
    "zend.exception_ignore_args": "0",
    "zend.exception_string_param_max_len": "15",
    "opcache.file_update_protection": "0",
    "opcache.revalidate_freq": "0",
    "opcache.memory_consumption": "512",  # room for all of them, so that it never starts anew
    "opcache.interned_strings_buffer": "64",
    "opcache.max_accelerated_files": "100000",
    "session.auto_start": "0",
    "session.save_path": "{{DATA}}",
    "upload_tmp_dir": "{{DATA}}",
    "sys_temp_dir": "{{DATA}}",
}
ENVIRONMENT = {
    "SKIP_ONLINE_TESTS": "1",
    "SKIP_SLOW_TESTS": "1",
    "SKIP_PERF_SENSITIVE": "1",
    "NO_INTERACTION": "1",
    "TZ": "",
    "TEST_PHP_EXECUTABLE": shutil.which("php8.2") or "",
}
OF_TARGET_FILE = re.compile(r"^(php_(admin_)?(value|flag)\[|request_terminate_timeout).*\n", re.MULTILINE)
POOL, FRESH = "[www]\n", "pm.max_requests = 1\n"
WORKERS = 12  # of a server with one request a process: many scripts wait
HARMLESS = (r'said into std(err|out): "', r"WARNING: .*execution timed out")  # what scripts say; and answers tell of those that hang


@dataclass(frozen=True)
class Servers:
    """The pool for most scripts, and the one for those with settings of their own; often the same."""

    plain: Running
    fresh: Running

    @property
    def problems(self) -> list[str]:
        """After the end."""
        assert self.plain.exit is not None
        return self.plain.exit.problems


def target_of(name: str, opcache: int, within_s: float) -> Target:
    """A script that takes longer than `within_s` is ended by the server too, so that it does not keep its place."""
    target = server.target_of(name, opcache)
    settings = [word for name, value in SETTINGS.items() for word in ("-d", f"{name}={value}")]
    files = {file: OF_TARGET_FILE.sub("", text) for file, text in target.files.items()}
    changed = replace(target, command=(*target.command, *settings), files=files, log_harmless=(*target.log_harmless, *HARMLESS))
    return _with_pool(changed, f"request_terminate_timeout = {int(within_s)}s\n")


def _with_pool(target: Target, lines: str) -> Target:
    return replace(target, files={file: text.replace(POOL, POOL + lines) for file, text in target.files.items()})


@contextmanager
def start(target: Target, tree: Tree, chaos: int = 0, env: dict[str, str] | None = None) -> Iterator[Servers]:
    concurrent = "concurrent" in target.capabilities
    wanted = ENVIRONMENT | (env or {}) | ({server.CHAOS: str(chaos)} if chaos else {})

    def running(one: Target) -> Running:
        run = launch(one, app=tree.www, app_in_place=True, workers=1 if concurrent else WORKERS, shim=False, env=wanted)
        return started.enter_context(run)

    with ExitStack() as started:
        plain = running(target)
        yield Servers(plain, plain if concurrent else running(_with_pool(target, FRESH)))
