"""The commands that are shown to run a soak again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from soak.options import parse
from soak.scenario import LIVE_LINES_MAX, halved

BASE = ("--duration", "90s", "--seed", "5")


@pytest.mark.parametrize(
    "extra, make",
    [
        ((), ""),
        (("--rate", "60", "--workers", "3"), " RATE=60 WORKERS=3"),
        (("--cycles", "3"), " CYCLES=3"),
        (("--probe", "leak"), " PROBE=leak"),
        (("--rule", "write:fd=socket:p=0.01:drop"), " RULE=write:fd=socket:p=0.01:drop"),
        (("--rule", "flock:nth=1:errno=EINTR", "--rule", "read:short=1"), " 'RULE=flock:nth=1:errno=EINTR read:short=1'"),
    ],
)
def test_make_and_python_do_the_same_again(extra: tuple[str, ...], make: str) -> None:
    by_make, by_python = parse([*BASE, *extra]).replay()
    assert by_make == "make soak TARGET=php-fpm DURATION=1m30s SEED=5" + make
    again = parse(shlex.split(by_python)[3:])
    assert again == parse([*BASE, *extra])


def test_what_make_has_no_word_for_is_shown_without_make(tmp_path: Path) -> None:
    mix = tmp_path / "own.mix"
    mix.write_text("1 GET /hello.php\n")
    (only,) = parse([*BASE, "--mix", str(mix)]).replay()
    assert f"--mix {mix}" in only


def test_a_seed_is_chosen_and_shown() -> None:
    chosen = parse(["--duration", "90s"])
    assert f"--seed {chosen.seed}" in chosen.replay()[-1]


def test_live_lines_are_kept_within_bounds() -> None:
    few = [{"sent": i} for i in range(10)]
    assert halved(few) == few
    for count in (LIVE_LINES_MAX + 1, LIVE_LINES_MAX + 2):
        many = [{"sent": i} for i in range(count)]
        kept = halved(many)
        assert len(kept) <= LIVE_LINES_MAX
        assert kept[0] == many[0] and kept[-1] == many[-1]
        assert [line["sent"] for line in kept] == sorted({line["sent"] for line in kept})
