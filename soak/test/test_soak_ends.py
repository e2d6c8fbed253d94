"""However a soak ends, nothing of it is left, and what was measured is written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from soak.test.soaking import Soaking

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LONG = ("--duration", "10m", "--rate", "40", "--workers", "2", "--seed", "7")
SHORT = ("--duration", "8s", "--rate", "40", "--workers", "2", "--seed", "7")
MOMENT_S_MAX = 12.0
# SOAK_KILLS=200 for the long series; some in every test run.
TRIES = int(os.environ.get("SOAK_KILLS", "6"))
FIRST_SEED = int(os.environ.get("SOAK_KILLS_SEED", "1"))


def test_ctrl_c_writes_a_report(tmp_path: Path) -> None:
    with Soaking(LONG, tmp_path / "out") as soak:
        soak.until("calm")
        soak.process.send_signal(signal.SIGINT)
        assert soak.wait() == 130, soak.output
        assert soak.results["interrupted"] is True
        assert soak.results["verdict"]["kind"] == "inconclusive", soak.results["verdict"]
        assert soak.judge("reload")["ok"] is None
        assert soak.judge("shutdown")["ok"] is True, soak.output
        assert "again: make soak" in soak.output
        assert soak.vanished() == [] and soak.sockets() == []


def test_a_second_ctrl_c_writes_a_report_too(tmp_path: Path) -> None:
    with Soaking(LONG, tmp_path / "out") as soak:
        soak.until("calm")
        soak.process.send_signal(signal.SIGINT)
        soak.process.send_signal(signal.SIGTERM)
        assert soak.wait() == 130, soak.output
        assert soak.results["interrupted"] is True
        assert soak.vanished() == [] and soak.sockets() == []


def random_moment(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Lets the soak run until a moment nobody chose, or to its end."""
    try:
        process.wait(rng.uniform(0, MOMENT_S_MAX))
    except subprocess.TimeoutExpired:
        pass


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + TRIES))
def test_nothing_is_left_whenever_it_ends(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    number = rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
    with Soaking(SHORT, tmp_path / "out") as soak:
        random_moment(soak.process, rng)
        soak.process.send_signal(number)
        soak.wait()
        assert soak.vanished() == [], f"seed {seed}, {number!r}"
        assert soak.sockets() == [], f"seed {seed}, {number!r}"
        if number != signal.SIGKILL and (tmp_path / "out" / "results.json").exists():
            assert soak.results["ordeal"] == "soak"
