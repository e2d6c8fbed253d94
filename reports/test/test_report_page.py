"""The written page, without a browser: it holds what it must, nothing from outside, and no text of a run acts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports.page import HERE, embed
from reports.soak import main, write_report
from reports.test.synthetic import SCENARIOS, empty, make, write_results

BYTES_MAX = 2_000_000
OWN_SCRIPTS = 2


class Elements(HTMLParser):
    """The start tags of a page, and the raw text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self.in_script = tag == "script"
        if self.in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_script = self.in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self.in_script:
            self.scripts[-1] += data


def page_of(folder: Path, name: str) -> str:
    return write_report(write_results(folder, SCENARIOS[name]()), folder / "out").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_page_is_small_and_self_contained(tmp_path: Path, name: str) -> None:
    page = page_of(tmp_path, name)
    assert len(page.encode()) < BYTES_MAX
    elements = Elements(page)
    for tag, attributes in elements.tags:
        assert tag not in ("img", "iframe", "object", "embed", "form", "base")
        assert "src" not in attributes
        assert not [key for key in attributes if key.startswith("on")], (tag, attributes)
        link = attributes.get("href")
        assert link is None or link.startswith("#") or link in ("data:,", "results.json")
    assert not re.search(r"url\(|@import|https?:", page.split("</style>")[0])
    data = [attributes for tag, attributes in elements.tags if tag == "script" and attributes.get("type") == "application/json"]
    assert len(elements.scripts) == OWN_SCRIPTS + len(data)


def test_hostile_text_is_text(tmp_path: Path) -> None:
    """The scripts of the page are byte for byte the assets; the data is one JSON document."""
    elements = Elements(page_of(tmp_path, "hostile"))
    assets = [(HERE / "assets" / name).read_text(encoding="utf-8") for name in ("theme.js", "curves.js")]
    own = [script for script in elements.scripts if "pwned" not in script]
    assert own == assets
    (data,) = [script for script in elements.scripts if "pwned" in script]
    assert "<" not in data and "window.pwned=1" in json.loads(data)["phases"][0]["name"]


def test_embedded_json_cannot_leave_its_element() -> None:
    text = embed({"x": "</script><!--<script>&\u2028\ud800"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text)["x"].startswith("</script>")


def test_ids_are_unique_and_links_lead_somewhere(tmp_path: Path) -> None:
    for name in ("broken", "empty"):
        tags = Elements(page_of(tmp_path / name, name)).tags
        ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
        assert len(ids) == len(set(ids))
        assert {attributes["href"][1:] for tag, attributes in tags if tag == "a" and attributes["href"].startswith("#")} <= set(ids)


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_every_part_of_the_results_is_on_the_page(tmp_path: Path) -> None:
    results = make(broken=True)
    text = text_of(page_of(tmp_path, "broken"))
    assert "Broken" in text and "adds up" in text
    shown = [reason["judge"] for reason in results["verdict"]["reasons"]] + [fault["text"].replace(">", "&gt;") for fault in results["faults"]]
    shown += [row["target"] for row in results["by_target"]] + results["replay"] + results["log_tail"] + list(results["machine"]) + list(results["reasons"]["refused"])
    shown += [loss["marker"] for loss in results["losses"]] + [phase["name"] for phase in results["phases"]]
    assert [one for one in shown if one not in text] == []


def test_a_sum_that_does_not_add_up_is_said(tmp_path: Path) -> None:
    results = make()
    results["account"]["sent"] += 3
    text = text_of(write_report(write_results(tmp_path, results), tmp_path).read_text())
    assert "does not add up" in text and "not accounted for" in text


def test_fitted_line_of_a_leak_is_drawn(tmp_path: Path) -> None:
    page = page_of(tmp_path, "leak")
    assert 'class="fit fit-leak"' in page and 'class="wedge wedge-leak"' in page
    assert "pss_kb leak: +403 MiB/h" in page


def test_curves_are_there_without_scripts(tmp_path: Path) -> None:
    page = page_of(tmp_path, "clean")
    for name in ("s-p50", "s-p99", "s-1", "s-refused stems"):
        assert re.search(rf'<path class="{name}" d="M[^"]{{20,}}"', page), name


def test_raw_results_lie_beside_the_page(tmp_path: Path) -> None:
    source = write_results(tmp_path / "in", make())
    write_report(source, tmp_path / "out")
    assert (tmp_path / "out" / "results.json").read_bytes() == source.read_bytes()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["index.html", "results.json"]


def test_same_results_give_the_same_page(tmp_path: Path) -> None:
    assert page_of(tmp_path / "a", "broken") == page_of(tmp_path / "b", "broken")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "reports.soak", *arguments], cwd=HERE.parent, capture_output=True, text=True, check=False)


def test_command_writes_the_page(tmp_path: Path) -> None:
    done = run(str(write_results(tmp_path, empty())), str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()) == tmp_path / "out" / "index.html"


def test_command_refuses_garbage_and_writes_nothing(tmp_path: Path) -> None:
    results = make()
    results["load"][2]["p50_us"] = "slow"
    path = write_results(tmp_path, results)
    done = run(str(path), str(tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f'reports.soak: {path}: load[2].p50_us: expected a number, found "slow"']
    assert not (tmp_path / "out").exists()


def test_command_refuses_bad_arguments(tmp_path: Path) -> None:
    assert run().returncode == 2
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run(str(write_results(tmp_path, empty())), str(blocked))
    assert done.returncode == 2 and "expected a folder" in done.stderr


def test_main_returns_its_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.json"), str(tmp_path)]) == 2
    assert "none.json" in capsys.readouterr().err
