"""B20: pfsockopen() plainly and inside a Fiber, warmed by an earlier request, then two requests that talk at once.

On the audited server it was allowed inside a Fiber, and two requests got each other's answers.
"""

from .checks import fact, said
from .finding import Check, Finding

WAYS = {"plain": "", "inside a Fiber": "&fiber=1"}

FINDING = Finding(
    "B20",
    tried="pfsockopen() plain and inside a Fiber, used by one request, then by two at once",
    cases=tuple(WAYS),
)


def stimulate(rig):
    peer = rig.peer("echo")
    talk = f"/findings/b20_talk.php?port={peer.port}"
    warm = [rig.seen(rig.ask(f"{talk}&id=warm{k}{way}")) for k, way in enumerate(("", "&fiber=1", ""))]
    way = WAYS[rig.case]
    flights = {}
    for name in ("a", "b"):
        flights[name] = rig.start(f"{talk}&id={name}&wait=1{way}")
        rig.comes(lambda: rig.marked(f"said{name}") or flights[name].done, 10)
    rig.release("readb")  # the second reads first: on a shared connection it gets the first one's answer
    rig.comes(lambda: rig.marked("readb") or flights["b"].done, 15)
    rig.release("reada")
    return {"warm": warm, "pair": {name: rig.seen(flight.finish(20)) for name, flight in flights.items()}}


def judge(seen):
    replies = [
        *((f"request {k + 1}", one) for k, one in enumerate(seen["warm"])),
        *((f"{name} of the pair", one) for name, one in seen["pair"].items()),
    ]
    for name, reply in replies:
        if reply["status"] != 200 or "id" not in reply["facts"]:
            yield Check(f"{name} is answered", False, said(reply))
        else:
            own = fact(reply, "refused") or fact(reply, "echo") == fact(reply, "id")
            text = (
                "refused"
                if fact(reply, "refused")
                else f"said {fact(reply, 'id')!r} on connection {fact(reply, 'connection')}, got {fact(reply, 'echo')!r}"
            )
            yield Check(f"{name} gets its own answer", own, text)
