"""Reading a test file. It is a text of sections, `--NAME--` on a line of its own before each.

    --FILE--    the script                        --GET-- --POST-- --POST_RAW-- --PUT-- --COOKIE-- --ENV--   the request
    --SKIPIF--  a script: what begins with        --INI--        settings, sent as PHP_VALUE with the request
                "skip" means that this test       --EXTENSIONS-- what must be loaded
                is not for here                   --CONFLICTS--  what no other case may use at the time
    --CLEAN--   a script that removes what was left

A case that FastCGI cannot carry is not asked; REFUSED says why. What a test expects is of no interest here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

HEAD = re.compile(rb"^--([A-Z_]+)--[ \t]*\r?\n", re.MULTILINE)
DONE = re.compile(rb"^===DONE===[ \t]*\r?$", re.MULTILINE)  # a script ends with this line, whatever follows
PLACE = re.compile(r"\{(\w+)(?::[^}]*)?\}")
TYPE = re.compile(rb"Content-Type:[ \t]*(.*)", re.IGNORECASE)
FORM = "application/x-www-form-urlencoded"
ALL = "all"  # a conflict with every other case

# sections that make a case impossible to ask, each with its reason
REFUSED = {
    "ARGS": "wants a command line",
    "STDIN": "wants a standard input",
    "PHPDBG": "is for the debugger",
    "REDIRECTTEST": "runs other tests",
    "GZIP_POST": "wants a compressed body",
    "DEFLATE_POST": "wants a compressed body",
    "HEADERS": "has headers that are computed",
}
# settings that are read only when a server starts
AT_START = re.compile(r"(zend_)?extension|disable_(functions|classes)|opcache\.(?!enable$).*|sys_temp_dir")


class Refused(Exception):
    """A case that cannot be asked; the text is the reason."""


@dataclass
class Case:
    name: str  # the test file's path without .phpt
    file: bytes
    skipif: bytes = b""
    clean: bytes = b""
    method: str = "GET"
    query: str = ""
    body: bytes = b""
    cookie: str = ""
    type: str = ""
    ini: list[tuple[str, str]] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    extensions: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def read(path: Path, name: str) -> Case:
    """Raises Refused with a reason."""
    raw = _sections(path.read_bytes())
    for section, reason in REFUSED.items():
        if section in raw:
            raise Refused(reason)
    case = Case(name, _file(raw, path), raw.get("SKIPIF", b""), raw.get("CLEAN", b""))
    case.query, case.cookie = _line(raw, "GET"), _line(raw, "COOKIE")
    case.ini = _ini(_text(raw, "INI"), path.parent)
    case.env = _env(_text(raw, "ENV"))
    case.extensions = [word.lower() for word in _text(raw, "EXTENSIONS").split()]
    case.conflicts = _text(raw, "CONFLICTS").split() + _of_folder(path.parent)
    _body(case, raw)
    return case


def _sections(data: bytes) -> dict[str, bytes]:
    parts = HEAD.split(data)
    return {name.decode(): content for name, content in zip(parts[1::2], parts[2::2], strict=True)}


def _text(raw: dict[str, bytes], name: str) -> str:
    return raw.get(name, b"").decode("latin-1").strip()


def _line(raw: dict[str, bytes], name: str) -> str:
    return _text(raw, name).replace("\n", "")


def _file(raw: dict[str, bytes], path: Path) -> bytes:
    if "FILE" in raw:
        found = DONE.search(raw["FILE"])
        return raw["FILE"][: found.end()] + b"\n" if found else raw["FILE"]
    if "FILEEOF" in raw:
        return raw["FILEEOF"].rstrip(b"\r\n")
    outside = path.parent / _text(raw, "FILE_EXTERNAL")
    if outside.is_file():
        return outside.read_bytes()
    raise Refused("has no script")


def _ini(text: str, folder: Path) -> list[tuple[str, str]]:
    """Settings; a value that is not a plain word is quoted, as PHP's command line does."""
    found = []
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or name.startswith(";"):
            continue
        if AT_START.fullmatch(name):
            raise Refused(f"sets {name.partition('.')[0]}, which is read at the server's start")
        if unknown := [place for place in PLACE.findall(value) if place not in ("PWD", "TMP")]:
            raise Refused(f"wants the place {unknown[0]}")
        found.append((name, value if re.match(r"[\w\"']|$", value) else f'"{value}"'))
    return found


def _env(text: str) -> dict[str, str]:
    if text.startswith("return"):
        raise Refused("has an environment that is computed")
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def _of_folder(folder: Path) -> list[str]:
    try:
        return (folder / "CONFLICTS").read_text().split()
    except OSError:
        return []


def _body(case: Case, raw: dict[str, bytes]) -> None:
    if "POST" in raw:
        case.method, case.body, case.type = "POST", raw["POST"].strip(), FORM
    for section, method in {"POST_RAW": "POST", "PUT": "PUT", "PATCH": "PATCH"}.items():
        if section in raw:
            case.method = method
            case.body, case.type = _typed(raw[section].strip())


def _typed(raw: bytes) -> tuple[bytes, str]:
    """The first line `Content-Type: …` is not a part of the body."""
    lines = raw.split(b"\n")
    for at, line in enumerate(lines):
        if found := TYPE.match(line):
            return b"\n".join(lines[:at] + lines[at + 1 :]), found[1].decode("latin-1").strip()
    return raw, ""
