"""N8: a client goes away while its script goes on writing; then what later requests see.

With one engine for all requests, connection_status() was 1 and collection was off in every later request.
"""

from .checks import fact, said
from .finding import Check, Finding

LATER = 3

FINDING = Finding(
    "N8", tried="a client leaves, its script goes on writing 1.6 MB; then connection_status() and cycles of later requests"
)


def stimulate(rig):
    flight = rig.start("/findings/n08_writes.php")
    rig.wait_mark("begun")
    flight.close()
    rig.tell("the client left")
    rig.release("go")
    rig.wait_mark("ended", 20)
    return {"noticed": rig.marked("noticed"), "later": [rig.seen(rig.ask("/findings/n08_later.php")) for _ in range(LATER)]}


def judge(seen):
    yield Check(
        "the script learns that its client left",
        True if seen["noticed"] else None,
        "noticed" if seen["noticed"] else "not noticed",
    )
    for k, reply in enumerate(seen["later"], 1):
        ok = fact(reply, "status") == 0 and fact(reply, "aborted") == 0 and fact(reply, "ignore") == 0
        yield Check(f"later request {k} is connected", ok, said(reply), {"connection_status": fact(reply, "status")})
        collected = fact(reply, "collected")
        yield Check(
            f"and collects its cycles ({k})",
            collected is not None and collected >= 1000,
            f"{collected} of 1,000",
            {"collected": collected},
        )
