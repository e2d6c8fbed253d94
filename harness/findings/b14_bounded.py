"""B14: ten times as many requests as may be in flight, at once.

On the audited server 900 were accepted by one child: no bound, 55 KB each.
"""

from .checks import fact
from .finding import Check, Finding

BOUND, TIMES, LIVE_MS = 4, 10, 300

FINDING = Finding(
    "B14",
    tried=f"{BOUND * TIMES} requests at once where {BOUND} may be in flight",
    workers_alone=BOUND,
    settings={"fiber.max_in_flight": str(BOUND)},
)


def stimulate(rig):
    flights = [rig.start(f"/findings/b14_request.php?ms={LIVE_MS}", quiet=True) for _ in range(BOUND * TIMES)]
    rig.tell(f"sent {len(flights)} requests of {LIVE_MS} ms")
    replies = [rig.seen(flight.finish(60)) for flight in flights]
    lives = [(fact(one, "begun"), fact(one, "ended")) for one in replies if fact(one, "ended")]
    return {"bad": [one["error"] or one["status"] for one in replies if one["status"] != 200], "lives": lives}


def judge(seen):
    bad, most = len(seen["bad"]), most_at_once(seen["lives"])
    yield Check(
        "the excess waits, and is answered", bad == 0, f"{bad} of {BOUND * TIMES} not answered: {seen['bad'][:2]}", {"bad": bad}
    )
    yield Check(
        "the bound holds", most <= BOUND if seen["lives"] else None, f"{most} at once, bound {BOUND}", {"most_at_once": most}
    )


def most_at_once(lives):
    """The greatest number of intervals that overlap; one that ends as another begins does not overlap it."""
    changes = sorted([(begun, 1) for begun, _ in lives] + [(ended, -1) for _, ended in lives])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most
