"""Every finding once: on stock php-fpm, which must be as the catalogue says, and on the fiber server, where it is built.

The third column, a server that has the fault, is `make audit`'s.
"""

import pytest

from harness.findings.columns import CONTROL, FIXED, columns
from harness.findings.finding import scenarios
from harness.findings.trial import replay, try_once

SCENARIOS = scenarios()


@pytest.mark.parametrize("name", [CONTROL, FIXED])
@pytest.mark.parametrize("id", SCENARIOS)
def test_finding(id, name, tmp_path):
    (column,) = columns([name])
    if column.missing:
        pytest.skip(column.missing)
    scenario = SCENARIOS[id]
    trial = try_once(scenario, column)
    history = "".join(f"\n{one['t_s']:8.3f} {one['case']} {one['text']}" for one in trial.history[-20:])
    again = " ".join(replay(scenario, column))
    assert trial.verdict.kind == column.expected(scenario.row), f"{trial.verdict.line()}{history}\nagain: {again}"
