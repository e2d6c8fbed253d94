"""N1: one request runs out of memory; what later requests can still do.

On a server with one engine for all requests, PHP's delayed out-of-memory state stayed: json_encode() gave "", $_GET was empty,
shutdown functions were skipped, in every later request.
"""

from .finding import Check, Finding

LATER = 3

FINDING = Finding(
    "N1",
    tried="a request out of memory, in one step and in many; then json, $_GET, shutdown functions of later ones",
    cases=("one step", "many steps"),
)


def stimulate(rig):
    how = "many" if rig.case == "many steps" else "one"
    memory = rig.seen(rig.ask(f"/findings/n01_memory.php?how={how}"))
    return {"memory": memory, "later": [rig.seen(rig.ask(f"/findings/n01_later.php?x={k}")) for k in range(LATER)]}


def judge(seen):
    memory = seen["memory"]
    yield Check("out of memory is told", memory["status"] == 500, memory["error"] or f"status {memory['status']}")
    for k, reply in enumerate(seen["later"]):
        right = f'encode={{"0":1,"a":2}}\ndecode=5\nget={k}\nshutdown ran\n'
        yield Check(f"later request {k + 1} is whole", reply["body"] == right, reply["error"] or repr(reply["body"]))
