"""Results of soaks that never ran, as soak/ would write them: the input of the report's tests.

Each of SCENARIOS is a function of nothing; everything random comes from a fixed seed. `python3 -m reports.test.synthetic DIR`
writes a page for each, to look at.
"""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path
from typing import Any, Callable

STARTED_NS = 1_760_000_000_000_000_000
SEED = 42
RULES = (
    ("flock:p=0.02:errno=EINTR", 9120, 184), ("read:fd=socket:p=0.01:short=1", 48211, 470), ("mmap:size>=2M:p=0.05:errno=ENOMEM", 212, 9),
    ("write:fd=socket:p=0.001:drop", 47102, 51), ("accept:delay=5ms", 0, 0), ("fsync:p=0.5:errno=EIO", 31, 0),
)
TARGETS = (("/hello.php", 0.44, 1.0), ("/session.php?sid={sid:16}", 0.22, 1.6), ("/lock.php", 0.11, 2.1), ("/file.php", 0.11, 2.4), ("/wait.php?ms=20", 0.06, 21.0), ("/big.php", 0.04, 8.0), ("/fatal.php", 0.02, 1.1))
CYCLE = (("faults", 0.30), ("heal", 0.15), ("reload", 0.15), ("kill", 0.15), ("calm again", 0.25))
CALM_SHARE, CALM_S_MAX, CYCLE_S = 0.25, 600.0, 600.0

Json = dict[str, Any]
Span = tuple[str, int, float, float]


def phases_of(duration_s: float) -> list[Span]:
    """(name, cycle, start, end): a calm, then cycles of ten minutes, or one shorter one."""
    calm_s = min(CALM_S_MAX, CALM_SHARE * duration_s)
    cycles = max(1, round((duration_s - calm_s) / CYCLE_S))
    found, at = [("calm", 0, 0.0, round(calm_s, 3))], calm_s
    for cycle in range(1, cycles + 1):
        for name, share in CYCLE:
            end = at + share * (duration_s - calm_s) / cycles
            found.append((name, cycle, round(at, 3), round(end, 3)))
            at = end
    return found


def phase_at(phases: list[Span], t_s: float) -> str:
    return next((name for name, _, start, end in phases if start <= t_s < end), phases[-1][0])


def load_rows(rng: random.Random, duration_s: int, rate: float, broken: bool) -> list[Json]:
    phases, rows = phases_of(duration_s), []
    for second in range(1, duration_s + 1):
        phase = phase_at(phases, second - 0.5)
        trouble = {"faults": 1.0, "kill": 0.8, "reload": 0.3}.get(phase, 0.0)
        lost = int(rng.random() < trouble * 0.35) * rng.randint(1, 4)
        refused = int(rng.random() < trouble * 0.5) * rng.randint(1, 9)
        isolation = int(broken and phase == "reload" and rng.random() < 0.2)
        sent = round(rate + rng.gauss(0, rate * 0.01))
        lost += int(broken and phase == "kill" and rng.random() < 0.4)
        counts = {"answered": sent - lost - refused - isolation, "refused": refused, "lost": lost, "isolation": isolation}
        p50 = 820 * (1 + 0.05 * rng.gauss(0, 1)) * (1 + trouble * 0.4)
        p99 = p50 * rng.uniform(3, 5) * (1 + 8 * trouble * rng.random())
        rows.append({
            "t_s": second + 0.01, "rate": sent, **counts, "in_flight": max(0, round(rng.gauss(3 + 9 * trouble, 2))),
            "p50_us": round(p50), "p90_us": round(p50 * 1.9), "p99_us": round(p99), "p999_us": round(p99 * rng.uniform(1.1, 2.5)),
            "max_us": round(p99 * rng.uniform(2.5, 12)),
        })
    return rows


def sample_rows(rng: random.Random, duration_s: int, leak_kb_per_hour: float) -> list[Json]:
    phases, rows = phases_of(duration_s), []
    for second in range(duration_s):
        warm = 1 - math.exp(-second / (duration_s * 0.04))
        pss = 61_000 + 9_500 * warm + leak_kb_per_hour * second / 3600 + rng.gauss(0, 160)
        reload = 4 if phase_at(phases, second) == "reload" and second % 5 < 2 else 0
        rows.append({
            "t_s": second + 0.4, "pss_kb": round(pss), "rss_kb": round(pss * 2.4), "heap_kb": None, "fds": 58 + reload * 9 + rng.randint(-2, 2),
            "threads": 5 + reload, "children": 4 + reload - (phase_at(phases, second) == "kill" and rng.random() < 0.2),
        })
    return rows


