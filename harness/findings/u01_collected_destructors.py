"""U1: a cycle whose destructor prints, left by a request that waits; another request runs the collector.

On the audited server A's text came, with B's URI, in B's body; a destructor that waits blocked the worker (H 0.7 s).
"""

from .checks import answered, others_go_on
from .finding import Check, Finding

LASTS_S = 2.0

FINDING = Finding(
    "U1", tried="a request leaves a cycle whose destructor prints; another collects; a destructor that waits 2 s in the collector"
)


def stimulate(rig):
    a = rig.start("/findings/u01_cycle.php?name=A")
    rig.wait_mark("left-A")
    b = rig.seen(rig.ask("/findings/u01_collect.php?name=B"))
    rig.release("go-A")
    seen = {"A": rig.seen(a.finish()), "B": b}
    with rig.beacon() as beacon:
        waits = rig.start(f"/findings/u01_cycle.php?name=C&collect=1&sleep={int(LASTS_S * 1000)}")
        rig.wait_mark("in-destructor")
        seen["C"] = rig.seen(waits.finish(20))
    return {**seen, "beacon": beacon.numbers()}


def judge(seen):
    text = "[destructor of A]"
    yield Check(
        "not in the collector's answer",
        text not in seen["B"]["body"] and seen["B"]["status"] == 200,
        f"B's body is {seen['B']['body'].strip()!r}",
    )
    yield Check("but in its own", seen["A"]["body"].count(text) == 1, f"A's body is {seen['A']['body'].strip()!r}")
    yield answered(seen["C"], "a destructor that waits ends")
    yield others_go_on(seen["beacon"], LASTS_S)
