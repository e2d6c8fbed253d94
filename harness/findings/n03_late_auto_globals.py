"""N3: with auto_globals_jit, a request that has waited includes the first file that names $_SERVER.

With one engine for all requests, $_SERVER was missing there: the engine had made it, for another request, long ago.
"""

from .checks import fact, said
from .finding import Check, Finding

FINDING = Finding(
    "N3",
    tried="a request waits, others use $_SERVER; then it includes the first file that names it",
    settings={"php_admin_flag[auto_globals_jit]": "on"},
)
PAGE = "/findings/n03_waits.php?own=1"


def stimulate(rig):
    waits = rig.start(PAGE)
    rig.wait_mark("waiting")
    others = [rig.seen(rig.ask(f"/findings/n03_other.php?k={k}")) for k in range(3)]
    rig.release("go")
    return {"late": rig.seen(waits.finish()), "others": others}


def judge(seen):
    yield Check("the late include finds its own $_SERVER", fact(seen["late"], "uri") == PAGE, said(seen["late"]))
    for k, reply in enumerate(seen["others"]):
        yield Check(f"and so does another ({k + 1})", fact(reply, "uri") == f"/findings/n03_other.php?k={k}", said(reply))
