"""README.md says what the server does: its made tables are up to date, and no directive is without its row."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

FIBER = Path(__file__).resolve().parents[1]
README = (FIBER / "README.md").read_text()
LIMITS = (FIBER / "worker/limits.h").read_text()

_spec = importlib.util.spec_from_file_location("fiber_manual", FIBER / "manual.py")
assert _spec is not None and _spec.loader is not None
manual = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(manual)

ENTRY = re.compile(r'^    \{"([\w.]+)",\s+(?:GLOBAL|POOL|LIST|SCOPE_\w+)\b(.*)\},$', re.MULTILINE)


def directives() -> dict[str, str]:
    """Name -> what it is if the file does not say."""
    source = (FIBER / "config/directives.c").read_text()
    texts = dict(re.findall(r'static const char (\w+)\[\] = "((?:[^"\\]|\\.)*)";', source))
    found = {}
    for name, rest in ENTRY.findall(source):
        standard = re.search(r'\.standard = (?:"([^"]*)"|(\w+))', rest)
        found[name] = "" if standard is None else standard[1] if standard[1] is not None else texts[standard[2]].replace('\\"', '"')
    assert found
    return found


def documented() -> dict[str, str]:
    """The rows | `name` | default | ... | of the section of directives."""
    section = README.split("## Configuration", 1)[1].split("<!-- foreign.c -->", 1)[0]
    rows = re.findall(r"^\| `([\w.]+)(?:\[[\w]*\])?` \| (.*?) \|", section, re.MULTILINE)
    assert len({name for name, _ in rows}) == len(rows), "a directive has two rows"
    return {name: default.strip("` ") for name, default in rows}


def test_the_made_tables_are_up_to_date():
    assert manual.made(README) == README, "python3 runtime/fiber/manual.py writes them anew"


def test_the_script_says_so_too():
    assert subprocess.run([sys.executable, str(FIBER / "manual.py"), "--check"], check=False).returncode == 0


@pytest.mark.parametrize("name, path", [("seam", "seam/seam.def"), ("shared", "engine/shared.def")])
def test_every_row_of_the_data_is_in_its_table(name, path):
    calls = re.findall(r"^(?:SEAM|SHARED)\(", (FIBER / path).read_text(), re.MULTILINE)
    assert len(getattr(manual, name)().splitlines()) == len(calls) + 2


def test_every_directive_has_a_row_and_every_row_a_directive():
    assert set(documented()) == set(directives())


def test_the_defaults_are_those_of_the_table():
    said = documented()
    assert {name: said[name] for name in directives()} == directives()


def test_every_foreign_directive_has_a_reason():
    names = re.findall(r'^    \{"([^"]+)", ', (FIBER / "config/foreign.c").read_text(), re.MULTILINE)
    assert names and all(f"| `{name}` | " in manual.foreign() for name in names)


@pytest.mark.parametrize("name", ["HOT_SLOTS_MAX", "RECEIVE_TIMEOUT_S", "SEND_TIMEOUT_S", "LINGER_S", "CONNECTIONS_EXTRA", "STATUS_BYTES_MAX", "BODY_BYTES_MAX", "OUT_BYTES_MAX", "STDERR_BYTES_MAX"])
def test_the_limits_named_are_those_of_the_worker(name):
    value = re.search(rf"\b{name} = (\d+)(?: << (\d+))?", LIMITS)
    assert value is not None
    text = f"{value[1]} KiB" if value[2] == "10" else value[1]
    assert re.search(rf"`{name}` \| {re.escape(text)} \|", README), f"{name} is {text}"


def test_the_signals_are_the_masters():
    handled = re.findall(r"\{(SIG\w+),", (FIBER / "master/loop.c").read_text())
    section = README.split("## Signals", 1)[1].split("\n## ", 1)[0]
    assert handled and all(f"`{name}`" in section for name in handled if name != "SIGCHLD")
