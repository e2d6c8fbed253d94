"""B5: ssl://, tls:// and https:// to a peer with a full backlog, through a slow resolver, and to a peer that never shakes hands.

On the audited server the worker stood still for 2.85 s of 3 (backlog) and 1.41 s of 1.5 (resolver); tcp:// was right.
"""

from .checks import fact, others_go_on
from .finding import Check, Finding

TIMEOUT_S, RESOLVER_S = 3, 1.5
BACKLOG, RESOLVER, MUTE = "full backlog", "slow resolver", "mute peer"
SCHEMES = ("ssl", "tls", "https")

FINDING = Finding(
    "B5",
    tried="ssl://, tls://, https:// to a peer with a full backlog; through a resolver that takes 1.5 s; to a peer that is mute",
    workers_alone=len(SCHEMES) + 1,
    cases=(BACKLOG, RESOLVER, MUTE),
    rules=(f"getaddrinfo:path=localhost:delay={int(RESOLVER_S * 1000)}ms",),
)


def stimulate(rig):
    peer = rig.peer("full_backlog" if rig.case == BACKLOG else "mute")
    host = "localhost" if rig.case == RESOLVER else "127.0.0.1"
    if rig.case == RESOLVER:
        rig.arm()
    with rig.beacon() as beacon:
        flights = {}
        for scheme in SCHEMES:
            mark = f"connecting-{scheme}"
            flights[scheme] = rig.start(
                f"/findings/b05_connect.php?url={scheme}://{host}:{peer.port}&timeout={TIMEOUT_S}&mark={mark}"
            )
        for scheme in SCHEMES:
            rig.wait_mark(f"connecting-{scheme}", 15)
        replies = {scheme: rig.seen(flight.finish(40)) for scheme, flight in flights.items()}
    fired = sum(rule.fired for rule in rig.run.faults())
    return {
        "lasts_s": RESOLVER_S if rig.case == RESOLVER else TIMEOUT_S,
        "replies": replies,
        "beacon": beacon.numbers(),
        "fired": fired,
    }


def judge(seen):
    for scheme, reply in seen["replies"].items():
        took = fact(reply, "took_s")
        waited = took is not None and took >= seen["lasts_s"] / 2
        yield Check(
            f"{scheme}:// waits", True if waited else None, f"{reply['error'] or took} s, {fact(reply, 'why')}", {"took_s": took}
        )
    yield others_go_on(seen["beacon"], seen["lasts_s"])
