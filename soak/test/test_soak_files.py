"""What is read while the load runs, and what is written at the end."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from soak.judges import Reason
from soak.junit import write_junit
from soak.load import LineTail
from soak.mix import write_mix
from soak.progress import Lines, State


def test_half_a_line_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "live"
    tail = LineTail(path)
    assert tail.read() == []
    path.write_text('{"a":1}\n{"a":')
    assert tail.read() == [{"a": 1}]
    with path.open("a") as file:
        file.write("2}\n\n")
    assert tail.read() == [{"a": 2}]
    assert tail.read() == []


@pytest.mark.parametrize("text", ["1 GET /a\n", "1 GET /a"])
def test_probes_are_added_to_the_mix(tmp_path: Path, text: str) -> None:
    source = tmp_path / "source"
    source.write_text(text)
    assert write_mix(source, [], tmp_path / "plain").read_text() == "1 GET /a\n"
    lines = write_mix(source, ["leak"], tmp_path / "leaky").read_text().splitlines()
    assert lines[0] == "1 GET /a" and "/leak.php" in lines[1]


def test_body_files_are_found_from_the_copy(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("1 POST /a body=@photo.jpg\n1 POST /a body=@/etc/hostname\n")
    first, second = write_mix(source, [], tmp_path / "copy").read_text().splitlines()
    assert first == f"1 POST /a body=@{tmp_path}/photo.jpg"
    assert second == "1 POST /a body=@/etc/hostname"


def test_junit_has_one_case_a_judge(tmp_path: Path) -> None:
    reasons = [Reason("isolation", True, "fine"), Reason("accounting", False, "1 lost <&\x00", {"lost": 1}), Reason("faults", None, "none")]
    write_junit(tmp_path / "junit.xml", "php-fpm", reasons, 12.5, ["make soak SEED=1"])
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case.get("name") for case in suite] == ["isolation", "accounting", "faults"]
    failure = suite[1].find("failure")
    assert failure is not None and failure.text is not None
    assert "lost = 1" in failure.text and "make soak SEED=1" in failure.text


def test_plain_lines_are_few(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w") as out:
        lines = Lines(60, out)
        for i in range(50):
            lines.show(State(i / 100, "calm", 100, i, 0, 0, 60_000))
        lines.show(State(1, "faults", 100, 50, 0, 0, None))
    assert [line.split()[3] for line in path.read_text().splitlines()] == ["calm", "faults"]


def test_results_are_plain_json(tmp_path: Path) -> None:
    from soak import results

    results.write(tmp_path / "results.json", {"a": None})
    assert json.loads((tmp_path / "results.json").read_text()) == {"a": None}
    with pytest.raises(ValueError):
        results.write(tmp_path / "results.json", {"a": float("nan")})
    assert json.loads((tmp_path / "results.json").read_text()) == {"a": None}
