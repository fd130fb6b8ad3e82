"""A headless Chromium that keeps to loopback, for tests of the page; without one those are skipped."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
PROGRAM = shutil.which(os.environ.get("CHROMIUM", "chromium")) or shutil.which("google-chrome")
if not PROGRAM:
    pytest.skip("there is no Chromium: apt-get install chromium", allow_module_level=True)

_QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
# Of the browser's driver, not of the page.
_NOT_OURS = "GL Driver Message"


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM, args=_QUIET)
        yield browser
        browser.close()


def opened(browser: Any, port: int) -> tuple[Any, list[str]]:
    """Return the page of an inspector once it is ready, and what its console will have complained of."""
    page, errors = browser.new_page(viewport=WIDE), []

    def note(text: str) -> None:
        # A picture that an object does not have is asked for, and not found.
        if _NOT_OURS not in text and "404" not in text:
            errors.append(text)

    page.set_default_timeout(30_000)
    page.on("pageerror", lambda error: note(str(error)))
    page.on("console", lambda said: note(said.text) if said.type in ("error", "warning") else None)
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_selector("body[data-ready-ms]")
    return page, errors


def select_first_answer(page: Any, words: str) -> None:
    """Search, and choose the best answer."""
    page.click("#tab-search")
    page.fill("#panel-search input", words)
    page.press("#panel-search input", "Enter")
    page.click("#panel-search li.answer button.link")
    page.wait_for_selector("#panel-object h2")


def rename(page: Any, name: str) -> None:
    """Rename the object whose card is shown."""
    page.click("#panel-object >> text=Rename")
    page.fill("dialog input", name)
    page.press("dialog input", "Enter")
    page.wait_for_selector(f"#panel-object h2:has-text('{name}')")
