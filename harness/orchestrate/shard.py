"""Splitting the tests over machines: shard i of n is a pure function of the test's id.

    pytest --shard 2/8          # the same eighth on every machine, in every order, with or without xdist

Each test falls in exactly one shard, and stays there when other tests come or go. The tests of one C file stay together,
because one run of its program gives all their results. What is not in the shard is deselected, never skipped.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

SHARDS_MAX = 10_000


@dataclass(frozen=True)
class Shard:
    index: int  # from 1
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal()):
            raise ValueError(f"shard {text!r}: expected i/n, such as 2/8")
        if not 1 <= int(index) <= int(count) <= SHARDS_MAX:
            raise ValueError(f"shard {text!r}: expected 1 <= i <= n <= {SHARDS_MAX}")
        return cls(int(index), int(count))

    def has(self, node_id: str) -> bool:
        digest = hashlib.sha256(key_of(node_id).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def key_of(node_id: str) -> str:
    """The part of a node id that decides: the file for a C test, the whole id otherwise."""
    file, _, _ = node_id.partition("::")
    return file if file.endswith(".c") else node_id
