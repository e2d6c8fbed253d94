"""Reading TAP as CMocka writes it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.orchestrate.tap import parse

REAL = """\
1..6
ok 1 - ok_one
some output
not ok 2 - bad_one
# 0x1 != 0x2
# a.c:10: error: Failure!
not ok 3 # SKIP skip_one
not ok 4 - crash
# Test failed with exception: Segmentation fault(11)
ok 5 - ab
not ok 6 - ok_one Could not run test: Test setup failed
# not ok - g1
1..1
ok 1 - ok_one
# ok - u
"""


def test_what_cmocka_really_prints():
    tap = parse(REAL)
    assert (tap.planned, tap.complete) == (7, True)
    assert [r.outcome for r in tap.results] == ["passed", "failed", "skipped", "failed", "passed", "failed", "passed"]
    assert tap.of("bad_one")[0].why.splitlines()[1:] == ["0x1 != 0x2", "a.c:10: error: Failure!"]
    assert "Test setup failed" in tap.of("ok_one")[1].why


def test_a_program_that_ended_early_is_not_complete():
    assert not parse("1..3\nok 1 - a\n").complete
    assert not parse("").complete
    assert not parse("hello\n").complete


@given(st.text())
def test_no_output_breaks_it(text):
    parse(text)
