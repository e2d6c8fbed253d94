"""The server's codec against the load generator's: written apart from each other, so each checks the other.

fcgi_echo, a small server on the codec, is driven by ordeal-load. Every request is answered, none is lost, none gets
another's answer; and the server's own counts are the load generator's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.orchestrate import paths
from harness.orchestrate.waiting import eventually

DEADLINE_S = 120
COLUMNS = ("answered", "refused", "lost", "isolation")
LARGE = 8 << 20

MIXED = f"""
60 GET  /small
20 GET  /query?a=1&b={{n}} "header:Cookie={"c" * 3000}"
10 POST /form body=text:a=b
 5 POST /upload body=300K
 5 GET  /large?bytes=300000
"""


@dataclass
class Echo:
    """A running fcgi_echo."""

    process: subprocess.Popen[str]
    path: Path
    counts: dict[str, int] = field(default_factory=dict)

    def connections(self) -> int:
        """How many connections it has open, besides its listening socket."""
        links = (os.readlink(entry) for entry in Path(f"/proc/{self.process.pid}/fd").iterdir())
        return sum(link.startswith("socket:") for link in links) - 1

    def stop(self) -> dict[str, int]:
        """Ends it: it must have met no error, and must have nothing left."""
        out, errors = self.process.communicate(timeout=DEADLINE_S)
        assert self.process.returncode == 0 and errors == ""
        self.counts = json.loads(out)
        return self.counts


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Echo]:
    binary = paths.build_dir() / "test" / "runtime" / "fiber" / "fcgi" / "fcgi_echo"
    path = tmp_path / "echo.sock"
    with subprocess.Popen([binary, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "listening\n"
            yield Echo(process, path)
        finally:
            process.kill()


def load_command(echo: Echo, folder: Path, *arguments: str) -> list[str]:
    binary = paths.build_dir() / "bin" / "ordeal-load"
    return [str(binary), "--target", f"unix:{echo.path}", "--root", "/srv", "--json", str(folder / "summary"), "--quiet", *arguments]


def load(echo: Echo, folder: Path, *arguments: str) -> dict[str, Any]:
    """Runs ordeal-load; its summary."""
    subprocess.run(load_command(echo, folder, *arguments), check=True, timeout=DEADLINE_S)
    return json.loads((folder / "summary").read_text())


def assert_all_answered(summary: dict[str, Any], count: int) -> None:
    columns = {name: summary["requests"][name] for name in COLUMNS}
    assert columns == {"answered": count, "refused": 0, "lost": 0, "isolation": 0}, summary["reasons"]


def wait_for_connections(echo: Echo, count: int) -> None:
    eventually(lambda: echo.connections() >= count, f"{count} connections", DEADLINE_S)


KEEP = pytest.mark.parametrize("keep", [[], ["--keep-alive"]], ids=["close", "keep-alive"])


@KEEP
def test_mixed_requests(echo: Echo, tmp_path: Path, seed: int, keep: list[str]) -> None:
    mix = tmp_path / "mix"
    mix.write_text(MIXED)
    summary = load(echo, tmp_path, "--mix", str(mix), "--clients", "16", "--requests", "4000", "--seed", str(seed), *keep)
    assert_all_answered(summary, 4000)
    counts = echo.stop()
    assert (counts["begun"], counts["answered"], counts["errors"], counts["rejected"]) == (4000, 4000, 0, 0)
    assert counts["accepted"] <= 16 if keep else counts["accepted"] == 4000


@KEEP
@pytest.mark.parametrize("line", [f"1 GET /large?bytes={LARGE}", "1 POST /upload body=8M", "1 POST /both?bytes=8388608 body=8M"])
def test_large_bodies_and_answers(echo: Echo, tmp_path: Path, keep: list[str], line: str) -> None:
    mix = tmp_path / "mix"
    mix.write_text(line + "\n")
    assert_all_answered(load(echo, tmp_path, "--mix", str(mix), "--clients", "4", "--requests", "40", "--timeout", "60s", *keep), 40)
    assert echo.stop()["answered"] == 40


@pytest.mark.parametrize("bytes_", [1, 7, 65527, 65528, 65529, 1 << 20, (1 << 20) + 1])
def test_answers_at_the_edges_of_records(echo: Echo, tmp_path: Path, bytes_: int) -> None:
    assert_all_answered(load(echo, tmp_path, "--get", f"/edge?bytes={bytes_}", "--requests", "20", "--keep-alive"), 20)


def test_head_byte_by_byte(echo: Echo, tmp_path: Path) -> None:
    slow = ["--slow", "header-bytes", "--slow-pace", "100us"]
    assert_all_answered(load(echo, tmp_path, "--get", "/small", "--clients", "20", "--requests", "40", *slow), 40)
    assert echo.stop()["errors"] == 0


@pytest.mark.parametrize(
    ("slow", "line"), [("stalled-body", "1 POST /upload body=1M"), ("no-read", f"1 GET /large?bytes={LARGE}")], ids=["stalled-body", "no-read"]
)
def test_slow_clients_cost_nobody_else(echo: Echo, tmp_path: Path, slow: str, line: str) -> None:
    (tmp_path / "slow").mkdir()
    mix = tmp_path / "slow" / "mix"
    mix.write_text(line + "\n")
    arguments = ["--mix", str(mix), "--slow", slow, "--clients", "20", "--requests", "20", "--timeout", "100s"]
    with subprocess.Popen(load_command(echo, tmp_path / "slow", *arguments)) as stuck:
        try:
            wait_for_connections(echo, 20)
            assert_all_answered(load(echo, tmp_path, "--get", "/small", "--requests", "2000"), 2000)
            assert echo.connections() >= 20
            assert stuck.poll() is None
        finally:
            stuck.send_signal(signal.SIGINT)
            stuck.send_signal(signal.SIGINT)
            stuck.kill()
    assert_all_answered(load(echo, tmp_path, "--get", "/small", "--requests", "100"), 100)
    assert echo.stop()["answered"] >= 2100


# ---- what ordeal-load never sends ----


def record(kind: int, request_id: int, content: bytes = b"") -> bytes:
    return struct.pack(">BBHHBB", 1, kind, request_id, len(content), 0, 0) + content


def begin(request_id: int, role: int = 1) -> bytes:
    return record(1, request_id, struct.pack(">HB5x", role, 1))


def pair(name: str, value: str) -> bytes:
    return struct.pack(">II", len(name) | 1 << 31, len(value) | 1 << 31) + name.encode() + value.encode()


def answers(connection: socket.socket, ends: int) -> list[tuple[int, int, bytes]]:
    """The records up to the so-manieth END_REQUEST."""
    seen: list[tuple[int, int, bytes]] = []
    with connection.makefile("rb") as file:
        while ends > 0:
            _, kind, request_id, length, padding, _ = struct.unpack(">BBHHBB", file.read(8))
            seen.append((kind, request_id, file.read(length + padding)[:length]))
            ends -= kind == 3
    return seen


@pytest.fixture
def connection(echo: Echo) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(DEADLINE_S)
        sock.connect(os.fspath(echo.path))
        yield sock


def test_management_rejections_and_an_early_answer_on_one_connection(echo: Echo, connection: socket.socket) -> None:
    connection.sendall(record(9, 0, b"\x0f\0FCGI_MPXS_CONNS") + record(99, 0) + begin(5, role=3))
    assert answers(connection, 1) == [(10, 0, b"\x0f\x01FCGI_MPXS_CONNS0"), (11, 0, b"\x63" + bytes(7)), (3, 5, b"\0\0\0\0\3\0\0\0")]

    connection.sendall(begin(1) + begin(2) + record(4, 1, pair("QUERY_STRING", "early")) + record(4, 1))
    text = b"QUERY_STRING=early\nbody_bytes=0\n"
    rejection, head, body, *rest = answers(connection, 2)
    assert rejection == (3, 2, b"\0\0\0\0\1\0\0\0")
    assert head[:2] == (6, 1) and head[2].startswith(b"Status: 200 OK\r\n") and b"Content-Length: %d\r\n" % len(text) in head[2]
    assert [body, *rest] == [(6, 1, text), (6, 1, b""), (3, 1, bytes(8))]

    late = record(5, 1, b"nobody waits for it") + record(5, 1)
    connection.sendall(late + begin(1) + record(4, 1, pair("A", "b")) + record(4, 1) + record(5, 1, b"body") + record(5, 1))
    assert answers(connection, 1)[1:] == [(6, 1, b"A=b\nbody_bytes=4\n"), (6, 1, b""), (3, 1, bytes(8))]

    connection.sendall(begin(3) + record(4, 3) + record(5, 3, b"half") + record(2, 3))
    assert answers(connection, 1) == [(6, 3, b""), (3, 3, bytes(8))]
    connection.close()
    assert echo.stop()["aborted"] == 1


def test_a_hostile_record_ends_its_connection_only(echo: Echo, connection: socket.socket, tmp_path: Path) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert connection.recv(1) == b""
    assert_all_answered(load(echo, tmp_path, "--get", "/small", "--requests", "100"), 100)
    out, errors = echo.process.communicate(timeout=DEADLINE_S)
    assert errors == "fcgi_echo: byte 0, type 69 (unknown), id 21536: version 71, expected 1\n"
    assert json.loads(out)["errors"] == 1
