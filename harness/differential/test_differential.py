"""The suite itself: fiber-fpm answers as php-fpm, php-fpm as itself, and a difference that is planted is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.differential import report, script
from harness.differential.__main__ import EXIT_COULD_NOT, EXIT_DIFFERENT, main
from harness.differential.known import KNOWN
from harness.differential.run import Outcome, Plan, run

INFO = "<?php\necho 'ready';\n"


def told(plan: Plan, outcome: Outcome) -> str:
    texts = [report.difference_text(plan, outcome, found) for found in outcome.new.values()]
    return "\n\n".join([*texts, *outcome.problems, report.summary(plan, outcome)])


def folder_with(folder: Path, **texts: str) -> Path:
    for name, text in {"info": INFO, **texts}.items():
        (folder / f"{name}.php").write_text(text)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("chaos", [0, 7])
def test_fiber_answers_as_php_fpm(chaos: int):
    plan = Plan(rounds=1, chaos=chaos)
    outcome = run(plan)
    assert outcome.clean, told(plan, outcome)
    assert outcome.found.keys() == KNOWN.keys(), "a known difference is gone: take it out of the list"


@pytest.mark.slow
def test_a_mix_with_fatal_errors_and_two_hundred_in_flight():
    plan = Plan(mixed=2000, fatals=0.10, in_flight=200, chaos=10)
    outcome = run(plan)
    assert outcome.asked == 2000 and outcome.clean, told(plan, outcome)


@pytest.mark.slow
def test_php_fpm_answers_as_itself():
    plan = Plan(target="php-fpm", rounds=1)
    outcome = run(plan)
    assert outcome.clean and not outcome.found, told(plan, outcome)


@pytest.mark.parametrize("target", ["fiber", "php-fpm"])
def test_a_planted_difference_is_found(tmp_path: Path, target: str):
    planted = "<?php\nheader('X-Planted: ' . getenv('PLANTED'));\necho \"same\\n\", getenv('PLANTED'), \"\\n\";\n"
    folder = folder_with(tmp_path, planted=planted, same="<?php\necho 'same';\n")
    plan = Plan(target=target, rounds=1, in_flight=4, folder=folder, env=({"PLANTED": "control"}, {"PLANTED": "target"}))
    outcome = run(plan)
    assert list(outcome.new) == ["planted"] and not outcome.clean
    assert outcome.new["planted"].count == 2, "three scripts for four places: each is asked twice"
    text = told(plan, outcome)
    for line in ("-head| X-Planted: control", "+head| X-Planted: target", "-body| control", "+body| target", " body| same"):
        assert line in text.splitlines(), text
    assert "--only planted" in text and f"--target {target}" in text


# what differs: the script, and a line that the diff must have
PLACES = {
    "order of headers": ("header('X-A: 1'); header('X-B: 2'); if (getenv('P')) { header_remove('X-A'); header('X-A: 1'); }", "+head| X-B: 2"),
    "status": ("http_response_code(getenv('P') ? 202 : 201);", "+head| Status: 202 Accepted"),
    "stderr": ("if (getenv('P')) { error_log('said'); }", "+stderr| PHP message: said"),
    "one byte of many": ("echo str_repeat('x', 5000), getenv('P') ? 'y' : 'z', str_repeat('x', 5000);", "-body+ " + "z".ljust(200, "x")),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_part_of_an_answer_is_compared(tmp_path: Path, place: str):
    code, line = PLACES[place]
    plan = Plan(target="php-fpm", rounds=1, in_flight=1, folder=folder_with(tmp_path, planted=f"<?php\n{code}\n"), env=({}, {"P": "1"}))
    outcome = run(plan)
    assert line in told(plan, outcome).splitlines(), told(plan, outcome)


def test_a_script_that_differs_from_itself_is_an_error_of_the_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = folder_with(tmp_path, restless="<?php\necho bin2hex(random_bytes(8));\n")
    assert main(["--folder", str(folder), "--target", "php-fpm"]) == EXIT_COULD_NOT
    assert "restless" in capsys.readouterr().err


def test_the_command_line_ends_with_a_summary_and_a_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = folder_with(tmp_path, sapi="<?php\nvar_dump(function_exists('fpm_get_status'));\n")
    assert main(["--folder", str(folder), "--only", "sapi", "--in-flight", "2", "--json", str(tmp_path / "out.json")]) == EXIT_DIFFERENT
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("differential: fiber against php-fpm: 6 differences in 1 scripts; 6 requests, 1 scripts")
    assert '"script": "sapi"' in (tmp_path / "out.json").read_text()


def test_a_description_is_read(tmp_path: Path):
    path = tmp_path / "asked.php"
    path.write_text("<?php\n//@ method PUT\n//@ query a=1\n//@ path /x\n//@ type text/plain\n//@ cookie c=d\n//@ body \\x00a\n//@ body*2 b\\n\necho 1;\n")
    found = script.read(path)
    assert found.request == ("PUT", "/asked.php/x?a=1") and found.body == b"\0ab\nb\n"
    assert found.headers == {"Content-Type": "text/plain", "Cookie": "c=d"}
    path.write_text("<?php\n//@ verb PUT\n")
    with pytest.raises(script.ScriptError, match="verb"):
        script.read(path)


def test_the_suite_is_as_broad_as_it_says():
    found = script.scripts()
    assert len(found) >= 250 and sum(one.fatal for one in found) >= 45
