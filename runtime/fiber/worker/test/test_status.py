"""The status page, the ping and the access log: php-fpm's, field by field and letter by letter."""

from __future__ import annotations

import json
import os
import re
import signal
import xml.dom.minidom

import pytest
from fcgi_peer import Peer, Reply, fetch
from servers import Gate, assert_well_ended, serve, status, until, wait_idle

from harness.orchestrate import LaunchError, Running

LETTERS = (
    '%R|%u|%m|%r|%Q|%q|%s|%f|%l|%n|%{HTTP_X_TEST}e|%{NO_SUCH}e|%{Content-type}o|%{X-After}o|%{No-Such}o|%%|%{%Y}t|%{%Y}T|'
    '%d|%{milli}d|%M|%{kilo}M|%{mega}M|%p|%P'
)  # fmt: skip
VARIES = range(18, 25)  # durations, memory, pids: numbers that need not be the same
ACCESS_LOG = {"ping.path": "/fpm-ping", "access.log": "{{WORKDIR}}/access.log", "access.format": f'"{LETTERS}"', "php_flag[expose_php]": "on"}


@pytest.fixture(scope="module")
def both():
    with serve("php-fpm", ACCESS_LOG, in_place=True) as fpm, serve("fiber", ACCESS_LOG, in_place=True) as fiber:
        yield fpm, fiber
    assert_well_ended(fiber)


@pytest.fixture(scope="module")
def fiber(both: tuple[Running, Running]):
    return both[1]


def head(reply: Reply) -> bytes:
    return reply.out.partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_ping(both: tuple[Running, Running], method: str):
    fpm, fiber = (fetch(run, "/fpm-ping", method=method) for run in both)
    assert (fiber.out, fiber.app) == (fpm.out, fpm.app)


FIELD = {
    "": r"^([a-z ]+): +\S",
    "?json": r'"([a-z ]+)":',
    "?xml": r"<([a-z-]+)>[^<]+</",
    "?html": r"<th>([a-z ]+)</th>",
    "?full": r"^([a-zA-Z ]+): +\S",
    "?json&full": r'"([a-z ]+)":',
    "?full&xml": r"<([a-z-]+)>[^<]+</",
}


@pytest.mark.parametrize("query", FIELD)
def test_the_status_page_has_the_fields_of_php_fpm_in_their_order_then_its_own(both: tuple[Running, Running], query: str):
    gate = Gate(both[1], "row" + re.sub(r"\W", "-", query))
    with Peer(both[1]) as peer:
        peer.ask(gate.url)
        gate.wait_begun()
        fpm, fiber = (fetch(run, "/fpm-status" + query) for run in both)
        gate.open()
        peer.answer()
    assert head(fiber) == head(fpm)
    theirs, ours = (re.findall(FIELD[query], one.body.decode(), re.M) for one in (fpm, fiber))
    assert len(theirs) >= 14
    assert [name for name in ours if name in theirs] == theirs


def test_a_status_page_without_body(both: tuple[Running, Running]):
    fpm, fiber = (fetch(run, "/fpm-status", method="HEAD") for run in both)
    assert fiber.out == fpm.out


def test_what_is_in_flight_is_a_row(fiber: Running):
    gate = Gate(fiber, "one", "&x=%22<&y=\xe4\"'")
    with Peer(fiber) as peer:
        peer.ask(gate.url, method="POST", body=b"body", headers={"Authorization": "Basic dXNlcjpw"})
        gate.wait_begun()
        (row,) = [row for row in status(fiber)["processes"] if "n=one&" in row["request uri"]]
        assert row["pid"] == fiber.workers()[0]
        assert (row["state"], row["request method"], row["user"], row["content length"]) == ("Running", "POST", "user", 4)
        assert row["script"] == fiber.root + "/gate.php"
        assert row["request uri"].startswith("/gate.php?n=one&x=%22<&y=")
        assert row["last request memory"] > 100_000 and row["request duration"] > 0
        assert row["waits for"] == "something"
        page = fetch(fiber, "/fpm-status?xml&full").body
        assert b"n=one&amp;x=%22&lt;&amp;y=" in page
        xml.dom.minidom.parseString(page)
        gate.open()
        assert peer.answer().status == 200


