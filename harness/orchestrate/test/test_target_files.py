"""Target files: the good one, and every way to get one wrong."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from harness.orchestrate import NotMeasured, TargetError, all_targets, launch, load_target
from harness.orchestrate.paths import TARGETS

GOOD = (TARGETS / "php-fpm.toml").read_text()
SMALL = """\
name = "small"
what = "the least a target file needs"
executable = "true"
install = "apt-get install coreutils"
[start]
command = ["{{EXECUTABLE}}"]
[endpoint]
protocol = "http"
[ready]
request = "/"
"""


def load(tmp_path: Path, text: str):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return load_target(path)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(TargetError) as error:
        load(tmp_path, text)
    return str(error.value)


def test_php_fpm_says_all_that_scenarios_need():
    target = load_target("php-fpm")
    assert target.signals["reload"] == signal.SIGUSR2
    assert target.signals["quit"] == signal.SIGQUIT
    assert target.protocol == "fastcgi" and target.workers == 4
    assert target.stop[-1][0] == "SIGKILL"
    assert {"reload", "respawn"} <= target.capabilities


def test_every_target_file_of_the_project_is_readable_and_named_after_its_file():
    targets = all_targets()
    assert targets and all(target.name == target.path.stem for target in targets)


def test_the_least_file_has_defaults(tmp_path):
    target = load(tmp_path, SMALL)
    assert (target.ready_status, target.workers, target.listen) == (200, 4, "unix")
    assert target.stop == (("SIGTERM", 5.0), ("SIGKILL", 5.0))
    assert target.missing() is None


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ('name = "small"', "", ["key `name`", "is missing", "expected a short name"]),
        ('name = "small"', 'name = "two words"', ["mine.toml:1", "key `name`", "two words"]),
        ('name = "small"', "name = 3", ["key `name`", "is 3"]),
        ('name = "small"', 'nmae = "small"', ["mine.toml:1", "key `nmae`", "did you mean name?"]),
        ("[ready]", "[redy]", ["mine.toml:9", "key `redy`", "did you mean ready"]),
        ('request = "/"', 'request = "info.php"', ["mine.toml:10", "`ready.request`", "a path to ask for"]),
        ('request = "/"', 'request = "/"\nstatus = "200"', ["mine.toml:11", "`ready.status`", "100 to 599"]),
        ('request = "/"', 'request = "/"\nwithin_s = -1', ["mine.toml:11", "`ready.within_s`", "seconds"]),
        ('request = "/"', 'request = "/"\nwithin_s = true', ["`ready.within_s`", "seconds"]),
        ('protocol = "http"', 'protocol = "htpp"', ["mine.toml:8", "`endpoint.protocol`", '"fastcgi" or "http"']),
        ('protocol = "http"', 'protocol = "http"\nlisten = "9000"', ["`endpoint.listen`", "host:port"]),
        ("[endpoint]", "[endpoint", ["mine.toml:7", "is not TOML"]),
        ('["{{EXECUTABLE}}"]', '"{{EXECUTABLE}}"', ["mine.toml:6", "`start.command`", "a list"]),
        ('["{{EXECUTABLE}}"]', "[]", ["`start.command`", "a list"]),
        ('["{{EXECUTABLE}}"]', '["{{EXECUTABEL}}"]', ["mine.toml:6", "{{EXECUTABEL}}", "did you mean EXECUTABLE?"]),
        ("[endpoint]", "workers = 0\n[endpoint]", ["`start.workers`", "1 to 1024"]),
        ("[endpoint]", 'files = 3\n[endpoint]', ["key `start.files`", "is not known"]),
        ("[endpoint]", '[files]\n"a.conf" = "listen = {{ADRR}}"\n[endpoint]', ["mine.toml:8", "`files.a.conf`", "did you mean ADDR?"]),
        ("[endpoint]", '[signals]\nreload = "SIGUSR9"\n[endpoint]', ["mine.toml:7", "`signals`", "SIGUSR9", 'reload = "SIGUSR2"']),
        ("[endpoint]", '[stop]\nsteps = [["qiut", 5]]\n[signals]\nquit = "SIGQUIT"\n[endpoint]', ["`stop.steps`", "'qiut'", "did you mean quit?"]),
        ("[endpoint]", '[stop]\nsteps = ["SIGTERM"]\n[endpoint]', ["`stop.steps`", "a list of [signal, seconds"]),
        ("[endpoint]", '[log]\nerrors = ["("]\n[endpoint]', ["`log.errors`", "regular expressions"]),
        ("[endpoint]", '[beside]\nexecutable = "true"\ninstall = "no"\n[endpoint]', ["key `beside.command`", "is missing"]),
        ("[endpoint]", '[beside]\n[endpoint]', ["key `beside.executable`", "is missing"]),
        ("[endpoint]", '[beside]\nstop = "SIGSTOPP"\n[endpoint]', ["mine.toml:8", "`beside.stop`", "a signal"]),
        ("[endpoint]", '[beside]\ncommand = ["{{BESIED}}"]\n[endpoint]', ["mine.toml:8", "did you mean BESIDE?"]),
        ("[endpoint]", '[heap]\nrequest = "/x"\n[endpoint]', ["key `heap`", "both"]),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_what_was_expected(tmp_path, old, new, expected):
    assert old in SMALL
    message = refused(tmp_path, SMALL.replace(old, new, 1))
    assert all(part in message for part in expected), message


def test_a_table_that_is_no_table(tmp_path):
    message = refused(tmp_path, 'ready = "soon"\n' + SMALL.replace("[ready]\n", "").replace('request = "/"\n', ""))
    assert "mine.toml:1" in message and "must be a table: [ready]" in message


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "mine.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(TargetError, match="not UTF-8 .byte 8"):
        load_target(tmp_path / "mine.toml")


def test_an_unknown_name_suggests_a_near_one():
    with pytest.raises(TargetError, match="did you mean php-fpm"):
        load_target("php-fmp")


def test_a_path_that_does_not_exist(tmp_path):
    with pytest.raises(TargetError, match="no such file"):
        load_target(tmp_path / "none.toml")


def test_a_program_that_is_not_installed_is_not_measured(tmp_path):
    target = load(tmp_path, SMALL.replace('"true"', '["no-such-program-a", "no-such-program-b"]'))
    with pytest.raises(NotMeasured, match="^not measured: no-such-program-a or no-such-program-b is not installed: apt-get install"):
        launch(target)


def test_the_first_program_that_is_there_is_used(tmp_path):
    target = load(tmp_path, SMALL.replace('"true"', '["no-such-program", "sh", "true"]'))
    assert target.executable().name == "sh"


def test_the_program_beside_has_to_be_there_too(tmp_path):
    beside = '[beside]\nexecutable = "no-such-server"\ninstall = "apt-get install no-such-server"\ncommand = ["{{BESIDE}}"]\n'
    target = load(tmp_path, SMALL + beside)
    assert target.beside.stop == signal.SIGTERM and target.beside.within_s == 5
    with pytest.raises(NotMeasured, match="^not measured: no-such-server is not installed: apt-get install no-such-server"):
        launch(target)
