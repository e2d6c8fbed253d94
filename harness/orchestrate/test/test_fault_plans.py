"""The fault plans of fixtures/plans/: what stock php-fpm survives it survives whole, and what it does not it really does not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.orchestrate import Running, launch, load_target
from harness.orchestrate.paths import PLANS, program

MIX = """\
20 GET /hello.php
10 GET /session.php?sid={sid:16}
10 GET /lock.php
10 GET /file.php
 2 GET /file.php?kb=5000
 4 GET /wait.php?ms=5
 1 GET /big.php?bytes=1000000
 1 POST /upload.php body=300K
 2 GET /fatal.php expect=500
 2 GET /exit.php
 2 GET /redirect.php expect=302
"""
REQUESTS = 1500


def rules_of(plan: Path) -> list[str]:
    lines = (line.strip() for line in plan.read_text().splitlines())
    return [line for line in lines if line and not line.startswith(("#", "only"))]


def load(run: Running, tmp_path: Path, requests: int, seed: int) -> dict:
    """Closed-loop load over all pages; the generator's own account."""
    mix, out = tmp_path / "mix", tmp_path / "load.json"
    mix.write_text(MIX)
    command = [program("ordeal-load"), "--target", run.endpoint, "--root", run.root, "--mix", mix, "--clients", "8"]
    command += ["--requests", str(requests), "--seed", str(seed), "--json", out, "--quiet", "--die-with-parent"]
    subprocess.run(command, check=True, timeout=150)
    return json.loads(out.read_text())


def test_php_fpm_survives_its_plan_without_losing_an_answer(tmp_path, seed):
    plan = PLANS / "php-fpm-faults.ordeal"
    with launch(load_target("php-fpm"), plan=plan, seed=seed, armed=False, workers=4) as run:
        assert run.request("/hello.php").status == 200
        run.arm()
        account = load(run, tmp_path, REQUESTS, seed)
        run.disarm()
        faults = run.faults()
    counts = account["requests"]
    assert (counts["answered"], counts["sent"]) == (REQUESTS, REQUESTS), account["reasons"]
    assert run.exit.problems == []
    assert sum(rule.fired for rule in faults) > REQUESTS
    never = {rule.text for rule in faults if rule.matched == 0}
    assert never == set(), "a rule of the plan that never met its call"


@pytest.mark.parametrize(
    "rule",
    [
        "mmap:size>=2M:nth=9+5:errno=ENOMEM",
        "pwrite:path=*/sess_*:nth=3+5:short=1",
        "pread:path=*/sess_*:nth=3+5:short=1",
        "open:path=*/data/*:nth=3+5:errno=EINTR",
        "write:path=*/data/php*:nth=3+5:errno=EINTR",
        "read:fd=socket:nth=30+50:errno=ECONNRESET",
        "read:fd=socket:nth=30+50:errno=EAGAIN",
        "write:fd=socket:nth=30+50:errno=EAGAIN",
        "poll:nth=30+50:errno=EAGAIN",
    ],
)
def test_what_the_harsh_plan_says_is_true(rule, tmp_path, seed):
    with launch(load_target("php-fpm"), rules=[rule], seed=seed, armed=False, workers=4) as run:
        run.request("/hello.php")
        run.arm()
        account = load(run, tmp_path, 600, seed)
        run.disarm()
        assert run.faults()[0].fired > 0
    counts = account["requests"]
    assert counts["refused"] + counts["lost"] > 0, "php-fpm has become better: move the rule to php-fpm-faults.ordeal"
    assert counts["isolation"] == 0


@pytest.mark.parametrize("plan", sorted(PLANS.glob("*.ordeal")), ids=lambda plan: plan.name)
def test_every_plan_can_be_loaded_and_every_rule_is_explained(plan):
    assert rules_of(plan)
    command = [program("ordeal"), "run", "--plan", plan, "--disarmed", "--quiet", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
