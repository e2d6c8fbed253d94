"""The two servers that the rows of fiber-fpm are about: it and php-fpm, one worker each, from their own target files."""
from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.bench.measure import BIN, Unavailable
from harness.orchestrate import NotMeasured, Running, launch, load_target

PAGES = Path(__file__).resolve().parent / "pages"
REQUEST_TIMEOUT_S = 60


def _changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


@contextmanager
def server(name: str, max_in_flight: int = 256, env: dict[str, str] | None = None) -> Iterator[Running]:
    """One worker with the bench's pages. The targets have OPcache on; nothing is injected, and no shim is loaded."""
    target = replace(load_target(name), ready_request="/hello.php")
    changes = {"fiber.max_in_flight = 256": f"fiber.max_in_flight = {max_in_flight}"}
    if max_in_flight > 256:  # so many connections may come at once
        changes["listen.backlog = 511"] = f"listen.backlog = {2 * max_in_flight}"
    files = {path: _changed(text, changes) for path, text in target.files.items()}
    try:
        run = launch(replace(target, files=files), app=PAGES, workers=1, shim=False, env=env)
    except NotMeasured as reason:
        raise Unavailable(str(reason)) from reason
    with run:
        yield run


def load_rate(run: Running, page: str, clients: int, keep_alive: bool, duration: str = "500ms") -> dict[str, float]:
    """Requests a second of a closed loop, when all of them were answered."""
    with tempfile.TemporaryDirectory(prefix="ordeal-bench-") as name:
        mix, out = Path(name) / "mix", Path(name) / "out.json"
        mix.write_text(f"1 GET {page} marker=off\n")
        command = [str(BIN / "ordeal-load"), "--target", run.endpoint, "--root", run.root, "--mix", str(mix), "--quiet"]
        command += ["--clients", str(clients), "--duration", duration, "--json", str(out)]
        subprocess.run(command + (["--keep-alive"] if keep_alive else []), check=True)
        summary = json.loads(out.read_text())
    account = summary["requests"]
    if account["answered"] != account["sent"] or not account["sent"]:
        raise RuntimeError(f"{run.target.name}: not everything was answered: {account} {summary['reasons']}")
    return {"requests_per_s": float(summary["requests_per_s"])}


def all_at_once(run: Running, requests: list[str]) -> tuple[float, list[str]]:
    """Milliseconds from before the first of them is sent until the last one is answered, and the answers."""
    with ThreadPoolExecutor(len(requests)) as pool:
        start = time.monotonic()
        answers = list(pool.map(lambda one: run.request(one, timeout_s=REQUEST_TIMEOUT_S), requests))
        took_ms = (time.monotonic() - start) * 1e3
    for answer in answers:
        if answer.error or answer.status != 200:
            raise RuntimeError(f"{run.target.name}: {answer.why}")
    return took_ms, [answer.text for answer in answers]


def status(run: Running) -> dict[str, int]:
    answer = run.request("/fpm-status?json")
    if answer.error or answer.status != 200:
        raise RuntimeError(f"{run.target.name}: the status page: {answer.why}")
    return json.loads(answer.text)
