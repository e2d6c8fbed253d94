"""The sum of requests: every request in one term, and a difference is never hidden."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reports.account import make_sum
from reports.model import Account

COUNTS = st.integers(min_value=0, max_value=10**9)


def terms(account: Account, interrupted: bool = False) -> dict[str, int]:
    return {term.label: term.value for term in make_sum(account, interrupted).terms}


def test_explained_losses_are_taken_out_of_the_lost() -> None:
    account = Account(sent=100, answered=80, refused=9, lost=10, isolation=1, lost_explained=7, refused_by_fault=4)
    assert terms(account) == {"answered": 80, "refused by a fault": 4, "refused": 5, "lost, explained": 7, "lost": 3, "isolation": 1}
    assert make_sum(account).adds_up


def test_explained_losses_beside_the_lost() -> None:
    account = Account(sent=100, answered=80, refused=9, lost=4, isolation=0, lost_explained=7, refused_by_fault=0)
    assert make_sum(account).adds_up
    assert terms(account)["lost"] == 4


def test_what_the_web_server_answered_for_a_killed_worker_is_taken_out_of_the_refused() -> None:
    account = Account(100, 90, 9, 1, 0, lost_explained=1, refused_by_fault=2, refused_by_kill=6)
    found = terms(account)
    assert (found["refused by a fault"], found["refused by a kill"], found["refused"]) == (2, 6, 1)
    assert make_sum(account).adds_up


@given(answered=COUNTS, refused=COUNTS, own=COUNTS, explained=COUNTS, isolation=COUNTS, by_fault=COUNTS)
def test_a_right_account_adds_up(answered: int, refused: int, own: int, explained: int, isolation: int, by_fault: int) -> None:
    lost = own + explained
    account = Account(answered + refused + lost + isolation, answered, refused, lost, isolation, explained, by_fault)
    found = make_sum(account)
    assert found.adds_up
    assert sum(term.value for term in found.terms) == account.sent
    assert all(term.value >= 0 for term in found.terms)


@given(answered=COUNTS, lost=COUNTS, missing=st.integers(min_value=-1000, max_value=1000).filter(bool))
def test_a_wrong_account_shows_the_difference(answered: int, lost: int, missing: int) -> None:
    found = make_sum(Account(answered + lost + 1000 + missing, answered, 1000, lost, 0, 0, 0))
    assert not found.adds_up
    assert found.difference == missing


def test_nothing_is_made_up_when_nothing_was_counted() -> None:
    found = make_sum(Account(None, None, None, None, None, None, None))
    assert found.sent is None and found.difference is None and not found.adds_up


def test_requests_in_flight_are_a_term() -> None:
    account = Account(sent=100, answered=90, refused=0, lost=0, isolation=0, lost_explained=0, refused_by_fault=0, in_flight=10)
    assert make_sum(account).adds_up
    assert terms(account)["in flight"] == 10
