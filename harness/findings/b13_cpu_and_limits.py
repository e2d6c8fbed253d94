"""B13: a request that computes, time limits, and recycling under load.

On the audited server a loop of 2 s held up everybody for 1.9 s, and no limit existed.
"""

from .checks import others_go_on
from .finding import Check, Finding

COMPUTE_MS = 2000
LIMIT_S, ENDS_WITHIN_S = 2, 12
LOAD, LOAD_AT_ONCE, RECYCLE_AT = 120, 6, 25

FINDING = Finding(
    "B13",
    tried="2 s of CPU beside a sleep of 100 ms; while(true) and sleep(60) under a limit of 2 s; max_requests under load",
    workers_alone=8,
    cases=("compute", "limit", "recycle"),
    case_settings={"limit": {"request_terminate_timeout": f"{LIMIT_S}s"}, "recycle": {"pm.max_requests": str(RECYCLE_AT)}},
)


def stimulate(rig):
    return {"compute": _compute, "limit": _limit, "recycle": _recycle}[rig.case](rig)


def _compute(rig):
    with rig.beacon() as beacon:
        computing = rig.start(f"/findings/b13_compute.php?ms={COMPUTE_MS}")
        rig.wait_mark("computing")
        sleeper = rig.ask("/findings/b13_sleep.php?ms=100")
        computed = computing.finish(30)
    return {"computed": rig.seen(computed), "sleeper": rig.seen(sleeper), "beacon": beacon.numbers()}


def _limit(rig):
    limited = {"sleep(60)": rig.start("/findings/b13_sleep.php?ms=60000")}
    rig.wait_mark("sleeping")
    limited["while(true)"] = rig.start("/findings/b13_compute.php?ms=0")
    rig.wait_mark("computing")
    with rig.beacon() as beacon:
        seen = {name: rig.seen(flight.finish(ENDS_WITHIN_S)) for name, flight in limited.items()}
    return {"limited": seen, "beacon": beacon.numbers(), "failures": beacon.failures[:3]}


def _recycle(rig):
    long = [rig.start(f"/findings/b13_sleep.php?ms=2500&mark=long{k}") for k in range(2)]
    for k in range(2):
        rig.wait_mark(f"long{k}")
    replies = []
    for _ in range(LOAD // LOAD_AT_ONCE):
        flights = [rig.start("/findings/beacon.php", quiet=True) for _ in range(LOAD_AT_ONCE)]
        replies += [flight.finish(30) for flight in flights]
    replies_long = [flight.finish(30) for flight in long]
    bad = [reply.why for reply in (*replies, *replies_long) if not reply.ok]
    return {"bad": bad, "pids": len({reply.text for reply in replies if reply.ok}), "sent": len(replies) + len(long)}


def judge(seen):
    if "computed" in seen:
        bound = COMPUTE_MS / 1000 / 2
        sleeper = seen["sleeper"]
        yield Check("the computing request ends", seen["computed"]["status"] == 200, str(seen["computed"]["status"]))
        yield others_go_on(seen["beacon"], COMPUTE_MS / 1000)
        ok = sleeper["status"] == 200 and sleeper["seconds"] < bound
        yield Check("a sleep of 100 ms is short", ok, f"it took {sleeper['seconds']:.2f} s", {"sleeper_s": sleeper["seconds"]})
    elif "limited" in seen:
        for name, reply in seen["limited"].items():
            ended = reply["seconds"] < ENDS_WITHIN_S and not reply["facts"].get("slept")
            yield Check(
                f"{name} is ended",
                ended,
                f"after {reply['seconds']:.1f} s, {reply['error'] or 'status %d' % reply['status']}",
                {"ended_s": reply["seconds"]},
            )
        failures = seen["beacon"]["beacon_failures"]
        yield Check(
            "and nobody else", failures == 0, f"{failures} of the beacon's requests failed: {seen['failures']}", seen["beacon"]
        )
    else:
        yield Check(
            "none is lost",
            not seen["bad"],
            f"{len(seen['bad'])} of {seen['sent']}: {seen['bad'][:2]}",
            {"lost": len(seen["bad"])},
        )
        yield Check("workers are replaced", seen["pids"] > 1, f"{seen['pids']} workers answered", {"pids": seen["pids"]})
