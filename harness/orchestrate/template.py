"""Places in a target file: `{{NAME}}` becomes the value of NAME.

    >>> fill("listen = {{ADDR}}", {"ADDR": "/tmp/x/sock"})
    'listen = /tmp/x/sock'

A name that does not exist is an error that says which one was probably meant; nothing is left in the text unfilled.
"""

from __future__ import annotations

import difflib
import re
from typing import Iterable, Mapping

PLACE = re.compile(r"\{\{\s*([A-Za-z_]+)\s*\}\}")

# What each place stands for; `launch()` gives all of them a value.
PLACES = {
    "EXECUTABLE": "the program of the key `executable`, as found on this machine",
    "BESIDE": "the program of the key `beside.executable`, as found on this machine",
    "ROOT": "the root folder of this project",
    "BUILD": "the build folder of this project",
    "WORKDIR": "the folder of the rendered [files]; it is removed after the run, with all in it",
    "DATA": "an empty folder for what the application keeps (WORKDIR/data)",
    "DOCROOT": "the folder with the application's copy",
    "ADDR": "where to listen: the path of the unix socket, or host:port",
    "HOST": "the host part of ADDR",
    "PORT": "the port part of ADDR",
    "PID": "a path for the target's pid file",
    "LOG": "the log file of this run; the target's standard output and error go there as well",
    "WORKERS": "how many workers were asked for",
    "USER": "the name of the user who runs this",
    "GROUP": "the name of that user's group",
    "UID": "the number of that user",
}


class UnknownPlace(Exception):
    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{{{{{name}}}}} is not a place; {suggestion(name, PLACES)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean X?` when one is near, and the whole list when none is."""
    known = list(known)
    upper = {one.upper(): one for one in known}
    near = difflib.get_close_matches(name.upper(), upper, n=1, cutoff=0.6)
    return f"did you mean {upper[near[0]]}?" if near else f"known are: {', '.join(known)}"


def unknown_places(text: str) -> list[str]:
    return [name for name in PLACE.findall(text) if name not in PLACES]


def fill(text: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise UnknownPlace(match[1])
        return values[match[1]]

    return PLACE.sub(value, text)
