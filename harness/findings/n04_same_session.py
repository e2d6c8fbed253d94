"""N4: two requests with one session id.

With the lock waited for in the kernel, the second request hung the whole worker, the holder of the lock in it.
"""

from .checks import answered, fact, others_go_on
from .finding import Check, Finding

LASTS_S = 2.0

FINDING = Finding("N4", tried="two requests with one session id; the first keeps it open for 2 s", workers_alone=3)


def stimulate(rig):
    with rig.beacon() as beacon:
        first = rig.start("/findings/n04_session.php?sid=x&n=1&wait=go")
        rig.wait_mark("open-1")
        second = rig.start("/findings/n04_session.php?sid=x&n=2")
        rig.wait_mark("opening-2")
        rig.hold(LASTS_S)
        early = rig.marked("open-2")
        rig.release("go")
        replies = [rig.seen(flight.finish(10)) for flight in (first, second)]
    return {"replies": replies, "early": early, "beacon": beacon.numbers()}


def judge(seen):
    for k, reply in enumerate(seen["replies"], 1):
        yield answered(reply, f"request {k} is answered")
    counts = [fact(reply, "n") for reply in seen["replies"]]
    yield Check(
        "they take turns",
        counts == [1, 2] and not seen["early"],
        f"counts {counts}" + (", the second did not wait" if seen["early"] else ""),
    )
    yield others_go_on(seen["beacon"], LASTS_S)
