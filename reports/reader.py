"""Strict reading of a JSON document, with errors that say where.

A `Node` is a value together with its place. Its methods read one member each, check it, and either return it,
return the default (when the member is missing or null), or raise `ResultsError`:

    phase = Node({"name": "calm", "sent": -1}, "phases[0]", "results.json")
    phase.text("name", "")      # "calm"
    phase.number("end_s")       # None: optional
    phase.count("sent", 0)      # ResultsError: results.json: phases[0].sent: expected a count (integer >= 0), found -1

Unknown members are left alone, so that a page of today can read the results of tomorrow.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

COUNT_MAX = 2**63 - 1
BYTES_MAX = 512 * 1024 * 1024
FOUND_CHARS_MAX = 60
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


class ResultsError(Exception):
    """The input is not what it should be: says the file, the key, what was expected and what was found."""

    def __init__(self, file: str, key: str, expected: str, found: str) -> None:
        super().__init__(clean_text(f"{file}: {key}: expected {expected}, found {found}"))
        self.file, self.key, self.expected = file, key, expected


def clean_text(text: str) -> str:
    """Text that can be written as UTF-8 HTML and shows what it is: controls, lone surrogates and direction overrides become U+FFFD."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def describe(value: Any) -> str:
    text = clean_text(json.dumps(value, ensure_ascii=True, default=str)) if not isinstance(value, (dict, list)) else ""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return text if len(text) <= FOUND_CHARS_MAX else text[:FOUND_CHARS_MAX] + "…"


@dataclass(frozen=True)
class Node:
    """A JSON object and its place in the file."""

    value: dict[str, Any]
    key: str
    file: str

    def fail(self, name: str, expected: str, found: str | None = None) -> ResultsError:
        place = f"{self.key}.{name}" if self.key else name
        what = found if found is not None else describe(self.value[name]) if name in self.value else "nothing"
        return ResultsError(self.file, place, expected, what)

    def has(self, name: str) -> bool:
        return self.value.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        value = self.value.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.fail(name, "a text")
        return clean_text(value)

    def flag(self, name: str, default: bool | None = False) -> bool | None:
        value = self.value.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.fail(name, "true or false")
        return value

    def number(self, name: str, default: float | None = None) -> float | None:
        value = self.value.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fail(name, "a number")
        if abs(value) > COUNT_MAX or not math.isfinite(value):
            raise self.fail(name, "a finite number within 63 bits")
        return value

    def measure(self, name: str, default: float | None = None) -> float | None:
        """A number that cannot be negative: a time, a size, a rate."""
        value = self.number(name, default)
        if value is not None and value < 0:
            raise self.fail(name, "a number >= 0")
        return value

    def count(self, name: str, default: int | None = None) -> int | None:
        value = self.number(name, default)
        if value is None:
            return None
        if value < 0 or value != int(value):
            raise self.fail(name, "a count (integer >= 0)")
        return int(value)

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name, default)
        if value not in allowed:
            raise self.fail(name, "one of " + ", ".join(allowed))
        return value

    def object(self, name: str) -> Node:
        """The member object; an empty one when it is missing."""
        value = self.value.get(name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.fail(name, "an object")
        return Node(value, f"{self.key}.{name}" if self.key else name, self.file)

    def items(self, name: str) -> list[Any]:
        value = self.value.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.fail(name, "a list")
        return value

    def objects(self, name: str) -> Iterator[Node]:
        for index, item in enumerate(self.items(name)):
            if not isinstance(item, dict):
                raise self.fail(f"{name}[{index}]", "an object", describe(item))
            yield Node(item, f"{self.key}.{name}[{index}]" if self.key else f"{name}[{index}]", self.file)

    def texts(self, name: str) -> list[str]:
        for index, item in enumerate(self.items(name)):
            if not isinstance(item, str):
                raise self.fail(f"{name}[{index}]", "a text", describe(item))
        return [clean_text(item) for item in self.items(name)]

    def counts(self, name: str) -> dict[str, int]:
        """An object of counts, e.g. {"connection reset": 3}, the greatest first."""
        node = self.object(name)
        found = {clean_text(key): node.count(key, 0) or 0 for key in node.value}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def scalars(self, name: str) -> dict[str, str | float | bool | None]:
        """An object of plain values; a nested value is shown as its JSON text."""
        node = self.object(name)
        return {clean_text(key): node.scalar(key) for key in node.value}

    def scalar(self, name: str) -> str | float | bool | None:
        value = self.value[name]
        if isinstance(value, str):
            return clean_text(value)
        if isinstance(value, (dict, list)):
            return clean_text(json.dumps(value, ensure_ascii=False, default=str))
        if isinstance(value, bool) or value is None:
            return value
        return self.number(name)


def read_document(path: Path) -> Node:
    """The top-level object of a JSON file."""
    file = str(path)
    try:
        size_bytes = path.stat().st_size
        if size_bytes > BYTES_MAX:
            raise ResultsError(file, "file", f"at most {BYTES_MAX} bytes", f"{size_bytes} bytes")
        value = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ResultsError(file, "file", "a readable JSON file", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ResultsError(file, f"byte {error.start}", "UTF-8 text", "other bytes") from error
    except json.JSONDecodeError as error:
        hint = "an empty file" if not error.doc.strip() else error.msg
        raise ResultsError(file, f"line {error.lineno}, column {error.colno}", "JSON", hint) from error
    except RecursionError as error:
        raise ResultsError(file, "file", "JSON of a reasonable depth", "nesting too deep") from error
    except ValueError as error:
        raise ResultsError(file, "file", "JSON", str(error)) from error
    if not isinstance(value, dict):
        raise ResultsError(file, "top level", "an object", describe(value))
    return Node(value, "", file)
