"""One run of a target: its life, and everything that can be done with it. Made by launch().

The temporary folder:   /tmp/ordeal-xxxxxxxx/
                            work/   rendered [files], the socket, data/: the launcher removes it, come what may
                            www/    the copy of the application
                            logs/   target.log, sanitizer logs, trace.bin, report.json, the control page
"""

from __future__ import annotations

import getpass
import grp
import json
import os
import random
import resource
import select
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from signal import SIGKILL
from types import TracebackType
from typing import Any

from . import aftermath, client, faults, lease, paths, ports, proc, template
from .beside import BesideProgram
from .bundle import Bundle
from .client import Answer, Endpoint
from .errors import LaunchError
from .exit import Exit, exit_of, how_it_ended
from .faults import Control, RuleCount
from .options import Options
from .target import Target

UNIX_PATH_BYTES_MAX = 107  # sun_path holds 108 bytes with the final NUL
APP_FILES_MAX = 50_000
LOG_TAIL_LINES = 30
READY_POLL_MS = 20
LAUNCHER_END_WITHIN_S = 10.0


class Running:
    """One run of a target. Made by launch(); everything below is valid inside its `with` block."""

    def __init__(self, target: Target, options: Options) -> None:
        self.target, self.options = target, options
        self.seed = options.seed
        self.exit: Exit | None = None
        self.killed: set[int] = set()  # pids the harness killed: the log may speak of them
        self.pid = 0
        self._launcher: subprocess.Popen[bytes] | None = None
        self._beside: BesideProgram | None = None
        self._log_text: str | None = None

    # ---- life ---------------------------------------------------------------------------------------------------

    def __enter__(self) -> "Running":
        self._prepare()
        try:
            self._start()
            self._await_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            self.stop()
        finally:
            self._end()

    def _prepare(self) -> None:
        lease.remove_stale()
        self._outer = Path(tempfile.mkdtemp(prefix=lease.PREFIX))
        self._lease = lease.take_lease(self._outer)
        self.workdir, self.logs = self._outer / "work", self._outer / "logs"
        self.data = self.workdir / "data"
        self.log_path = self.logs / "target.log"
        self.ctl = self.logs / "control"
        self.trace = self.logs / "trace.bin"
        self.report_path = self.logs / "report.json"
        try:
            for folder in (self.workdir, self.logs, self.data):
                folder.mkdir()
            self.root = str(self._docroot())
            self._endpoint, address = self._address()
            self.endpoint = str(self._endpoint)
            self.places = self._places(address)
            for name, text in self.target.files.items():
                path = self.workdir / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(template.fill(text, self.places))
        except BaseException:
            self._end()
            raise

    def _docroot(self) -> Path:
        if self.options.app_in_place:
            return self.options.app
        docroot = self._outer / "www"
        count = sum(len(files) for _, _, files in os.walk(self.options.app))
        if count > APP_FILES_MAX:
            raise LaunchError(f"{self.options.app} holds {count} files, more than {APP_FILES_MAX}: use app_in_place=True")
        shutil.copytree(self.options.app, docroot, symlinks=True)
        return docroot

    def _address(self) -> tuple[Endpoint, str]:
        protocol, listen = self.target.protocol, self.target.listen
        if listen == "unix":
            path = str(self.workdir / "sock")
            if (length := len(os.fsencode(path))) > UNIX_PATH_BYTES_MAX:
                raise LaunchError(
                    f"the socket's path {path} has {length} bytes; unix sockets allow {UNIX_PATH_BYTES_MAX}: "
                    "set TMPDIR to a folder with a shorter name"
                )
            return Endpoint(protocol, path=path), path
        host, port = ("127.0.0.1", ports.free_port()) if listen == "tcp" else listen.rsplit(":", 1)
        ports.refuse_busy_port(host, int(port), self.target)
        return Endpoint(protocol, host=host, port=int(port)), f"{host}:{port}"

    def _places(self, address: str) -> dict[str, str]:
        return {
            "EXECUTABLE": str(self.target.executable()),
            "BESIDE": str(self.target.beside.executable()) if self.target.beside else "",
            "ROOT": str(paths.ROOT),
            "BUILD": str(paths.build_dir()),
            "WORKDIR": str(self.workdir),
            "DATA": str(self.data),
            "DOCROOT": self.root,
            "ADDR": address,
            "HOST": self._endpoint.host,
            "PORT": str(self._endpoint.port),
            "PID": str(self.workdir / "pid"),
            "LOG": str(self.log_path),
            "WORKERS": str(self.options.workers),
            "USER": getpass.getuser(),
            "GROUP": grp.getgrgid(os.getgid()).gr_name,
            "UID": str(os.getuid()),
        }

    def command(self) -> list[str]:
        """The whole command line, launcher included."""
        o = self.options
        target_command = [template.fill(one, self.places) for one in self.target.command]
        supervise = ["--scratch", str(self.workdir), "--die-with-parent"]
        ordeal = str(paths.program("ordeal"))
        if not o.shim:
            return [ordeal, "guard", *supervise, "--", *target_command]
        words = [ordeal, "run", *supervise, "--quiet", "--seed", str(o.seed)]
        words += ["--ctl", str(self.ctl), "--report", str(self.report_path)]
        for rule in o.rules:
            words += ["-f", rule]
        if o.plan is not None:
            words += ["--plan", str(o.plan)]
        if o.swarm is not None:
            words += ["--swarm", f"{o.swarm:g}"]
        if not o.armed:
            words.append("--disarmed")
        if o.trace:
            words += ["--trace", str(self.trace)]
        if o.trace_calls:
            words += ["--trace-calls", o.trace_calls]
        if self.target.only:
            words += ["--only", self.target.only]
        return [*words, "--", *target_command]

    def _start(self) -> None:
        self._command = self.command()
        environment = {**os.environ, "ORDEAL_DATA": str(self.data)}
        environment |= aftermath.sanitizer_env(self.logs, environment)
        environment |= {k: template.fill(v, self.places) for k, v in self.target.env.items()}
        environment |= self.options.env
        with open(self.log_path, "ab") as log:
            self._launcher = subprocess.Popen(
                ["prlimit", f"--core={_core_limit()}", *self._command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.logs,
                process_group=0,  # a Ctrl-C at the terminal is for us: the target is stopped in its own time
            )
            if self.target.beside is not None:
                self._beside = BesideProgram(self.target.beside, self.places, environment, log)

    def _await_ready(self) -> None:
        """Asks until the answer is right. It waits only for the launcher's end or the next question, never blindly."""
        target = self.target
        deadline = time.monotonic() + target.ready_within_s
        handle = os.pidfd_open(self.launcher_pid)
        last = "it was never asked"
        try:
            ended = select.poll()
            ended.register(handle, select.POLLIN)
            while time.monotonic() < deadline:
                if ended.poll(READY_POLL_MS):
                    raise LaunchError(self._complaint(f"ended before it was ready ({self._ended_how()})"))
                if self._beside is not None and (ended_how := self._beside.ended()):
                    raise LaunchError(self._complaint(f"cannot start: {ended_how}"))
                answer = self.request(target.ready_request, timeout_s=max(0.1, deadline - time.monotonic()))
                if answer.error is None and answer.status == target.ready_status:
                    self.pid = self._find_main()
                    return
                last = answer.why
        finally:
            os.close(handle)
        raise LaunchError(
            self._complaint(
                f"was not ready within {target.ready_within_s:g} s: {target.ready_request} should answer "
                f"{target.ready_status}, last seen: {last}"
            )
        )

    def _ended_how(self) -> str:
        assert self._launcher is not None
        return how_it_ended(self._launcher.wait())

    def _complaint(self, what: str) -> str:
        """A message with all that is needed to understand it: what, the command, the faults so far, the log's tail."""
        lines = [f"target {self.target.name} {what}", f"command: {shlex.join(self._command)}"]
        if self.options.shim and self._launcher is not None and self._launcher.poll() is None:
            try:
                lines += [f"fault fired {r.fired} times: {r.text}" for r in self.faults() if r.fired]
            except (faults.ControlError, paths.NotBuilt):
                pass
        tail = self.log().splitlines()[-LOG_TAIL_LINES:]
        lines += ["the end of its log:" if tail else "its log is empty", *(f"    {line}" for line in tail)]
        return "\n".join(lines)

    def _find_main(self) -> int:
        """The launcher's first descendant that is not a helper of the launcher itself."""
        if pid := proc.first_other(self.launcher_pid):
            return pid
        raise LaunchError(self._complaint("answers, but the launcher has no child process"))

    # ---- asking -------------------------------------------------------------------------------------------------

    @property
    def launcher_pid(self) -> int:
        assert self._launcher is not None, "use launch() in a `with` statement"
        return self._launcher.pid

    def request(
        self,
        target: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        method: str | None = None,
        timeout_s: float = 10.0,
    ) -> Answer:
        """One request on a new connection; what goes wrong is in `.error`."""
        return client.ask(
            self._endpoint, target, root=self.root, body=body, headers=headers, method=method, timeout_s=timeout_s
        )

    def processes(self) -> list[int]:
        """The main process and all that descends from it or was left behind by it."""
        own = proc.executable(self.launcher_pid)
        return [pid for pid in proc.tree(self.launcher_pid) if pid == self.pid or proc.executable(pid) != own]

    def workers(self) -> list[int]:
        wanted = self.target.worker_executable
        found = [pid for pid in proc.children(self.pid) if proc.alive(pid)]
        return [pid for pid in found if wanted is None or proc.executable(pid) == wanted]

    def log(self) -> str:
        """All that the target has written to its log, its standard output and its standard error."""
        if self._log_text is not None:
            return self._log_text
        try:
            return self.log_path.read_text(errors="replace")
        except OSError:
            return ""

    # ---- doing --------------------------------------------------------------------------------------------------

    def signal(self, name: str) -> None:
        """Sends a signal to the main process, by its name in the target file ("reload") or its own ("SIGHUP")."""
        if name in self.target.signals:
            number = int(self.target.signals[name])
        else:
            try:
                number = proc.signal_number(name)
            except KeyError:
                hint = template.suggestion(name, self.target.signals)
                raise KeyError(f"target {self.target.name} has no signal {name!r}; {hint}") from None
        proc.send(self.pid, number)

    def kill_worker(self, rng: random.Random, number: int = SIGKILL) -> int:
        """Kills one worker, chosen by `rng`; returns its pid."""
        candidates = self.workers()
        if not candidates:
            raise LaunchError(self._complaint("has no worker to kill"))
        chosen = rng.choice(candidates)
        self.killed.add(chosen)
        proc.send(chosen, number)
        return chosen

    @property
    def control(self) -> Control:
        if not self.options.shim:
            raise LaunchError("this run has no faults: it was launched with shim=False")
        return Control(self.ctl)

    def arm(self, ids: Iterable[int] = ()) -> None:
        self.control.arm(ids)

    def disarm(self, ids: Iterable[int] = ()) -> None:
        self.control.disarm(ids)

    def mark(self, name: str) -> None:
        self.control.mark(name)

    def faults(self) -> list[RuleCount]:
        if self.exit is not None:
            return self.exit.faults.rules if self.exit.faults else []
        return self.control.status().rules

    # ---- the end ------------------------------------------------------------------------------------------------

    def stop(self) -> Exit:
        """Asks the target to end, step by step as its file says; then looks at what it left. Once: later calls return the same.

        The program beside it ends first, so that nothing is asked any more of a server that is about to go."""
        if self.exit is not None:
            return self.exit
        forced = self._beside.stop() if self._beside is not None else []
        forced += self._stop_main()
        if not proc.wait_end(self.launcher_pid, LAUNCHER_END_WITHIN_S):
            forced.append(f"launcher: still running {LAUNCHER_END_WITHIN_S:g} s after the target")
            proc.send(self.launcher_pid, SIGKILL)
        assert self._launcher is not None
        status = self._launcher.wait()
        self.exit = self._look_back(status, forced)
        if self.options.bundle is not None:
            self._fill_bundle(self.options.bundle)
        return self.exit

    def _stop_main(self) -> list[str]:
        forced: list[str] = []
        for name, wait_s in self.target.stop:
            self.signal(name)
            if proc.wait_end(self.pid, wait_s):
                break
            forced.append(f"{name}: still running after {wait_s:g} s")
        return forced

    def _look_back(self, launcher_status: int, forced: list[str]) -> Exit:
        self._log_text = self.log()
        found = aftermath.inspect(self.target, self._log_text, [self.logs, Path(self.root)], self.killed)
        report = self._report()
        how = report.get("exit") or exit_of(launcher_status)
        return Exit(
            code=how.get("code"),
            signal=how.get("signal"),
            leftovers=report.get("leftovers", []),
            log_errors=found.log_errors,
            cores=found.cores,
            sanitizer=found.sanitizer,
            forced=forced,
            faults=faults.status_of(report) if report.get("rules") is not None else None,
        )

    def _report(self) -> dict[str, Any]:
        try:
            return json.loads(self.report_path.read_text())
        except (OSError, ValueError):
            return {}

    def _fill_bundle(self, folder: Path) -> None:
        Bundle(folder).keep_run(self)

    def plan_data(self) -> dict[str, Any]:
        """What this run was, for a bundle's plan.toml."""
        o = asdict(self.options)
        for unwanted in ("bundle", "replay", "env"):
            del o[unwanted]
        return {"target": self.target.name, "target_file": self.target.path, **o}

    def _end(self) -> None:
        """Whatever happened: no process, no folder is left. Safe to call twice."""
        if self._beside is not None:
            self._beside.kill()
        if self._launcher is not None and self._launcher.poll() is None:
            self._launcher.kill()  # what it watched over dies with it
            self._launcher.wait()
        if self._log_text is None:
            self._log_text = self.log()
        shutil.rmtree(self._outer, ignore_errors=True)
        if self._lease >= 0:
            os.close(self._lease)
        self._lease = -1


def _core_limit() -> str:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return "unlimited:unlimited" if hard == resource.RLIM_INFINITY else f"{hard}:{hard}"