def test_counts(fiber: Running):
    before = wait_idle(fiber)
    for _ in range(5):
        fetch(fiber, "/info.php")
    after = status(fiber)
    assert after["accepted conn"] == before["accepted conn"] + 6
    assert (after["pool"], after["process manager"], after["workers"]) == ("www", "static", 1)
    assert (after["active processes"], after["idle processes"], after["total processes"]) == (0, 256, 256)


# ---- the access log ----

ASKED = {
    "plain": ("/info.php", {}),
    "query": ("/server.php?a=1&b=%20", {}),
    "path info": ("/server.php/more?x", {}),
    "POST": ("/input.php", {"body": b"a=1", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
    "auth": ("/auth.php", {"headers": {"Authorization": "Basic dXNlcjpwYTpzcw=="}}),
    "404": ("/none.php", {}),
    "403": ("/text.txt", {}),
    "status": ("/status.php?code=418", {}),
    "fatal": ("/order.php?end=fatal", {}),
    "exit": ("/order.php?end=exit", {}),
    "parse error": ("/parse.php", {}),
    "finished": ("/finish.php", {}),
    "ping": ("/fpm-ping", {}),
    "status page": ("/fpm-status", {}),
}


def line_of(run: Running, case: str) -> list[str]:
    """The line of this request: it is found by a header of it, which is in the format."""
    url, how = ASKED[case]
    mark = "of-" + case.replace(" ", "-")
    fetch(run, url, **{**how, "headers": {**how.get("headers", {}), "X-Test": mark}})
    wanted = lambda: [one for one in (run.workdir / "access.log").read_text().splitlines() if f"|{mark}|" in one]  # noqa: E731
    (line,) = until("its line is written", wanted)
    return line.split("|")


@pytest.mark.parametrize("case", ASKED)
def test_a_line_of_the_access_log_is_php_fpms(both: tuple[Running, Running], case: str):
    theirs, ours = (line_of(run, case) for run in both)
    assert len(ours) == LETTERS.count("|") + 1
    assert [part for at, part in enumerate(ours) if at not in VARIES] == [part for at, part in enumerate(theirs) if at not in VARIES]
    for at in VARIES:
        assert re.fullmatch(r"\d+(\.\d+)?", ours[at]), (LETTERS.split("|")[at], ours[at], theirs[at])
        assert ("." in ours[at]) == ("." in theirs[at])
    assert ours[-2:] == [str(both[1].workers()[0]), str(both[1].pid)]


def test_the_access_log_is_opened_again(fiber: Running):
    """As logrotate has it: renamed, then SIGUSR1 to the master."""
    path, old = fiber.workdir / "access.log", fiber.workdir / "access.log.1"
    fetch(fiber, "/info.php")
    os.rename(path, old)
    fiber.signal("reopen")
    until("the new file is there", path.exists)
    fetch(fiber, "/info.php?new")
    until("its line is in the new file", lambda: "new" in path.read_text())
    assert "?|new" not in old.read_text()


def test_a_wrong_format_is_refused():
    settings = {**ACCESS_LOG, "access.format": '"%{lightyears}d"'}
    with pytest.raises(LaunchError, match="access.format: unknown unit"), serve("fiber", settings, ready_within_s=1):
        pass


def test_the_format_that_is_used_when_none_is_given():
    settings = {"access.log": "{{WORKDIR}}/access.log"}
    with serve("php-fpm", settings) as fpm, serve("fiber", settings) as fiber:
        lines = []
        for run in (fpm, fiber):
            fetch(run, "/info.php?last=1")
            (line,) = until("its line is there", lambda: re.findall(r".*last=1.*|.*info.*\n\Z", (run.workdir / "access.log").read_text()))
            lines.append(re.sub(r"\d", "0", line))
        assert lines[0] == lines[1]


def test_sigusr1_to_a_worker_alone(fiber: Running):
    (worker,) = fiber.workers()
    os.kill(worker, signal.SIGUSR1)
    assert json.loads(fetch(fiber, "/info.php").body)["pid"] == worker
