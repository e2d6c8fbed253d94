"""AUDIT mode: after each request, nothing has changed in libphp that is neither the request's own nor on the list of what is shared."""

from __future__ import annotations

import re

from harness.orchestrate import launch, load_target
from harness.orchestrate.paths import ROOT

SCRIPTS = ROOT / "fixtures" / "differential"


def changed(mode: str, names: list[str]) -> set[str]:
    """What the audit reported, as places in object files."""
    env = {"ORDEAL_AUDIT": mode}
    with launch(load_target("fiber"), app=SCRIPTS, app_in_place=True, workers=1, shim=False, env=env) as run:
        for name in names:
            run.request(f"/{name}", timeout_s=60)
        return set(re.findall(r"AUDIT: (\S+) ", run.log()))


def test_nothing_changes_that_nobody_knows_of():
    names = [path.name for path in sorted(SCRIPTS.glob("*.php"))]
    assert len(names) > 250
    assert changed("1", names) == set()


def test_the_audit_sees_what_is_on_the_list_too_when_it_is_strict():
    """So it would have seen the rest: two requests, and the heap's pointer is another for each."""
    assert any(place.startswith("libphp") for place in changed("strict", ["closure_bind.php", "static_closure.php"]))
