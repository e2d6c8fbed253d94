"""Options, fixtures and reports of the project's tests; the root conftest.py loads this.

    pytest --target php-fpm --seed 42 --repeat 100 --duration 30s --shard 2/8

--target     fixture `target`: the Target of a file in fixtures/targets/, or of a path (php-fpm)
--seed       fixtures `seed` (a number) and `rng` (random.Random); drawn and printed when not given
--repeat     each test that draws from `seed` or `rng`, and each C program, N times, with the seeds N, N+1, ...
--duration   fixture `duration_s`, for tests that take as long as they are told
--shard      one part of the tests (see shard.py)

A test that fails prints one line that runs it again, with its seed. `bundle_dir` is a folder for evidence, under
reports/out/evidence/; it stays when the test fails, or with --keep-evidence.
"""

from __future__ import annotations

import random
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from . import cmocka, paths
from .shard import Shard
from .target import Target, TargetError, load_target

DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|)")
UNIT_S = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
SEED_MAX = 2**32
SEEDED = {"seed", "rng"}
AGAIN = "again"
_failed = pytest.StashKey[bool]()


@dataclass
class Settings:
    """config.ordeal: the options, checked."""

    target: str
    seed: int
    repeat: int
    duration_s: float
    shard: Shard | None
    build: Path
    keep_evidence: bool


def parse_duration(text: str) -> float:
    found = DURATION.fullmatch(text)
    if not found or float(found[1]) <= 0:
        raise ValueError(f"duration {text!r}: expected a number with ms, s, m or h, such as 30s or 2m")
    return float(found[1]) * UNIT_S[found[2]]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ordeal", "trials")
    group.addoption("--target", default="php-fpm", metavar="NAME|FILE", help="what is tried: fixtures/targets/NAME.toml or a file")
    group.addoption("--seed", default=None, metavar="N", help="everything random comes from N (default: drawn, and printed)")
    group.addoption("--repeat", default="1", metavar="N", help="each seeded test N times, with the seeds SEED, SEED+1, ...")
    group.addoption("--duration", default="5s", metavar="TIME", help="how long soaking tests run, such as 30s or 2m (default 5s)")
    group.addoption("--shard", default=None, metavar="I/N", help="run only the I-th of N parts of the tests")
    group.addoption("--keep-evidence", action="store_true", help="keep evidence folders of tests that pass, too")


def pytest_configure(config: pytest.Config) -> None:
    option = config.getoption
    given = option("--seed")
    if hasattr(config, "workerinput"):
        given = config.workerinput["ordeal_seed"]
    try:
        shard = option("--shard")
        config.ordeal = Settings(
            target=option("--target"),
            seed=random.SystemRandom().randrange(SEED_MAX) if given is None else _number("--seed", given, 0, 2**63 - 1),
            repeat=_number("--repeat", option("--repeat"), 1, 100_000),
            duration_s=parse_duration(option("--duration")),
            shard=Shard.parse(shard) if shard else None,
            build=paths.build_dir(),
            keep_evidence=option("--keep-evidence"),
        )
    except ValueError as e:
        raise pytest.UsageError(str(e)) from e
    _hypothesis_without_deadlines()


def _number(name: str, text: Any, low: int, high: int) -> int:
    if not str(text).isdecimal() or not low <= int(text) <= high:
        raise ValueError(f"{name} {text!r}: expected a whole number from {low} to {high}")
    return int(text)


def _hypothesis_without_deadlines() -> None:
    """A deadline is an assertion about time, and this machine may be busy."""
    try:
        import hypothesis
    except ImportError:
        return
    hypothesis.settings.register_profile("ordeal", deadline=None, print_blob=True)
    hypothesis.settings.load_profile("ordeal")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """xdist: every worker draws from the same seed."""
    node.workerinput["ordeal_seed"] = node.config.ordeal.seed


