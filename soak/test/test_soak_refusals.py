"""What is wrong is refused before anything starts, with a message that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak.options import Refused, claim
from soak.test.soaking import Soaking

pytestmark = pytest.mark.timeout(120)

CASES = [
    (("--target", "no-such-target"), "no target is called 'no-such-target'"),
    (("--target", "/no/such/file.toml"), "no such file"),
    (("--duration", "soon"), "expected something like 60s"),
    (("--duration", "1s"), "expected 8 s"),
    (("--duration", "99999d"), "to 30 days"),
    (("--rate", "0"), "--rate 0: expected 0.1 to"),
    (("--rate", "nan"), "--rate nan: expected"),
    (("--workers", "0"), "--workers 0: expected 1 to"),
    (("--seed", "-1"), "--seed -1: expected 0 to"),
    (("--mix", "/no/such/mix"), "--mix /no/such/mix: No such file"),
    (("--plan", "/no/such/plan"), "--plan /no/such/plan: No such file"),
    (("--baseline", "/dev/null"), "expected the results.json of a soak"),
    (("--rule", "flock:nth=2:errno=EINTRR"), "EINTR"),
    (("--rule", "nonsense"), "nonsense"),
    (("--probe", "no-such-probe"), "invalid choice"),
    (("--app", "/no/such/app"), "expected a folder"),
]


@pytest.mark.parametrize("arguments, message", CASES, ids=[" ".join(arguments) for arguments, _ in CASES])
def test_bad_input(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    with Soaking(arguments, tmp_path / "out") as soak:
        assert soak.wait() == 2, soak.output
        assert message in soak.output
        assert "Traceback" not in soak.output
        assert not (tmp_path / "out").exists()


def test_a_bad_mix_says_where(tmp_path: Path) -> None:
    mix = tmp_path / "bad.mix"
    mix.write_text("1 GET /hello.php\nmany GET /hello.php\n")
    with Soaking(("--mix", str(mix)), tmp_path / "out") as soak:
        assert soak.wait() == 2, soak.output
        assert "bad.mix:2:1" in soak.output


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Soaking((), tmp_path / "file" / "out") as soak:
        assert soak.wait() == 2, soak.output
        assert "expected a folder that can be written" in soak.output


def test_a_folder_in_use(tmp_path: Path) -> None:
    with claim(tmp_path):
        with pytest.raises(Refused, match="another soak is writing there"):
            claim(tmp_path)
    claim(tmp_path).close()
