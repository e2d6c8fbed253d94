"""N9: requests leave cycles that hold open files.

With one engine for all requests nothing was collected at their end: after 50 requests 0 destructors and 50 descriptors more.
"""

from .finding import Check, Finding

REQUESTS = 50

FINDING = Finding("N9", tried=f"{REQUESTS} requests leave a cycle with a destructor and an open file")


def stimulate(rig):
    rig.ask("/findings/n09_garbage.php")
    lines, fds = rig.read("n09.lines").count("\n"), rig.fds()
    bad = [reply.why for reply in (rig.ask("/findings/n09_garbage.php", quiet=True) for _ in range(REQUESTS)) if not reply.ok]
    rig.tell(f"asked /findings/n09_garbage.php {REQUESTS} times")
    rig.comes(lambda: rig.read("n09.lines").count("\n") >= lines + REQUESTS, 2)
    return {"bad": bad, "destructed": rig.read("n09.lines").count("\n") - lines, "fds": [fds, rig.fds()], "first": lines}


def judge(seen):
    yield Check("all are answered", not seen["bad"], f"{len(seen['bad'])} not: {seen['bad'][:1]}")
    done = seen["destructed"]
    yield Check(
        "each destructor runs at its request's end",
        done == REQUESTS and seen["first"] == 1,
        f"{done} of {REQUESTS}",
        {"destructed": done},
    )
    grown = seen["fds"][1] - seen["fds"][0]
    yield Check("no descriptor stays", grown < REQUESTS // 5, f"{grown} more after {REQUESTS} requests", {"descriptors": grown})
