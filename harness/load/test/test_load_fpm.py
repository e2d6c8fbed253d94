"""ordeal-load against the real php-fpm: FastCGI directly."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from load_runs import run_load, run_while

FPM = "php-fpm8.2"
ECHO = "<?php header('X-Ordeal-Marker: ' . $_SERVER['HTTP_X_ORDEAL_MARKER']); "
PAGES = {
    "hello.php": ECHO + "echo 'hello';",
    "fatal.php": ECHO + "undefined_function();",
    "upload.php": ECHO + "$b = file_get_contents('php://input'); echo strlen($b) === 8388608 ? 'whole' : exit(1);"
    " if (md5($b) !== md5_file(__DIR__ . '/reference')) http_response_code(422);",
    "big.php": ECHO + "header('Content-Length: 8388608'); echo str_repeat('0123456789abcdef', 524288);",
    "exit.php": ECHO + "exec('kill -KILL ' . getmypid());",
    "body.php": "<?php echo \"text\\nmarker=\", $_GET['m'], \"\\n\";",
    "info.php": ECHO + "if ($_SERVER['PATH_INFO'] !== '/a/b' || $_GET['x'] !== '1') http_response_code(422);",
    "wait.php": ECHO + "touch(__DIR__ . '/waiting'); while (!file_exists(__DIR__ . '/go')) usleep(1000);",
}


@dataclass
class Fpm:
    target: str
    root: Path
    process: subprocess.Popen[str]


def pattern(count: int) -> bytes:
    """The generated body: the same bytes in every run (marker.h's mix_bits over the index)."""
    mask = (1 << 64) - 1
    out = bytearray()
    for index in range(count):
        value = (index + 0x9E3779B97F4A7C15) & mask
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        out.append(ord("a") + (value ^ (value >> 31)) % 26)
    return bytes(out)


@pytest.fixture
def fpm(tmp_path: Path) -> Iterator[Fpm]:
    root = tmp_path / "www"
    root.mkdir()
    for name, text in PAGES.items():
        (root / name).write_text(text)
    conf = tmp_path / "fpm.conf"
    conf.write_text(
        f"[global]\nerror_log = /dev/stderr\ndaemonize = no\n[www]\nuser = root\ngroup = root\n"
        f"listen = {tmp_path}/fpm.sock\npm = static\npm.max_children = 4\n"
        "php_admin_value[post_max_size] = 16M\nphp_admin_value[memory_limit] = 256M\n"
    )
    arguments = [FPM, "-F", "-y", str(conf), *(["-R"] if os.geteuid() == 0 else [])]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "ready to handle connections" in line:
                    break
            else:
                raise AssertionError(f"{FPM} did not start")
            yield Fpm(f"unix:{tmp_path}/fpm.sock", root, process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()


def load_fpm(fpm: Fpm, folder: Path, mix: str, *arguments: str):
    (folder / "m.mix").write_text(mix)
    return run_load(folder, "--target", fpm.target, "--root", str(fpm.root), "--mix", str(folder / "m.mix"), *arguments)


@pytest.mark.parametrize("keep_alive", [False, True], ids=["close", "keep-alive"])
def test_a_mix_is_answered(fpm: Fpm, tmp_path: Path, keep_alive: bool) -> None:
    mix = "20 GET /hello.php\n2 GET /fatal.php expect=500\n1 GET /body.php?m={marker} marker=body\n2 GET /info.php/a/b?x=1\n"
    extra = ["--keep-alive"] if keep_alive else []
    run = load_fpm(fpm, tmp_path, mix, "--clients", "4", "--requests", "500", *extra)
    assert run.columns == {"answered": 500}
    assert all(line["requests"]["answered"] > 0 for line in run.summary["by_target"])
    assert run.summary["with_stderr"] == run.summary["by_target"][1]["requests"]["answered"]


def test_eight_megabytes_up_and_down(fpm: Fpm, tmp_path: Path) -> None:
    with (fpm.root / "reference").open("wb") as reference:
        reference.write(pattern(8 << 20))
    run = load_fpm(fpm, tmp_path, "1 POST /upload.php body=8M\n1 GET /big.php\n", "--clients", "3", "--requests", "12")
    assert run.columns == {"answered": 12}


def test_what_is_not_there_is_refused(fpm: Fpm, tmp_path: Path) -> None:
    run = load_fpm(fpm, tmp_path, "1 GET /nosuch.php\n", "--clients", "2", "--requests", "10")
    assert run.columns == {"refused": 10}
    assert run.reasons("refused") == {"status 404: File not found.": 10}


def test_a_worker_that_dies_loses_its_request(fpm: Fpm, tmp_path: Path) -> None:
    run = load_fpm(fpm, tmp_path, "1 GET /exit.php\n3 GET /hello.php\n", "--clients", "2", "--requests", "40")
    died, fine = (line["requests"] for line in run.summary["by_target"])
    assert died["lost"] == died["sent"] > 0
    assert fine["answered"] == fine["sent"] > 0
    # Closed, or reset when the worker had not yet read the end of the request.
    ways = ("connection closed before END_REQUEST", "connection reset before END_REQUEST")
    assert all(reason.startswith(ways) for reason in run.reasons("lost"))
    assert {loss["target"] for loss in run.losses} == {"/exit.php"}


def test_the_open_loop(fpm: Fpm, tmp_path: Path) -> None:
    run = load_fpm(fpm, tmp_path, "1 GET /hello.php\n", "--rate", "100", "--duration", "1s", "--timeout", "60s")
    assert run.columns["answered"] + run.summary["schedule"]["unsent"] == 100


def test_an_interrupt_lets_php_finish(fpm: Fpm, tmp_path: Path) -> None:
    (tmp_path / "m.mix").write_text("1 GET /wait.php\n")

    def interrupt(process: subprocess.Popen[str]) -> None:
        while process.poll() is None and not (fpm.root / "waiting").exists():
            os.sched_yield()
        process.send_signal(signal.SIGTERM)
        (fpm.root / "go").touch()

    run = run_while(tmp_path, interrupt, "--target", fpm.target, "--root", str(fpm.root), "--mix", str(tmp_path / "m.mix"),
                    "--clients", "2", "--duration", "1h", "--timeout", "60s")  # fmt: skip
    assert run.status == 0 and run.summary["interrupted"]
    assert set(run.columns) == {"answered"}
