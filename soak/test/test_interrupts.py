"""Signals end waiting, and nothing else; the second one ends what was registered."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from soak.interrupts import SIGNALS, Interrupts

FOREVER_S = 600.0


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_waiting(number: signal.Signals) -> None:
    with Interrupts() as interrupts:
        os.kill(os.getpid(), number)
        assert interrupts.wait(FOREVER_S)
        assert interrupts.stop


def test_without_a_signal_the_time_passes() -> None:
    with Interrupts() as interrupts:
        assert not interrupts.wait(0.01)
        assert not interrupts.stop


def test_the_second_signal_kills_and_the_first_does_not() -> None:
    sleeper = subprocess.Popen(["sleep", str(FOREVER_S)])
    with Interrupts() as interrupts:
        interrupts.on_second(sleeper.pid)
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.wait(FOREVER_S)
        assert sleeper.poll() is None
        os.kill(os.getpid(), signal.SIGINT)
        assert sleeper.wait(FOREVER_S) == -signal.SIGKILL


def test_what_comes_after_the_second_signal_is_killed_at_once() -> None:
    with Interrupts() as interrupts:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
        interrupts.wait(FOREVER_S)
        sleeper = subprocess.Popen(["sleep", str(FOREVER_S)])
        interrupts.on_second(sleeper.pid)
        assert sleeper.wait(FOREVER_S) == -signal.SIGKILL


def test_what_has_ended_is_left_alone() -> None:
    sleeper = subprocess.Popen(["sleep", str(FOREVER_S)])
    with Interrupts() as interrupts:
        interrupts.on_second(sleeper.pid)
        interrupts.done(sleeper.pid)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        interrupts.wait(FOREVER_S)
        assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


def test_the_old_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) not in before
    assert [signal.getsignal(number) for number in SIGNALS] == before
