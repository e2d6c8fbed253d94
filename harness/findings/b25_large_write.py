"""B25: 64 MB written to a peer that does not read, with default_socket_timeout = -1.

On the audited server the worker stood still for as long as the peer did not read (H > 3 s); with a time limit it was right.
"""

from .checks import others_go_on
from .finding import Check, Finding

LASTS_S = 2.0

FINDING = Finding("B25", tried="64 MB written to a peer that does not read, without a time limit")


def stimulate(rig):
    peer = rig.peer("no_read")
    with rig.beacon() as beacon:
        flight = rig.start(f"/findings/b25_write.php?port={peer.port}")
        rig.wait_mark("writing")
        rig.hold(LASTS_S)
        stuck = not rig.marked("written")
    peer.stop()  # its connections are reset, and the write ends
    return {"stuck": stuck, "beacon": beacon.numbers(), "ended": flight.wait_done(20)}


def judge(seen):
    yield Check(
        "the write waits",
        True if seen["stuck"] else None,
        "for the peer" if seen["stuck"] else "it ended at once: nothing was tried",
    )
    yield others_go_on(seen["beacon"], LASTS_S)
    yield Check("and ends when the peer goes", seen["ended"], "answered" if seen["ended"] else "no answer within 20 s")
