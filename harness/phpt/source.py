"""PHP's source package, by the system's own package sources, in a folder of the build: fetched once. Only tests are unpacked."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from harness.orchestrate.paths import build_dir

PACKAGE = "php8.2"
FETCH_WITHIN_S = 180
OF_TESTS = "tests"  # the folder that a file lies under, if it is one of a test's


class NoSource(Exception):
    """The source package is neither here nor to be had."""


def folder() -> Path:
    return build_dir() / "phpt-tests"


def _apt(place: Path, *words: str) -> str:
    settings = {
        "Dir::Etc::sourcelist": place / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": place / "lists",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "APT::Sandbox::User": "root",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    try:
        done = subprocess.run([words[0], *options, *words[1:]], cwd=place, capture_output=True, text=True, timeout=FETCH_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSource(f"{' '.join(words)}: {error}") from None
    if done.returncode:
        raise NoSource(f"{' '.join(words)}: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return done.stdout


def _list_sources(place: Path) -> None:
    """The source side of each package source that the system has of Debian; they are signed with the system's keys."""
    command = ["apt-get", "indextargets", "--format", "deb-src $(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages", "Origin: Debian"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoSource(f"the system's package sources cannot be listed: {error}") from None
    (place / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (place / "sources.list").write_text("".join(f"{line}\n" for line in sorted(set(found.splitlines()))))


def _version_key(version: str) -> list[int]:
    return [int(part) for part in version.split("-")[0].split(".") if part.isdigit()]


def tarball() -> Path:
    """The package's .orig archive: the one that is here, or the newest that can be fetched (of security versions the source may be missing)."""
    place = folder() / "source"
    place.mkdir(parents=True, exist_ok=True)
    if here := sorted(place.glob(f"{PACKAGE}_*.orig.tar.*")):
        return here[-1]
    _list_sources(place)
    _apt(place, "apt-get", "update")
    records = _apt(place, "apt-cache", "showsrc", "--only-source", PACKAGE).splitlines()
    versions = {line.removeprefix("Version: ") for line in records if line.startswith("Version: ")}
    failed = []
    for version in sorted(versions, key=_version_key, reverse=True):
        try:
            _apt(place, "apt-get", "source", "--download-only", "--tar-only", "--only-source", f"{PACKAGE}={version}")
        except NoSource as error:
            failed.append(str(error))
            continue
        if here := sorted(place.glob(f"{PACKAGE}_*.orig.tar.*")):
            return here[-1]
    raise NoSource("; ".join(failed) or f"no source of {PACKAGE} is offered")


def _wanted(name: str, folders: Sequence[str]) -> str | None:
    """The path below the archive's one folder, when it is a test's."""
    path = PurePosixPath(*PurePosixPath(name).parts[1:])
    inside = any(path.is_relative_to(one) for one in folders)
    return str(path) if inside and OF_TESTS in path.parts[:-1] and ".." not in path.parts else None


def unpack(archive: Path, folders: Sequence[str], to: Path) -> None:
    """All files of tests in these folders of the source."""
    with tarfile.open(archive) as tar:
        for member in tar:
            path = _wanted(member.name, folders)
            if path is None or not member.isfile():
                continue
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            data = tar.extractfile(member)
            assert data is not None
            (to / path).write_bytes(data.read())


def tree(folders: Sequence[str]) -> Path:
    """A folder that holds the tests of at least these folders of the source."""
    archive = tarball()
    to = folder() / "tree"
    stamp = folder() / "tree.unpacked"
    had = stamp.read_text().split() if stamp.exists() else []
    if had[:1] != [archive.name]:
        had = [archive.name]
    if missing := [one for one in folders if one not in had]:
        unpack(archive, missing, to)
        stamp.write_text("\n".join([*had, *missing]) + "\n")
    return to
