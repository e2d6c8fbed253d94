"""Debian's source package of PHP, unpacked as far as the test files go.

APT does it, with lists of its own under build/phpt and the mirrors that this machine uses for its packages. The version that
is installed is tried first; a security update's source is not on every mirror, so the others follow. Once unpacked, nothing is fetched.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

PACKAGE, INSTALLED = "php8.2", "php8.2-common"
ORIGIN = "Debian"
FIELDS = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)|$(ORIGIN)"
WITHIN_S = 600
COMPLETE = ".complete"


class SourceError(Exception):
    """The test files cannot be had."""


def folder(cache: Path, say: Callable[[str], None]) -> Path:
    """The unpacked test files: those that are there, or fetched now."""
    for program in ("apt-get", "apt-cache", "dpkg-query", "tar"):
        if shutil.which(program) is None:
            raise SourceError(f"{program} is missing: PHP's test files come from Debian's source package; --source takes a folder that has them")
    kept = sorted(one.parent for one in (cache / "source").glob(f"*/{COMPLETE}"))
    first = _installed()
    if wanted := next((one for one in kept if one.name == first), kept[-1] if kept else None):
        return wanted
    say(f"fetching Debian's source package of {PACKAGE} …")
    apt = _private_apt(cache / "apt")
    tried = []
    for version in _versions(apt, first):
        tarball, why = _download(apt, cache / "download", version)
        if tarball is not None:
            return _unpack(tarball, cache / "source" / version)
        tried.append(f"{version}: {why}")
    raise SourceError(f"no source of {PACKAGE} could be fetched:\n" + "\n".join(tried or ["the lists have none"]))


def _run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=WITHIN_S, check=False)


def _installed() -> str:
    return _run("dpkg-query", "-W", "-f", "${Version}", INSTALLED).stdout.strip()


def _private_apt(home: Path) -> list[str]:
    """APT's options for lists of our own, updated."""
    for name in ("lists/partial", "cache/archives/partial"):
        (home / name).mkdir(parents=True, exist_ok=True)
    sources = home / "sources.list"
    sources.write_text("".join(f"{line}\n" for line in _source_lines()))
    given = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": home / "lists",
        "Dir::Cache": home / "cache",
        "APT::Sandbox::User": "root",  # its usual user may not write here
    }
    options = [word for name, value in given.items() for word in ("-o", f"{name}={value}")]
    done = _run("apt-get", *options, "-qq", "update")
    if done.returncode:
        raise SourceError(f"apt-get update failed:\n{done.stderr.strip()}")
    return options


def _source_lines() -> list[str]:
    """A deb-src line for each Debian suite that packages are installed from."""
    lines: dict[str, None] = {}
    for row in _run("apt-get", "indextargets", "--format", FIELDS, "Created-By: Packages").stdout.splitlines():
        uri, release, component, signed, origin = row.split("|")
        key = f"[signed-by={signed}] " if signed.startswith("/") else ""
        if origin == ORIGIN:
            lines[f"deb-src {key}{uri} {release} {component}"] = None
    if not lines:
        raise SourceError("APT knows no Debian suite on this machine")
    return list(lines)


def _versions(apt: list[str], first: str) -> list[str]:
    rows = _run("apt-cache", *apt, "showsrc", "--only-source", PACKAGE).stdout.splitlines()
    found = [row.removeprefix("Version: ") for row in rows if row.startswith("Version: ")]
    return sorted(dict.fromkeys(found), key=lambda version: version != first)


def _download(apt: list[str], into: Path, version: str) -> tuple[Path | None, str]:
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    done = _run("apt-get", *apt, "-qq", "source", "--tar-only", "--download-only", f"{PACKAGE}={version}", cwd=into)
    found = sorted(into.glob("*.orig.tar.*z"))
    why = (done.stderr.strip().splitlines() or ["nothing was said"])[0]
    return (found[0], "") if done.returncode == 0 and found else (None, why)


def _unpack(tarball: Path, into: Path) -> Path:
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    done = _run("tar", "-xf", str(tarball), "-C", str(into), "--strip-components=1", "--no-same-owner", "--wildcards", "*/tests/*")
    if done.returncode:
        raise SourceError(f"{tarball.name} could not be unpacked:\n{done.stderr.strip()}")
    (into / COMPLETE).touch()
    shutil.rmtree(tarball.parent)
    return into
