"""The load generator against wrk: the same servers, the same number of kept connections, one thread each, and the
same request but for the user agent (wrk is given a marker header too). The server is what limits both, and on a small
machine it runs at another speed each second: so they are compared in pairs, one after the other."""
from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from harness.bench.measure import BIN, Row, Unavailable, take_turns

CONNECTIONS = 16
SECONDS = 1
PAIRS_A_ROUND = 3
MARKER_HEADER = "X-Ordeal-Marker: 0123456789abcdef"

NGINX = """
daemon off; master_process off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/nginx.log warn;
events {{ worker_connections 512; }}
http {{
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location = /plain {{ return 200 "hello\\n"; }}
        location / {{
            fastcgi_pass unix:{work}/fpm.sock;
            fastcgi_param SCRIPT_FILENAME {work}/hello.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
        }}
    }}
}}
"""

FPM = """
[global]
error_log = {work}/fpm.log
[www]
listen = {work}/fpm.sock
pm = static
pm.max_children = 2
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_answering(port: int, path: str, process: subprocess.Popen[bytes], log: Path) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(request)
                if b" 200 " in connection.recv(64):
                    return
        except OSError:
            pass
    raise RuntimeError(f"the server does not answer {path}:\n{log.read_text() if log.exists() else ''}")


@contextmanager
def _servers() -> Iterator[int]:
    """nginx with a fixed answer, and nginx before php-fpm; the port of both."""
    fpm = shutil.which("php-fpm8.2") or "/usr/sbin/php-fpm8.2"
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory(prefix="ordeal-bench-") as name:
        work, port = Path(name), _free_port()
        (work / "hello.php").write_text("<?php echo 'hello';\n")
        (work / "fpm.conf").write_text(FPM.format(work=work))
        (work / "nginx.conf").write_text(NGINX.format(work=work, port=port))
        guard = [str(BIN / "ordeal"), "guard", "--die-with-parent", "--"]
        started: list[subprocess.Popen[bytes]] = []
        try:
            for command in ([fpm, "-n", "-R", "-F", "-y", f"{work}/fpm.conf"], [nginx, "-c", f"{work}/nginx.conf"]):
                started.append(subprocess.Popen([*guard, *command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
            _wait_until_answering(port, "/plain", started[1], work / "nginx.log")
            _wait_until_answering(port, "/hello.php", started[1], work / "fpm.log")
            yield port
        finally:
            for process in reversed(started):
                process.send_signal(signal.SIGTERM)
            for process in started:
                process.wait()


def _wrk(url: str) -> Callable[[], dict[str, float]]:
    if shutil.which("wrk") is None:
        raise Unavailable("wrk is not installed")

    def run() -> dict[str, float]:
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-H", MARKER_HEADER, url]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in out or "Socket errors" in out:
            raise RuntimeError(f"wrk saw errors:\n{out}")
        found = re.search(r"Requests/sec:\s*([0-9.]+)", out)
        if found is None:
            raise RuntimeError(f"wrk printed no rate:\n{out}")
        return {"requests_per_s": float(found[1])}

    return run


def _ordeal_load(base: str, path: str) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        with tempfile.TemporaryDirectory(prefix="ordeal-bench-") as name:
            mix, out = Path(name) / "mix", Path(name) / "out.json"
            mix.write_text(f"1 GET {path} marker=off\n")
            command = [str(BIN / "ordeal-load"), "--target", base, "--mix", str(mix), "--clients", str(CONNECTIONS)]
            command += ["--keep-alive", "--duration", f"{SECONDS}s", "--quiet", "--json", str(out)]
            subprocess.run(command, check=True)
            summary = json.loads(out.read_text())
        account = summary["requests"]
        if account["answered"] != account["sent"]:
            raise RuntimeError(f"ordeal-load: not everything was answered: {account}")
        return {"requests_per_s": float(summary["requests_per_s"])}

    return run


def rows(rounds: int) -> Iterator[Row]:
    cases = {"nginx, fixed answer": "/plain", "nginx before php-fpm": "/hello.php"}
    with _servers() as port:
        base = f"http://127.0.0.1:{port}"
        for name, path in cases.items():
            contenders = {"wrk": _wrk(base + path), "ordeal-load": _ordeal_load(base, path)}
            pairs = take_turns(contenders, rounds * PAIRS_A_ROUND)
            rate = {who: [pair[who]["requests_per_s"] for pair in pairs] for who in contenders}
            rates = {f"{who} requests/s": median(values) for who, values in rate.items()}
            ratio = median(ours / theirs for ours, theirs in zip(rate["ordeal-load"], rate["wrk"], strict=True))
            yield Row(f"ordeal-load against wrk: {name}", ratio, "× wrk", "≥ 0.9 × wrk", ratio >= 0.9, rates)
