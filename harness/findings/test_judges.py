"""Judges, on facts as a faulty server and a right one give them: no server is needed for that."""

import pytest

from harness.findings.finding import scenarios, verdict_of


def reply(status=200, error=None, seconds=0.01, body="", **facts):
    return {"status": status, "error": error, "seconds": seconds, "body": body, "app_status": 0, "stderr": "", "facts": facts}


def beacon(worst_s, failures=0):
    return {"beacon_worst_s": worst_s, "beacon_answers": 50, "beacon_failures": failures}


RIGHT = {"function": "forty-two", "class": 42, "constant": 42, "array": 42}
CYCLES = {"collected": 1000, "kept": 0, "protected": None}
VICTIM = reply(body="victim done\n")
CASES = [
    ("B1", "clean", {"kind": "user", "fatal": reply(500), "victim": VICTIM, "destructor_lines": 1, "cycles": [reply(**CYCLES)]}),
    ("B1", "reproduced", {"kind": "user", "fatal": reply(500), "victim": VICTIM, "destructor_lines": 0, "cycles": [reply(**CYCLES)]}),
    ("B1", "reproduced", {"kind": "user", "fatal": reply(500), "victim": VICTIM, "destructor_lines": 1, "cycles": [reply(collected=0, kept=1_700_000)]}),
    ("B1", "reproduced", {"lost": [], "wrong": [], "used": [400_000, 2_400_000]}),
    ("B1", "clean", {"lost": [], "wrong": [], "used": [400_000, 410_000]}),
    ("B2", "reproduced", {"lost": ["ECONNRESET"] * 20, "destructed": 0, "gone": True}),
    ("B5", "reproduced", {"lasts_s": 3, "fired": 0, "replies": {"ssl": reply(took_s=3.0)}, "beacon": beacon(2.85)}),
    ("B5", "clean", {"lasts_s": 3, "fired": 0, "replies": {"ssl": reply(took_s=3.0)}, "beacon": beacon(0.01)}),
    ("B5", "inconclusive", {"lasts_s": 3, "fired": 0, "replies": {"ssl": reply(took_s=0.01)}, "beacon": beacon(0.01)}),
    ("B6", "reproduced", {"reads": {8192: reply(connected=True, bytes=8192, reads=2, timed_out=True, took_s=2.0)}}),
    ("B6", "clean", {"reads": {8192: reply(connected=True, bytes=16000, reads=2, timed_out=False, took_s=0.0)}}),
    ("B6", "inconclusive", {"reads": {8192: reply(connected=False, why="no")}}),
    ("B13", "reproduced", {"computed": reply(), "sleeper": reply(seconds=2.0), "beacon": beacon(1.9)}),
    ("B13", "reproduced", {"limited": {"sleep(60)": reply(0, "no answer within 12 s", 12.0)}, "beacon": beacon(0.1), "failures": []}),
    ("B14", "reproduced", {"bad": [], "lives": [(0, 10)] * 40}),
    ("B14", "clean", {"bad": [], "lives": [(10 * k, 10 * k + 10) for k in range(10) for _ in range(4)]}),
    ("B20", "reproduced", {"warm": [], "pair": {"a": reply(id="a", echo="b", refused=False, connection="1")}}),
    ("B20", "clean", {"warm": [], "pair": {"a": reply(id="a", refused=True)}}),
    ("B21", "reproduced", {"tls": reply(connected=True), "before": {"reply": reply(took_s=1.5), "beacon": beacon(0.0)}, "after": {"reply": reply(took_s=1.5), "beacon": beacon(1.4)}}),
    ("B24", "reproduced", {"burn": reply(500), "limited": reply(went=True)}),
    ("B25", "reproduced", {"stuck": True, "ended": True, "beacon": beacon(2.0)}),
    ("B26", "reproduced", {"calls": {"usleep": reply(short_ns=0)}, "beacon": beacon(0.0), "fine": reply(early=62, early_ns=38, least_ns=150_000)}),
    ("B26", "reproduced", {"calls": {"usleep": reply(short_ns=0)}, "beacon": beacon(0.0), "fine": reply(early=0, early_ns=0, least_ns=2_170_000)}),
    ("B26", "clean", {"calls": {"usleep": reply(short_ns=0)}, "beacon": beacon(0.0), "fine": reply(early=0, early_ns=0, least_ns=150_000)}),
    ("B27", "clean", {"symbol": "eg", "compiled": 1800, "there": 1808, "started": False, "said": "eg has 1808 bytes, and 1800 in the headers"}),
    ("B27", "reproduced", {"symbol": "eg", "compiled": 1800, "there": 1808, "started": True, "said": ""}),
    ("B28", "reproduced", {"reply": reply(short_ns=700_000_000)}),
    ("U1", "reproduced", {"A": reply(body="end of A\n"), "B": reply(body="collected [destructor of A]1"), "C": reply(), "beacon": beacon(0.0)}),
    ("N1", "reproduced", {"memory": reply(500), "later": [reply(body="encode=\ndecode=NULL\nget=missing\n")]}),
    ("N2", "reproduced", {"deep": reply(0, "connection closed"), "overrun": reply(), "bystander": reply(0, "connection closed"), "later": reply()}),
    ("N4", "reproduced", {"replies": [reply(0, "no answer"), reply(0, "no answer")], "early": False, "beacon": beacon(12.0)}),
    ("N4", "clean", {"replies": [reply(n=1), reply(n=2)], "early": False, "beacon": beacon(0.1)}),
    ("N6", "reproduced", {"replies": {"request 1": reply(**RIGHT), "request 2": reply(500)}}),
    ("N6", "clean", {"replies": {"request 1": reply(**RIGHT), "request 2": reply(**RIGHT)}}),
    ("N9", "reproduced", {"bad": [], "destructed": 0, "first": 0, "fds": [10, 60]}),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kind", "seen"), CASES, ids=[f"{id}-{kind}-{k}" for k, (id, kind, _) in enumerate(CASES)])
def test_a_judge_sees_the_difference(id, kind, seen):
    verdict = verdict_of(scenarios()[id].judge(seen))
    assert verdict.kind == kind, verdict.line()
