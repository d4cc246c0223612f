"""A headless Chromium for the tests of pages; without one, or without selenium, those tests are skipped and say so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60
"""Seconds until a page that does not answer fails a test; nothing is measured by it."""

OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # the tests run as root in a container
    "--disable-dev-shm-usage",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--window-size=1200,900",
    "--force-device-scale-factor=1",
    "--disable-background-networking",
    "--disable-component-update",
)


def programs() -> tuple[str, str]:
    """Chromium and its driver; skips a test where they or selenium are missing."""
    pytest.importorskip("selenium", reason="no selenium; install limbsweep[browser] to test pages in a browser")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium with chromedriver; on Debian: apt-get install chromium chromium-driver")
    return browser, driver


@contextmanager
def opened(page: Path, *, settled: bool = True) -> Iterator[Any]:
    """A browser that shows a page, whose figures are drawn unless it is not to be `settled`."""
    with chrome() as window:
        window.get(page.resolve().as_uri())
        if settled:
            settle(window)
        yield window


@contextmanager
def chrome() -> Iterator[Any]:
    """A browser that shows nothing yet."""
    browser, driver = programs()
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = browser
    for each in OPTIONS:
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(options=options, service=Service(driver))
    try:
        window.set_script_timeout(PATIENCE)
        window.set_page_load_timeout(PATIENCE)
        yield window
    finally:
        window.quit()


def settle(window: Any) -> None:
    """Wait until the page is ready, all figures are drawn, and nothing is left to do."""
    window.execute_async_script(
        """
        const done = arguments[0];
        const ready = () => document.documentElement.dataset.state === 'ready';
        const drawn = () => [...document.querySelectorAll('.figure')].every((each) => each._fullLayout);
        const draw = () => { document.dispatchEvent(new Event('limbsweep-draw')); wait(); };
        const wait = () => drawn() ? requestAnimationFrame(() => setTimeout(done, 200)) : setTimeout(wait, 50);
        const begin = () => ready() ? draw() : setTimeout(begin, 20);
        begin();
        """
    )


def complaints(window: Any) -> list[str]:
    """Errors on the console of the browser; advice about drawing faster is none."""
    return [each["message"] for each in window.get_log("browser") if each["level"] == "SEVERE"]


def values(window: Any, expression: str) -> Any:
    """The value of an expression of JavaScript; typed arrays come as lists, NaN as None."""
    return window.execute_script(
        f"""
        const plain = (x) => ArrayBuffer.isView(x) ? Array.from(x, plain) : Array.isArray(x) ? x.map(plain)
          : Number.isNaN(x) ? null : x;
        return plain({expression});
        """
    )


def picture(window: Any, path: Path, width: int = 1200) -> None:
    """A picture of the whole page."""
    height = window.execute_script("return document.documentElement.scrollHeight")
    window.set_window_size(width, min(int(height) + 150, 9000))
    settle(window)
    window.save_screenshot(str(path))
