"""The soak itself: launches the target and the load, goes through the phases, and writes down what it sees.

It judges nothing (soak.judges does) and prints nothing but progress. Every wait is for something: for the end
of a phase, for a worker to appear. What takes longer than its phase lengthens the phase, up to
`LATE_S_MAX`, so that a slow machine gives a longer soak, not another verdict.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.orchestrate import Running, Sampler, launch
from harness.orchestrate.paths import program
from soak import phases, trace
from soak.interrupts import Interrupts
from soak.load import Load, LoadFiles, load_command
from soak.measured import Event, Fault, Interval, Kill, Measured, PhaseRun, Probe, Reload, Shutdown
from soak.mix import write_mix
from soak.options import Options
from soak.phases import Phase
from soak.progress import Display, State

TICK_S = 0.2
LATE_S_MAX = 30.0
SAMPLE_PERIOD_S = 0.25
SAMPLES_WANTED = 20_000
PROBE_PAGE = "/hello.php"
CONCURRENT_REQUESTS_MAX = 1024  # what one worker of a concurrent runtime may hold
LOG_LINES = 200
LIVE_LINES_MAX = 20_000


def sample_period_s(duration_s: float) -> float:
    """Four samples a second, fewer in long runs: memory of the soak itself must not grow with its length."""
    return max(SAMPLE_PERIOD_S, duration_s / SAMPLES_WANTED)


def halved(live: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every second line of very many. Their counts run up, so that nothing of the account is lost; the last one stays."""
    return live[::2] + live[-1:] * (len(live) % 2 == 0) if len(live) > LIVE_LINES_MAX else live


