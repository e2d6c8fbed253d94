"""What is asked. A script is asked by `GET /name.php`, unless the comment at its top says otherwise:

    <?php
    //@ method PUT
    //@ query a=1&b[]=2
    //@ path /more/info             PATH_INFO, after the script's name
    //@ type text/plain             Content-Type
    //@ cookie c=d; e=%20f
    //@ header X-Name: value        any number of these
    //@ body line 1\\r\\nline 2       with Python's escapes; several lines are joined as they stand; implies POST
    //@ body*1000 text              the same, a thousand times
    //@ slow                       takes a second or more: left out of the mix

The lines with `//@` come first, without others between them.

With chaos a script waits for all others at every k-th call of an internal function, so it should not make many thousands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from harness.orchestrate.paths import ROOT

FOLDER = ROOT / "fixtures" / "differential"
FATAL = "fatal_"  # scripts with this prefix end in an error that PHP cannot go on from
OWN = "own_"  # scripts with this prefix have random values of their own, and look for those of others like them
LINE = re.compile(r"//@ (\w+)(?:\*(\d+))? ?(.*)")


class ScriptError(Exception):
    """A script whose description cannot be read."""


@dataclass
class Script:
    name: str  # without .php
    method: str | None = None
    query: str = ""
    path_info: str = ""
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    slow: bool = False

    @property
    def fatal(self) -> bool:
        return self.name.startswith(FATAL)

    @property
    def request(self) -> tuple[str, str]:
        """Method and request target."""
        return self.method or ("POST" if self.body else "GET"), f"/{self.name}.php{self.path_info}" + (f"?{self.query}" if self.query else "")


def _header(script: Script, text: str) -> None:
    name, _, value = text.partition(": ")
    script.headers[name] = value


def _body(script: Script, text: str) -> None:
    script.body += text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")


WORDS: dict[str, Callable[[Script, str], None]] = {
    "method": lambda script, text: setattr(script, "method", text),
    "query": lambda script, text: setattr(script, "query", text),
    "path": lambda script, text: setattr(script, "path_info", text),
    "type": lambda script, text: _header(script, f"Content-Type: {text}"),
    "cookie": lambda script, text: _header(script, f"Cookie: {text}"),
    "header": _header,
    "body": _body,
    "slow": lambda script, text: setattr(script, "slow", True),
}


def read(path: Path) -> Script:
    script = Script(path.stem)
    lines = path.read_bytes().decode("latin-1").split("\n")[1:]
    for line in lines:
        if (found := LINE.fullmatch(line)) is None:
            break
        word, times, text = found.groups()
        if word not in WORDS:
            raise ScriptError(f"{path}: //@ {word} is none of {', '.join(WORDS)}")
        for _ in range(int(times or 1)):
            WORDS[word](script, text)
    return script


def scripts(folder: Path = FOLDER, only: str = "*") -> list[Script]:
    """All scripts of a folder whose name fits `only`, by name; its sub-folders are for what they include."""
    found = [read(path) for path in sorted(folder.glob("*.php")) if fnmatch(path.stem, only.removesuffix(".php"))]
    if not found:
        raise ScriptError(f"no script in {folder} is named like {only!r}")
    return found
