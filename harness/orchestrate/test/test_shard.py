"""A shard is a partition that depends on nothing but the ids."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.orchestrate.shard import Shard

ids = st.lists(st.text(min_size=1), unique=True)


@given(ids, st.integers(1, 40))
def test_each_test_is_in_exactly_one_shard(node_ids, count):
    shards = [Shard(i, count) for i in range(1, count + 1)]
    for node_id in node_ids:
        assert sum(shard.has(node_id) for shard in shards) == 1


@given(ids.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))), st.integers(1, 8), st.integers(0, 7))
def test_order_and_company_do_not_matter(both, count, index):
    node_ids, mixed = both
    shard = Shard(1 + index % count, count)
    chosen = {one for one in node_ids if shard.has(one)}
    part = mixed[: len(mixed) // 2]
    assert {one for one in part if shard.has(one)} == chosen & set(part)


def test_another_process_says_the_same(pytestconfig):
    node_ids = [f"a/test_{i}.py::test_x[{i}]" for i in range(50)]
    code = f"from harness.orchestrate.shard import Shard; print([Shard(2, 3).has(i) for i in {node_ids!r}])"
    said = subprocess.run([sys.executable, "-c", code], cwd=pytestconfig.rootpath, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str([Shard(2, 3).has(one) for one in node_ids])


def test_shards_are_about_even():
    sizes = [sum(Shard(i, 4).has(f"test_{k}.py::test") for k in range(4000)) for i in range(1, 5)]
    assert sum(sizes) == 4000 and min(sizes) > 850


def test_the_tests_of_one_c_file_stay_together():
    names = [f"x/test/test_a.c::test_{k}" for k in range(20)]
    assert all(sum(Shard(i, 5).has(name) for name in names) in (0, 20) for i in range(1, 6))


@pytest.mark.parametrize("text", ["", "1", "/", "0/4", "5/4", "1/0", "-1/4", "a/b", "1/4/5", "1.0/4", "1/99999999"])
def test_a_wrong_shard_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        Shard.parse(text)


def test_a_right_one_is_read():
    assert Shard.parse("2/8") == Shard(2, 8) and str(Shard(2, 8)) == "2/8"
