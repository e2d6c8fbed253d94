"""What may differ, each with its reason; the table of the differential suite comes first. Nothing else is allowed to."""

from __future__ import annotations

import re

from harness.differential import answer
from harness.differential.fcgi import Reply

# pattern, what stands for it, why the two cannot be the same
OUT: tuple[tuple[re.Pattern[bytes], bytes, str], ...] = (
    (
        re.compile(rb"(@anonymous\0[^\n$]*:\d+\$)[0-9a-f]+"),
        rb"\1*",
        "a process counts its anonymous classes on from request to request: the number says how many there were before",
    ),
    (re.compile(rb"(?<![0-9a-v])[0-9a-v]{26}(?![0-9a-v])"), b"(a session's ID)", "it is random; with it half of the session tests would be unstable"),
)
ERR: tuple[tuple[re.Pattern[bytes], bytes, str], ...] = (
    (
        re.compile(rb"Passing INI directive through FastCGI: unable to set '[\w.]*'\n?"),
        b"",
        "php-fpm says so in its log, fiber-fpm to the web server, whose request it is",
    ),
)


def _steady(data: bytes, table: tuple[tuple[re.Pattern[bytes], bytes, str], ...]) -> bytes:
    for pattern, instead, _ in table:
        data = pattern.sub(instead, data)
    return data


def comparable(reply: Reply) -> Reply:
    reply = answer.comparable(reply)
    return Reply(_steady(reply.out, OUT), _steady(reply.err, ERR), reply.end, reply.lost)
