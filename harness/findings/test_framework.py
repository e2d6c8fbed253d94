"""The framework itself, on findings that are made up: verdicts, cells, exit statuses, the table, JSON and the page."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.findings import __main__ as command
from harness.findings import catalogue
from harness.findings.audit import Audit
from harness.findings.beacon import Beacon
from harness.findings.catalogue import row
from harness.findings.columns import AUDITED, CONTROL, FIXED, Column
from harness.findings.finding import Check, Finding, MarkMissed, NotApplicable, Scenario, scenarios, verdict_of
from harness.findings.flight import Flight, message
from harness.findings.options import Refused, parse
from harness.findings.peers import FOLDER, Peer
from harness.findings.trial import Trial, try_once
from harness.orchestrate import Verdict, load_target
from harness.orchestrate.client import END_REQUEST, STDERR, STDOUT, Endpoint, record
from harness.orchestrate.paths import ROOT
from harness.orchestrate.pool_file import with_settings

OK, BAD, OPEN = Check("a", True, "right"), Check("b", False, "wrong"), Check("c", None, "unknown")


def fake(id: str, stimulate=lambda rig: {}, judge=lambda seen: [OK], **data) -> Scenario:
    return Scenario(Finding(id, tried=f"something about {id}", **data), stimulate, judge)


def raises(error):
    def stimulate(rig):
        raise error

    return stimulate


# ---- verdicts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("checks", "missed", "kind"),
    [
        ([OK], [], "clean"),
        ([OK, BAD], [], "reproduced"),
        ([BAD, OPEN], ["m"], "reproduced"),
        ([OK, OPEN], [], "inconclusive"),
        ([OK], ["m"], "inconclusive"),
        ([], ["m"], "inconclusive"),
        ([], [], "inconclusive"),
    ],
)
def test_a_verdict_says_the_worst_that_is_known(checks, missed, kind):
    verdict = verdict_of(checks, missed)
    assert verdict.kind == kind
    assert verdict.marks_missed == missed


def test_a_verdict_with_many_reasons_stays_short():
    assert verdict_of([BAD] * 9).line() == "reproduced: " + "; ".join(["b: wrong"] * 4 + ["and 5 more"])


# ---- one trial on a real server -----------------------------------------------------------------------------------

needs_fpm = pytest.mark.skipif(load_target("php-fpm").missing() is not None, reason="php-fpm is not installed")


@pytest.fixture
def control():
    return Column(CONTROL, load_target("php-fpm"))


@needs_fpm
@pytest.mark.parametrize(
    ("stimulate", "judge", "line"),
    [
        (
            lambda rig: {"pid": rig.ask("/findings/beacon.php").text},
            lambda seen: [Check("pid", seen["pid"].isdigit(), "")],
            "clean: 1 of 1 checks",
        ),
        (lambda rig: {}, lambda seen: [BAD], "reproduced: b: wrong"),
        (raises(MarkMissed("half way")), lambda seen: [OK], "inconclusive: never reached: half way"),
        (raises(NotApplicable("no such thing")), lambda seen: [OK], "not applicable: no such thing"),
        (lambda rig: rig.wait_mark("never", 0.01) or {}, lambda seen: [OK], "inconclusive: never reached: never"),
    ],
)
def test_each_verdict_comes_from_a_trial(control, stimulate, judge, line):
    assert try_once(fake("B1", stimulate, judge), control).verdict.line() == line


@needs_fpm
def test_a_case_that_misses_its_mark_is_named_and_the_others_still_count(control):
    def stimulate(rig):
        if rig.case == "two":
            raise MarkMissed("the door")
        return {}

    trial = try_once(fake("B1", stimulate, lambda seen: [OK], cases=("one", "two")), control)
    assert trial.verdict.line() == "inconclusive: never reached: two: the door"
    assert [check.title for check in trial.checks] == ["one: a"]


@needs_fpm
def test_evidence_is_kept_only_for_what_is_not_expected(control, tmp_path):
    try_once(fake("B1"), control, tmp_path / "right")
    try_once(fake("B1", lambda rig: rig.tell("so it was") or {}, lambda seen: [BAD]), control, tmp_path / "wrong")
    assert not (tmp_path / "right").exists() and tmp_path.exists()
    assert json.loads((tmp_path / "wrong" / "verdict.json").read_text())["kind"] == "reproduced"
    assert "so it was" in (tmp_path / "wrong" / "history.jsonl").read_text()
    assert "FINDING=B1 COLUMN=php-fpm" in (tmp_path / "wrong" / "replay.sh").read_text()
    assert (tmp_path / "wrong" / "run" / "logs" / "target.log").exists()


@needs_fpm
def test_the_beacon_counts_an_answer_that_has_not_come(control):
    def stimulate(rig):
        with rig.beacon() as calm:
            pass
        held = [rig.start(f"/findings/n04_session.php?sid={k}&n={k}&wait=go") for k in range(rig.run.options.workers)]
        with_all_held = Beacon(lambda: rig.start("/findings/beacon.php"), 60)
        with_all_held._first.set()  # no first answer is expected
        with with_all_held:
            rig.hold(0.3)
        rig.release("go")
        return {"calm": calm.answered, "worst": with_all_held.worst_s, "held": [flight.finish().status for flight in held]}

    trial = try_once(
        fake(
            "B1",
            stimulate,
            lambda seen: [Check("all", seen["calm"] >= 1 and seen["worst"] >= 0.25 and seen["held"] == [200, 200], str(seen))],
        ),
        control,
    )
    assert trial.verdict.kind == "clean", trial.verdict.line()


def test_a_server_that_is_not_spoken_to_by_fastcgi_is_not_applicable(control):
    from dataclasses import replace

    column = Column("web", replace(control.target, protocol="http"))
    assert try_once(fake("B1"), column).verdict.kind == "not_applicable"


def test_a_missing_capability_is_not_applicable(control):
    assert "concurrent" in try_once(fake("B27"), control).verdict.line()


# ---- settings --------------------------------------------------------------------------------------------------


def test_settings_replace_or_join_the_pool_and_its_global_part():
    target = with_settings(
        load_target("php-fpm"), {"process_control_timeout": "3s", "pm.max_requests": "7", "listen.backlog": "9"}
    )
    text = target.files["php-fpm.conf"]
    assert text.count("process_control_timeout = 3s") == 1 and "process_control_timeout = 10s" not in text
    assert text.count("listen.backlog = 9") == 1 and "511" not in text
    assert text.index("pm.max_requests = 7") > text.index("[www]") > text.index("process_control_timeout")


def test_settings_need_a_pool_file():
    from dataclasses import replace

    with pytest.raises(NotApplicable, match="pm.max_requests"):
        Column("own", replace(load_target("php-fpm"), files={})).changed(row("B1"), {"pm.max_requests": "7"})


# ---- the matrix --------------------------------------------------------------------------------------------------


def attempts(verdicts):
    """Stands in for try_once(): verdicts by finding and column, one after the other."""
    given = {key: iter(kinds) for key, kinds in verdicts.items()}

    def attempt(scenario, column, evidence=None):
        kind = next(given[scenario.id, column.name])
        if kind == "crash":
            raise ZeroDivisionError("in the scenario")
        check = Check("a judge", {"clean": True, "reproduced": False}.get(kind), "<said> & done", {"took_s": 1.5})
        return Trial(
            Verdict(kind, ["<why>"]), 0.5, [check], [{"t_s": 0.1, "text": "did <it>", "case": ""}], {"": {"x": 1}}, ["log <line>"]
        )

    return attempt


COLUMNS = [Column(name, load_target("php-fpm")) for name in (AUDITED, FIXED, CONTROL)]


def audit_of(verdicts, repeat=1):
    known = {id: fake(id) for id, _ in verdicts}
    audit = Audit(list(known), known, COLUMNS, repeat, attempt=attempts(verdicts))
    assert len(list(audit.lines())) == len(known)
    return audit


def test_the_mutation_score_counts_what_is_right_in_both_columns_each_time():
    right = {AUDITED: ["reproduced"] * 2, FIXED: ["clean"] * 2, CONTROL: ["clean"] * 2}
    missed = {**right, AUDITED: ["reproduced", "clean"]}
    verdicts = {("B1", name): kinds for name, kinds in right.items()} | {("B2", name): kinds for name, kinds in missed.items()}
    audit = audit_of(verdicts, repeat=2)
    assert audit.score() == (1, 2)
    assert audit.done[1].cells[AUDITED].text == "clean 1/2"
    assert audit.done[0].cells[AUDITED].text == "reproduced 2/2"
    assert audit.surprises() == ["B2 audited: clean: <why> (expected reproduced)"]


def test_a_scenario_that_fails_is_inconclusive_and_said():
    audit = audit_of({("B1", name): ["crash"] for name in (AUDITED, FIXED, CONTROL)})
    assert {cell.kind for cell in audit.done[0].cells.values()} == {"inconclusive"}
    assert "ZeroDivisionError: in the scenario" in audit.failures[0]


def run_main(tmp_path, capsys, verdicts, *arguments):
    known = {id: fake(id) for id, _ in verdicts}
    names = ",".join(known)
    status = command.main(["--finding", names, "--out", str(tmp_path), *arguments], known, attempts(verdicts))
    return status, capsys.readouterr()


@needs_fpm
@pytest.mark.parametrize(
    ("kind", "status"), [("clean", 0), ("reproduced", 1), ("inconclusive", 3), ("not_applicable", 1), ("crash", 3)]
)
def test_the_exit_status_says_what_was_found(tmp_path, capsys, kind, status):
    got, shown = run_main(tmp_path, capsys, {("B1", CONTROL): [kind]}, "--column", CONTROL)
    assert got == status
    assert "B1       something about B1" in shown.out
    assert ("✗" in shown.out) == (status != 0)


@needs_fpm
def test_inconclusive_does_not_hide_what_is_wrong(tmp_path, capsys):
    got, _ = run_main(tmp_path, capsys, {("B1", CONTROL): ["inconclusive"], ("B2", CONTROL): ["reproduced"]}, "--column", CONTROL)
    assert got == 1


def test_a_column_that_cannot_be_measured_is_status_2(tmp_path, capsys):
    target = tmp_path / "none.toml"
    text = (ROOT / "fixtures/targets/php-fpm.toml").read_text()
    target.write_text(text.replace('["php-fpm8.2", "php-fpm"]', '"/nowhere/fpm"').replace('name = "php-fpm"', 'name = "mine"'))
    got, shown = run_main(tmp_path / "out", capsys, {("B1", "mine"): []}, "--target", str(target))
    assert got == 2
    assert "not measured" in shown.out


@needs_fpm
def test_json_is_all_of_standard_output(tmp_path, capsys):
    got, shown = run_main(tmp_path, capsys, {("B1", CONTROL): ["clean"]}, "--column", CONTROL, "--json")
    data = json.loads(shown.out)
    assert got == 0 and data["findings"][0]["cells"][CONTROL]["kind"] == "clean"
    assert "something about B1" in shown.err
    assert data["findings"][0]["cells"][CONTROL]["story"]["replay"] == "make audit FINDING=B1 COLUMN=php-fpm"


@needs_fpm
def test_the_page_has_the_matrix_and_a_story_for_each_cell(tmp_path, capsys):
    run_main(tmp_path, capsys, {("B1", CONTROL): ["reproduced"], ("N7", CONTROL): ["clean"]}, "--column", CONTROL)
    page = (tmp_path / "index.html").read_text()
    for text in (
        'href="#B1-php-fpm"',
        'id="B1-php-fpm"',
        'id="N7-php-fpm"',
        "Not as expected",
        "make audit FINDING=B1 COLUMN=php-fpm",
    ):
        assert text in page, text
    for text in ("&lt;said&gt; &amp; done", "did &lt;it&gt;", "log &lt;line&gt;"):
        assert text in page, text
    assert "<said>" not in page and "<it>" not in page


def test_the_report_refuses_other_files(tmp_path):
    other = tmp_path / "x.json"
    other.write_text('{"ordeal": "soak", "version": 1}')
    done = subprocess.run([sys.executable, "-m", "reports.audit", other, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "audit" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--finding", "B99"], "did you mean|known are"),
        (["--column", "php-fmp"], "did you mean php-fpm"),
        (["--repeat", "0"], "REPEAT=0"),
        (["--target", "nothing"], "nothing"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_hint(arguments, why):
    with pytest.raises(Refused, match=why):
        parse(arguments, {})


def test_a_finding_without_a_scenario_is_refused_by_name():
    with pytest.raises(Refused, match="B7: not measured"):
        parse(["--finding", "B7", "--column", CONTROL], {"B1": fake("B1")})


# ---- the catalogue and its files --------------------------------------------------------------------------------------


def test_the_catalogue_lists_every_finding_once_and_in_order():
    wanted = [f"B{k}" for k in range(1, 30)] + [f"U{k}" for k in range(1, 4)] + [f"N{k}" for k in range(1, 10)]
    assert list(catalogue.IDS) == wanted


def test_every_scenario_is_in_the_catalogue_and_says_what_it_tries():
    for id, scenario in scenarios().items():
        assert scenario.row.id == id and len(scenario.finding.tried) > 20
        assert scenario.finding.workers_alone >= 2
        assert set(scenario.finding.case_settings) <= set(scenario.finding.cases)


# ---- requests in flight, peers ----------------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path):
    """A FastCGI server by hand: what the test does to the one connection it accepts."""
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(tmp_path / "sock"))
    sock.listen()
    yield Endpoint("fastcgi", path=str(tmp_path / "sock")), sock
    sock.close()


END = record(END_REQUEST, bytes(8))


def test_a_flight_is_watched_while_it_runs_and_then_read_to_its_end(server):
    endpoint, sock = server
    flight = Flight(endpoint, message("/x.php", "/root"))
    peer, _ = sock.accept()
    with peer:
        peer.sendall(record(STDOUT, b"Content-Type: text/plain\r\n\r\nhalf"))
        assert flight.wait_text("half") and not flight.done
        peer.sendall(record(STDERR, b"oops") + record(STDOUT, b" way") + END)
        reply = flight.finish()
    assert (reply.status, reply.text, reply.stderr, reply.app_status, reply.error) == (200, "half way", "oops", 0, None)


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (b"", "connection closed before END_REQUEST"),
        (record(END_REQUEST, b"\0\0\0\0\2\0\0\0"), "refused: END_REQUEST says OVERLOADED"),
    ],
)
def test_a_flight_that_fails_says_how(server, sent, error):
    endpoint, sock = server
    flight = Flight(endpoint, message("/x.php", "/root"))
    peer, _ = sock.accept()
    threading.Thread(target=lambda: (peer.recv(65536), peer.sendall(sent), peer.close())).start()
    assert flight.finish().error == error


def test_a_flight_is_given_up_in_time(server):
    endpoint, sock = server
    reply = Flight(endpoint, message("/x.php", "/root")).finish(within_s=0.05)
    assert reply.error == "no answer within 0.05 s" and reply.lost


def test_nobody_listens(tmp_path):
    assert "FileNotFoundError" in Flight(Endpoint("fastcgi", path=str(tmp_path / "none")), message("/x.php", "/")).finish().error


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "peer"))
def test_each_peer_starts_listens_and_ends(tmp_path, name):
    peer = Peer(name, tmp_path, tls=name == "one_record")
    pid = peer._process.pid
    try:
        assert 0 < peer.port < 65536 and os.path.exists(f"/proc/{pid}")
    finally:
        peer.stop()
    assert peer._process.returncode is not None


def test_the_full_backlog_neither_accepts_nor_refuses(tmp_path):
    peer = Peer("full_backlog", tmp_path)
    try:
        with pytest.raises(TimeoutError):
            socket.create_connection(("127.0.0.1", peer.port), 0.3)
    finally:
        peer.stop()


def test_paths_of_the_project_are_not_written_to():
    assert not (Path(ROOT) / "fixtures" / "apps" / "findings" / "rig").exists()
