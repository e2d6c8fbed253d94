"""A headless Chromium for the report's tests: opens a page at a width and a colour scheme, and tells what it logged and fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)
HEIGHT_PX = 900
STILL = {"name": "prefers-reduced-motion", "value": "reduce"}
PHONE_PX_MAX = 600


class Browser:
    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def command(self, name: str, **arguments: object) -> dict:
        return self.driver.execute_cdp_cmd(name, arguments)

    def open(self, page: Path, width_px: int = 1440, scheme: str = "light", media: str = "", scripts: bool = True) -> None:
        """Loads the page afresh: no stored theme, logs of earlier pages dropped."""
        self.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.command("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}, STILL])
        self.command("Emulation.setDeviceMetricsOverride", width=width_px, height=HEIGHT_PX, deviceScaleFactor=1, mobile=width_px < PHONE_PX_MAX)
        self.driver.get("about:blank")
        self.console(), self.requests()
        self.driver.get(page.as_uri())

    def console(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The address of each request since the last call, the page's own included."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"]

    def run(self, script: str, *arguments: object):
        return self.driver.execute_script(script, *arguments)


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
