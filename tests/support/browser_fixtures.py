"""A real Chromium, driven by Playwright: one process for each module, one context for each test."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

BINARIES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, BINARIES)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync"]  # beside those of Playwright
LOCAL = re.compile(r"(http://127\.0\.0\.1:|data:|about:|file:)")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as result:
        yield result


@pytest.fixture(scope="module")  # no longer: in its thread asyncio takes Playwright's loop for a running one
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on the PATH")
    with chromium() as result:
        yield result


@pytest.fixture
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A window of its own; options of Playwright's `new_context` come as an indirect parameter."""
    with browser.new_context(**getattr(request, "param", {})) as result:
        result.set_default_timeout(180_000)
        yield result


@pytest.fixture
def problems(context: BrowserContext) -> list[str]:
    """Errors on the consoles of a test's pages, exceptions, and requests to other machines."""
    result: list[str] = []
    context.on("console", lambda entry: result.append(f"{entry.text} {entry.location}") if entry.type == "error" else 0)
    context.on("weberror", lambda event: result.append(str(event.error)))
    context.on("request", lambda asked: None if LOCAL.match(asked.url) else result.append(f"loads {asked.url}"))
    return result
