"""Test files are read as PHP's own runner reads them; three small ones are run on both servers, and a planted difference is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.orchestrate.client import pairs
from harness.phpt import audit, phpt, report, source
from harness.phpt.run import UNSTABLE, Plan, run
from harness.phpt.stage import PlaceTaken, Stage

ACCESS = {"precision": 7, "enable_dl": 4, "session.save_path": 7}
FORM = b"""--TEST--
A form
--SKIPIF--
<?php echo 'run';
--INI--
precision=5
; precision=6
include_path={PWD}/inc
--GET--
a=1&b=2
--COOKIE--
c=d
--POST--
e=f&g=h
--FILE--
<?php
echo "--NOT a section--\\n";
--EXPECT--
x
"""


def test_a_file_is_cut_into_its_sections():
    test = phpt.parse("ext/a/tests/form.phpt", FORM)
    assert test.name == "ext/a/tests/form" and test.script == b'<?php\necho "--NOT a section--\\n";\n'
    assert list(test.sections) == ["TEST", "SKIPIF", "INI", "GET", "COOKIE", "POST", "FILE", "EXPECT"]
    assert test.body == (phpt.FORM, b"e=f&g=h")
    assert test.settings("/r") == {"precision": "5", "include_path": "/r/ext/a/tests/inc"}


def test_the_request_is_the_one_that_the_sections_ask_for():
    message = phpt.parse("ext/a/tests/form.phpt", FORM).message("/r")
    wanted = {
        "REQUEST_METHOD": "POST",
        "QUERY_STRING": "a=1&b=2",
        "SCRIPT_FILENAME": "/r/ext/a/tests/form.php",
        "CONTENT_TYPE": phpt.FORM,
        "CONTENT_LENGTH": "7",
        "HTTP_COOKIE": "c=d",
        "PHP_VALUE": "precision=5\ninclude_path=/r/ext/a/tests/inc",
    }
    for name, value in wanted.items():
        assert pairs({name: value}) in message, name
    assert b"e=f&g=h" in message


@pytest.mark.parametrize(
    "data, why",
    [
        (b"--FILE--\n<?php\n--ARGS--\na", "--ARGS--"),
        (b"--FILE_EXTERNAL--\na.inc\n", "--FILE_EXTERNAL--"),
        (b"--TEST--\nnothing\n", "no --FILE--"),
        (b"--FILE--\n<?php\n--GET--\na=\xff\n", "bytes in a request's section that are not UTF-8"),
        (b"--FILE--\n<?php\n--EXTENSIONS--\njson\nffi\n", "--EXTENSIONS--: one that is not there"),
        (b"--FILE--\n<?php\n--INI--\nenable_dl=1\n", "--INI--: a setting that counts only when PHP starts"),
        (b"--FILE--\n<?php\n--INI--\nno.such=1\n", "--INI--: a setting that is not there"),
        (b"--FILE--\n<?php\n--INI--\nprecision={MAIL:x}\n", "--INI--: a place that only PHP's own runner fills in"),
        (b"--FILE--\n<?php\n--EXTENSIONS--\nJson\n--INI--\nprecision=3\n", None),
    ],
)
def test_what_cannot_be_asked_is_skipped_with_its_reason(data: bytes, why: str | None):
    assert phpt.parse("a.phpt", data).unfit({"json"}, ACCESS) == why


def test_an_end_of_file_and_a_raw_body_are_exact():
    test = phpt.parse("a.phpt", b"--POST_RAW--\nContent-Type: multipart/form-data; boundary=x\n--x\r\n--x--\n--FILEEOF--\n<?php echo 1\n")
    assert test.script == b"<?php echo 1" and test.body == ("multipart/form-data; boundary=x", b"--x\r\n--x--")


def test_only_tests_of_the_wanted_folders_are_unpacked():
    wanted = {name: source._wanted(f"php-8.2.1/{name}", ["Zend/tests", "ext/spl"]) for name in (
        "Zend/tests/001.phpt", "ext/spl/tests/a/b.inc", "ext/spl/spl.c", "ext/splendid/tests/a.phpt", "ext/spl/tests/../../../x",
    )}  # fmt: skip
    assert [name for name, path in wanted.items() if path == name] == ["Zend/tests/001.phpt", "ext/spl/tests/a/b.inc"]
    assert sum(path is not None for path in wanted.values()) == 2


def stage_of(place: Path, **texts: str) -> Stage:
    folder = place / "tree" / "own" / "tests"
    folder.mkdir(parents=True)
    (folder / "beside.inc").write_text("<?php return 'beside';")
    for name, text in texts.items():
        (folder / f"{name}.phpt").write_text(text)
    return Stage(place / "tree", place / "place", ["own"])


def test_two_runs_do_not_serve_one_folder(tmp_path: Path):
    stage = stage_of(tmp_path)
    with pytest.raises(PlaceTaken):
        Stage(stage.tree, tmp_path / "place", ["own"])


def file_with(code: str, more: str = "") -> str:
    return f"--TEST--\nx\n{more}--FILE--\n<?php\n{code}\n--EXPECT--\n"


def test_three_scripts_are_the_same_on_both(tmp_path: Path):
    stage = stage_of(
        tmp_path,
        settings=file_with("echo ini_get('precision'), $_GET['a'], include __DIR__ . '/beside.inc';", "--INI--\nprecision=5\n--GET--\na=b\n"),
        restless=file_with("echo bin2hex(random_bytes(8));"),
        skipped=file_with("echo 1;", "--SKIPIF--\n<?php echo 'skip not here';\n"),
    )
    plan = Plan(in_flight=4, dirs=("own",))
    outcome = run(plan, stage=stage)
    assert outcome.skipped == {"own/tests/skipped": "--SKIPIF-- says so"}
    assert outcome.left_out == {"own/tests/restless": UNSTABLE}
    assert [one.name for one in outcome.compared] == ["own/tests/settings"] and not outcome.found
    assert report.passed(plan, outcome) and report.row(outcome, outcome.tests)["same"] == 1


def test_a_difference_is_found_and_written_down(tmp_path: Path):
    stage = stage_of(tmp_path, sapi=file_with("echo function_exists('fpm_get_status') ? 'fpm' : 'other';"), same=file_with("echo 1;"))
    plan = Plan(in_flight=2, dirs=("own",))
    outcome = run(plan, stage=stage)
    assert list(outcome.found) == ["own/tests/sapi"] and not report.passed(plan, outcome)
    (path,) = report.differences(plan, outcome, tmp_path / "out")
    assert "-body| fpm" in path.read_text() and "+body| other" in path.read_text()
    assert "1 differences in 2 scripts, 50.00 % the same" in report.summary(plan, outcome)


def test_places_of_an_audit_are_named_once_and_together():
    said = [(0x40, " (table+0x0)"), (0x48, ""), (0x48, ""), (0x60, ""), (0x90, " (other+0x8)")]
    log = "\n".join(f'WARNING: said into stderr: "AUDIT: lib.so+0x{at:x}{symbol} changed, in no image and not listed: 0 -> 1"' for at, symbol in said)
    assert audit.merged(audit.places(log)) == ["AUDIT: lib.so+0x40…0x60, 3 words (table+0x0)", "AUDIT: lib.so+0x90 (other+0x8)"]
