"""B26: the four sleeps, side by side for 2 s; then 2,000 of a microsecond and 100 of 100 µs.

On the audited server time_sleep_until() blocked the worker (H 1.4 s), time_nanosleep(0, 999) woke up to 38 ns early in 62 of
2,000, and usleep(100) took 2.17 ms at least (0.15 elsewhere).
"""

from .checks import fact, others_go_on
from .finding import Check, Finding

LASTS_S = 2.0
CALLS = ("sleep", "usleep", "time_nanosleep", "time_sleep_until")
SHORT_US, SHORT_TIMES_MAX = 100, 10  # the shortest of 100 sleeps is at most ten times what was asked
CLOCK_NS = 1000  # microtime() is a float: times of today are exact to 0.24 us

FINDING = Finding(
    "B26",
    tried="sleep, usleep, time_nanosleep, time_sleep_until for 2 s at once; 2,000 × 999 ns; 100 × 100 µs",
    workers_alone=len(CALLS) + 1,
)


def stimulate(rig):
    with rig.beacon() as beacon:
        flights = {call: rig.start(f"/findings/b26_sleep.php?by={call}&ms={int(LASTS_S * 1000)}") for call in CALLS}
        replies = {call: rig.seen(flight.finish(30)) for call, flight in flights.items()}
    return {"calls": replies, "beacon": beacon.numbers(), "fine": rig.seen(rig.ask("/findings/b26_fine.php", 60))}


def judge(seen):
    for call, reply in seen["calls"].items():
        short = fact(reply, "short_ns")
        allowed = CLOCK_NS if call == "time_sleep_until" else 0
        text = reply["error"] or f"{short} ns short of {LASTS_S:g} s"
        yield Check(f"{call} is not early", short is not None and short <= allowed, text, {"short_ns": short})
    yield others_go_on(seen["beacon"], LASTS_S)
    fine = seen["fine"]
    yield Check(
        "999 ns are not early", fact(fine, "early") == 0, f"{fact(fine, 'early')} of 2,000, up to {fact(fine, 'early_ns')} ns"
    )
    least = fact(fine, "least_ns")
    late = least is None or least > SHORT_US * 1000 * SHORT_TIMES_MAX
    yield Check(
        "100 µs are not much late", not late, f"the shortest of 100 took {(least or 0) / 1000:.0f} µs", {"least_ns": least}
    )
