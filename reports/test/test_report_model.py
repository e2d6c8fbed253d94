"""What the model takes, and what it refuses with file, key and expectation."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from reports.model import parse_results, read_results
from reports.reader import Node, ResultsError, clean_text
from reports.test.synthetic import SCENARIOS, empty, make

GOOD = make(duration_s=20)


def parse(value: dict[str, Any]):
    return parse_results(Node(value, "", "results.json"))


def broken_at(path: str, value: Any) -> dict[str, Any]:
    """GOOD with one member replaced: "load.3.p50_us" names row 3 of load."""
    found = copy.deepcopy(GOOD)
    at: Any = found
    *steps, last = path.split(".")
    for step in steps:
        at = at[int(step)] if step.isdigit() else at[step]
    at[int(last) if last.isdigit() else last] = value
    return found


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_scenario_is_accepted(name: str) -> None:
    assert parse(json.loads(json.dumps(SCENARIOS[name]()))).target


BAD = [
    ("version", 2, "version", "1"), ("version", None, "version", "1"), ("version", True, "version", "number"),
    ("ordeal", "audit", "ordeal", "soak"), ("target", "", "target", "name of the target"), ("target", 5, "target", "text"),
    ("seed", -1, "seed", "count"), ("seed", 1.5, "seed", "count"), ("started_ns", "now", "started_ns", "number"),
    ("duration_s", -3, "duration_s", ">= 0"), ("duration_s", float("nan"), "duration_s", "finite"), ("duration_s", float("inf"), "duration_s", "finite"),
    ("duration_s", 10**400, "duration_s", "63 bits"), ("command", [], "command", "text"), ("machine", [], "machine", "object"),
    ("verdict", "clean", "verdict", "object"), ("verdict.kind", "fine", "verdict.kind", "reproduced"), ("verdict.summary", 1, "verdict.summary", "text"),
    ("verdict.reasons", {}, "verdict.reasons", "list"), ("verdict.reasons.0", "x", "verdict.reasons[0]", "object"), ("verdict.reasons.0.ok", "yes", "verdict.reasons[0].ok", "true or false"),
    ("verdict.reasons.0.numbers", 3, "verdict.reasons[0].numbers", "object"), ("account", 1, "account", "object"), ("account.lost", -1, "account.lost", "count"), ("account.sent", "9", "account.sent", "number"),
    ("reasons", [], "reasons", "object"), ("reasons.lost", 3, "reasons.lost", "object"), ("reasons.lost", {"x": "y"}, "reasons.lost.x", "number"),
    ("phases", "calm", "phases", "list"), ("phases.1", 7, "phases[1]", "object"), ("phases.1.start_s", None, "phases[1].start_s", "start"), ("phases.1.end_s", 0, "phases[1].end_s", "start_s"), ("phases.1.sent", -4, "phases[1].sent", "count"),
    ("events.0.t_s", None, "events[0].t_s", "time"), ("events.0.kind", "boom", "events[0].kind", "reload"), ("events.0.pid", "x", "events[0].pid", "number"),
    ("faults_total", -1, "faults_total", "count"), ("faults.0.matched", 1.5, "faults[0].matched", "count"), ("faults.0.active", 1, "faults[0].active", "true or false"),
    ("load", {}, "load", "list"), ("load.3", None, "load[3]", "object"), ("load.3.t_s", "3", "load[3].t_s", "number"), ("load.3.p50_us", -1, "load[3].p50_us", ">= 0"), ("load.3.rate", [], "load[3].rate", "number"),
    ("samples.2.t_s", None, "samples[2].t_s", "time"), ("samples.2.pss_kb", "big", "samples[2].pss_kb", "number"),
    ("plateau.0.series", None, "plateau[0].series", "name"), ("plateau.0.verdict", "steep", "plateau[0].verdict", "flat"), ("plateau.0.ci_low", 10**9, "plateau[0].ci_low", "ci_high"), ("plateau.0.n", 0.5, "plateau[0].n", "count"),
    ("latency_us.p50", "fast", "latency_us.p50", "number"), ("by_target.0.latency_us", 4, "by_target[0].latency_us", "object"), ("by_target.0.requests.sent", -1, "by_target[0].requests.sent", "count"),
    ("interrupted", "no", "interrupted", "true or false"), ("replay", "make", "replay", "list"), ("replay.0", 1, "replay[0]", "text"), ("log_tail", [None], "log_tail[0]", "text"),
    ("losses", [3], "losses[0]", "object"), ("losses", [{"sent_ns": "x"}], "losses[0].sent_ns", "number"),
]


@pytest.mark.parametrize(("path", "value", "key", "expected"), BAD, ids=[f"{row[0]}={str(row[1])[:12]}" for row in BAD])
def test_bad_value_is_refused(path: str, value: Any, key: str, expected: str) -> None:
    with pytest.raises(ResultsError) as error:
        parse(broken_at(path, value))
    assert error.value.file == "results.json"
    assert error.value.key == key
    assert expected in error.value.expected


FILES = [
    (b"", "line 1, column 1"), (b"{", "line 1"), (b'{"version":1,\n"ordeal":', "line 2"), (b"[]", "top level"), (b"null", "top level"), (b"\xff\xfe", "byte 0"),
    (b"[" * 100_000, "file"), (b'{"seed": ' + b"9" * 5000 + b"}", "file"),
]


@pytest.mark.parametrize(("content", "key"), FILES, ids=range(len(FILES)))
def test_bad_file_is_refused(tmp_path: Path, content: bytes, key: str) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(ResultsError) as error:
        read_results(path)
    assert error.value.key.startswith(key)
    assert str(path) in str(error.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="No such file"):
        read_results(tmp_path / "none.json")


def test_missing_members_are_unknown_and_not_zero() -> None:
    results = parse(empty())
    assert results.verdict.kind == "inconclusive"
    assert results.account.sent is None and results.seed is None
    assert results.phases == [] and results.load == []


def test_unknown_members_are_left_alone() -> None:
    assert parse(GOOD | {"arena": {"watermark": [1, 2]}}).target == "php-fpm"


def test_rows_are_put_in_order_and_the_axis_covers_them() -> None:
    results = parse(empty() | {"duration_s": 5, "samples": [{"t_s": 9, "fds": 2}, {"t_s": 3, "fds": 1}]})
    assert [row.fds for row in results.samples] == [1, 2]
    assert results.duration_s == 9


def test_phase_without_an_end_lasts_until_the_end() -> None:
    results = parse(empty() | {"duration_s": 30, "phases": [{"name": "calm", "start_s": 4}]})
    assert results.phases[0].end_s == 30


def test_text_that_cannot_be_shown_is_replaced() -> None:
    assert clean_text("a\x00b\ud800c\u202ed\te\nf") == "a\ufffdb\ufffdc\ufffdd\te\nf"
    assert parse(empty() | {"log_tail": ["x\x1b[31m"]}).log_tail == ["x\ufffd[31m"]