def pytest_report_header(config: pytest.Config) -> str:
    o = config.ordeal
    parts = [f"target {o.target}", f"seed {o.seed}"]
    parts += [f"repeat {o.repeat}"] if o.repeat > 1 else []
    parts += [f"shard {o.shard}"] if o.shard else []
    return "ordeal: " + ", ".join(parts)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return cmocka.collect_c_file(file_path, parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    repeat = metafunc.config.ordeal.repeat
    if repeat > 1 and SEEDED & set(metafunc.fixturenames):
        metafunc.fixturenames.insert(0, "_repeat") if "_repeat" not in metafunc.fixturenames else None
        metafunc.parametrize("_repeat", range(repeat), indirect=True, ids=[f"repeat{k}" for k in range(repeat)])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    shard = config.ordeal.shard
    if shard is None:
        return
    left_out = [item for item in items if not shard.has(item.nodeid)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if shard.has(item.nodeid)]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A shard may be empty: that is no failure."""
    if session.config.ordeal.shard and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


# ---- Fixtures ---------------------------------------------------------------------------------------------------


@pytest.fixture
def _repeat(request: pytest.FixtureRequest) -> int:
    return getattr(request, "param", 0)


@pytest.fixture
def seed(request: pytest.FixtureRequest, _repeat: int) -> int:
    return request.config.ordeal.seed + _repeat


@pytest.fixture
def rng(request: pytest.FixtureRequest, seed: int) -> random.Random:
    """Drawn from the seed and the test's own name, so that a test alone draws what it draws among others."""
    return random.Random(f"{seed} {without_repeat(request.node.nodeid)}")


@pytest.fixture(scope="session")
def target(pytestconfig: pytest.Config) -> Target:
    try:
        return load_target(pytestconfig.ordeal.target)
    except TargetError as e:
        raise pytest.UsageError(str(e)) from e


@pytest.fixture
def duration_s(pytestconfig: pytest.Config) -> float:
    return pytestconfig.ordeal.duration_s


@pytest.fixture
def bundle_dir(request: pytest.FixtureRequest) -> Iterator[Path]:
    settings = request.config.ordeal
    folder = paths.OUT / "evidence" / re.sub(r"[^\w.=-]+", "_", request.node.nodeid)[-150:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder
    if not (settings.keep_evidence or request.node.stash.get(_failed, False)):
        shutil.rmtree(folder, ignore_errors=True)


# ---- One line that runs it again ------------------------------------------------------------------------------------


def without_repeat(node_id: str) -> str:
    """test_x[repeat3] -> test_x; test_x[repeat3-a] -> test_x[a]; C items: name[3] -> name."""
    node_id = re.sub(r"\[repeat\d+\]$", "", re.sub(r"\[repeat\d+-", "[", re.sub(r"-repeat\d+\]$", "]", node_id)))
    return re.sub(r"\[\d+\]$", "", node_id) if ".c::" in node_id else node_id


def seed_of(item: pytest.Item) -> int | None:
    if isinstance(item, cmocka.CItem):
        return item.seed
    if not SEEDED & set(getattr(item, "fixturenames", ())):
        return None
    repeat = item.callspec.params.get("_repeat", 0) if hasattr(item, "callspec") else 0
    return item.config.ordeal.seed + repeat


def again(item: pytest.Item) -> list[str]:
    """The command that runs one test again, as it was run."""
    settings = item.config.ordeal
    command = ["python3", "-m", "pytest", without_repeat(item.nodeid)]
    if (seed := seed_of(item)) is not None:
        command += ["--seed", str(seed)]
    if settings.target != "php-fpm":
        command += ["--target", settings.target]
    return command


@pytest.fixture
def again_command(request: pytest.FixtureRequest) -> list[str]:
    """For Bundle.write(replay=...): the command that runs this very test again."""
    return again(request.node)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        item.stash[_failed] = True
        report.user_properties.append((AGAIN, shlex.join(again(item))))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines: list[str] = []
    for kind in ("failed", "error"):
        for report in terminalreporter.stats.get(kind, []):
            lines += [value for name, value in getattr(report, "user_properties", ()) if name == AGAIN]
    if lines:
        terminalreporter.section("to run a failure again")
        for line in dict.fromkeys(lines):
            terminalreporter.write_line(line)