def event_rows(rng: random.Random, duration_s: int, faults: int) -> list[Json]:
    phases, events = phases_of(duration_s), []
    armed = [(start, end) for name, _, start, end in phases if name == "faults"]
    for low, high in armed:
        events += [{"t_s": low, "kind": "arm", "text": "6 rules"}, {"t_s": high, "kind": "disarm", "text": "6 rules"}]
        for _ in range(faults // len(armed)):
            text = rng.choice(("flock EINTR", "read short=1", "mmap ENOMEM", "write drop"))
            events.append({"t_s": round(rng.uniform(low, high), 3), "kind": "fault", "text": text, "pid": rng.randint(4100, 4110)})
    for name, _, start, end in phases:
        for at in range(2 * (name in ("reload", "kill"))):
            text = "SIGUSR2" if name == "reload" else "SIGKILL to a worker"
            events.append({"t_s": round(start + (at + 0.3) * (end - start) / 2, 3), "kind": name, "text": text, "pid": 4100 + at})
    return sorted(events, key=lambda event: event["t_s"])


def phase_rows(load: list[Json], duration_s: float) -> list[Json]:
    found = []
    for name, cycle, start, end in phases_of(duration_s):
        rows = [row for row in load if start <= row["t_s"] < end or (end == duration_s and row["t_s"] >= end)]
        counts = {key: sum(row[key] for row in rows) for key in ("answered", "refused", "lost", "isolation")}
        note = {"faults": "6 rules armed, swarm 0.8", "reload": "SIGUSR2 twice", "kill": "two workers killed"}.get(name, "")
        found.append({"name": name, "cycle": cycle, "start_s": start, "end_s": end, "sent": sum(counts.values()), **counts, "note": note})
    return found


def latencies(p50: float) -> Json:
    return {"min": p50 * 0.4, "mean": p50 * 1.3, "p50": p50, "p90": p50 * 2, "p99": p50 * 5, "p999": p50 * 14, "p9999": p50 * 40, "max": p50 * 95, "count": 5000}


def by_target(account: Json) -> list[Json]:
    rows = []
    for name, share, slower in TARGETS:
        counts = {key: round(account[key] * share) for key in ("answered", "refused", "lost", "isolation")}
        rows.append({"target": name, "requests": {"sent": sum(counts.values()), **counts}, "latency_us": latencies(800 * slower), "requests_per_s": 10.0})
    return rows


def plateau_rows(leak: float, n: int) -> list[Json]:
    leaks = leak > 0
    return [
        {"series": "pss_kb", "verdict": "leak" if leaks else "flat", "shape": "rising" if leaks else "flat", "slope_per_hour": leak + 310.0, "ci_low": leak * 0.93 - 900, "ci_high": leak * 1.07 + 1500, "effect": leak / 100 + 12, "effect_min": 1024, "n": n, "baseline_slope": 120.0, "text": "PSS grows with the requests" if leaks else "interval includes zero"},
        {"series": "fds", "verdict": "flat", "slope_per_hour": 0.0, "ci_low": -3.0, "ci_high": 3.0, "effect": 0.0, "effect_min": 4, "n": n, "baseline_slope": None, "text": "interval includes zero"},
        {"series": "children", "verdict": "flat", "slope_per_hour": 0, "ci_low": 0, "ci_high": 0, "effect": 0, "effect_min": 1, "n": n, "baseline_slope": None, "text": ""},
        {"series": "threads", "verdict": "unknown", "shape": "short", "slope_per_hour": None, "ci_low": None, "ci_high": None, "effect": None, "effect_min": 1, "n": 4, "baseline_slope": None, "text": "too few samples"},
    ]


def judges(account: Json, leak: bool) -> list[Json]:
    unexplained = account["lost"] - account["lost_explained"]
    return [
        {"judge": "accounting", "ok": unexplained == 0, "text": f"{unexplained} requests were lost and nothing injected explains them." if unexplained else "Every request is answered, refused with a reason, or its loss is explained.", "numbers": {"lost": account["lost"], "lost_explained": account["lost_explained"]}},
        {"judge": "isolation", "ok": account["isolation"] == 0, "text": "No response carried another request's marker." if not account["isolation"] else "Responses carried the marker of another request.", "numbers": {"isolation": account["isolation"]}},
        {"judge": "liveness", "ok": True, "text": "Progress within the limit after every fault phase was healed.", "numbers": {"recovery_ms": 212, "limit_ms": 5000}},
        {"judge": "leak:pss", "ok": not leak, "text": "PSS does not settle." if leak else "PSS settles.", "numbers": {"slope_kb": 412_000 if leak else 310, "effect_min_kb": 1024}},
        {"judge": "leak:fds", "ok": True, "text": "Descriptors settle.", "numbers": {"slope_per_hour": 0.0}},
        {"judge": "leak:threads", "ok": None, "text": "Too few samples to judge.", "numbers": {"n": 4}},
        {"judge": "reload", "ok": True, "text": "Every reload was followed by new workers, none lost a request.", "numbers": {"reloads": 2, "longest_s": 0.62}},
        {"judge": "kill", "ok": True, "text": "Killed workers were replaced.", "numbers": {"kills": 4, "longest_ms": 148}},
        {"judge": "shutdown", "ok": True, "text": "Stopped by itself; no process left.", "numbers": {"stop_ms": 310, "leftovers": 0}},
    ]


def make(duration_s: int = 60, broken: bool = False, leak: bool = False, rate: float = 1000, faults: int = 90) -> Json:
    rng = random.Random(SEED)
    load = load_rows(rng, duration_s, rate, broken)
    account = {key: sum(row[key] for row in load) for key in ("answered", "refused", "lost", "isolation")}
    bad = 7 if broken else 0
    account |= {"sent": sum(account.values()), "lost_explained": max(0, account["lost"] - bad), "refused_by_fault": account["refused"]}
    growth = 412_000.0 if leak else 0.0
    reasons = judges(account, leak)
    failed = [reason["judge"] for reason in reasons if reason["ok"] is False]
    return {
        "version": 1, "ordeal": "soak", "target": "php-fpm", "seed": SEED, "started_ns": STARTED_NS, "duration_s": duration_s,
        "command": f"make soak TARGET=php-fpm DURATION={duration_s}s SEED={SEED}",
        "machine": {"cpus": 2, "kernel": "6.1.0-27-amd64", "php": "PHP 8.2.29 (fpm-fcgi)", "memory_kb": 4_014_320},
        "verdict": {"kind": "reproduced" if failed else "clean", "summary": f"{', '.join(failed)} failed; {account['sent']:,} requests in {duration_s} s" if failed else f"{account['sent']:,} requests in {duration_s} s: all accounted for, isolated, and the memory settles", "reasons": reasons},
        "account": account,
        "reasons": {"refused": {"FCGI_OVERLOADED": account["refused"] // 3, "connect refused (ECONNREFUSED)": account["refused"] - account["refused"] // 3}, "lost": {"connection closed before END_REQUEST": account["lost"]}},
        "phases": phase_rows(load, duration_s), "events": event_rows(rng, duration_s, faults), "faults_total": max(714, faults),
        "faults": [{"id": index + 1, "text": text, "matched": matched, "fired": fired, "active": index != 4} for index, (text, matched, fired) in enumerate(RULES)],
        "load": load, "samples": sample_rows(rng, duration_s, growth), "plateau": plateau_rows(growth, round(duration_s * 0.8)),
        "latency_us": latencies(830), "by_target": by_target(account), "interrupted": False,
        "replay": [f"make soak TARGET=php-fpm DURATION={duration_s}s SEED={SEED}", "build/bin/ordeal replay reports/out/soak/trace.bin -- php-fpm8.2 -F -y pool.conf"],
        "log_tail": ["[08-Oct-2025 08:53:20] NOTICE: fpm is running, pid 4098", "[08-Oct-2025 08:53:20] NOTICE: ready to handle connections"] + [f"[08-Oct-2025 08:54:{second:02d}] WARNING: [pool www] child {4100 + second} exited on signal 9 (SIGKILL) after {second}.2 seconds from start" for second in range(10, 18)],
        "losses": [{"outcome": "lost", "reason": "connection closed before END_REQUEST", "target": "/session.php", "marker": f"m-{index:08x}", "sent_ns": STARTED_NS + (40 + index) * 10**9, "ended_ns": STARTED_NS + (40 + index) * 10**9 + 3_200_000} for index in range(bad)],
    }


def interrupted() -> Json:
    """Ctrl-C in the middle: no verdict, no plateau, requests in flight, a phase without an end."""
    found = make()
    for name in ("load", "samples", "events"):
        found[name] = [row for row in found[name] if row["t_s"] < 27.5]
    found["phases"] = found["phases"][:2]
    found["phases"][1] |= {"end_s": None, "sent": None, "answered": None, "refused": None, "lost": None}
    account = {key: sum(row[key] for row in found["load"]) for key in ("answered", "refused", "lost", "isolation")}
    found["account"] = account | {"in_flight": 11, "sent": sum(account.values()) + 11}
    found["reasons"] = {"lost": {"connection closed before END_REQUEST": account["lost"]}, "refused": {"FCGI_OVERLOADED": account["refused"]}}
    for name in ("verdict", "plateau", "by_target", "latency_us", "losses"):
        del found[name]
    return found | {"interrupted": True, "duration_s": None}


def hours() -> Json:
    """Five and a half hours: 20,000 load rows, 20,000 samples, thousands of faults."""
    return make(duration_s=20_000, leak=True, rate=400, faults=4000)


def month() -> Json:
    """A thousand cycles, as a run of a month has; one row for each hundred seconds, to be quick."""
    found = make()
    spans = phases_of(600_600.0)
    found["phases"] = [{"name": name, "cycle": cycle, "start_s": start, "end_s": end, "sent": 10, "answered": 10, "refused": 0, "lost": 0} for name, cycle, start, end in spans]
    found["load"] = [found["load"][index % 60] | {"t_s": index * 100.0} for index in range(6006)]
    found["samples"] = [found["samples"][index % 60] | {"t_s": index * 100.0} for index in range(6006)]
    found["events"] = [{"t_s": start, "kind": "kill", "text": "SIGKILL to a worker", "pid": 7} for name, _, start, _ in spans if name == "kill"]
    return found | {"duration_s": 600_600.0}


def empty() -> Json:
    return {"version": 1, "ordeal": "soak", "target": "php-fpm"}


def no_optional() -> Json:
    """A run that measured, but whose rows lack what was not available."""
    found = make()
    for row in found["load"]:
        for name in ("isolation", "in_flight", "p90_us", "p999_us"):
            row.pop(name)
    for row in found["samples"]:
        row.update(pss_kb=None, threads=None)
    for name in ("machine", "replay", "log_tail", "events", "faults", "seed", "started_ns"):
        del found[name]
    return found


HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\">'\"{{7*7}}${7}<!--<script>]]>\u2028\x00\x1b[31m\ud800\u202eevil &amp; javascript:window.pwned=1"


def hostile(value: Any = None, key: str = "") -> Any:
    """Every free text of a broken run replaced by one that tries to act; names of objects too."""
    if value is None and not key:
        found = hostile(make(broken=True), "top")
        return found | {"ordeal": "soak", "machine": {HOSTILE: HOSTILE}, "reasons": {"lost": {HOSTILE: 3}, "refused": {HOSTILE: 2}}}
    if isinstance(value, dict):
        return {name: hostile(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [hostile(item, key) for item in value]
    if isinstance(value, str) and key not in ("kind", "series", "verdict", "ordeal"):
        return f"{key} {HOSTILE}"
    return value


SCENARIOS: dict[str, Callable[[], Json]] = {
    "clean": make,
    "broken": lambda: make(broken=True),
    "leak": lambda: make(duration_s=600, leak=True),
    "interrupted": interrupted,
    "hours": hours,
    "month": month,
    "empty": empty,
    "no_optional": no_optional,
    "hostile": hostile,
}


def write_results(folder: Path, results: Json) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    path.write_text(json.dumps(results), encoding="utf-8")
    return path


def main(root: Path) -> None:
    from reports.soak import write_report

    for name, make_results in SCENARIOS.items():
        page = write_report(write_results(root / name, make_results()), root / name)
        print(page, page.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
