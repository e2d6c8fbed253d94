"""The folder that is served. Scripts write beside themselves, so each pass gets a fresh one; always at the same place, as scripts say it."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from . import phpt

SKIP = ".skip.php"  # the end of a --SKIPIF-- script's name
SESSIONS = "sessions"
LONG_AGO = 1_600_000_000  # when the files were changed: OPcache does not take files of the last two seconds
INFO = b"""<?php
echo json_encode([
    'extensions' => array_map('strtolower', get_loaded_extensions()),
    'access' => array_map(fn ($one) => $one['access'], ini_get_all()),
]);
"""


class PlaceTaken(Exception):
    """Another run serves this folder."""


class Stage:
    def __init__(self, tree: Path, place: Path, folders: Sequence[str]) -> None:
        self._lock = self._take(place)
        self.tree, self.master, self.served = tree, place / "stage", place / "www"
        self.tests = self._fill(folders)

    @staticmethod
    def _take(place: Path) -> TextIO:
        """For as long as this stage is there."""
        place.mkdir(parents=True, exist_ok=True)
        lock = (place / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise PlaceTaken(f"another run serves {place / 'www'}: scripts would miss what it takes away") from None
        return lock

    def _fill(self, folders: Sequence[str]) -> list[phpt.Test]:
        shutil.rmtree(self.master, ignore_errors=True)
        self.master.mkdir(parents=True)
        found: dict[str, phpt.Test] = {}
        for folder in folders:
            for path in sorted((self.tree / folder).rglob("*")):
                name = str(path.relative_to(self.tree))
                if path.is_file() and path.suffix == ".phpt":
                    found.setdefault(name, phpt.parse(name, path.read_bytes(), f"{SESSIONS}/{len(found)}"))
                elif path.is_file():
                    self._put(name, path.read_bytes())
        for test in found.values():
            self._put_scripts(test)
        self._put("info.php", INFO)
        return list(found.values())

    def _put_scripts(self, test: phpt.Test) -> None:
        if test.script is not None:
            self._put(f"{test.name}.php", test.script)
        if "SKIPIF" in test.sections:
            self._put(test.name + SKIP, test.sections["SKIPIF"])
        if test.sessions:
            (self.master / test.sessions).mkdir(parents=True)

    def _put(self, name: str, data: bytes) -> None:
        path = self.master / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (LONG_AGO, LONG_AGO))

    def fresh(self) -> Path:
        """What an earlier pass has left is gone: some of it may have no right to be read."""
        subprocess.run(["rm", "-rf", "--", str(self.served)], check=True)
        subprocess.run(["cp", "-a", "--reflink=auto", "--", str(self.master), str(self.served)], check=True)
        return self.served
