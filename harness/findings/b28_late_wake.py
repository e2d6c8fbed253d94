"""B28: a wait that ends by its time, then a sleep, during which what the first has waited for comes.

Not seen on the audited server, where it was possible: a wake named the request, and not the wait it was meant for.
"""

from .checks import fact, said
from .finding import Check, Finding

CASES = {"stream_select": "select", "a read with a time limit": "read"}

FINDING = Finding(
    "B28",
    tried="stream_select and a read that end by their time; what they waited for comes during the next sleep, which must last",
    cases=tuple(CASES),
)


def stimulate(rig):
    peer = rig.peer("late")
    flight = rig.start(f"/findings/b28_waits.php?first={CASES[rig.case]}&port={peer.port}")
    rig.wait_mark("gave-up")
    peer.tell("send")
    peer.wait_line("sent")
    return {"reply": rig.seen(flight.finish(20))}


def judge(seen):
    short = fact(seen["reply"], "short_ns")
    yield Check(
        "the sleep lasts",
        short == 0,
        f"{short} ns short of 1 s" if short is not None else said(seen["reply"]),
        {"short_ns": short},
    )
