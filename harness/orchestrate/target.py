"""Target files: how to start, ask, signal and stop a runtime, as data.

    >>> target = load_target("php-fpm")              # fixtures/targets/php-fpm.toml, or a path to a file of your own
    >>> target.signals["reload"]
    <Signals.SIGUSR2: 12>
    >>> target.missing()                             # None, or why this target cannot be measured here
    'not measured: php-fpm8.2 is not installed: apt-get install php8.2-fpm'

`fixtures/targets/php-fpm.toml` teaches the format in its comments. The table FIELDS below is the format: a key that is not in
it, a value of another type, or a required key that is missing is a TargetError with file, line, key and what was expected.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping

from . import paths, template
from .proc import signal_number

STOP_LAST = ("SIGKILL", 5.0)


class TargetError(Exception):
    """A target file that cannot be used. The message says where, what was expected and what to do."""

    def __init__(self, path: Path, where: str, problem: str, line: int | None = None) -> None:
        self.path, self.where, self.problem, self.line = path, where, problem, line
        place = paths.shown(path) + (f":{line}" if line else "")
        super().__init__(f"{place}: {where}: {problem}" if where else f"{place}: {problem}")


@dataclass(frozen=True)
class Beside:
    """A second program that lives as long as the main one does: a web server in front of it, say."""

    executables: tuple[str, ...]
    install: str
    command: tuple[str, ...]
    stop: signal.Signals
    within_s: float

    def executable(self) -> Path | None:
        return first_found(self.executables)


@dataclass(frozen=True)
class Target:
    path: Path
    name: str
    what: str
    executables: tuple[str, ...]
    install: str
    capabilities: frozenset[str]
    command: tuple[str, ...]
    files: Mapping[str, str]
    env: Mapping[str, str]
    workers: int
    worker_executable: str | None
    protocol: str
    listen: str
    ready_request: str
    ready_status: int
    ready_within_s: float
    signals: Mapping[str, signal.Signals]
    stop: tuple[tuple[str, float], ...]
    only: str | None
    fault_plan: Path | None
    heap_request: str | None
    heap_key: str | None
    log_errors: tuple[str, ...]
    log_harmless: tuple[str, ...]
    beside: Beside | None

    def executable(self) -> Path | None:
        """The first of the named programs that is there and may be run."""
        return first_found(self.executables)

    def missing(self) -> str | None:
        for one in (self, self.beside):
            if one is not None and one.executable() is None:
                names = " or ".join(paths.shown(name) if "/" in name else name for name in one.executables)
                return f"not measured: {names} is not installed: {one.install}"
        return None

    @property
    def main_executable(self) -> str:
        found = self.executable()
        return os.path.basename(os.path.realpath(found)) if found else os.path.basename(self.executables[0])

    def __str__(self) -> str:
        return self.name


def first_found(names: tuple[str, ...]) -> Path | None:
    for name in names:
        filled = template.fill(name, {"ROOT": str(paths.ROOT), "BUILD": str(paths.build_dir())})
        search = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin:/sbin"
        found = shutil.which(filled, path=search) if "/" not in filled else filled
        if found and os.access(found, os.X_OK):
            return Path(found)
    return None


# ---- The format ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    key: str  # with its table: "ready.status"
    expected: str  # as a person would say it
    accepts: Callable[[Any], bool]
    default: Any = None
    required: bool = False


def _text(v: Any) -> bool:
    return isinstance(v, str) and bool(v.strip())


def _texts(v: Any) -> bool:
    return isinstance(v, list) and bool(v) and all(_text(one) for one in v)


def _any_texts(v: Any) -> bool:
    return isinstance(v, list) and all(isinstance(one, str) for one in v)


def _table_of_texts(v: Any) -> bool:
    return isinstance(v, dict) and all(isinstance(one, str) for one in v.values())


def _count(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool) and 1 <= v <= 1024


def _seconds(v: Any) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool) and 0 < v <= 600


def _status(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool) and 100 <= v <= 599


def _is_signal(name: Any) -> bool:
    try:
        return isinstance(name, str) and signal_number(name) > 0
    except KeyError:
        return False


def _signals(v: Any) -> bool:
    return isinstance(v, dict) and all(_is_signal(one) for one in v.values())


def _stop(v: Any) -> bool:
    def step(one: Any) -> bool:
        return isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and _seconds(one[1])

    return isinstance(v, list) and bool(v) and all(step(one) for one in v)


def _patterns(v: Any) -> bool:
    def compiles(one: str) -> bool:
        try:
            re.compile(one)
            return True
        except re.error:
            return False

    return _any_texts(v) and all(compiles(one) for one in v)


def _listen(v: Any) -> bool:
    return v in ("unix", "tcp") or isinstance(v, str) and re.fullmatch(r"[^:\s]+:\d{1,5}", v) is not None


FIELDS = (
    Field("name", "a short name, as in TARGET=", lambda v: _text(v) and re.fullmatch(r"[\w.+-]+", v), required=True),
    Field("what", "one line that says what this is", _text, required=True),
    Field("executable", "a program's name or path, or a list of them (the first found is used)", lambda v: _text(v) or _texts(v), required=True),
    Field("install", "what to do when the program is missing, such as 'apt-get install php8.2-fpm'", _text, required=True),
    Field("capabilities", "a list of words", _any_texts, default=[]),
    Field("start.command", "a list: the program and its arguments", _texts, required=True),
    Field("start.workers", "a number of workers from 1 to 1024", _count, default=4),
    Field("start.env", "a table of texts", _table_of_texts, default={}),
    Field("files", "a table: file name = text of the file", _table_of_texts, default={}),
    Field("endpoint.protocol", '"fastcgi" or "http"', lambda v: v in ("fastcgi", "http"), required=True),
    Field("endpoint.listen", '"unix", "tcp" (a free port) or a fixed "host:port"', _listen, default="unix"),
    Field("ready.request", "a path to ask for, such as '/info.php'", lambda v: _text(v) and v.startswith("/"), required=True),
    Field("ready.status", "a status from 100 to 599", _status, default=200),
    Field("ready.within_s", "seconds, up to 600", _seconds, default=15),
    Field("signals", 'a table: name = signal, such as reload = "SIGUSR2"', _signals, default={}),
    Field("stop.steps", 'a list of [signal, seconds to wait], such as [["quit", 5]]', _stop, default=[["SIGTERM", 5]]),
    Field("workers.executable", "the program's name of a worker process", _text),
    Field("faults.only", "the name of the program that faults are injected into", _text),
    Field("faults.plan", "a file of rules that this target must bear, from the project's root, such as 'soak/plans/gentle.plan'", _text),
    Field("heap.request", "a path that answers JSON", lambda v: _text(v) and v.startswith("/")),
    Field("heap.key", "where the number of bytes is in that JSON, such as 'memory.used_bytes'", _text),
    Field("log.errors", "a list of regular expressions", _patterns, default=[]),
    Field("log.harmless", "a list of regular expressions", _patterns, default=[]),
    Field("beside.executable", "a program's name or path, or a list of them (the first found is used)", lambda v: _text(v) or _texts(v)),
    Field("beside.install", "what to do when that program is missing", _text),
    Field("beside.command", "a list: the second program and its arguments", _texts),
    Field("beside.stop", "a signal, such as 'SIGQUIT'", _is_signal, default="SIGTERM"),
    Field("beside.within_s", "seconds to wait for its end, up to 600", _seconds, default=5),
)
_BY_KEY = {field.key: field for field in FIELDS}
_TABLES = {key.rpartition(".")[0] for key in _BY_KEY} - {""}


def _names_in(prefix: str) -> list[str]:
    """What may stand in a table: `` -> name, what, start, ...; `ready.` -> request, status, within_s."""
    return list(dict.fromkeys(key.removeprefix(prefix).split(".")[0] for key in _BY_KEY if key.startswith(prefix)))


def load_target(name: str | Path) -> Target:
    """Reads a target file, by the name of one in fixtures/targets/ or by path."""
    path = find_target(name)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as e:
        raise TargetError(path, "", f"cannot be read: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise TargetError(path, "", f"is not UTF-8 (byte {e.start})") from e
    except tomllib.TOMLDecodeError as e:
        line = re.search(r"at line (\d+)", str(e))
        raise TargetError(path, "", f"is not TOML: {e}", int(line[1]) if line else None) from e
    return _Reader(path, text, data).target()


def find_target(name: str | Path) -> Path:
    given = Path(name)
    if given.suffix == ".toml" or "/" in str(name):
        if not given.is_file():
            raise TargetError(given, "", "no such file: give a target file, or a name from fixtures/targets/")
        return given
    path = paths.TARGETS / f"{name}.toml"
    if not path.is_file():
        known = sorted(p.stem for p in paths.TARGETS.glob("*.toml"))
        raise TargetError(path, "", f"no target is called {str(name)!r}; {template.suggestion(str(name), known)}")
    return path


def all_targets() -> list[Target]:
    return [load_target(path) for path in sorted(paths.TARGETS.glob("*.toml"))]


def _names(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


class _Reader:
    """Checks the data of one file against FIELDS and makes the Target."""

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self.path, self.text, self.data = path, text, data

    def target(self) -> Target:
        self._refuse_unknown(self.data, "")
        get = {key: self._value(field) for key, field in _BY_KEY.items()}
        self._check_places(get)
        self._check_heap(get)
        self._check_beside(get)
        return Target(
            path=self.path,
            name=get["name"],
            what=get["what"],
            executables=_names(get["executable"]),
            install=get["install"],
            capabilities=frozenset(get["capabilities"]),
            command=tuple(get["start.command"]),
            files=get["files"],
            env=get["start.env"],
            workers=get["start.workers"],
            worker_executable=get["workers.executable"],
            protocol=get["endpoint.protocol"],
            listen=get["endpoint.listen"],
            ready_request=get["ready.request"],
            ready_status=get["ready.status"],
            ready_within_s=float(get["ready.within_s"]),
            signals={k: signal.Signals(signal_number(v)) for k, v in get["signals"].items()},
            stop=self._stop_steps(get),
            only=get["faults.only"],
            fault_plan=paths.ROOT / get["faults.plan"] if get["faults.plan"] else None,
            heap_request=get["heap.request"],
            heap_key=get["heap.key"],
            log_errors=tuple(get["log.errors"]),
            log_harmless=tuple(get["log.harmless"]),
            beside=self._beside(get),
        )

    def _error(self, key: str, problem: str) -> TargetError:
        return TargetError(self.path, f"key `{key}`", problem, line_of(self.text, key))

    def _refuse_unknown(self, data: Mapping[str, Any], prefix: str) -> None:
        for name, value in data.items():
            key = prefix + name
            if key in _BY_KEY:
                continue
            if key in _TABLES and isinstance(value, dict):
                self._refuse_unknown(value, key + ".")
            elif key in _TABLES:
                raise self._error(key, f"must be a table: [{key}]")
            else:
                raise self._error(key, f"is not known; {template.suggestion(name, _names_in(prefix))}")

    def _value(self, field: Field) -> Any:
        value: Any = self.data
        for part in field.key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            if field.required:
                raise self._error(field.key, f"is missing; expected {field.expected}")
            return field.default
        if not field.accepts(value):
            raise self._error(field.key, f"is {value!r}; expected {field.expected}")
        return value

    def _check_places(self, get: Mapping[str, Any]) -> None:
        texts = [("start.command", one) for one in get["start.command"]]
        texts += [("beside.command", one) for one in get["beside.command"] or ()]
        texts += [(f"files.{name}", text) for name, text in get["files"].items()]
        texts += [(f"start.env.{name}", text) for name, text in get["start.env"].items()]
        for key, text in texts:
            for name in template.unknown_places(text):
                raise TargetError(self.path, f"key `{key}`", str(template.UnknownPlace(name)), line_of(self.text, key, name))

    def _check_heap(self, get: Mapping[str, Any]) -> None:
        if (get["heap.request"] is None) != (get["heap.key"] is None):
            raise self._error("heap", "needs both `request` and `key`, or neither")

    def _check_beside(self, get: Mapping[str, Any]) -> None:
        for key in ("beside.executable", "beside.install", "beside.command"):
            if "beside" in self.data and get[key] is None:
                raise self._error(key, f"is missing; expected {_BY_KEY[key].expected}")

    def _beside(self, get: Mapping[str, Any]) -> Beside | None:
        if "beside" not in self.data:
            return None
        return Beside(
            executables=_names(get["beside.executable"]),
            install=get["beside.install"],
            command=tuple(get["beside.command"]),
            stop=signal.Signals(signal_number(get["beside.stop"])),
            within_s=float(get["beside.within_s"]),
        )

    def _stop_steps(self, get: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
        for name, _ in get["stop.steps"]:
            if name not in get["signals"] and not _is_signal(name):
                known = [*get["signals"], "SIGTERM", "SIGQUIT", "SIGINT", "SIGKILL"]
                raise self._error("stop.steps", f"{name!r} is no signal and no name of [signals]; {template.suggestion(name, known)}")
        return (*((name, float(wait)) for name, wait in get["stop.steps"]), STOP_LAST)


def line_of(text: str, key: str, inside: str | None = None) -> int | None:
    """The line of a key (or of a place inside its text): a search good enough for a message."""
    parts = key.split(".")
    splits = {(".".join(parts[:i]), ".".join(parts[i:])) for i in range(len(parts))}
    current, found = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.fullmatch(r"\s*\[+\s*([^\]]+?)\s*\]+\s*(#.*)?", line):
            current = header[1].replace('"', "")
            if current == key:
                found = number
        elif any(current == table and re.match(rf'\s*"?{re.escape(name)}"?\s*=', line) for table, name in splits):
            found = number
        if found and (inside is None or inside in line):
            return number
    return found
