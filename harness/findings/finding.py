"""A finding as code: its data, and the two functions of its file.

    # b06_decrypted_data.py
    FINDING = Finding("B6", tried="a peer sends one TLS record of 16,000 bytes, then nothing; it is read in pieces")

    def stimulate(rig):                     # drives a running server; returns facts, never an opinion
        peer = rig.peer("one_record", tls=True)
        return {"reads": rig.ask(f"/findings/b06_read.php?port={peer.port}").facts}

    def judge(seen):                        # facts -> checks; touches no server
        yield Check("all of it arrives", seen["reads"].get("bytes") == 16000, "…", {"bytes": …})

A stimulus whose mark was not reached raises MarkMissed: the verdict is then `inconclusive` and names the mark. A check that
is None could not be judged, with the same effect.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from harness.orchestrate import Verdict

from . import catalogue
from .catalogue import Row

if TYPE_CHECKING:
    from .rig import Rig

HERE = Path(__file__).parent
FILE = re.compile(r"[bnu]\d\d_\w+\.py")
REASONS_MAX = 4


class MarkMissed(Exception):
    """The stimulus did not come to its point; the text is the mark."""


class NotApplicable(Exception):
    """The question makes no sense for this target; the text is the reason."""


@dataclass(frozen=True)
class Finding:
    """The data of a finding's file."""

    id: str
    tried: str  # one line for the table
    workers: int = 1  # where a worker serves many requests at once
    workers_alone: int = 2  # where a worker serves one: enough that nobody waits for a worker
    cases: tuple[str, ...] = ("",)  # each has a server of its own
    settings: Mapping[str, str] = field(default_factory=dict)  # of the pool, by FPM's names
    case_settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # and those of one case alone
    rules: tuple[str, ...] = ()  # faults; loaded inactive, for rig.arm()
    starts_itself: bool = False  # the start is the stimulus: see b27

    def settings_of(self, case: str) -> dict[str, str]:
        return {**self.settings, **self.case_settings.get(case, {})}


@dataclass(frozen=True)
class Check:
    """What one judge says: `ok` is None when it could not judge."""

    name: str
    ok: bool | None
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""

    @property
    def title(self) -> str:
        return f"{self.case}: {self.name}" if self.case else self.name


@dataclass(frozen=True)
class Scenario:
    finding: Finding
    stimulate: Callable[["Rig"], dict[str, Any]]
    judge: Callable[[dict[str, Any]], Iterable[Check]]
    source: str = ""

    @property
    def id(self) -> str:
        return self.finding.id

    @property
    def row(self) -> Row:
        return catalogue.row(self.finding.id)


def verdict_of(checks: Iterable[Check], missed: Iterable[str] = ()) -> Verdict:
    """What is wrong counts first; then what could not be judged; only then is it clean."""
    checks, missed = list(checks), list(missed)
    wrong = [f"{one.title}: {one.text}" for one in checks if one.ok is False]
    unjudged = [f"{one.title}: {one.text}" for one in checks if one.ok is None]
    if wrong:
        return Verdict(
            "reproduced",
            [*wrong[:REASONS_MAX], *([f"and {len(wrong) - REASONS_MAX} more"] if len(wrong) > REASONS_MAX else [])],
            missed,
        )
    if unjudged or missed or not checks:
        return Verdict("inconclusive", unjudged or ([] if missed else ["nothing was judged"]), missed)
    return Verdict("clean", [f"{len(checks)} of {len(checks)} checks"])


def scenarios() -> dict[str, Scenario]:
    """All files of this folder that hold a finding, by id, in the catalogue's order."""
    found = {one.id: one for one in _load()}
    return {id: found[id] for id in catalogue.IDS if id in found}


def _load() -> Iterator[Scenario]:
    for path in sorted(HERE.iterdir()):
        if FILE.fullmatch(path.name):
            module = importlib.import_module(f"{__package__}.{path.stem}")
            assert module.FINDING.id.lower() == f"{path.stem[0]}{int(path.stem[1:3])}", f"{path.name} holds {module.FINDING.id}"
            yield Scenario(module.FINDING, module.stimulate, module.judge, path.name)
