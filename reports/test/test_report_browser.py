"""The page in a real browser: quiet console, no request, fits the screen, legible, and its controls work."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from reports.soak import write_report
from reports.test.browser import Browser, chromium
from reports.test.colour import VISION, contrast, distance, parse
from reports.test.synthetic import SCENARIOS, write_results

CONTRAST_TEXT_MIN = 4.5
CONTRAST_LINE_MIN = 3.0
COLOUR_DISTANCE_MIN = 12
WIDTHS_PX = (390, 1440)
SCHEMES = ("light", "dark")

# Each visible text with its colour, the colours behind it and the product of the opacities.
TEXTS = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = [];
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const parent = node.parentElement;
  if (!node.data.trim() || parent.closest("script, style, .hidden, .skip")) continue;
  if (!parent.checkVisibility({visibilityProperty: true})) continue;
  const behind = [];
  let opacity = 1;
  for (let at = parent; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    opacity *= Number(style.opacity);
    if (style.backgroundColor !== "rgba(0, 0, 0, 0)") behind.push(style.backgroundColor);
  }
  found.push([node.data.trim().slice(0, 40), getComputedStyle(parent).color, behind[0] || "none", opacity]);
}
return found;
"""
# Of each plot: the strokes of its series, the fills of its bands.
STROKES = """
return Array.from(document.querySelectorAll(".plot")).map(function (plot) {
  const lines = Array.from(plot.querySelectorAll('path[class^="s-"]:not(.spread)'));
  const bands = Array.from(plot.querySelectorAll(".band"));
  return [lines.map(p => getComputedStyle(p).stroke), bands.map(b => getComputedStyle(b).fill)];
});
"""
OVERFLOW = """
const width = document.documentElement.clientWidth;
const wide = Array.from(document.querySelectorAll("body *")).filter(function (one) {
  return !one.closest(".scroll > *, .track, .hidden, .skip, svg") && one.getBoundingClientRect().right > width + 0.5;
});
return [document.documentElement.scrollWidth - width, wide.slice(0, 5).map(one => one.outerHTML.slice(0, 120))];
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("pages")
    return {name: write_report(write_results(root / name, make()), root / name) for name, make in SCENARIOS.items()}


def rail(browser: Browser):
    return browser.driver.find_element(By.ID, "cursor")


def readout(browser: Browser) -> str:
    return browser.run('const box = document.getElementById("readout"); return box.hidden ? "" : box.innerText;')


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width_px", WIDTHS_PX)
@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_quiet_fits_and_fetches_nothing(browser: Browser, pages: dict[str, Path], name: str, width_px: int, scheme: str) -> None:
    browser.open(pages[name], width_px, scheme)
    assert browser.run(OVERFLOW) == [0, []]
    assert browser.console() == []
    assert [url for url in browser.requests() if url != "data:,"] == [pages[name].as_uri()]
    assert browser.run("return window.pwned === undefined && document.images.length === 0")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["clean", "broken", "leak", "interrupted", "empty"])
def test_text_has_contrast(browser: Browser, pages: dict[str, Path], name: str, scheme: str) -> None:
    browser.open(pages[name], 1440, scheme)
    browser.run('document.querySelectorAll("details").forEach(one => { one.open = true; });')
    if name != "empty":
        browser.driver.find_element(By.CSS_SELECTOR, '[data-phase="1"]').click()
        rail(browser).send_keys(Keys.HOME)
    texts = browser.run(TEXTS)
    assert len(texts) > 20
    poor = [text for text in texts if text[2] == "none" or text[3] != 1 or contrast(parse(text[1]), parse(text[2])) < CONTRAST_TEXT_MIN]
    assert poor == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_curves_stand_out_and_differ_for_every_eye(browser: Browser, pages: dict[str, Path], scheme: str) -> None:
    browser.open(pages["broken"], 1440, scheme)
    browser.driver.find_element(By.CSS_SELECTOR, '[data-phase="1"]').click()
    for strokes, bands in browser.run(STROKES):
        assert strokes and bands
        for stroke, band in itertools.product(set(strokes), set(bands)):
            assert contrast(parse(stroke), parse(band)) >= CONTRAST_LINE_MIN, (stroke, band)
        for (one, other), vision in itertools.product(itertools.combinations(strokes, 2), VISION):
            assert distance(parse(one), parse(other), vision) >= COLOUR_DISTANCE_MIN, (one, other, vision)


def test_cursor_moves_by_keyboard_and_reads_all_curves(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["clean"])
    slider = rail(browser)
    slider.send_keys(Keys.HOME)
    first = float(slider.get_attribute("aria-valuenow"))
    slider.send_keys(Keys.ARROW_RIGHT)
    second = float(slider.get_attribute("aria-valuenow"))
    assert second == pytest.approx(first + 1)
    text = readout(browser)
    for part in ("p50", "p99.9", "Rate", "lost", "In flight", "PSS", "File descriptors", "children", "threads", "calm"):
        assert part in text, part
        assert part.lower() in slider.get_attribute("aria-valuetext").lower() or part == "File descriptors"
    slider.send_keys(Keys.END, Keys.ARROW_RIGHT)
    assert float(slider.get_attribute("aria-valuenow")) == pytest.approx(60, abs=1)
    slider.send_keys(Keys.ESCAPE)
    assert readout(browser) == ""


def test_cursor_can_be_reached_by_tab_and_names_events(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["clean"])
    browser.run('document.querySelectorAll("[data-phase]")[5].focus()')
    ActionChains(browser.driver).send_keys(Keys.TAB).perform()
    assert browser.run("return document.activeElement.id") == "cursor"
    start_s = browser.run('return JSON.parse(document.getElementById("stack-data").textContent).events.find(e => e.kind === "kill").t')
    ActionChains(browser.driver).send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * (round(start_s) - 1)).perform()
    assert "kill: SIGKILL to a worker, pid 41" in readout(browser)


@pytest.mark.parametrize("width_px", WIDTHS_PX)
def test_cursor_follows_the_pointer_and_stays_on_the_screen(browser: Browser, pages: dict[str, Path], width_px: int) -> None:
    browser.open(pages["broken"], width_px)
    track = browser.driver.find_element(By.CSS_SELECTOR, "#curve-latency .plot .track")
    browser.run('arguments[0].scrollIntoView({block: "center", behavior: "instant"})', track)
    for share in (-0.45, 0.0, 0.45):
        ActionChains(browser.driver).move_to_element_with_offset(track, int(track.size["width"] * share), 0).perform()
        at_s = float(rail(browser).get_attribute("aria-valuenow"))
        assert at_s == pytest.approx((0.5 + share) * 60, abs=1)
        left, top, right, bottom = browser.run('const b = document.getElementById("readout").getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]')
        assert 0 <= left and right <= width_px and 0 <= top and bottom <= 900


def test_theme_toggle_works_and_is_kept(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["clean"], scheme="light")
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    button = browser.driver.find_element(By.ID, "theme")
    button.send_keys(Keys.ENTER)
    dark = browser.run(colour)
    assert dark != light and button.get_attribute("aria-pressed") == "true" and button.text == "Light"
    browser.driver.refresh()
    assert browser.run(colour) == dark
    browser.driver.find_element(By.ID, "theme").click()
    assert browser.run(colour) == light
    browser.run("localStorage.clear()")


def test_phase_shows_its_numbers_and_zooms(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["broken"])
    button = browser.driver.find_element(By.CSS_SELECTOR, '[data-phase="4"]')
    button.send_keys(Keys.ENTER)
    detail = browser.driver.find_element(By.CSS_SELECTOR, '[data-detail="4"]')
    assert detail.is_displayed() and "two workers killed" in detail.text
    row = browser.driver.find_elements(By.CSS_SELECTOR, "#phases tbody tr")[4].find_elements(By.TAG_NAME, "td")
    assert f"sent {row[2].text} " in detail.text.replace("\n", " ")
    detail.find_element(By.CSS_SELECTOR, "[data-zoom]").click()
    zoomed = browser.run('return document.querySelector("#curve-rate .plot svg").viewBox.baseVal.x')
    assert 40 < zoomed < 43.8
    assert all(42 <= float(text.split()[0]) <= 54 for text in browser.run('return Array.from(document.querySelectorAll("#axis .tick")).map(t => t.textContent)'))
    detail.find_element(By.CSS_SELECTOR, "[data-close]").click()
    assert not detail.is_displayed()
    assert browser.run('const box = document.querySelector("#curve-rate .plot svg").viewBox.baseVal; return [box.x, box.width]') == pytest.approx([0, 60], abs=0.1)
    assert browser.console() == []


def test_cycle_zooms_and_strips_have_one_tab_stop(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hours"])
    first = browser.driver.find_element(By.CSS_SELECTOR, "[data-from]")
    first.send_keys(Keys.ARROW_RIGHT)
    assert browser.run("return document.activeElement.getAttribute('aria-label')") == "Zoom to cycle 2"
    assert browser.run("return document.querySelectorAll('.strip button[tabindex=\"0\"]').length") == 2
    view = 'const box = document.querySelector("#curve-rate .plot svg").viewBox.baseVal; return [box.x, box.x + box.width]'
    second = browser.driver.switch_to.active_element
    second.send_keys(Keys.ENTER)
    assert browser.run(view) == pytest.approx([float(second.get_attribute("data-from")), float(second.get_attribute("data-to"))], abs=1)
    second.send_keys(Keys.ENTER)
    assert browser.run(view) == pytest.approx([0, 20_000], abs=1)


def test_data_table_opens_by_keyboard(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["clean"], 390)
    summary = browser.driver.find_element(By.CSS_SELECTOR, "#curve-memory summary")
    summary.send_keys(Keys.ENTER)
    rows = browser.driver.find_elements(By.CSS_SELECTOR, "#curve-memory tbody tr")
    assert len(rows) == 60 and rows[0].is_displayed()
    assert browser.run(OVERFLOW) == [0, []]


def test_copy_puts_the_command_where_it_can_be_pasted(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["clean"])
    button = browser.driver.find_element(By.CSS_SELECTOR, ".copy")
    button.click()
    browser.driver.execute_async_script("setTimeout(arguments[0], 0)")
    assert button.text in ("Copied", "Selected")
    assert browser.console() == []


def test_long_run_loads_whole(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hours"], 390, "dark")
    rail(browser).send_keys(Keys.END)
    assert readout(browser).startswith("5:3")
    assert "…" in readout(browser)
    assert browser.run("return document.querySelectorAll('*').length") < 20_000


def test_curves_are_drawn_without_scripts(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["broken"], scripts=False)
    try:
        box = browser.driver.find_element(By.CSS_SELECTOR, "#curve-latency .plot path.s-p99").rect
        assert box["width"] > 800 and box["height"] > 20
        assert not browser.driver.find_element(By.ID, "theme").is_displayed()
        assert not rail(browser).is_displayed()
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)


def test_printed_page_is_light_and_has_no_controls(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["broken"], 800, "dark", media="print")
    assert browser.run("return getComputedStyle(document.body).color") == "rgb(26, 29, 33)"
    assert [one for one in browser.driver.find_elements(By.CSS_SELECTOR, ".js-only, nav, summary") if one.is_displayed()] == []
    assert browser.command("Page.printToPDF")["data"]


def test_every_control_has_a_name_and_focus_is_visible(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["broken"])
    names = browser.run("""
      return Array.from(document.querySelectorAll('a, button, summary, [tabindex="0"], [role="img"]')).map(one =>
        one.getAttribute("aria-label") || one.textContent.trim() || (one.tagName + "." + one.className));""")
    assert [name for name in names if name.startswith(("BUTTON", "A.", "SUMMARY", "svg", "SPAN"))] == []
    browser.driver.find_element(By.ID, "theme").send_keys(Keys.TAB)
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
