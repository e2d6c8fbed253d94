"""The columns of the matrix: which server each finding is tried on, how it is changed for that, and what it is expected to say.

    audited    build/defects/bin/fiber-fpm, with the finding's planted defect
    fixed      build/bin/fiber-fpm
    php-fpm    the control: stock PHP-FPM, one request a process
    NAME       a target of your own: TARGET=path/to/target.toml
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.orchestrate import Target, TargetError, load_target
from harness.orchestrate.paths import ROOT
from harness.orchestrate.pool_file import NoPoolFile, with_settings
from harness.orchestrate.template import suggestion

from .catalogue import Row
from .finding import NotApplicable

AUDITED, FIXED, CONTROL = "audited", "fixed", "php-fpm"
STANDARD = (AUDITED, FIXED, CONTROL)
DEFECTS_BUILD = "build/defects"
DEFECTS_MAKE = f"make BUILD={DEFECTS_BUILD} EXTRA_CFLAGS=-DORDEAL_DEFECTS {DEFECTS_BUILD}/bin/fiber-fpm"
STOP = (("SIGTERM", 3.0), ("SIGKILL", 5.0))  # a server that hangs is not asked for long
STARTUP_S_MAX = 30.0


@dataclass(frozen=True)
class Column:
    name: str
    target: Target | None
    missing: str | None = None  # why it cannot be measured here

    def expected(self, row: Row) -> str:
        if self.name == AUDITED:
            return "reproduced"
        if self.name == CONTROL:
            return row.control
        return "clean"

    def environment(self, row: Row) -> dict[str, str]:
        return {"ORDEAL_DEFECT": row.id} if self.name == AUDITED and "defect" in row.audited else {}

    def changed(self, row: Row, settings: Mapping[str, str]) -> Target:
        """The target with the finding's settings; NotApplicable when it cannot have them."""
        assert self.target is not None
        wanted = dict(settings)
        if "concurrent" not in self.target.capabilities:
            wanted = {name: value for name, value in wanted.items() if not name.startswith("fiber.")}
        try:
            return replace(with_settings(self.target, wanted), stop=STOP)
        except NoPoolFile as error:
            raise NotApplicable(str(error)) from None


def columns(names: Iterable[str], own: str | None = None) -> list[Column]:
    """The columns of these names; `own` is a target's name or file, as TARGET= gives it."""
    out = [_standard(name) for name in names]
    if own is not None:
        target = load_target(own)
        name = {"fiber": FIXED, "php-fpm": CONTROL}.get(target.name, target.name)
        if name not in [column.name for column in out]:
            out.append(Column(name, target, target.missing()))
    return out


def _standard(name: str) -> Column:
    if name not in STANDARD:
        raise ValueError(f"no column is called {name!r}; {suggestion(name, STANDARD)}")
    try:
        target = load_target("php-fpm" if name == CONTROL else "fiber")
    except TargetError as error:
        return Column(name, None, f"not measured: {error}")
    if name == AUDITED:
        target = replace(target, executables=(str(ROOT / DEFECTS_BUILD / "bin" / "fiber-fpm"),), install=DEFECTS_MAKE)
    return Column(name, target, target.missing())
