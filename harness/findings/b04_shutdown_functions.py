"""B4: shutdown functions, after a normal end, exit() and a fatal error.

On the audited server they never ran, and what they had bound stayed: 202 KB a request.
"""

from .finding import Check, Finding

REQUESTS = 200
BOUND_BYTES = 200_000  # what the two functions of one request hold

FINDING = Finding("B4", tried=f"two shutdown functions over 200,000 bytes; normal end, exit(), fatal; {REQUESTS} requests")


def stimulate(rig):
    ends = {end: rig.seen(rig.ask(f"/findings/b04_shutdown.php?id={end}&end={end}")) for end in ("normal", "exit", "fatal")}
    before = rig.ask("/findings/b04_memory.php").facts.get("used")
    failed = []
    for k in range(REQUESTS):
        reply = rig.ask(f"/findings/b04_shutdown.php?id={k}", quiet=True)
        if not reply.ok:
            failed.append(reply.why)
    rig.tell(f"asked /findings/b04_shutdown.php {REQUESTS} times, {len(failed)} failed")
    after = rig.ask("/findings/b04_memory.php").facts.get("used")
    return {"ends": ends, "failed": failed, "before": before, "after": after}


def judge(seen):
    for end, reply in seen["ends"].items():
        right = f"body:{end}\none:{end}:99999\ntwo:{end}:99999\n"
        yield Check(f"once, in order, after the body ({end})", reply["body"] == right, repr(reply["body"] or reply["error"]))
    yield Check(f"all of {REQUESTS} are answered", not seen["failed"], f"{len(seen['failed'])} not: {seen['failed'][:1]}")
    grown = None if None in (seen["before"], seen["after"]) else seen["after"] - seen["before"]
    limit = REQUESTS * BOUND_BYTES // 10
    yield Check("nothing accumulates", grown is not None and grown < limit, f"{grown} bytes more", {"grown_bytes": grown})
