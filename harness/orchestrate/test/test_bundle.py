"""Evidence bundles: all parts are there, every value can be read back, and replay.sh really does it again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.orchestrate import Bundle, Verdict
from harness.orchestrate.bundle import toml

values = st.one_of(st.text(), st.integers(-(2**63), 2**63 - 1), st.booleans(), st.lists(st.text()), st.floats(allow_nan=False))


def test_every_part(tmp_path):
    bundle = Bundle(tmp_path / "a" / "b")
    folder = bundle.write(
        Verdict("reproduced", ["lost"]), plan={"target": "x", "none": None}, seed=7, history=[{"t": 1}, {"t": 2}],
        logs={"target.log": "hello\n"}, replay=["true"],
    )  # fmt: skip
    assert json.loads((folder / "verdict.json").read_text())["kind"] == "reproduced"
    assert tomllib.loads((folder / "plan.toml").read_text()) == {"target": "x"}
    assert [json.loads(line)["t"] for line in (folder / "history.jsonl").read_text().splitlines()] == [1, 2]
    assert (folder / "logs" / "target.log").read_text() == "hello\n"
    assert os.access(folder / "replay.sh", os.X_OK)
    assert bundle.export_trace() is None, "no trace, no export"


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), values))
def test_a_plan_can_be_read_back(data):
    assert tomllib.loads(toml(data)) == data


TEST = """
def test_a(seed, again_command, tmp_path):
    from harness.orchestrate import Bundle, Verdict
    import os, pathlib
    out = pathlib.Path(os.environ["OUT"])
    Bundle(out).write(Verdict("reproduced", ["seed %d" % seed]), seed=seed, replay=again_command)
    with open(out / "times", "a") as f:
        f.write("%d\\n" % seed)
    assert seed % 2 == 0, "odd"
"""


def replay(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([folder / "replay.sh"], capture_output=True, text=True, env={**os.environ, **env}, timeout=120)


@pytest.fixture
def project(tmp_path, pytestconfig) -> Path:
    """A small project that uses this one's pytest layer."""
    root = tmp_path / "project"
    (root / "harness").mkdir(parents=True)
    (root / "harness" / "orchestrate").symlink_to(pytestconfig.rootpath / "harness" / "orchestrate")
    shutil.copy(pytestconfig.rootpath / "conftest.py", root)
    (root / "test_it.py").write_text(TEST)
    return root


def test_replay_does_it_again_with_the_same_seed(tmp_path, project):
    out = tmp_path / "bundle"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", "--seed", "4711"]
    first = subprocess.run(command, cwd=project, env={**os.environ, "OUT": str(out)}, capture_output=True, text=True)
    assert first.returncode == 1, first.stdout
    assert "python3 -m pytest test_it.py::test_a --seed 4711" in first.stdout
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    second = replay(out, ORDEAL_ROOT=str(project), OUT=str(out), PATH=path)
    assert second.returncode == 1 and "odd" in second.stdout, second.stdout + second.stderr
    assert (out / "times").read_text() == "4711\n4711\n"


def test_replay_in_the_wrong_place_says_so(tmp_path):
    Bundle(tmp_path / "b").write(replay=["true"])
    done = replay(tmp_path / "b", ORDEAL_ROOT="/usr")
    assert done.returncode == 125 and "set ORDEAL_ROOT" in done.stderr


def test_replay_quotes_what_needs_it_and_knows_its_own_folder(tmp_path, pytestconfig):
    folder = tmp_path / "with space"
    word = "it's $HOME {x} \"q\""
    Bundle(folder).write(replay=["sh", "-c", 'printf "%s|%s" "$1" "$ORDEAL_BUNDLE"', "-", word])
    done = replay(folder)
    assert done.returncode == 0 and done.stdout.endswith(f"{word}|{folder}")
