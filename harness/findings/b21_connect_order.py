"""B21: tcp://name through a slow resolver, before and after an ssl:// connect to an address.

On the audited server the first was right (H 0.00), the second blocked the worker for 1.40 s: the first TLS connect changed how
all later connects were made.
"""

from .checks import fact, others_go_on
from .finding import Check, Finding

RESOLVER_S = 1.5

FINDING = Finding(
    "B21",
    tried="tcp://localhost through a resolver that takes 1.5 s, before and after ssl://127.0.0.1",
    rules=(f"getaddrinfo:path=localhost:delay={int(RESOLVER_S * 1000)}ms",),
)


def stimulate(rig):
    plain, secure = rig.peer("mute"), rig.peer("one_record", tls=True)
    rig.arm()

    def by_name(mark):
        with rig.beacon() as beacon:
            flight = rig.start(f"/findings/b05_connect.php?url=tcp://localhost:{plain.port}&timeout=5&mark={mark}")
            rig.wait_mark(mark)
            reply = flight.finish(20)
        return {"reply": rig.seen(reply), "beacon": beacon.numbers()}

    before = by_name("before")
    tls = rig.seen(rig.ask(f"/findings/b05_connect.php?url=ssl://127.0.0.1:{secure.port}&timeout=5&mark=tls"))
    return {"before": before, "tls": tls, "after": by_name("after")}


def judge(seen):
    yield Check(
        "ssl:// connects", True if fact(seen["tls"], "connected") else None, f"{seen['tls']['error'] or fact(seen['tls'], 'why')}"
    )
    for when in ("before", "after"):
        took = fact(seen[when]["reply"], "took_s")
        waits = took is not None and took >= RESOLVER_S / 2
        yield Check(f"the lookup {when} waits", True if waits else None, f"{took} s", {"took_s": took})
        yield others_go_on(seen[when]["beacon"], RESOLVER_S, f"others go on {when} it")
