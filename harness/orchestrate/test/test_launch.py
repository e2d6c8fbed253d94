"""Launching: ready when entered, said clearly when not, and nothing left afterwards."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from orchestrate_rig import server_target

from harness.orchestrate import LaunchError, Running, launch, load_target, proc
from harness.orchestrate.lease import remove_stale
from harness.orchestrate.waiting import eventually


@pytest.fixture
def app(tmp_path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "index.php").write_text("<?php echo 1;")
    return folder


def start_fails(run: Running) -> str:
    """Enters a run that must not start, and checks that nothing is left of it."""
    with pytest.raises(LaunchError) as error:
        with run:
            pytest.fail("it must not become ready")
    assert not run._outer.exists()
    assert run._launcher is None or run._launcher.poll() is not None
    return str(error.value)


def test_it_is_ready_when_entered_and_gone_when_left(tmp_path, app):
    with launch(server_target(tmp_path, "plain"), app) as run:
        assert run.request("/").body == b"plain"
        assert proc.alive(run.pid) and proc.executable(run.pid).startswith("python3")
        assert (Path(run.root) / "index.php").exists() and run.root != str(app)
        assert run.processes() == [run.pid] and "server starts: plain" in run.log()
        outer, pid, launcher = run._outer, run.pid, run.launcher_pid
    assert run.exit is not None and run.exit.signal == 15
    assert not outer.exists() and not proc.alive(pid) and not proc.alive(launcher)
    assert "server starts" in run.log(), "the log can still be read"


def test_readiness_goes_on_asking(tmp_path, app):
    with launch(server_target(tmp_path, "late"), app) as run:
        assert run.request("/").status == 200


def test_a_target_that_ends_early(tmp_path, app):
    message = start_fails(launch(server_target(tmp_path, "exit"), app))
    assert "target exit ended before it was ready (exit status 3)" in message
    assert "    cannot go on: no configuration" in message
    assert "command: " in message and "server.py exit /" in message


def test_a_target_that_never_answers(tmp_path, app):
    message = start_fails(launch(server_target(tmp_path, "mute", within_s=1), app))
    assert "was not ready within 1 s: / should answer 200, last seen: connect refused: no socket" in message
    assert "    server starts: mute" in message


def test_a_target_that_answers_something_else(tmp_path, app):
    message = start_fails(launch(server_target(tmp_path, "busy", within_s=5), app))
    assert "last seen: status 503: busy" in message


def test_a_port_in_use_is_said_with_its_owner(tmp_path, app):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = start_fails(launch(server_target(tmp_path, "plain", listen=f"127.0.0.1:{port}"), app))
    assert f"127.0.0.1:{port}, which is not free (Address already in use; python3" in message
    assert f"(pid {os.getpid()}) listens there" in message and 'listen = "tcp"' in message


def test_a_free_port(tmp_path, app):
    with launch(server_target(tmp_path, "plain", listen="tcp"), app) as run:
        assert run.endpoint.startswith("http://127.0.0.1:")
        assert run.request("/").body == b"plain"


def test_a_socket_path_that_is_too_long(tmp_path, app, monkeypatch):
    deep = tmp_path / ("long" * 30)
    deep.mkdir()
    target = server_target(tmp_path, "plain")
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    message = start_fails(launch(target, app))
    assert "bytes; unix sockets allow 107: set TMPDIR" in message
    assert list(deep.iterdir()) == []


def test_an_app_that_is_not_there(tmp_path):
    with pytest.raises(LaunchError, match="app folder .*nowhere does not exist"):
        launch(server_target(tmp_path, "plain"), tmp_path / "nowhere")


def test_a_plan_that_is_not_there(tmp_path, app):
    with pytest.raises(LaunchError, match="plan file nowhere.ordeal does not exist"):
        launch(server_target(tmp_path, "plain"), app, plan="nowhere.ordeal")


def test_a_plan_is_found_from_here_and_from_the_project(tmp_path, app, monkeypatch):
    (tmp_path / "mine.plan").write_text("flock:delay=1ms\n")
    monkeypatch.chdir(tmp_path)
    for plan, rules in (("mine.plan", 1), ("fixtures/plans/php-fpm-faults.ordeal", 20)):
        with launch(server_target(tmp_path, "plain"), app, plan=plan) as run:
            assert len(run.faults()) >= rules


def test_a_bad_rule_is_refused_before_the_target_starts(tmp_path, app):
    message = start_fails(launch(server_target(tmp_path, "plain"), app, rules=["flock:nth=two:errno=EINTR"]))
    assert "exit status 2" in message and "nth" in message
    assert "server starts" not in message


def test_rules_without_the_shim_make_no_sense(tmp_path, app):
    with pytest.raises(LaunchError, match="faults need the shim"):
        launch(server_target(tmp_path, "plain"), app, rules=["read:delay=1ms"], shim=False)


def test_without_the_shim_it_is_watched_over_all_the_same(tmp_path, app):
    with launch(server_target(tmp_path, "orphan"), app, shim=False) as run:
        eventually(lambda: len(run.processes()) == 2, "the orphan's start")
        pids = run.processes()
        assert "LD_PRELOAD=" not in Path(f"/proc/{run.pid}/environ").read_text()
        with pytest.raises(LaunchError, match="shim=False"):
            run.arm()
    assert not any(proc.alive(pid) for pid in pids)


def test_an_orphan_is_reported_and_killed(tmp_path, app):
    with launch(server_target(tmp_path, "orphan"), app) as run:
        eventually(lambda: len(run.processes()) == 2, "the orphan's start")
        pids = run.processes()
    assert [one["pid"] for one in run.exit.leftovers] == pids[1:]
    assert any("left over" in line for line in run.exit.problems)
    assert not any(proc.alive(pid) for pid in pids)


def test_a_target_that_will_not_stop_is_forced_and_said(tmp_path, app):
    with launch(server_target(tmp_path, "stubborn", stop_s=0.3), app) as run:
        exit_ = run.stop()
    assert exit_.forced == ["stop: still running after 0.3 s"] and exit_.signal == 9
    assert run.stop() is exit_, "stopping twice is the same"


def test_log_errors_are_found_after_a_run_that_passed(tmp_path, app):
    with launch(server_target(tmp_path, "noisy"), app) as run:
        assert run.request("/").status == 200
    assert run.exit.log_errors == ["ERROR: something is wrong"]


def test_sanitizer_reports_are_found_after_a_run_that_passed(tmp_path, app):
    with launch(server_target(tmp_path, "sanitizer"), app) as run:
        pass
    (name, text), = run.exit.sanitizer.items()
    assert name.startswith("sanitizer.asan.") and "heap-use-after-free" in text


def test_a_crash_leaves_its_signal_and_a_core_if_the_kernel_writes_one_here(tmp_path, app):
    with launch(server_target(tmp_path, "crash"), app) as run:
        assert proc.wait_end(run.pid, 20)
    assert run.exit.signal == 6
    if Path("/proc/sys/kernel/core_pattern").read_text().strip() == "core":
        assert run.exit.cores and "/logs/core" in run.exit.cores[0]


def test_a_signal_that_has_no_name_suggests_one(tmp_path, app):
    with launch(server_target(tmp_path, "plain"), app) as run:
        with pytest.raises(KeyError, match="did you mean stop"):
            run.signal("stpo")


def test_an_error_inside_the_block_goes_out_and_leaves_nothing(tmp_path, app):
    with pytest.raises(ZeroDivisionError):
        with launch(server_target(tmp_path, "plain"), app) as run:
            outer, pid = run._outer, run.pid
            raise ZeroDivisionError
    assert not outer.exists() and not proc.alive(pid)


def test_faults_are_counted_armed_and_disarmed(rng):
    with launch(load_target("php-fpm"), rules=["flock:errno=EINTR:times=3"], seed=5, armed=False, workers=1) as run:
        assert run.request("/lock.php").status == 200
        assert [(r.armed, r.fired) for r in run.faults()] == [(False, 0)]
        run.arm()
        assert run.request("/lock.php").text.startswith("n=2\n")
        run.disarm()
        fired = run.faults()[0].fired
        assert run.request("/lock.php").text.startswith("n=3\n")
        assert run.faults()[0].fired == fired == 3
    assert [r.fired for r in run.exit.faults.rules] == [3]
    assert run.exit.problems == []


def test_php_fpm_reloads_replaces_workers_and_ends_well(rng):
    with launch(load_target("php-fpm"), workers=2) as run:
        first = set(run.workers())
        assert len(first) == 2
        run.signal("reload")
        eventually(lambda: len(run.workers()) == 2 and not first & set(run.workers()), "new workers")
        killed = run.kill_worker(rng)
        eventually(lambda: killed not in run.workers() and len(run.workers()) == 2, "a replacement")
        assert run.request("/hello.php").status == 200
        assert f"child {killed} exited on signal 9" in run.log()
    assert (run.exit.code, run.exit.problems) == (0, [])


def test_a_kill_that_the_harness_did_not_do_is_a_log_error(rng):
    with launch(load_target("php-fpm"), workers=1) as run:
        (worker,) = run.workers()
        os.kill(worker, 9)
        eventually(lambda: f"child {worker} exited on signal 9" in run.log(), "the log line")
    assert len(run.exit.log_errors) == 1 and "SIGKILL" in run.exit.log_errors[0]


def test_a_bundle_is_filled(tmp_path):
    bundle = tmp_path / "bundle"
    rules = ["flock:nth=1:errno=EINTR"]
    with launch(load_target("php-fpm"), rules=rules, seed=9, workers=1, bundle=bundle, replay=["true"]) as run:
        run.request("/lock.php")
    plan = tomllib.loads((bundle / "plan.toml").read_text())
    assert (plan["target"], plan["rules"], plan["seed"], plan["workers"]) == ("php-fpm", rules, 9, 1)
    assert "fpm is running" in (bundle / "logs" / "target.log").read_text()
    assert json.loads((bundle / "report.json").read_text())["rules"][0]["fired"] == 1
    assert (bundle / "seed").read_text() == "9\n"
    assert (bundle / "trace.bin").stat().st_size > 0
    assert "EINTR" in (bundle / "trace.json").read_text() and json.loads((bundle / "trace.json").read_text())


# ---- Killed ------------------------------------------------------------------------------------------------------

CHILD = """
import json, os, sys
sys.path.insert(0, {root!r})
from harness.orchestrate import launch, load_target, proc
with launch(load_target("php-fpm"), workers=2, rules=["read:fd=socket:short=100"]) as run:
    print(json.dumps([run.endpoint, str(run._outer), str(run.workdir), proc.tree(os.getpid())]), flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("victim", ["python", "launcher", "main"])
def test_sigkill_leaves_no_process_and_no_socket(victim, pytestconfig):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.format(root=str(pytestconfig.rootpath))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        endpoint, outer, workdir, pids = json.loads(child.stdout.readline())
        assert endpoint.startswith("unix:" + workdir) and len(pids) >= 4
        by_name = {"python": child.pid, "launcher": pids[0], "main": next(p for p in pids if proc.executable(p).startswith("php"))}
        os.kill(by_name[victim], 9)
        for pid in pids:
            assert proc.wait_end(pid, 20), f"{proc.executable(pid)} ({pid}) is still there"
        eventually(lambda: not os.path.exists(workdir), f"{workdir} is removed")
    finally:
        child.kill()
        child.communicate()
    remove_stale()
    assert not os.path.exists(outer), "what a killed run has left is removed by the next one"


def test_the_folder_of_a_run_that_lives_is_not_stale(tmp_path, app):
    with launch(server_target(tmp_path, "plain"), app) as run:
        assert run._outer not in remove_stale()
        assert run.request("/").status == 200
