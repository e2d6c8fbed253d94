"""Whole soaks of stock php-fpm and of fiber-fpm, also behind nginx: one that keeps every promise, and some that must not."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from soak.test.soaking import Soaking

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

QUICK = ("--target", "php-fpm", "--duration", "14s", "--rate", "60", "--workers", "3", "--seed", "42")


def check_sums(soak: Soaking) -> None:
    account, phases = soak.results["account"], soak.results["phases"]
    assert account["sent"] == account["answered"] + account["refused"] + account["lost"] + account["isolation"]
    assert account["in_flight"] == 0
    for column in ("sent", "answered", "refused", "lost"):
        assert sum(phase[column] for phase in phases) == account[column], column


@pytest.mark.parametrize("target", ["php-fpm", "fiber", "fiber-nginx"])
def test_a_right_server_keeps_every_promise(tmp_path: Path, target: str) -> None:
    with Soaking((*QUICK, "--target", target), tmp_path / "out") as soak:
        status = soak.wait()
        assert status == 0, soak.output
        results = soak.results
        assert results["verdict"]["kind"] == "clean"
        assert results["account"]["sent"] > 0
        assert results["account"]["lost"] == results["account"]["lost_explained"]
        assert [phase["name"] for phase in results["phases"]] == ["calm", "faults", "heal", "reload", "kill", "calm again"]
        assert results["account"]["refused"] == results["account"]["refused_by_fault"] + results["account"]["refused_by_kill"]
        assert all(fault["fired"] > 0 for fault in results["faults"])
        flat = {one["series"] for one in results["plateau"] if one["verdict"] == "flat"}
        assert flat >= {"heap_kb", "anon_kb", "fds", "threads", "children"}
        check_sums(soak)
        assert soak.vanished() == [] and soak.sockets() == []
        suite = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()[0]
        assert suite.get("failures") == suite.get("errors") == "0"
        assert not (tmp_path / "out" / "evidence").exists()
        assert "--seed 42" in results["replay"][-1] and results["replay"][-1] in soak.output


def test_a_leaking_page_is_found(tmp_path: Path) -> None:
    with Soaking((*QUICK, "--probe", "leak"), tmp_path / "out") as soak:
        assert soak.wait() == 1, soak.output
        assert soak.judge("leak:anon")["ok"] is False, soak.judge("leak:anon")
        assert soak.judge("accounting")["ok"] is True, soak.output
        assert soak.judge("leak:fds")["ok"] is True
        assert (tmp_path / "out" / "evidence" / "verdict.json").exists()


def test_dropped_answers_are_lost_requests(tmp_path: Path) -> None:
    with Soaking((*QUICK, "--rule", "write:fd=socket:p=0.2:drop"), tmp_path / "out") as soak:
        assert soak.wait() == 1, soak.output
        assert soak.results["account"]["lost"] > soak.results["account"]["lost_explained"]
        assert soak.judge("accounting")["ok"] is False
        assert soak.judge("liveness")["ok"] is True, "disarmed rules must not break anything"
        assert soak.results["losses"]
        check_sums(soak)


def test_a_rule_that_never_matches_is_inconclusive(tmp_path: Path) -> None:
    with Soaking((*QUICK, "--rule", "open:path=/never/*:errno=EIO"), tmp_path / "out") as soak:
        assert soak.wait() == 3, soak.output
        assert "open:path=/never/*" in soak.judge("faults")["text"]
        assert soak.results["verdict"]["kind"] == "inconclusive"


def test_what_a_killed_worker_held_is_explained(tmp_path: Path) -> None:
    """All workers wait nearly all the time, so the kill hits one that holds a request: that one may be lost, and no other."""
    mix, plan = tmp_path / "wait.mix", tmp_path / "wait.plan"
    mix.write_text("1 GET /wait.php?ms=200\n")
    plan.write_text("usleep:p=0.5:errno=EINTR\n")
    words = ("--duration", "10s", "--rate", "14", "--workers", "3", "--seed", "1", "--mix", str(mix), "--plan", str(plan))
    with Soaking(words, tmp_path / "out") as soak:
        assert soak.wait() == 0, soak.output
        account = soak.results["account"]
        assert account["lost"] == account["lost_explained"] <= 1
        assert soak.judge("kill")["numbers"]["lost_by_them"] == account["lost"]


def test_what_a_killed_worker_held_is_answered_502_by_nginx_and_counted(tmp_path: Path) -> None:
    """Each worker has about ten requests in flight: nginx answers for those of the killed one, and the soak says so."""
    mix, plan = tmp_path / "wait.mix", tmp_path / "wait.plan"
    mix.write_text("1 GET /wait.php?ms=300\n")
    plan.write_text("accept4:p=0.5:errno=EINTR\n")
    words = ("--target", "fiber-nginx", "--duration", "10s", "--rate", "60", "--seed", "1", "--mix", str(mix), "--plan", str(plan))
    with Soaking(words, tmp_path / "out") as soak:
        assert soak.wait() == 0, soak.output
        account = soak.results["account"]
        assert account["refused"] == account["refused_by_kill"] > 0 and account["lost"] == 0
        assert f"{account['refused_by_kill']} answered 502 because of them" in soak.output
        assert soak.judge("kill")["numbers"]["answered_502"] == account["refused_by_kill"]
        assert soak.vanished() == [] and soak.sockets() == []
