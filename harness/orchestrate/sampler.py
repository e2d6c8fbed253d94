"""Samples what a whole process tree holds, at a steady period, while something else goes on.

    with Sampler(run, period_s=0.25) as sampler:
        ...                                  # load, faults, reloads
    memory = [s.pss_kb for s in sampler.samples]

PSS counts a page that n processes share as 1/n to each, so the sum over the tree is what the tree really costs; RSS counts
it n times. A process that vanishes while it is read is left out of that sample. `sampler.cost_us_mean` says what a sample
costs. A runtime's heap, where its target file has a [heap] probe, is asked for by a thread of its own: a slow answer
never holds up the samples.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from . import proc
from .client import Answer
from .target import Target

HEAP_PERIOD_S_MIN = 1.0
HEAP_TIMEOUT_S = 2.0


class Sampled(Protocol):
    """What a Sampler needs of a run."""

    target: Target
    pid: int

    def processes(self) -> list[int]: ...

    def request(self, target: str, *, timeout_s: float) -> Answer: ...


@dataclass(frozen=True)
class Sample:
    t_ns: int  # CLOCK_REALTIME
    pss_kb: int
    rss_kb: int
    heap_kb: int | None
    fds: int
    threads: int
    children: int  # all processes but the main one
    in_flight: int | None = None
    anon_kb: int = 0  # private memory that no file backs: heaps and stacks, without shared caches


def take(pids: list[int], heap_kb: int | None = None, in_flight: int | None = None) -> Sample | None:
    """One sample of these processes, the main one first; None when none of them is there any more."""
    t_ns = time.time_ns()
    pss = rss = anon = fds = threads = seen = 0
    for pid in pids:
        memory, open_fds, tasks = proc.memory(pid), proc.fds(pid), proc.threads(pid)
        if memory is None or open_fds is None or tasks is None:
            continue
        seen += 1
        pss, rss, anon = pss + memory.pss_kb, rss + memory.rss_kb, anon + memory.anon_kb
        fds, threads = fds + open_fds, threads + tasks
    if not seen:
        return None
    return Sample(t_ns, pss, rss, heap_kb, fds, threads, seen - 1, in_flight, anon)


class Sampler:
    def __init__(self, run: Sampled, period_s: float, in_flight: Callable[[], int] | None = None) -> None:
        assert period_s > 0, "the period must be above 0"
        self.run, self.period_s, self.in_flight = run, period_s, in_flight
        self.samples: list[Sample] = []
        self.missed = 0  # periods that had no sample, because the machine was late
        self._cost_ns = 0
        self._heap_kb: int | None = None
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> "Sampler":
        assert not self._threads, "a Sampler is started once"
        jobs = [self._sample] + ([self._ask_heap] if self.run.target.heap_request else [])
        self._threads = [threading.Thread(target=job, name=job.__name__, daemon=True) for job in jobs]
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> list[Sample]:
        self._over.set()
        for thread in self._threads:
            thread.join()
        return self.samples

    def __enter__(self) -> "Sampler":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    @property
    def cost_us_mean(self) -> float:
        return self._cost_ns / 1000 / len(self.samples) if self.samples else 0.0

    def _sample(self) -> None:
        due = time.monotonic()
        while True:
            begun = time.thread_time_ns()
            one = take(self.run.processes(), self._heap_kb, self.in_flight() if self.in_flight else None)
            if one is not None:
                self.samples.append(one)
                self._cost_ns += time.thread_time_ns() - begun
            due += self.period_s
            late = time.monotonic() - due
            if late > 0:
                periods = int(late / self.period_s)
                self.missed += periods
                due += periods * self.period_s
            if self._over.wait(max(0.0, due - time.monotonic())):
                return

    def _ask_heap(self) -> None:
        target = self.run.target
        assert target.heap_request is not None and target.heap_key is not None
        while not self._over.wait(max(self.period_s, HEAP_PERIOD_S_MIN)):
            answer = self.run.request(target.heap_request, timeout_s=HEAP_TIMEOUT_S)
            self._heap_kb = heap_kb(answer, target.heap_key)


def heap_kb(answer: Answer, key: str) -> int | None:
    """The number at `memory.used_bytes` of the JSON in an answer, in KB; None when it is not there."""
    if answer.error is not None or answer.status != 200:
        return None
    try:
        value: Any = json.loads(answer.body)
        for part in key.split("."):
            value = value[part]
        return int(value) // 1024
    except (ValueError, KeyError, TypeError, IndexError):
        return None
