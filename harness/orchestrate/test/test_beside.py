"""A second program beside the main one: started with it, reachable, and never left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from orchestrate_rig import SERVER

from harness.orchestrate import LaunchError, Target, launch, load_target, proc
from harness.orchestrate.waiting import eventually

# The main program answers at WORKDIR/behind; the one beside it at ADDR, and both are the rig's server.
TARGET = """
name = "pair"
what = "two servers for the tests"
executable = "{python}"
install = "apt-get install python3"
[start]
command = ["{{{{EXECUTABLE}}}}", "-u", "{server}", "plain", "{{{{WORKDIR}}}}/behind"]
workers = 1
[endpoint]
protocol = "http"
[ready]
request = "/"
within_s = 10
[signals]
stop = "SIGTERM"
[stop]
steps = [["stop", 5]]
[beside]
executable = "{python}"
install = "apt-get install python3"
command = ["{{{{BESIDE}}}}", "-u", "{server}", "{mode}", "{{{{ADDR}}}}"]
within_s = {within_s}
"""


def pair(folder: Path, mode: str, within_s: float = 5) -> Target:
    server = folder / "server.py"
    server.write_text(SERVER)
    path = folder / "pair.toml"
    path.write_text(TARGET.format(python=sys.executable, server=server, mode=mode, within_s=within_s))
    return load_target(path)


@pytest.fixture
def app(tmp_path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def test_it_answers_and_both_end(tmp_path, app):
    with launch(pair(tmp_path, "front"), app) as run:
        assert run.request("/").body == b"front"
        assert run._beside.pid not in (None, run.pid)
        assert run._beside.pid not in run.processes(), "it is not measured"
        eventually(lambda: run.log().count("server starts") == 2, "both in the log")
        pids = [run.pid, run._beside.pid]
    assert run.exit.problems == ["main process ended by SIGTERM"]
    assert not any(proc.alive(pid) for pid in pids)


def test_faults_are_for_the_main_program(tmp_path, app):
    with launch(pair(tmp_path, "front"), app, rules=["accept4:delay=1ms"]) as run:
        assert "libordeal.so" in Path(f"/proc/{run.pid}/maps").read_text()
        assert "libordeal.so" not in Path(f"/proc/{run._beside.pid}/maps").read_text()


def test_one_that_cannot_start_is_said_with_its_log(tmp_path, app):
    run = launch(pair(tmp_path, "exit"), app)
    with pytest.raises(LaunchError) as error:
        with run:
            pytest.fail("it must not become ready")
    assert "python3" in str(error.value) and "has ended (exit status 3)" in str(error.value)
    assert "    cannot go on: no configuration" in str(error.value)
    assert not run._outer.exists()


def test_one_that_ends_meanwhile_is_a_problem_of_the_run(tmp_path, app):
    with launch(pair(tmp_path, "front"), app) as run:
        os.kill(run._beside.pid, 9)
        eventually(lambda: run._beside.ended() is not None, "its end")
    assert any("which runs beside it, has ended" in problem for problem in run.exit.problems)


def test_one_that_will_not_stop_is_forced_and_said(tmp_path, app):
    with launch(pair(tmp_path, "stubborn", within_s=0.3), app) as run:
        pid = run._beside.pid
    assert any("SIGTERM: still running after 0.3 s" in problem for problem in run.exit.problems)
    assert not proc.alive(pid)


def test_an_error_inside_the_block_leaves_none_of_them(tmp_path, app):
    with pytest.raises(ZeroDivisionError):
        with launch(pair(tmp_path, "front"), app) as run:
            pids = [run.pid, run._beside.pid]
            raise ZeroDivisionError
    assert not any(proc.alive(pid) for pid in pids)


def test_fiber_fpm_behind_nginx(rng):
    with launch(load_target("fiber-nginx"), workers=2) as run:
        assert run.request("/hello.php").headers["Server"].startswith("nginx")
        first = set(run.workers())
        run.signal("reload")
        eventually(lambda: len(run.workers()) == 2 and not first & set(run.workers()), "new workers")
        killed = run.kill_worker(rng)
        eventually(lambda: killed not in run.workers() and len(run.workers()) == 2, "a replacement")
        assert run.request("/upload.php", body=b"x" * 300_000, method="POST").status == 200
        assert run.request("/fatal.php").status == 500
    assert (run.exit.code, run.exit.problems) == (0, [])
