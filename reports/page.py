"""Renders a template into one self-contained file, and writes it.

The page carries its style, scripts and data inline and forbids everything else by a content security policy: scripts run only
if their hash is listed, and nothing is fetched. So text out of a target's log cannot act, even if an escape were missing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from reports import units

HERE = Path(__file__).parent
STYLES = ("base.css", "components.css", "chart.css")


def environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters.update(units.FILTERS)
    env.filters["embed"] = embed
    env.filters["pairs"] = lambda found: [(name, units.number(value)) for name, value in found.items()]
    env.globals["percent"] = units.percent
    return env


def embed(value: Any) -> Markup:
    """JSON that is safe within a script element: no character of it can end the element or open another."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def asset(name: str) -> Markup:
    return Markup((HERE / "assets" / name).read_text(encoding="utf-8"))


def script_hash(source: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode() + "'"


def render(template: str, scripts: tuple[str, ...] = (), **view: Any) -> str:
    """`scripts` are names of assets; theme.js is always there and runs before the body is drawn."""
    theme = asset("theme.js")
    bodies = [asset(name) for name in scripts]
    hashes = " ".join(script_hash(source) for source in (theme, *bodies))
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes}; base-uri 'none'; form-action 'none'"
    style = Markup("\n").join(asset(name) for name in STYLES)
    return environment().get_template(template).render(policy=policy, style=style, theme=theme, scripts=bodies, **view)


def write_atomically(path: Path, data: bytes) -> None:
    """The old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
