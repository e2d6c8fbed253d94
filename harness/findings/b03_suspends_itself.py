"""B3: a request that suspends itself where no fiber is, while it holds a session and a file lock; clients that leave.

On the audited server the client saw 200 and the partial body; the session stayed locked, a deploy never ended, and with the file
lock held the next flock() froze the whole worker.
"""

from .checks import fact
from .finding import Check, Finding

SUSPENDS = ("body", "shutdown", "destructor", "callback")
LEAVES, ABORTS = "client leaves", "FCGI_ABORT_REQUEST"
AFTER_WITHIN_S = 8.0

FINDING = Finding(
    "B3",
    tried="Fiber::suspend() in the body, a shutdown function, a destructor, an output callback; a client that leaves; then its locks, a reload",
    cases=(*SUSPENDS, LEAVES, ABORTS),
)


def stimulate(rig):
    where = rig.case if rig.case in SUSPENDS else "leaves"
    flight = rig.start(f"/findings/b03_suspend.php?where={where}&sid=a")
    rig.wait_mark("holding")
    if rig.case in SUSPENDS:
        reply = flight.finish(AFTER_WITHIN_S)
    else:
        flight.close() if rig.case == LEAVES else flight.abort()
        rig.tell(rig.case)
        reply = flight.finish(AFTER_WITHIN_S)
    seen = {"case": rig.case, "reply": rig.seen(reply)}
    after = {
        name: rig.start(f"/findings/b03_after.php?{query}")
        for name, query in (("same session", "sid=a"), ("other session", "sid=b"), ("lock", ""))
    }
    seen["after"] = {name: rig.seen(flight.finish(AFTER_WITHIN_S)) for name, flight in after.items()}
    seen["log"] = rig.log_has(r"FiberError|[Ss]uspend") if rig.case in SUSPENDS else None
    before = rig.workers()
    rig.signal("reload")
    seen["drained"] = rig.comes(lambda: not set(before) & set(rig.workers()), 15)
    seen["later"] = rig.seen(rig.ask("/findings/beacon.php", AFTER_WITHIN_S))
    return seen


def judge(seen):
    reply = seen["reply"]
    if seen["case"] in SUSPENDS:
        yield Check(
            "it is ended", reply["error"] is None, reply["error"] or f"status {reply['status']}, {reply['seconds']:.2f} s"
        )
        if seen["case"] != "callback":  # PHP itself drops what is thrown in one
            yield Check("the log says so", bool(seen["log"]), "FiberError" if seen["log"] else "no line of the log speaks of it")
    for name, one in seen["after"].items():
        ok = one["error"] is None and fact(one, "got") is True
        yield Check(
            f"the {name} can be had again", ok, one["error"] or f"got it in {one['seconds']:.2f} s", {"took_s": one["seconds"]}
        )
    yield Check("a reload ends", seen["drained"], "old workers " + ("went" if seen["drained"] else "are still there"))
    later = seen["later"]
    yield Check("and requests are answered after it", later["status"] == 200, later["error"] or f"status {later['status']}")
