"""fiber-fpm beside stock php-fpm: every answer the same, byte for byte: status, headers in their order, body, stderr stream."""

from __future__ import annotations

import re

import pytest
from fcgi_peer import Reply, fetch
from servers import assert_well_ended, serve

from harness.orchestrate import Running

ENV = {"ORDEAL_TEST": "worker"}


@pytest.fixture(scope="module")
def both():
    """One worker of each; the pages lie in the same place for both, so names in answers are the same too."""
    with serve("php-fpm", env=ENV, in_place=True) as fpm, serve("fiber", env=ENV, in_place=True) as fiber:
        yield fpm, fiber
    assert_well_ended(fiber)


def multipart(*parts: tuple[str, bytes]) -> dict[str, object]:
    body = b"".join(b"--cut\r\nContent-Disposition: form-data; " + head.encode() + b"\r\n\r\n" + data + b"\r\n" for head, data in parts)
    return {"body": body + b"--cut--\r\n", "headers": {"Content-Type": "multipart/form-data; boundary=cut"}}


def form(text: str) -> dict[str, object]:
    return {"body": text.encode(), "headers": {"Content-Type": "application/x-www-form-urlencoded"}}


FILE = 'name="f"; filename="a b.bin"\r\nContent-Type: application/x-thing'
APACHE = "proxy:fcgi://localhost:9000{ROOT}"

# name: (path, how it is asked)
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "variables": ("/server.php?a=1&b[]=2&b[]=3", {"headers": {"Cookie": "c=d; e=%20f", "Host": "example.org", "X-Odd_Name": "x"}}),
    "no such script": ("/nothing.php", {}),
    "no such folder": ("/no/where.php", {}),
    "a folder": ("/sub", {}),
    "a folder with slash": ("/sub/", {}),
    "not a script": ("/text.txt", {}),
    "not a script, with path info": ("/text.txt/a.php", {"extra": {"SCRIPT_FILENAME": "{ROOT}/text.txt/a.php"}}),
    "outside of the root": ("/server.php", {"extra": {"SCRIPT_FILENAME": "{ROOT}/sub/../server.php"}}),
    "system file": ("/hostname", {"extra": {"SCRIPT_FILENAME": "/etc/hostname"}}),
    "path info": ("/server.php/a/b?x=1", {}),
    "path info, unsplit": ("/sub/where.php/more", {"extra": {
        "SCRIPT_FILENAME": "{ROOT}/sub/where.php/more", "SCRIPT_NAME": "/sub/where.php/more", "PATH_INFO": "/sub/where.php/more"}}),
    "path info in the file name only": ("/server.php", {"extra": {"SCRIPT_FILENAME": "{ROOT}/server.php/x/y"}}),
    "path info without a root": ("/server.php", {"extra": {
        "SCRIPT_FILENAME": "{ROOT}/server.php/x/y", "PATH_INFO": "/server.php/x/y", "DOCUMENT_ROOT": None}}),
    "slash at the end": ("/server.php/", {"extra": {"SCRIPT_FILENAME": "{ROOT}/server.php/"}}),
    "through Apache": ("/server.php/x", {"extra": {
        "SCRIPT_FILENAME": APACHE + "/server.php/x?q=1", "SCRIPT_NAME": "/server.php/x", "PATH_INFO": None}}),
    "through Apache's balancer": ("/server.php", {"extra": {"SCRIPT_FILENAME": "proxy:balancer://x{ROOT}/server.php"}}),
    "Apache's action": ("/handler", {"extra": {
        "SCRIPT_FILENAME": "/usr/lib/handler", "SCRIPT_NAME": "/handler", "PATH_TRANSLATED": "{ROOT}/server.php", "REDIRECT_URL": "/server.php", "PATH_INFO": "/server.php"}}),
    "IIS": ("/server.php", {"extra": {"SERVER_SOFTWARE": "Microsoft-IIS/7", "PATH_INFO": "/server.php/x"}}),
    "only PATH_TRANSLATED": ("/server.php", {"extra": {"SCRIPT_FILENAME": None, "PATH_TRANSLATED": "{ROOT}/server.php"}}),
    "no script at all": ("/server.php", {"extra": {"SCRIPT_FILENAME": None}}),
    "an empty name": ("/server.php", {"extra": {"SCRIPT_FILENAME": ""}}),
    "a relative name": ("/server.php", {"extra": {"SCRIPT_FILENAME": "server.php"}}),
    "no method": ("/server.php", {"extra": {"REQUEST_METHOD": None}}),
    "its folder": ("/sub/where.php", {}),
    "includes": ("/include.php", {}),
    "includes again": ("/include.php", {}),
    "form": ("/input.php", form("a=1&b[x]=2&c=%C3%A4")),
    "form, 1 MB": ("/input.php", form("a=" + "x" * (1 << 20))),
    "JSON": ("/input.php", {"body": b'{"a":1}', "headers": {"Content-Type": "application/json"}}),
    "no type": ("/input.php", {"body": b"x" * 5000}),
    "PUT": ("/input.php", {"method": "PUT", "body": bytes(range(256)) * 5000}),
    "DELETE with a body": ("/input.php", {"method": "DELETE", "body": b"gone"}),
    "empty POST": ("/input.php", {"method": "POST"}),
    "a body that is longer than promised": ("/input.php", {"body": b"long" * 10, "extra": {"CONTENT_LENGTH": "5"}}),
    "an unread body": ("/unread.php", {"method": "PUT", "body": b"z" * (2 << 20)}),
    "upload": ("/upload.php", multipart((FILE, b"\0\1\2" * 100000), ('name="text"', b"value"), ('name="none"; filename=""', b""))),
    "upload, 8 MB": ("/upload.php", multipart((FILE, b"0123456789abcdef" * (512 << 10)))),
    "upload, cut": ("/upload.php", {"body": b"--cut\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nhalf", "headers": {"Content-Type": "multipart/form-data; boundary=cut"}}),
    "cookies": ("/cookies.php", {"headers": {"Cookie": "x=1; y=a%3Bb; x=2"}}),
    "basic auth": ("/auth.php", {"headers": {"Authorization": "Basic dXNlcjpwYTpzcw=="}}),
    "basic auth, wrong": ("/auth.php", {"headers": {"Authorization": "Basic ???"}}),
    "digest auth": ("/auth.php", {"headers": {"Authorization": 'Digest username="x"'}}),
    "other auth": ("/auth.php", {"headers": {"Authorization": "Bearer abc"}}),
    "HEAD": ("/server.php", {"method": "HEAD"}),
    "HEAD of a large one": ("/large.php?bytes=1000000&piece=1000", {"method": "HEAD"}),
    "OPTIONS": ("/server.php", {"method": "OPTIONS"}),
    "status code": ("/status.php?code=418", {}),
    "status code without a name": ("/status.php?code=599", {}),
    "status 204": ("/status.php?code=204", {}),
    "status 304": ("/status.php?code=304", {}),
    "status line": ("/status.php?line=HTTP/1.1+404+Not+Here", {}),
    "status line 304": ("/status.php?line=HTTP/1.0+304+Same", {}),
    "status field": ("/status.php?field=503+Later", {}),
    "status field and code": ("/status.php?field=503+Later&code=404", {}),
    "status line and field": ("/status.php?field=503+Later&line=HTTP/1.1+410+Away", {}),
    "location": ("/status.php?line=Location:+/x", {}),
    "location and code": ("/status.php?line=Location:+/x&code=201", {}),
    "two headers in one": ("/status.php?line=A:+b%0d%0aC:+d", {}),
    "parse error": ("/parse.php", {}),
    "output buffers": ("/output.php", {}),
    "large, in large pieces": ("/large.php?bytes=8388608&piece=1048576", {}),
    "large, in small pieces": ("/large.php?bytes=3000000&piece=160", {}),
    "nothing": ("/large.php?bytes=0&piece=16", {}),
    "order at the end": ("/order.php", {}),
    "order after exit": ("/order.php?end=exit", {}),
    "order after an exception": ("/order.php?end=throw", {}),
    "order after a fatal error": ("/order.php?end=fatal", {}),
    "order after the memory's end": ("/order.php?end=memory", {}),
    "fibers": ("/fiber.php", {}),
    "messages": ("/messages.php", {}),
    "settings": ("/settings.php?of=precision,memory_limit,upload_tmp_dir,session.save_path,display_errors,post_max_size", {}),
    "settings of the request": ("/settings.php?of=precision,memory_limit,user_agent", {"extra": {
        "PHP_VALUE": "precision=5\nuser_agent = \"a b\"", "PHP_ADMIN_VALUE": "memory_limit=64M"}}),
    "settings of the request, wrong": ("/settings.php?of=precision", {"extra": {"PHP_VALUE": "[section]\nno.such=1\na[]=2\nprecision=9"}}),
    "settings of the folder": ("/settings/page.php", {}),
    "disabled by the request": ("/auth.php", {"extra": {"PHP_ADMIN_VALUE": "disable_functions=array_map"}}),
    "prepended": ("/auth.php", {"extra": {"PHP_VALUE": "auto_prepend_file={ROOT}/sub/values.php\nauto_append_file={ROOT}/unread.php"}}),
}  # fmt: skip


