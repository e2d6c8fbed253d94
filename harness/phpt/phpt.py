"""A test file of PHP's own: its sections, and the request they ask for.

    test = read(path, "Zend/tests/001.phpt")
    test.unfit(extensions, access)      # why it cannot be asked of a server, or None
    test.message(root, root)            # the FastCGI message
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.orchestrate.client import BEGIN_REQUEST, PARAMS, RESPONDER, STDIN, pairs, params_of, record, stream

SECTION = re.compile(rb"^--([A-Z_]+)--[ \t]*\r?$", re.M)
# sections that ask for what a server is not, each counted by its name
NOT_OF_A_SERVER = (
    "ENV", "ARGS", "STDIN", "CGI", "PHPDBG", "REDIRECTTEST", "CAPTURE_STDIO", "PUT", "GZIP_POST", "DEFLATE_POST", "FILE_EXTERNAL",
)  # fmt: skip
OF_THE_REQUEST = ("GET", "COOKIE", "INI", "EXTENSIONS")
FORM = "application/x-www-form-urlencoded"
ONLY_AT_START = 4  # ini_get_all()'s access of a setting that no request can have for itself
SESSIONS = b"session_"


@dataclass(frozen=True)
class Test:
    name: str  # its path in the source, without .phpt
    sections: Mapping[str, bytes]
    sessions: str = ""  # its own folder for sessions, under the root

    @property
    def script(self) -> bytes | None:
        if (eof := self.sections.get("FILEEOF")) is not None:
            return eof.rstrip(b"\r\n")
        return self.sections.get("FILE")

    @property
    def folder(self) -> str:
        return self.name.rpartition("/")[0]

    def _text(self, section: str) -> str:
        return self.sections.get(section, b"").decode().strip("\r\n")

    def settings(self, root: str) -> dict[str, str]:
        found = {"session.save_path": f'"{root}/{self.sessions}"'} if self.sessions else {}
        for line in self._text("INI").splitlines():
            name, cut, value = line.partition("=")
            if cut and not name.lstrip().startswith(";"):
                found[name.strip()] = value.strip().replace("{PWD}", f"{root}/{self.folder}")
        return found

    def unfit(self, extensions: Collection[str], access: Mapping[str, int]) -> str | None:
        """Why it cannot be asked. `access` is what ini_get_all() says of each setting there is."""
        if self.script is None and "FILE_EXTERNAL" not in self.sections:
            return "no --FILE--"
        for section in NOT_OF_A_SERVER:
            if section in self.sections:
                return f"--{section}--"
        try:
            for section in OF_THE_REQUEST:
                self._text(section)
        except UnicodeDecodeError:
            return "bytes in a request's section that are not UTF-8"
        if [name for name in self._text("EXTENSIONS").split() if name.lower() not in extensions]:
            return "--EXTENSIONS--: one that is not there"
        return self._unfit_settings(access)

    def _unfit_settings(self, access: Mapping[str, int]) -> str | None:
        for name, value in self.settings("").items():
            if name not in access:
                return "--INI--: a setting that is not there"
            if access[name] == ONLY_AT_START:
                return "--INI--: a setting that counts only when PHP starts"
            if re.search(r"\{[A-Z]+(:.*)?\}", value):
                return "--INI--: a place that only PHP's own runner fills in"
        return None

    @cached_property
    def body(self) -> tuple[str, bytes] | None:
        """Content type and bytes."""
        if (raw := self.sections.get("POST_RAW")) is not None:
            first, _, rest = raw.partition(b"\n")
            kind = re.fullmatch(rb"Content-Type:\s*(.*?)\s*", first, re.I)
            return (kind[1].decode("latin-1"), rest.rstrip(b"\r\n")) if kind else ("", raw.rstrip(b"\r\n"))
        if (form := self.sections.get("POST")) is not None:
            return FORM, form.strip()
        return None

    def message(self, root: str, script: str | None = None) -> bytes:
        """The request for its script, or for another one beside it (--SKIPIF--), with the same settings."""
        headers = {"Cookie": self._text("COOKIE")} if "COOKIE" in self.sections else {}
        kind, body = self.body or ("", b"")
        if kind:
            headers["Content-Type"] = kind
        path = "/" + (script or f"{self.name}.php")
        query = self._text("GET")
        params = params_of("POST" if self.body else "GET", path + (f"?{query}" if query else ""), root, len(body), headers)
        params.pop("PATH_INFO", None)
        params |= {"SCRIPT_NAME": path, "SCRIPT_FILENAME": root + path}
        if settings := self.settings(root):
            params["PHP_VALUE"] = "\n".join(f"{name}={value}" for name, value in settings.items())
        begin = record(BEGIN_REQUEST, struct.pack(">HB5x", RESPONDER, 0))
        return begin + stream(PARAMS, pairs(params)) + stream(STDIN, body)


def parse(name: str, data: bytes, sessions: str = "") -> Test:
    cuts = list(SECTION.finditer(data))
    sections = {}
    for cut, following in zip(cuts, [*cuts[1:], None]):
        end = following.start() if following else len(data)
        sections.setdefault(cut[1].decode(), data[cut.end() + 1 : end])
    test = Test(name.removesuffix(".phpt"), sections, sessions)
    return test if SESSIONS in (test.script or b"") else Test(test.name, sections)
