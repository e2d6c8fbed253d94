"""B1: a fatal error in one request, while another holds an object and waits.

On the audited server the fatal error left the collector switched off and the objects marked as destructed: the victim's
destructor never ran although its answer was 200, and every later request kept its cycles.
"""

from .finding import Check, Finding

KINDS = ("redeclare", "memory", "user", "compile", "exit", "throw")  # the last two are controls
STORM = "storm"
STORM_REQUESTS, STORM_EACH = 200, 10
KEPT_BYTES_MAX = 100_000  # of 1,000 cycles of 1 KB; each storm's fatal request held 100,000 bytes
HELD_BYTES = 100_000

FINDING = Finding(
    "B1",
    tried="redeclare, out of memory, E_USER_ERROR, compile error while a request waits; its destructor, then 1,000 cycles; 200 requests, 10 % fatal",
    cases=(*KINDS, STORM),
)


def stimulate(rig):
    return _storm(rig) if rig.case == STORM else _beside_a_victim(rig)


def _beside_a_victim(rig):
    victim = rig.start("/findings/b01_victim.php")
    rig.wait_mark("victim")
    fatal = rig.ask(f"/findings/b01_fatal.php?kind={rig.case}")
    rig.release("go")
    seen = {"kind": rig.case, "fatal": rig.seen(fatal), "victim": rig.seen(victim.finish())}
    seen["destructor_lines"] = rig.read("destructor").count("destructed")
    seen["cycles"] = [rig.seen(rig.ask("/findings/b01_cycles.php")) for _ in range(3)]
    return seen


def _storm(rig):
    used = [rig.ask("/findings/b01_cycles.php").facts.get("used")]
    lost, wrong = [], []
    for k in range(STORM_REQUESTS):
        fatal = k % STORM_EACH == 0
        page = f"b01_fatal.php?kind={KINDS[k // STORM_EACH % 4]}&hold={HELD_BYTES}" if fatal else "beacon.php"
        reply = rig.ask(f"/findings/{page}", quiet=True)
        if reply.lost:
            lost.append(reply.why)
        elif reply.status != (500 if fatal else 200):
            wrong.append(f"{page}: {reply.why}")
    used.append(rig.ask("/findings/b01_cycles.php").facts.get("used"))
    return {"lost": lost, "wrong": wrong, "used": used}


def judge(seen):
    if "used" in seen:
        yield from _judge_storm(seen)
        return
    victim = seen["victim"]
    yield Check(
        "victim is answered",
        victim["status"] == 200 and "victim done" in victim["body"],
        f"status {victim['status']}, {victim['body'].strip() or victim['error']!r}",
    )
    yield Check("its destructor ran", seen["destructor_lines"] == 1, f"{seen['destructor_lines']} lines of it")
    if seen["kind"] not in ("exit",):
        yield Check("the fatal request is told so", seen["fatal"]["status"] == 500, f"status {seen['fatal']['status']}")
    facts = [one["facts"] for one in seen["cycles"]]
    collected = [one.get("collected", 0) for one in facts]
    kept = [one.get("kept") for one in facts]
    yield Check(
        "later cycles are collected",
        all(n >= 1000 for n in collected),
        f"{collected} of 1,000 each",
        {"collected": min(collected)},
    )
    yield Check(
        "and leave nothing",
        all(n is not None and n < KEPT_BYTES_MAX for n in kept),
        f"{kept} bytes kept",
        {"kept_bytes": max((n or 0 for n in kept), default=None)},
    )
    yield Check(
        "the collector is not protected",
        not any(one.get("protected") for one in facts),
        str([one.get("protected") for one in facts]),
    )


def _judge_storm(seen):
    before, after = seen["used"]
    yield Check(
        "none is lost",
        not seen["lost"],
        f"{len(seen['lost'])} of {STORM_REQUESTS}: {seen['lost'][:2]}",
        {"lost": len(seen["lost"])},
    )
    yield Check(
        "each is answered as it should", not seen["wrong"], f"{len(seen['wrong'])} of {STORM_REQUESTS}: {seen['wrong'][:2]}"
    )
    grown = None if before is None or after is None else after - before
    fatals = STORM_REQUESTS // STORM_EACH
    yield Check(
        "memory is flat", grown is not None and grown < fatals * HELD_BYTES // 4,
        f"{grown} bytes more after {fatals} fatal requests that held {HELD_BYTES:,} each", {"grown_bytes": grown},
    )  # fmt: skip
