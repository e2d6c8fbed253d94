"""C tests as pytest items: real programs, compiled here, that pass, fail, crash, hang, or were not built."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.orchestrate import cmocka

pytest_plugins = "pytester"

HEAD = """
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
"""
MAIN = "int main(void) { const struct CMUnitTest tests[] = {%s}; return cmocka_run_group_tests(tests, NULL, NULL); }"


@pytest.fixture
def project(pytester, pytestconfig, monkeypatch):
    root = str(pytestconfig.rootpath)
    pytester.makeconftest(f"import sys; sys.path.insert(0, {root!r}); pytest_plugins = ['harness.orchestrate.pytest_plugin']")
    monkeypatch.setenv("ORDEAL_BUILD", str(pytester.path / "build"))
    return pytester


def add(project, name: str, functions: str, registered: str, build: bool = True) -> Path:
    source = project.path / "part" / "test" / f"{name}.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(HEAD + functions + MAIN % registered)
    if build:
        binary = project.path / "build" / "test" / "part" / name
        binary.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", source, "-lcmocka", "-o", binary], check=True)
    return source


def run(project, *args: str):
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-v", "part", *args)


GOOD = "static void test_good(void **state) { (void)state; assert_int_equal(1, 1); }\n"
BAD = "static void test_bad(void **state) { (void)state; printf(\"before it fails\\n\"); assert_int_equal(1, 2); }\n"


def test_each_test_is_an_item_and_a_failure_is_shown_whole(project):
    add(project, "test_a", GOOD + BAD, "cmocka_unit_test(test_good), cmocka_unit_test(test_bad)")
    result = run(project, "--seed", "77")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines_random(
        [
            "*test_a.c::test_good PASSED*",
            "*test_a.c::program PASSED*",
            "*test_bad: *",
            "*before it fails*",
            "*error: Failure!*",
            "python3 -m pytest part/test/test_a.c::test_bad --seed 77",
        ]
    )


def test_the_seed_reaches_the_program(project):
    functions = 'static void test_seed(void **state) { (void)state; assert_string_equal(getenv("ORDEAL_SEED"), "42"); }\n'
    add(project, "test_a", functions, "cmocka_unit_test(test_seed)")
    run(project, "--seed", "42").assert_outcomes(passed=2)
    run(project, "--seed", "43").assert_outcomes(passed=1, failed=1)
    run(project, "--seed", "41", "--repeat", "2").assert_outcomes(passed=3, failed=1)


def test_a_missing_program_is_a_failure_that_says_what_to_do(project):
    add(project, "test_a", GOOD, "cmocka_unit_test(test_good)", build=False)
    result = run(project)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*build/test/part/test_a is missing: run `make test-binaries`*"])


def test_a_program_that_dies_loses_no_test(project):
    functions = GOOD + "static void test_dies(void **state) { (void)state; _exit(0); }\n"
    functions += "static void test_late(void **state) { (void)state; }\n"
    add(project, "test_a", functions, "cmocka_unit_test(test_good), cmocka_unit_test(test_dies), cmocka_unit_test(test_late)")
    result = run(project)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines_random(["*test_late was never reported*", "*1 of 3 tests were reported*"])


def test_a_test_behind_a_macro_is_answered_for_by_the_program(project):
    functions = "#define T(n) cmocka_unit_test(hidden_##n)\nstatic void hidden_one(void **s) { (void)s; fail(); }\n"
    add(project, "test_a", GOOD + functions, "T(one), cmocka_unit_test(test_good)")
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*hidden_one: *"])


def test_a_test_that_nobody_registered_fails(project):
    add(project, "test_a", GOOD + BAD, "cmocka_unit_test(test_good)")
    result = run(project)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*test_bad was never reported*"])


def test_a_test_that_skips_itself_is_skipped(project):
    functions = "static void test_skips(void **state) { (void)state; skip(); }\n"
    add(project, "test_a", functions, "cmocka_unit_test(test_skips)")
    run(project).assert_outcomes(passed=1, skipped=1)


def test_a_program_without_tests_is_no_success(project):
    source = add(project, "test_a", "", "cmocka_unit_test(x)", build=False)
    source.write_text("int main(void) { return 0; }\n")
    binary = project.path / "build" / "test" / "part" / "test_a"
    binary.parent.mkdir(parents=True)
    subprocess.run(["cc", source, "-o", binary], check=True)
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*it reported no tests*"])


def test_other_c_files_are_left_alone(project):
    folder = project.path / "part" / "test"
    folder.mkdir(parents=True)
    (folder / "support.c").write_text("int x;\n")
    (project.path / "part" / "test_outside.c").write_text("int x;\n")
    assert run(project).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_program_that_hangs_is_stopped(tmp_path):
    binary = tmp_path / "hangs"
    binary.write_text("#!/bin/sh\necho 1..1\nexec tail -f /dev/null\n")
    binary.chmod(0o755)
    outcome = cmocka.run_program(binary, seed=1, timeout_s=0.3)
    assert outcome.status is None and outcome.output == "1..1\n"


def test_where_a_program_is():
    assert cmocka.binary_of(Path("/r/harness/load/test/test_a.c"), Path("/r"), Path("/r/build")) == Path(
        "/r/build/test/harness/load/test_a"
    )


def test_names_in_comments_and_macros_are_not_tests():
    source = "// cmocka_unit_test(a)\n/* cmocka_unit_test(b) */\n#define T(name) \\\n cmocka_unit_test(name)\ncmocka_unit_test_setup(c, s)\n"
    assert cmocka.declared_tests(source) == ["c"]
