"""Every probe page against stock php-fpm: alone, at once, and with its part done right when calls are interrupted."""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.orchestrate import Running, launch, load_target, proc
from harness.orchestrate.client import marker_of, new_marker
from harness.orchestrate.paths import APPS

PAGES = sorted(path.name for path in APPS.glob("*.php") if not path.name.endswith(".inc.php"))
STATUS = {"fatal.php": 500, "redirect.php": 302}
EMPTY = {"fatal.php"}  # a fatal error leaves no text
JSON = {"info.php"}


@pytest.fixture(scope="module")
def fpm():
    with launch(load_target("php-fpm"), workers=3) as run:
        yield run
    assert run.exit.problems == []


def number(text: str, name: str = "n") -> int:
    return int(re.search(rf"^{name}=(\d+)$", text, re.MULTILINE)[1])


@pytest.mark.parametrize("page", PAGES)
def test_each_page_has_its_status_and_gives_the_marker_back(fpm: Running, page):
    marker = new_marker()
    answer = fpm.request(f"/{page}", headers={"X-Ordeal-Marker": marker})
    assert answer.error is None and answer.status == STATUS.get(page, 200), answer.why
    assert answer.headers["X-Ordeal-Marker"] == marker == marker_of(answer)
    if page not in EMPTY | JSON:
        assert answer.text.endswith(f"\nmarker={marker}\n")


@pytest.mark.parametrize("page", PAGES)
def test_no_marker_is_invented(fpm: Running, page):
    assert "X-Ordeal-Marker" not in fpm.request(f"/{page}").headers


@pytest.mark.parametrize("path", ["/lock.php", "/session.php?sid=many"])
def test_no_increment_is_lost_among_many_at_once(fpm: Running, path):
    before = number(fpm.request(path).text)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: fpm.request(path, timeout_s=60), range(40)))
    assert sorted(number(one.text) for one in answers) == list(range(before + 1, before + 41))


def test_sessions_are_apart(fpm: Running):
    assert [number(fpm.request(f"/session.php?sid={sid}").text) for sid in ("p1", "p2", "p1")] == [1, 1, 2]
    assert fpm.request("/session.php?sid=../x").status == 500


@pytest.mark.parametrize("kb", [0, 1, 64, 1024])
def test_file_comes_back_as_written(fpm: Running, kb):
    answer = fpm.request(f"/file.php?kb={kb}")
    assert answer.status == 200 and number(answer.text, "bytes") == kb * 1024
    assert not list(fpm.data.glob("file.*")), "the file is removed"


def test_wait_waits_at_least_that_long(fpm: Running):
    import time

    begun = time.monotonic()
    assert fpm.request("/wait.php?ms=120").text.startswith("waited_ms=120\n")
    assert time.monotonic() - begun >= 0.12


def test_a_number_out_of_bounds_is_refused(fpm: Running):
    assert fpm.request("/wait.php?ms=x").why == "status 500: ?ms= must be a number from 0 to 600000"


@pytest.mark.parametrize("query, size", [("", 8 << 20), ("?bytes=0", 0), ("?bytes=100001", 100001)])
def test_big_carries_its_checksum(fpm: Running, query, size):
    answer = fpm.request(f"/big.php{query}", headers={"X-Ordeal-Marker": "m"})
    payload, tail = answer.body[:size], answer.body[size:].decode()
    assert tail == f"\nsha256={hashlib.sha256(payload).hexdigest()}\nmarker=m\n"


def test_big_differs_from_marker_to_marker(fpm: Running):
    one, two = (fpm.request("/big.php?bytes=1000", headers={"X-Ordeal-Marker": m}).body for m in "ab")
    assert one[:1000] != two[:1000]


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 8 << 20])
@pytest.mark.parametrize("kind", ["application/octet-stream", "application/x-www-form-urlencoded"])
def test_upload_answers_length_and_checksum(fpm: Running, rng, size, kind):
    body = rng.randbytes(size)
    answer = fpm.request("/upload.php", body, {"Content-Type": kind}, method="POST")
    assert (number(answer.text, "bytes"), answer.status) == (size, 200)
    assert f"sha256={hashlib.sha256(body).hexdigest()}\n" in answer.text


@pytest.mark.parametrize("kind", ["call", "memory", "user", "throw", "compile"])
def test_every_fatal_is_one_and_costs_nothing_else(fpm: Running, kind):
    assert fpm.request(f"/fatal.php?kind={kind}").status == 500
    assert fpm.request("/hello.php").status == 200


def test_exit_runs_the_shutdown_function(fpm: Running):
    assert fpm.request("/exit.php", headers={"X-Ordeal-Marker": "m"}).text == "before exit\nshutdown\nmarker=m\n"


def test_redirect(fpm: Running):
    assert fpm.request("/redirect.php").headers["Location"] == "/hello.php"


def test_info_tells_who_and_how_much(fpm: Running):
    info = json.loads(fpm.request("/info.php").body)
    assert info["pid"] in fpm.workers() and info["sapi"] == "fpm-fcgi"
    assert info["memory"]["used_bytes"] > 100_000 and info["opcache"]["scripts"] >= 1


def test_the_status_page_tells_the_requests_of_each_worker(fpm: Running):
    before = json.loads(fpm.request("/fpm-status?json&full").body)
    after = json.loads(fpm.request("/fpm-status?json&full").body)
    assert {one["pid"] for one in after["processes"]} == set(fpm.workers())
    total = [sum(one["requests"] for one in status["processes"]) for status in (before, after)]
    assert total[1] == total[0] + 1


def test_leak_keeps_its_memory_in_the_worker_and_hello_does_not():
    def grown_kb(run: Running, path: str, requests: int) -> int:
        (worker,) = run.workers()
        before = proc.memory(worker).anon_kb
        for _ in range(requests):
            assert run.request(path).status == 200
        return proc.memory(worker).anon_kb - before

    with launch(load_target("php-fpm"), workers=1) as run:
        grown_kb(run, "/leak.php", 20)
        assert grown_kb(run, "/leak.php?kb=64", 100) >= 100 * 60
        assert grown_kb(run, "/hello.php", 100) < 100


@pytest.mark.parametrize(
    "page, rule, fired",
    [
        ("/lock.php", "flock:nth=1..20:errno=EINTR", 20),
        ("/file.php", "write:fd=file:size>=1024:nth=1..9:short=100", 9),
        ("/file.php", "write:fd=file:size>=1024:nth=1..5:errno=EINTR", 5),
        ("/file.php", "read:path=*/file.*:nth=1..5:short=10", 5),
        ("/lock.php", "write:path=*/lock.count:nth=1..3:errno=EINTR", 3),
    ],
)
def test_a_page_does_its_part_right_when_calls_are_interrupted(page, rule, fired):
    with launch(load_target("php-fpm"), rules=[rule], workers=1) as run:
        answer = run.request(page)
        assert answer.status == 200, answer.why
        assert run.faults()[0].fired == fired


def test_a_failure_is_said_in_the_first_line():
    with launch(load_target("php-fpm"), rules=["open|openat:path=*/lock.count:errno=EACCES"], workers=1) as run:
        answer = run.request("/lock.php")
        assert answer.status == 500 and answer.text.startswith("cannot open the counter (")
        assert "Permission denied" in answer.text.splitlines()[0]


def test_nothing_is_written_into_the_project(fpm: Running):
    before = sorted(APPS.iterdir())
    for page in PAGES:
        fpm.request(f"/{page}")
    assert sorted(APPS.iterdir()) == before
    assert fpm.data.joinpath("lock.count").exists()
