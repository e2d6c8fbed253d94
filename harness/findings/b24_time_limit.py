"""B24: one request limits itself to 1 s and waits; another uses 1.6 s of CPU without a limit.

On the audited server the second died of the first one's limit, 3 of 3 times: one timer counted the process.
"""

from .checks import fact, said
from .finding import Check, Finding

FINDING = Finding("B24", tried="set_time_limit(1) in a request that waits; 1.6 s of CPU in another")


def stimulate(rig):
    limited = rig.start("/findings/b24_limited.php")
    rig.wait_mark("limited")
    burn = rig.ask("/findings/b24_burn.php", 60)
    rig.release("go")
    return {"burn": rig.seen(burn), "limited": rig.seen(limited.finish(20))}


def judge(seen):
    burn, limited = seen["burn"], seen["limited"]
    yield Check(
        "the busy request ends well",
        burn["status"] == 200 and (fact(burn, "burnt_s") or 0) >= 1.6,
        said(burn),
        {"burnt_s": fact(burn, "burnt_s")},
    )
    yield Check("and so does the one that waits", limited["status"] == 200 and fact(limited, "went") is True, said(limited))
