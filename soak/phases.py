"""The phases of a soak, planned from its duration alone.

    calm | faults  heal  reload  kill  calm again | faults  heal  reload  kill  calm again | …
         |<------------- one cycle -------------->|

calm        steady load, nothing else: the plateau is measured here, and in every long quiet stretch
faults      the rules are armed: requests may be refused with a reason, none may be lost
heal        the rules are disarmed: from now on everything must be answered again (liveness)
reload      the target is told to replace its workers, under load
kill        one worker, chosen by the seed, gets SIGKILL under load
calm again  nothing else: what was broken must not show later

A run of some minutes has one cycle. A longer one has one about every ten minutes: long enough between two
reloads to see a slow leak, which fresh workers would hide.
"""

from __future__ import annotations

from dataclasses import dataclass

CALM, FAULTS, HEAL, RELOAD, KILL, CALM_AGAIN = "calm", "faults", "heal", "reload", "kill", "calm again"
DURATION_S_MIN = 8.0
DURATION_S_MAX = 30 * 86_400.0
CALM_FRACTION = 0.25
CALM_S_MAX = 600.0
CYCLE_S = 600.0
CYCLES_MAX = 1000
CYCLE_S_MIN = 5.0
CYCLE_SHARES = ((FAULTS, 0.30), (HEAL, 0.15), (RELOAD, 0.15), (KILL, 0.15), (CALM_AGAIN, 0.25))


@dataclass(frozen=True)
class Phase:
    name: str
    cycle: int  # 0 before the first cycle, then 1, 2, …
    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s


def plan(duration_s: float, cycles: int | None = None) -> list[Phase]:
    """All phases, in order, without gaps, from 0 to `duration_s`; `cycles` of them, or one about every ten minutes."""
    if not DURATION_S_MIN <= duration_s <= DURATION_S_MAX:
        raise ValueError(
            f"duration {duration_s:g} s: expected {DURATION_S_MIN:g} s (six phases need time) "
            f"to {DURATION_S_MAX / 86_400:g} days"
        )
    calm_s = min(CALM_FRACTION * duration_s, CALM_S_MAX)
    cycles = cycles or min(CYCLES_MAX, max(1, round((duration_s - calm_s) / CYCLE_S)))
    if (duration_s - calm_s) / cycles < CYCLE_S_MIN:
        raise ValueError(f"{cycles} cycles in {duration_s:g} s: expected {CYCLE_S_MIN:g} s or more for each, after the first quarter")
    lengths = [(CALM, 0, calm_s)]
    for cycle in range(1, cycles + 1):
        lengths += [(name, cycle, share * (duration_s - calm_s) / cycles) for name, share in CYCLE_SHARES]
    return _laid_out(lengths, duration_s)


def _laid_out(lengths: list[tuple[str, int, float]], duration_s: float) -> list[Phase]:
    phases, start = [], 0.0
    for number, (name, cycle, length) in enumerate(lengths, 1):
        end = duration_s if number == len(lengths) else start + length
        phases.append(Phase(name, cycle, start, end))
        start = end
    return phases
