"""The tables of README.md that are made from the data the server is compiled from.

    python3 runtime/fiber/manual.py            writes them anew
    python3 runtime/fiber/manual.py --check    says which are out of date, and ends with 1

Between `<!-- NAME -->` and `<!-- end of NAME -->` stands what the function for NAME makes. The table of directives is
written by hand, and held against config/directives.c by test/test_manual.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
ROW = re.compile(r"^(?:SEAM|SHARED)\((.*)\)$", re.MULTILINE)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _arguments(line: str) -> list[str]:
    """`call, what, "a note, with a comma"` -> three texts."""
    texts: list[str] = []

    def keep(found: re.Match[str]) -> str:
        texts.append(found[1].replace('\\"', '"'))
        return f"\0{len(texts) - 1}"

    parts = [part.strip() for part in TEXT.sub(keep, line).split(",")]
    return [texts[int(part[1:])] if part.startswith("\0") else part for part in parts]


def _rows(path: str) -> list[list[str]]:
    return [_arguments(line) for line in ROW.findall((HERE / path).read_text())]


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def seam() -> str:
    rows = ((f"`{call}`", what.lower(), note) for call, what, note in _rows("seam/seam.def"))
    return _table(("call", "what happens", "in detail"), rows)


def shared() -> str:
    def place(how: str, name: str) -> str:
        return f"`{name}`" if how == "SYMBOL" else f"the globals of the setting `{name}`"

    rows = ((place(how, name), reason) for how, name, _offset, _bytes, reason in _rows("engine/shared.def"))
    return _table(("what is shared", "why"), rows)


def foreign() -> str:
    text = (HERE / "config/foreign.c").read_text()
    reasons = dict(re.findall(r'static const char (\w+)\[\] =\s*"([^"]*)";', text))
    found = re.findall(r'^    \{"([^"]+)", (?:"([^"]*)"|(\w+))\},$', text, re.MULTILINE)
    return _table(("php-fpm's directive", "why it is not here"), ((f"`{name}`", why or reasons[known]) for name, why, known in found))


SECTIONS = {"seam.def": seam, "shared.def": shared, "foreign.c": foreign}


def made(text: str) -> str:
    for name, make in SECTIONS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"{README.name}: expected {begin} and {end}, once each")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.partition(end)[2]}"
    return text


def main() -> int:
    now = README.read_text()
    wanted = made(now)
    if "--check" in sys.argv[1:]:
        if now != wanted:
            print("runtime/fiber/README.md is out of date: python3 runtime/fiber/manual.py")
        return int(now != wanted)
    README.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
