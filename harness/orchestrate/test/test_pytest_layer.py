"""The options, fixtures and the line that runs a failure again."""

from __future__ import annotations

import re

import pytest

from harness.orchestrate.pytest_plugin import parse_duration, without_repeat

pytest_plugins = "pytester"


@pytest.fixture
def project(pytester, pytestconfig):
    root = str(pytestconfig.rootpath)
    pytester.makeconftest(f"import sys; sys.path.insert(0, {root!r}); pytest_plugins = ['harness.orchestrate.pytest_plugin']")
    return pytester


def run(project, *args: str):
    return project.runpytest_subprocess("-p", "no:cacheprovider", *args)


def test_the_seed_is_printed_and_given(project):
    project.makepyfile("def test_a(seed, rng): assert seed == 5 and rng.random() == __import__('random').Random('5 test_the_seed_is_printed_and_given.py::test_a').random()")
    result = run(project, "--seed", "5")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["ordeal: target php-fpm, seed 5"])


def test_a_drawn_seed_runs_a_failure_again(project):
    project.makepyfile("def test_a(rng): assert rng.random() < 0, rng.random()")
    first = run(project)
    line = next(l for l in first.outlines if l.startswith("python3 -m pytest"))
    node, seed = re.fullmatch(r"python3 -m pytest (\S+) --seed (\d+)", line).groups()
    second = run(project, node, "--seed", seed)
    shown = [[l for l in r.outlines if "AssertionError: 0." in l] for r in (first, second)]
    assert shown[0] and shown[0] == shown[1]


def test_repeat_gives_each_run_its_own_seed_and_its_own_line(project):
    project.makepyfile(
        """
        import pytest
        @pytest.mark.parametrize("x", [1, 2])
        def test_a(seed, x): assert (seed, x) != (11, 2)
        def test_b(): pass
        """
    )
    result = run(project, "--seed", "10", "--repeat", "3")
    result.assert_outcomes(passed=6, failed=1)
    again = next(l for l in result.outlines if l.startswith("python3 -m pytest"))
    assert again.endswith("::test_a[2]' --seed 11") or again.endswith("::test_a[2] --seed 11")


def test_the_line_is_given_for_a_failing_fixture_and_with_the_target(project):
    project.makepyfile("import pytest\n@pytest.fixture\ndef broken(): raise OSError\ndef test_a(broken): pass")
    mine = project.path / "mine.toml"
    result = run(project, "--target", str(mine))
    result.stdout.fnmatch_lines([f"python3 -m pytest *::test_a --target {mine}"])


def test_a_target_that_is_not_there_is_an_error(project):
    project.makepyfile("def test_a(target): pass")
    result = run(project, "--target", "php-fmp")
    assert result.ret != 0
    assert "did you mean php-fpm" in "\n".join(result.outlines)


@pytest.mark.parametrize(
    "args, expected",
    [
        (["--seed", "x"], "--seed 'x': expected a whole number"),
        (["--seed", "-1"], "--seed '-1'"),
        (["--repeat", "0"], "--repeat '0'"),
        (["--duration", "soon"], "duration 'soon'"),
        (["--shard", "3/2"], "shard '3/2'"),
    ],
)
def test_wrong_options_are_refused(project, args, expected):
    result = run(project, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert expected in "\n".join(result.errlines)


def test_shards_deselect_and_make_a_partition(project):
    project.makepyfile("import pytest\n@pytest.mark.parametrize('k', range(30))\ndef test_a(k): pass")
    seen: list[str] = []
    for i in (1, 2, 3):
        result = run(project, "-v", "--shard", f"{i}/3")
        assert "skipped" not in result.parseoutcomes()
        seen += [l.split()[0] for l in result.outlines if "PASSED" in l]
    assert len(seen) == len(set(seen)) == 30


def test_an_empty_shard_is_no_failure(project):
    project.makepyfile("def test_a(): pass")
    results = [run(project, "--shard", f"{i}/5").ret for i in range(1, 6)]
    assert results == [0] * 5


def test_xdist_workers_draw_from_one_seed(project):
    project.makepyfile("import pytest\n@pytest.mark.parametrize('k', range(8))\ndef test_a(k, seed): print('seed', seed)")
    result = run(project, "-n", "2", "-rP")
    result.assert_outcomes(passed=8)
    assert len({l for l in result.outlines if l.startswith("seed ")}) == 1


def test_evidence_stays_only_when_the_test_failed(project, pytestconfig):
    project.makepyfile(
        """
        def test_good(bundle_dir): (bundle_dir / "x").touch(); print("FOLDER", bundle_dir)
        def test_bad(bundle_dir): (bundle_dir / "x").touch(); print("FOLDER", bundle_dir); assert 0
        """
    )
    result = run(project, "-rP")
    folders = {l.split()[1] for l in result.outlines if l.startswith("FOLDER")}
    from pathlib import Path
    import shutil

    left = [Path(f) for f in folders if Path(f).exists()]
    try:
        assert len(folders) == 2
        assert ["test_bad" in f.name for f in left] == [True] and (left[0] / "x").exists()
        assert pytestconfig.rootpath / "reports" / "out" / "evidence" == left[0].parent
    finally:
        for folder in left:
            shutil.rmtree(folder)


@pytest.mark.parametrize("text, seconds", [("5", 5), ("500ms", 0.5), ("30s", 30), ("2m", 120), ("1.5h", 5400)])
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1s", "5 s", "5x", "s"])
def test_wrong_durations(text):
    with pytest.raises(ValueError, match="such as 30s or 2m"):
        parse_duration(text)


@pytest.mark.parametrize(
    "node_id, plain",
    [
        ("a.py::t", "a.py::t"),
        ("a.py::t[repeat3]", "a.py::t"),
        ("a.py::t[x-repeat3]", "a.py::t[x]"),
        ("a.py::t[repeat3-x]", "a.py::t[x]"),
        ("a.py::t[3]", "a.py::t[3]"),
        ("a/test/test_b.c::t[3]", "a/test/test_b.c::t"),
    ],
)
def test_a_node_id_without_its_repetition(node_id, plain):
    assert without_repeat(node_id) == plain
