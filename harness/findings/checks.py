"""Checks that many findings share. They look at facts as Rig.seen() and Beacon.numbers() give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .finding import Check


def others_go_on(beacon: Mapping[str, Any], stimulus_s: float, name: str = "others go on meanwhile") -> Check:
    """H, the beacon's worst answer, stays under half of what the stimulus lasts: a bound that no machine's speed moves."""
    worst = beacon["beacon_worst_s"]
    return Check(name, worst < stimulus_s / 2, f"worst answer after {worst:.2f} s, stimulus {stimulus_s:g} s", beacon)


def answered(reply: Mapping[str, Any], name: str = "is answered") -> Check:
    ok = reply["error"] is None and reply["status"] == 200
    return Check(name, ok, reply["error"] or f"status {reply['status']}", {"took_s": reply["seconds"]})


def said(reply: Mapping[str, Any]) -> str:
    """What a reply said, short enough for a sentence."""
    return reply["error"] or f"status {reply['status']}, {reply['body'].strip()[:120]!r}"


def fact(reply: Mapping[str, Any], name: str, default: Any = None) -> Any:
    return reply["facts"].get(name, default)
