"""B16: warnings of one request while another is in a constructor that turns them into exceptions; autoloading at the same time.

On the audited server B's warning became a RuntimeException, and after two overlapping constructors every later request's did;
B's class_exists() was false, and its own loader was never asked, while A was in the loader of that class.
"""

from .checks import fact
from .finding import Check, Finding

INSIDE, OVERLAP, AUTOLOAD = "in a constructor", "overlapping constructors", "autoload"

FINDING = Finding(
    "B16",
    tried="a warning while another request is in new SplFileObject(); two that overlap; class_exists() while another loads that class",
    workers_alone=4,
    cases=(INSIDE, OVERLAP, AUTOLOAD),
)


def stimulate(rig):
    return {INSIDE: _inside, OVERLAP: _overlap, AUTOLOAD: _autoload}[rig.case](rig)


def _inside(rig):
    first = rig.start("/findings/b16_slow_open.php?n=1")
    rig.wait_mark("inside1")
    during = rig.seen(rig.ask("/findings/b16_warning.php"))
    rig.release("open1")
    return {
        "constructors": [rig.seen(first.finish())],
        "during": during,
        "later": [rig.seen(rig.ask("/findings/b16_warning.php"))],
    }


def _overlap(rig):
    first = rig.start("/findings/b16_slow_open.php?n=1")
    rig.wait_mark("inside1")
    second = rig.start("/findings/b16_slow_open.php?n=2")
    rig.wait_mark("inside2")
    rig.release("open1")
    constructors = [rig.seen(first.finish())]
    rig.release("open2")
    constructors.append(rig.seen(second.finish()))
    return {"constructors": constructors, "later": [rig.seen(rig.ask("/findings/b16_warning.php")) for _ in range(3)]}


def _autoload(rig):
    loading = rig.start("/findings/b16_autoload.php?wait=1")
    rig.wait_mark("loading")
    other = rig.seen(rig.ask("/findings/b16_autoload.php"))
    rig.release("load")
    return {"autoload": {"the one that loads": rig.seen(loading.finish()), "another": other}}


def judge(seen):
    for name, reply in seen.get("autoload", {}).items():
        ok = fact(reply, "exists") is True and fact(reply, "calls") == 1
        yield Check(
            f"{name} gets its class by its own loader",
            ok,
            f"exists {fact(reply, 'exists')}, its loader was called {fact(reply, 'calls')} times",
        )
    warnings = [("beside it", seen["during"])] if "during" in seen else []
    warnings += [(f"later {k + 1}", one) for k, one in enumerate(seen.get("later", []))]
    for name, reply in warnings:
        ok = fact(reply, "thrown", "?") is None and fact(reply, "result", "?") is False
        yield Check(
            f"a warning stays a warning ({name})",
            ok,
            reply["error"] or f"thrown {fact(reply, 'thrown')}, result {fact(reply, 'result')}",
        )
        own = fact(reply, "last_before", "?") is None and "/nonexistent/file" in str(fact(reply, "last"))
        yield Check(
            f"the last error is its own ({name})", own, f"before {fact(reply, 'last_before')!r}, after {fact(reply, 'last')!r}"
        )
    for n, reply in enumerate(seen.get("constructors", []), 1):
        own = fact(reply, "last") == f"mine {n}"
        yield Check(f"constructor {n} keeps its own last error", own, reply["error"] or f"{fact(reply, 'last')!r}")
