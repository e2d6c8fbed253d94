"""The folder that both servers serve, in place, so that the paths in answers are the same.

Scripts write beside themselves, so there are two copies: `pristine`, and `www`, made anew from it before each pass. A case
`Zend/tests/x` is Zend/tests/x.php there, with x.skip.php and x.clean.php, as PHP's own test runner names them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .sections import Case, Refused, read

SUFFIX = ".phpt"
INFO = "<?php\necho json_encode(array_map('strtolower', get_loaded_extensions()));\n"  # also asked to see whether a server is ready
FIXED_TIME_S = 1_700_000_000  # of all files, so that no answer tells when they were unpacked


class TreeError(Exception):
    """There is nothing to serve."""


@dataclass
class Tree:
    www: Path
    pristine: Path
    cases: list[Case] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def restore(self) -> None:
        shutil.rmtree(self.www, ignore_errors=True)
        subprocess.run(["cp", "-a", str(self.pristine), str(self.www)], check=True)


def build(source: Path, folders: list[str], home: Path, tick: Callable[[], None] = lambda: None) -> Tree:
    """Reads all test files below the folders, and lays out what is served."""
    tree = Tree(home / "www", home / "pristine")
    shutil.rmtree(tree.pristine, ignore_errors=True)
    tree.pristine.mkdir(parents=True)
    (tree.pristine / "info.php").write_text(INFO)
    for name in folders:
        if not (source / name).is_dir():
            raise TreeError(f"{name} is no folder of the source")
        for folder, _, files in sorted(os.walk(source / name)):
            for file in sorted(files):
                if _take(tree, source, Path(folder) / file):
                    tick()
    if not tree.cases:
        raise TreeError(f"no test file below {', '.join(folders)} can be asked")
    for folder, _, files in os.walk(tree.pristine):
        for name in files:
            os.utime(os.path.join(folder, name), (FIXED_TIME_S, FIXED_TIME_S), follow_symlinks=False)
    return tree


def _take(tree: Tree, source: Path, path: Path) -> bool:
    """Whether it was a test file."""
    place = tree.pristine / path.relative_to(source)
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != SUFFIX:
        if not place.exists():
            shutil.copy(path, place, follow_symlinks=False)
        return False
    try:
        case = read(path, str(path.relative_to(source).with_suffix("")))
    except Refused as reason:
        tree.refused[str(reason)] += 1
        return True
    tree.cases.append(case)
    for ending, code in {"php": case.file, "skip.php": case.skipif, "clean.php": case.clean}.items():
        if code:
            place.with_suffix(f".{ending}").write_bytes(code)
    return True
