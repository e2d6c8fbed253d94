"""N6: a script that declares a function, a class and a constant, requested again and again, and twice at once.

With one engine for all requests the second request died of "Cannot redeclare", and then B1 took its course.
"""

from .checks import fact, said
from .finding import Check, Finding

TIMES = 4
RIGHT = {"function": "forty-two", "class": 42, "constant": 42, "array": 42}

FINDING = Finding("N6", tried=f"a script with a top-level function, class and constant, {TIMES} times and twice at once")


def stimulate(rig):
    page = "/findings/n06_plain.php"
    again = [rig.seen(rig.ask(page)) for _ in range(TIMES)]
    waits = rig.start(f"{page}?mark=inside")
    rig.comes(lambda: rig.marked("inside") or waits.done, 10)
    beside = rig.seen(rig.ask(page))
    rig.release("go")
    return {
        "replies": {
            **{f"request {k + 1}": one for k, one in enumerate(again)},
            "beside another": beside,
            "the other": rig.seen(waits.finish()),
        }
    }


def judge(seen):
    for name, reply in seen["replies"].items():
        right = all(fact(reply, key) == value for key, value in RIGHT.items())
        yield Check(f"{name} is whole", right, said(reply))
