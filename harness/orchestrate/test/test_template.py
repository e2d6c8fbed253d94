"""Filling {{PLACES}}."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.orchestrate.template import PLACES, UnknownPlace, fill, suggestion, unknown_places

plain = st.text(st.characters(blacklist_characters="{}"))


def test_a_place_is_filled_wherever_it_is():
    assert fill("{{HOST}}:{{ PORT }}, {{HOST}}", {"HOST": "h", "PORT": "1"}) == "h:1, h"


def test_a_value_is_never_filled_again():
    assert fill("{{HOST}}", {"HOST": "{{PORT}}", "PORT": "1"}) == "{{PORT}}"


def test_an_unknown_place_names_a_near_one():
    with pytest.raises(UnknownPlace, match="did you mean WORKDIR"):
        fill("{{WORKDIRR}}", {})
    assert unknown_places("{{ADDR}} {{NOPE}}") == ["NOPE"]


@given(st.lists(st.tuples(plain, st.sampled_from(sorted(PLACES)))), st.dictionaries(st.sampled_from(sorted(PLACES)), plain))
def test_all_else_stays_as_it_is(parts, given_values):
    values = {name: given_values.get(name, "") for name in PLACES}
    text = "".join(f"{before}{{{{{name}}}}}" for before, name in parts)
    assert fill(text, values) == "".join(before + values[name] for before, name in parts)


def test_a_suggestion_ignores_case_and_lists_all_when_none_is_near():
    assert suggestion("Reload", ["reload", "quit"]) == "did you mean reload?"
    assert suggestion("zzz", ["reload", "quit"]) == "known are: reload, quit"