def comparable(reply: Reply) -> tuple[object, ...]:
    """An answer without what differs from run to run: times and temporary names."""

    def steady(text: bytes) -> bytes:
        text = re.sub(rb"\bordeal-\w+", b"ordeal", text)
        return re.sub(rb"/php\w{6}\b", b"/phpXXXXXX", text)

    return steady(reply.out), steady(reply.err), reply.app, reply.protocol


def test_a_body_that_ends_before_its_announced_length_is_taken_as_it_is(both: tuple[Running, Running]):
    """php-fpm waits for the rest, for ever: no comparison."""
    reply = fetch(both[1], "/input.php", body=b"short", extra={"CONTENT_LENGTH": "50"})
    assert reply.out.split(b"\r\n\r\n", 1)[1].startswith(b"5 ")


# What these set stays in a worker of php-fpm for the requests after them: they get one of their own.
SEEN_IN_FPM = {"settings of the request", "settings of the request, wrong", "disabled by the request", "prepended"}


@pytest.mark.parametrize("case", sorted(SEEN_IN_FPM))
def test_what_a_request_brings_along_counts_for_it_as_in_php_fpm_and_for_no_other(both: tuple[Running, Running], case: str):
    path, how = CASES[case]
    with serve("php-fpm", env=ENV, in_place=True) as fresh:
        expected = comparable(fetch(fresh, path, **how))
    before = comparable(fetch(both[1], path))
    for _ in range(3):
        assert comparable(fetch(both[1], path, **how)) == expected
        assert comparable(fetch(both[1], path)) == before


@pytest.mark.parametrize("case", [name for name in CASES if name not in SEEN_IN_FPM])
def test_the_answer_is_php_fpms(both: tuple[Running, Running], case: str):
    path, how = CASES[case]
    fpm, fiber = (fetch(run, path, **how) for run in both)
    assert comparable(fiber) == comparable(fpm)
