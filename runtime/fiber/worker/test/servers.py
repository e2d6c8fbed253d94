"""Servers to ask, and what happens in them: pools with other settings, requests that wait until a test lets them go on.

    with serve("fiber", {"fiber.max_in_flight": "4"}) as run, Peer(run) as peer:
        gate = Gate(run, "a")
        peer.ask(gate.url)
        gate.wait_begun()          # its script runs, and waits
        gate.open()
        assert peer.answer().body == b"through a"
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fcgi_peer import fetch

from harness.orchestrate import Running, launch, load_target
from harness.orchestrate.pool_file import with_settings
from harness.orchestrate.waiting import eventually

PAGES = Path(__file__).parent / "pages"
WITHIN_S = 30.0


def serve(
    name: str, settings: Mapping[str, str] | None = None, env: Mapping[str, str] | None = None, in_place: bool = False,
    ready_within_s: float | None = None,
) -> Running:  # fmt: skip
    """One worker of `fiber` or `php-fpm`, with settings of the pool in the place of those that its target file has.

    in_place    the pages are not copied: their names are the same for two servers that are compared
    """
    target = load_target(name)
    target = with_settings(target, settings or {})
    target = replace(target, ready_within_s=ready_within_s or target.ready_within_s)
    return launch(target, app=PAGES, app_in_place=in_place, workers=1, shim=False, env=env)


def until(what: str, is_so: Callable[[], Any]) -> Any:
    """What `is_so` returns as soon as it is true; fails only after a bound that nothing comes near."""
    return eventually(is_so, what, WITHIN_S)


def assert_well_ended(run: Running) -> None:
    """No crash, nothing left over. Log lines about what clients have done are no problem."""
    assert run.exit is not None
    problems = [one for one in run.exit.problems if not one.startswith("log: ")]
    problems += re.findall(r".*(?:child \d+ (?:exited (?:on signal|with code [1-9])|died)|its image was dropped).*", run.log())
    assert not problems, "\n".join(problems)


class Gate:
    """A request that waits in its script until it is let through."""

    def __init__(self, run: Running, name: str, query: str = "") -> None:
        self.begun, self.opened = run.data / f"begun-{name}", run.data / f"open-{name}"
        self.url = f"/gate.php?n={name}{query}"
        self.name = name

    def wait_begun(self) -> None:
        until(f"{self.name} has begun", self.begun.exists)

    def open(self) -> None:
        self.opened.touch()


def status(run: Running) -> dict[str, Any]:
    return json.loads(fetch(run, "/fpm-status?json&full").body)


def wait_idle(run: Running) -> dict[str, Any]:
    """Nothing is in flight or in line any more, and no connection is left but the one that asks."""

    def idle() -> dict[str, Any] | None:
        now = status(run)
        busy = now["worker in flight"] or now["worker in line"] or now["worker connections"] > 1
        return None if busy else now

    return until("the worker is idle", idle)
