"""N2: deep recursion through a C function, beside a request that waits.

With a small C stack for each request, 6,000 nested array_map() overran it, and SIGSEGV killed every request in flight; stock
php-fpm survives 10,000.
"""

from .checks import answered, fact, said
from .finding import Check, Finding

DEPTH, OVERRUN = 10_000, 300_000

FINDING = Finding("N2", tried=f"array_map() nested {DEPTH:,} and {OVERRUN:,} deep beside a request that waits", workers_alone=3)


def stimulate(rig):
    bystander = rig.start("/findings/n04_session.php?sid=n02&n=1&wait=go")
    rig.wait_mark("open-1")
    seen = {"deep": rig.seen(rig.ask(f"/findings/n02_deep.php?n={DEPTH}", 60))}
    seen["overrun"] = rig.seen(rig.ask(f"/findings/n02_deep.php?n={OVERRUN}", 60))
    rig.release("go")
    return {**seen, "bystander": rig.seen(bystander.finish()), "later": rig.seen(rig.ask("/findings/beacon.php"))}


def judge(seen):
    deep = seen["deep"]
    yield Check(f"{DEPTH:,} deep is done", fact(deep, "depth") == DEPTH, said(deep))
    yield answered(seen["bystander"], "the request that waits is answered")
    yield answered(seen["later"], "and later ones")
