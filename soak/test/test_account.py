"""The account of the phases adds up to the account of the run."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from soak import account
from soak.test.made_up import case, measured, unanswered

FAILURES = st.lists(
    st.builds(lambda outcome, sent, took: unanswered(outcome, sent, sent + took),
              st.sampled_from(["lost", "refused", "isolation"]), st.floats(0, 65), st.floats(0, 10)),
    max_size=20,
)


@settings(deadline=None)
@given(FAILURES)
def test_phases_add_up(failures: list) -> None:
    made = measured(*failures)
    phases = account.by_phase(made)
    total = account.whole(made, case(made).explained)
    for column in ("sent", "answered", "refused", "lost", "isolation"):
        assert sum(getattr(one, column) for one in phases) == total[column], column


def test_a_refusal_is_in_the_phase_in_which_it_ended() -> None:
    phases = account.by_phase(measured(unanswered("refused", 14, 16)))
    assert [one.refused for one in phases] == [0, 1, 0, 0, 0, 0]


def test_an_unfinished_run_has_an_account_too() -> None:
    made = measured(summary=None)
    made.phases = made.phases[:2]
    phases = account.by_phase(made)
    assert sum(one.sent for one in phases) == made.total.sent == 5900


def test_no_load_at_all() -> None:
    made = measured(live=[], summary=None)
    assert [one.sent for one in account.by_phase(made)] == [0] * 6
