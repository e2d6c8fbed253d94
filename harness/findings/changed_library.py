"""A copy of the libphp that a server is linked with, which says that one of its globals has another size.

    >>> folder, before, after = changed_library(executable, Path("/tmp/x"), "executor_globals")

Put into LD_LIBRARY_PATH, the folder gives the server a libphp "that was built differently": the size stands in the dynamic symbol
table, and nothing else is changed.
"""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

from .finding import NotApplicable

CHANGE_BYTES = 8
ELF64_SYMBOL = struct.Struct("<IBBHQQ")  # name, info, other, section, value, size
SECTION = struct.Struct("<IIQQQQIIQQ")  # name, type, flags, address, offset, size, link, info, align, entry size
DYNSYM = 11


def changed_library(executable: Path, folder: Path, symbol: str) -> tuple[Path, int, int]:
    """The folder with the copy; the size before and after."""
    needed = re.search(r"(libphp\S*) => (\S+)", _ldd(executable))
    if needed is None:
        raise NotApplicable(f"{executable.name} is not linked with libphp")
    image = bytearray(Path(needed[2]).read_bytes())
    before = _change(image, symbol.encode())
    home = folder / "changed"
    home.mkdir()
    (home / needed[1]).write_bytes(image)
    return home, before, before + CHANGE_BYTES


def _ldd(executable: Path) -> str:
    return subprocess.run(["ldd", str(executable)], capture_output=True, text=True, timeout=30).stdout


def _change(image: bytearray, symbol: bytes) -> int:
    if image[:5] != b"\x7fELF\x02":
        raise NotApplicable("libphp is no 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    sections = [SECTION.unpack_from(image, table + k * size) for k in range(count)]
    for _, kind, _, _, offset, length, link, _, _, each in sections:
        if kind != DYNSYM:
            continue
        names = sections[link][4]
        for at in range(offset, offset + length, each):
            name, info, other, section, value, bytes_ = ELF64_SYMBOL.unpack_from(image, at)
            if image[names + name : names + name + len(symbol) + 1] == symbol + b"\0":
                ELF64_SYMBOL.pack_into(image, at, name, info, other, section, value, bytes_ + CHANGE_BYTES)
                return bytes_
    raise NotApplicable(f"libphp has no symbol {symbol.decode()}")