class Soak:
    def __init__(self, options: Options, interrupts: Interrupts, display: Display) -> None:
        self.options, self.interrupts, self.display = options, interrupts, display
        self.rng = random.Random(options.seed)
        self.measured = Measured(started_ns=time.time_ns())
        self.files = LoadFiles(options.out)
        self.capabilities = options.target.capabilities
        self._armed_ns: int | None = None

    def run(self, at_end: Callable[[Measured, Running], int]) -> int:
        """Measures, and leaves nothing running. `at_end` judges what was measured while the run's files are still there."""
        options, measured = self.options, self.measured
        measured.can_reload = "reload" in self.capabilities and "reload" in options.target.signals
        measured.can_kill = "respawn" in self.capabilities
        measured.requests_per_worker = CONCURRENT_REQUESTS_MAX if "concurrent" in self.capabilities else 1
        measured.gateway = "gateway" in self.capabilities
        mix = write_mix(options.mix, list(options.probes), options.out / "mix.txt")
        with launch(
            options.target, app=options.app, rules=list(options.rules), plan=options.plan, seed=options.seed,
            armed=False, workers=options.workers or options.target.workers,
        ) as self.target:
            self.interrupts.on_second(self.target.pid)
            measured.started_ns = time.time_ns()
            measured.workers = self._workers_expected()
            self._under_load(mix)
            self._after_load()
            return at_end(measured, self.target)

    def _workers_expected(self) -> int:
        """A prefork pool is told how many to have (and may still be starting them); of others count what is there."""
        if "prefork" in self.capabilities:
            return self.options.workers or self.options.target.workers
        return len(self.target.workers())

    def _under_load(self, mix: Path) -> None:
        options, target = self.options, self.target
        command = load_command(
            program("ordeal").parent, target.endpoint, target.root, mix, options.rate, options.duration_s, options.seed, self.files
        )
        self.sampler = Sampler(target, sample_period_s(options.duration_s))
        self.sampler.start()
        self.load = Load(command, self.files, self.interrupts)
        try:
            for phase in phases.plan(options.duration_s, options.cycles):
                if self.interrupts.stop or not self._going():
                    break
                self._phase(phase)
            self._disarm()
        finally:
            self.measured.load_failure = self.load.stop()
            self.sampler.stop()
            self.measured.ended_ns = time.time_ns()

    def _going(self) -> bool:
        """Whether there is still a load generator and a target. Which one has ended shows in the judges."""
        return self.load.running() and self._target_runs()

    def _target_runs(self) -> bool:
        return os.path.exists(f"/proc/{self.target.pid}")

    # ---- phases

    def _phase(self, phase: Phase) -> None:
        run = PhaseRun(phase.name, phase.cycle, time.time_ns(), time.time_ns())
        self.measured.phases.append(run)
        begin, finished = self._STEPS.get(phase.name, (_nothing, _always))
        begin(self, run)
        end_s = time.monotonic() + phase.duration_s
        left_s = phase.duration_s
        while not self.interrupts.wait(min(TICK_S, left_s) if left_s > 0 else TICK_S) and self._going():
            self._look(run)
            left_s = end_s - time.monotonic()
            if left_s <= 0 and (finished(self) or left_s <= -LATE_S_MAX):
                break
        if phase.name == phases.HEAL and not self.interrupts.stop:
            self._probe()
        if phase.name == phases.FAULTS:
            self._disarm()
        run.end_ns = time.time_ns()

    def _look(self, run: PhaseRun) -> None:
        self.measured.live = halved(self.measured.live + self.load.new_lines())
        self._look_for_workers()
        last = self.measured.live[-1] if self.measured.live else {}
        samples = self.sampler.samples
        self.display.show(
            State(
                elapsed_s=self.measured.seconds(time.time_ns()), phase=run.name, rate=float(last.get("rate", 0.0)),
                answered=int(last.get("answered", 0)), refused=int(last.get("refused", 0)), lost=int(last.get("lost", 0)),
                pss_kb=samples[-1].pss_kb if samples else None,
            )
        )

    def _begin_faults(self, _run: PhaseRun) -> None:
        self._armed_ns = time.time_ns()
        self.target.arm()
        self._event("arm", "rules armed")

    def _disarm(self) -> None:
        """Rules count as armed until after they were really disarmed; called at the end of every run too."""
        if self._armed_ns is None:
            return
        if self._target_runs():
            self.target.disarm()
        self.measured.armed.append(Interval(self._armed_ns, time.time_ns()))
        self._armed_ns = None
        self._event("disarm", "rules disarmed")

    def _begin_heal(self, _run: PhaseRun) -> None:
        self._probe()

    def _probe(self) -> None:
        answer = self.target.request(PROBE_PAGE)
        self.measured.probes.append(Probe(time.time_ns(), answer.status, answer.error))

    def _begin_reload(self, run: PhaseRun) -> None:
        if not self.measured.can_reload:
            run.notes.append("this target has no reload")
            return
        before = frozenset(self.target.workers())
        self.measured.reloads.append(Reload(time.time_ns(), before))
        self.target.signal("reload")
        self._event("reload", f"reload of {len(before)} workers", self.target.pid)

    def _begin_kill(self, run: PhaseRun) -> None:
        if not self.measured.can_kill:
            run.notes.append("this target does not replace workers")
            return
        before = frozenset(self.target.workers())
        if not before:
            run.notes.append("no worker was there to be killed")
            return
        start_ns = time.time_ns()
        pid = self.target.kill_worker(self.rng)
        self.measured.kills.append(Kill(pid, Interval(start_ns, time.time_ns()), before))
        self._event("kill", f"worker {pid} killed", pid)

    def _look_for_workers(self) -> None:
        """Which workers there are, for the reloads and kills that are still waiting for new ones."""
        reloads = [one for one in self.measured.reloads[-1:] if one.done_ns is None]
        kills = [one for one in self.measured.kills[-1:] if one.replaced_ns is None]
        if not reloads and not kills:
            return
        now = frozenset(self.target.workers())
        for reload in reloads:
            reload.after = now
            if not reload.before & now and len(now) >= self.measured.workers:
                reload.done_ns = time.time_ns()
        for kill in kills:
            kill.after = now
            if kill.pid not in now and len(now) >= self.measured.workers:
                kill.replaced_ns = time.time_ns()

    def _reloaded(self) -> bool:
        return not self.measured.reloads or self.measured.reloads[-1].done_ns is not None

    def _replaced(self) -> bool:
        return not self.measured.kills or self.measured.kills[-1].replaced_ns is not None

    _STEPS: dict[str, tuple[Callable[[Soak, PhaseRun], None], Callable[[Soak], bool]]] = {
        phases.FAULTS: (_begin_faults, lambda self: True),
        phases.HEAL: (_begin_heal, lambda self: True),
        phases.RELOAD: (_begin_reload, _reloaded),
        phases.KILL: (_begin_kill, _replaced),
    }

    def _event(self, kind: str, text: str, pid: int | None = None) -> None:
        self.measured.events.append(Event(time.time_ns(), kind, text, pid))
        self.display.note(f"soak {self.measured.seconds(time.time_ns()):5.1f} s: {text}")

    # ---- the end

    def _after_load(self) -> None:
        measured, target = self.measured, self.target
        measured.live += self.load.new_lines()
        measured.summary = self.load.summary()
        measured.unanswered = self.load.unanswered()
        measured.samples = [
            {name: getattr(sample, name) for name in ("t_ns", "pss_kb", "rss_kb", "anon_kb", "heap_kb", "fds", "threads", "children")}
            for sample in self.sampler.samples
        ]
        measured.shutdown = self._shut_down()
        measured.faults = [Fault(one.id, one.text, one.matched, one.fired, one.active) for one in target.faults()]
        measured.interrupted = self.interrupts.stop

    def _shut_down(self) -> Shutdown:
        target = self.target
        rules = {} if self.interrupts.count > 1 else {rule.id: rule.text for rule in target.faults()}
        self.measured.events += trace.faults(target.trace, rules) if rules else []
        end = target.stop()
        self.interrupts.done(target.pid)
        self.measured.log_tail = target.log().splitlines()[-LOG_LINES:]
        socket = target.endpoint.removeprefix("http+").removeprefix("unix:")
        return Shutdown(
            code=end.code,
            signal=end.signal,
            leftovers=[f"{one.get('name')} (pid {one.get('pid')})" for one in end.leftovers],
            log_errors=list(end.log_errors),
            socket_left=socket.startswith("/") and os.path.exists(socket),
            cores=list(end.cores),
            others=[*end.forced, *(f"sanitizer report {name}" for name in end.sanitizer)],
        )


def _nothing(_soak: Soak, _run: PhaseRun) -> None:
    pass


def _always(_soak: Soak) -> bool:
    return True
