"""What is compared: the answer's head line by line in its order (status included), the body, the stderr stream and the two
numbers of END_REQUEST. What is allowed to differ stands in UNSTEADY, each with its reason; nothing else is."""

from __future__ import annotations

import difflib
import re

from .fcgi import Reply

# pattern, what stands for it, why the two cannot be the same
UNSTEADY: tuple[tuple[re.Pattern[bytes], bytes, str], ...] = (
    (re.compile(rb"/ordeal-\w+/"), b"/ordeal-*/", "every server has a temporary folder of its own"),
)
DIFF_LINES_MAX = 60
PIECE_CHARACTERS = 200  # long lines are cut, so that the differing part is seen


def steady(data: bytes) -> bytes:
    for pattern, instead, _ in UNSTEADY:
        data = pattern.sub(instead, data)
    return data


def comparable(reply: Reply) -> Reply:
    return Reply(steady(reply.out), steady(reply.err), reply.end, reply.lost)


def _lines(reply: Reply) -> list[str]:
    """An answer as text, one line for each of its lines; bytes that are not ASCII as escapes."""
    head, cut, body = reply.out.partition(b"\r\n\r\n")
    parts = {"head": head.split(b"\r\n"), "body": body.split(b"\n") if cut else [b"(no end of the head)"], "stderr": reply.err.split(b"\n")}
    found = [piece for name, lines in parts.items() for line in lines for piece in _pieces(name, repr(line)[2:-1])]
    return [*found, f"end| {reply.end if reply.lost is None else reply.lost}"]


def _pieces(name: str, line: str) -> list[str]:
    """`name| ` before the first piece of a line, `name+ ` before the others."""
    cuts = range(0, max(1, len(line)), PIECE_CHARACTERS)
    return [f"{name}{'+' if at else '|'} {line[at : at + PIECE_CHARACTERS]}" for at in cuts]


def difference(name: str, right: Reply, got: Reply, control: str, target: str) -> str:
    """A unified diff of two answers."""
    lines = list(difflib.unified_diff(_lines(right), _lines(got), f"{control}/{name}", f"{target}/{name}", n=2, lineterm=""))
    more = [f"… {len(lines) - DIFF_LINES_MAX} lines more"] if len(lines) > DIFF_LINES_MAX else []
    return "\n".join([*lines[:DIFF_LINES_MAX], *more])
