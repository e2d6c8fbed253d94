"""B15: clients that send or read slowly, one after the other; while each is there, somebody else asks.

On the audited server a client that connects and says nothing held up the worker for as long as it liked.
"""

from harness.orchestrate.client import PARAMS, record

from .finding import Check, Finding

PATIENCE_S = 3.0  # an answer that takes longer than this is held up by the slow client, which stays as long
QUESTIONS = 3
READ_BYTES = 1 << 16
NOT_READ, KEPT = "8 MB not read", "a kept connection and 3 bytes"

FINDING = Finding(
    "B15",
    tried="a client that sends nothing; 4 bytes; a beginning; half of its parameters or body; one that does not read; a kept connection",
)


def _requests(rig):
    page = "/findings/beacon.php"
    begin, params, _ = rig.message(page)
    post = rig.message(page, body=b"x" * 100_000)
    kept = rig.message(page, keep=True)
    return {
        "nothing sent": b"",
        "4 bytes": begin[:4],
        "BEGIN only": begin,
        "half of the parameters": begin + params[: len(params) // 2],
        "parameters without an end": begin + params[: -len(record(PARAMS, b""))],
        "half of a body": post[0] + post[1] + post[2][:50_000],
        NOT_READ: b"".join(rig.message("/findings/b15_big.php")),
        KEPT: b"".join(kept),
    }


def stimulate(rig):
    seen = {}
    for name, data in _requests(rig).items():
        with rig.client(data) as slow:
            rig.tell(f"slow client: {name}")
            if name == NOT_READ:
                rig.wait_mark("answering")
            elif name == KEPT:
                slow.settimeout(PATIENCE_S)
                slow.recv(READ_BYTES)
                slow.sendall(data[:3])
            replies = [rig.ask("/findings/beacon.php", PATIENCE_S) for _ in range(QUESTIONS)]
            seen[name] = [rig.seen(reply) for reply in replies]
    seen["after"] = [rig.seen(rig.ask("/findings/beacon.php", 30))]
    return seen


def judge(seen):
    for name, replies in seen.items():
        bad = [one["error"] or f"status {one['status']}" for one in replies if one["status"] != 200]
        title = "all is well afterwards" if name == "after" else f"{name}: others are answered"
        yield Check(
            title,
            not bad,
            f"{len(bad)} of {len(replies)} not: {bad[:1]}" if bad else f"{len(replies)} answers",
            {"slowest_s": max(one["seconds"] for one in replies)},
        )
