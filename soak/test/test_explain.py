"""Which losses and refusals are explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soak.explain import explain
from soak.measured import Interval, Kill, Unanswered
from soak.test.made_up import at, unanswered

CLOSED = "connection closed before END_REQUEST"


def kill_at(seconds: float) -> Kill:
    return Kill(1, Interval(at(seconds), at(seconds) + 1000), frozenset({1}))


@pytest.mark.parametrize(
    "sent_s, ended_s, reason, explained",
    [
        (9, 11, CLOSED, True),
        (9, 11, "connection reset by the target", True),
        (9, 10, CLOSED, True),  # at the very instant
        (10, 11, CLOSED, True),
        (9, 9.9, CLOSED, False),  # over before the kill
        (10.1, 11, CLOSED, False),  # begun after it
        (9, 19, "timeout after 10 s", False),
        (9, 11, "malformed record: version 7", False),
    ],
)
def test_one_loss_and_one_kill(sent_s: float, ended_s: float, reason: str, explained: bool) -> None:
    found = explain([unanswered("lost", sent_s, ended_s, reason)], [kill_at(10)], [], 1)
    assert (found.lost_explained, len(found.lost_unexplained)) == ((1, 0) if explained else (0, 1))


def test_a_kill_explains_no_more_than_a_worker_holds() -> None:
    losses = [unanswered("lost", 9, 10 + i / 100) for i in range(5)]
    assert explain(losses, [kill_at(10)], [], 1).lost_explained == 1
    assert explain(losses, [kill_at(10)], [], 3).lost_explained == 3
    assert explain(losses, [kill_at(10)], [], 100).lost_explained == 5


def test_two_kills_explain_two() -> None:
    losses = [unanswered("lost", 9, 10.01), unanswered("lost", 9.5, 20.01)]
    found = explain(losses, [kill_at(10), kill_at(20)], [], 1)
    assert [len(taken) for taken in found.losses_by_kill] == [1, 1]


@pytest.mark.parametrize("sent_s, ended_s, allowed", [(5, 6, False), (9, 11, True), (12, 13, True), (19, 21, True), (21, 22, False)])
def test_refusals_are_allowed_only_around_armed_rules(sent_s: float, ended_s: float, allowed: bool) -> None:
    found = explain([unanswered("refused", sent_s, ended_s, "status 500")], [], [Interval(at(10), at(20))], 1)
    assert (len(found.refused_by_fault), len(found.refused_unexplained)) == ((1, 0) if allowed else (0, 1))


def test_armed_rules_explain_no_loss() -> None:
    assert len(explain([unanswered("lost", 12, 13)], [], [Interval(at(10), at(20))], 1).lost_unexplained) == 1


BAD_GATEWAY = "status 502: 502 Bad Gateway 502 Bad Gateway nginx/1.22.1"


@pytest.mark.parametrize(
    "sent_s, ended_s, reason, gateway, explained",
    [
        (9, 11, BAD_GATEWAY, True, True),
        (9, 11, BAD_GATEWAY, False, False),  # without a web server in front it is the runtime's own answer
        (9, 9.9, BAD_GATEWAY, True, False),
        (10.1, 11, BAD_GATEWAY, True, False),
        (9, 11, "status 503: busy", True, False),
        (9, 11, "connection refused", True, False),
    ],
)
def test_a_web_servers_502_and_one_kill(sent_s: float, ended_s: float, reason: str, gateway: bool, explained: bool) -> None:
    found = explain([unanswered("refused", sent_s, ended_s, reason)], [kill_at(10)], [], 1, gateway)
    assert (len(found.refused_by_kill), len(found.refused_unexplained)) == ((1, 0) if explained else (0, 1))
    assert found.lost_explained == 0, "it is counted once, as what the client saw"


def test_losses_and_502s_share_what_a_worker_holds() -> None:
    failed = [unanswered("lost", 9, 10.01), *(unanswered("refused", 9, 10.02 + i / 100, BAD_GATEWAY) for i in range(3))]
    found = explain(failed, [kill_at(10)], [], 3, True)
    assert (found.lost_explained, len(found.refused_by_kill), len(found.refused_unexplained)) == (1, 2, 1)


MOMENTS = st.floats(0, 100)
REQUESTS = st.builds(
    lambda outcome, sent, took, reason: unanswered(outcome, sent, sent + took, reason),
    st.sampled_from(["lost", "refused", "isolation"]), MOMENTS, st.floats(0, 10),
    st.sampled_from([CLOSED, "timeout after 10 s", BAD_GATEWAY]),
)


@given(st.lists(REQUESTS, max_size=30), st.lists(MOMENTS, max_size=5), st.integers(1, 4), st.booleans())
def test_every_request_is_in_exactly_one_list(requests: list[Unanswered], kills: list[float], holds: int, gateway: bool) -> None:
    found = explain(requests, [kill_at(s) for s in kills], [Interval(at(40), at(60))], holds, gateway)
    lists = [*found.losses_by_kill, found.refused_by_kill, found.lost_unexplained, found.refused_by_fault, found.refused_unexplained, found.isolation]
    assert sorted(map(repr, requests)) == sorted(repr(one) for part in lists for one in part)
    assert all(len(taken) <= holds for taken in found.losses_by_kill)
    assert found.lost_explained + len(found.refused_by_kill) <= holds * len(kills)
    assert found.lost_explained + len(found.unexplained) + len(found.refused_by_fault) + len(found.refused_by_kill) == len(requests)
