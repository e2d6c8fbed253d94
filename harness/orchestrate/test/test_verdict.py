"""Verdicts: never a bare pass, and never clean when the stimulus did not get there."""

from __future__ import annotations

import pytest

from harness.orchestrate import Verdict, judge


@pytest.mark.parametrize(
    "kind, reasons, marks",
    [
        ("passed", [], []),
        ("reproduced", [], []),
        ("inconclusive", [], []),
        ("not_applicable", [], ["m"]),
        ("clean", [], ["flock EINTR fired"]),
    ],
)
def test_a_verdict_that_says_too_little_is_refused(kind, reasons, marks):
    with pytest.raises(ValueError):
        Verdict(kind, reasons, marks)


def test_what_went_wrong_counts_more_than_a_missed_mark():
    verdict = judge(["counter is 41 after 50 answers"], {"fired": 0, "healed": 2})
    assert verdict.line() == "reproduced: counter is 41 after 50 answers; never reached: fired"


def test_clean_needs_every_mark():
    assert judge([], {"fired": 3}).kind == "clean"
    assert judge([], {"fired": 3, "healed": 0}) == Verdict("inconclusive", marks_missed=["healed"])
    assert judge([], {}).line() == "clean"
