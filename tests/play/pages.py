"""The command `play` as users run it, and its pages in a browser."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, TimeoutError, expect

from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference

ESCAPE = ("collab-escape", "--seed", "1", "--episodes", "1")
TURN = "#turn:has(#send:enabled)"
OVER = "#over"
ACTIONS = "#actions button"
PLAYING = re.compile("^Playing")
SHOTS = os.environ.get("PAGE_SHOTS", "")  # folder for pictures of every page, to be looked at by a person
SIZES = ((1280, 900), (768, 1024), (360, 740))
SMALL = """least => [...document.querySelectorAll('button, a.button, a.main, label:has(input)')]
    .filter(e => e.offsetParent && e.getBoundingClientRect().height < least).map(e => e.outerHTML)"""
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SETTLED = """document.getAnimations().filter(e => e.effect.getComputedTiming().endTime < Infinity)
    .forEach(e => e.finish())"""
AUDITED = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
AUDIT = {"runOnly": {"type": "tag", "values": AUDITED}, "resultTypes": ["violations"]}
expect.set_options(timeout=180_000)


@contextlib.contextmanager
def hosted(out: Path, *message: str) -> Iterator[list[str]]:
    """The command as users run it; yields the links that it prints, seats first, the host's last."""
    command = [sys.executable, "-m", "collab_overcooked", "play", *message, "--no-open", "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stderr is not None
    links: list[str] = []
    messages: list[str] = []
    try:
        for line in process.stderr:
            messages.append(line)
            links += re.findall(r"http://\S+", line)
            if "Ctrl+C" in line:
                break
        assert links, "".join(messages)
        yield links
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


def opened(context: BrowserContext, link: str) -> Page:
    page = context.new_page()
    page.goto(link)
    expect(page.locator("#title")).not_to_be_empty()
    return page


def step_of(page: Page) -> int:
    return int(page.evaluate("document.body.dataset.step ?? -1"))


def wait_for_step(page: Page, least: int) -> None:
    reached = "least => Number(document.body.dataset.step ?? -1) >= least"
    page.wait_for_function(reached, arg=least, polling=20)  # milliseconds: tabs in the background hardly draw


def ready(*pages: Page) -> None:
    """Say at every page that its person has read the goal."""
    for page in pages:
        page.bring_to_front()
        page.click("#ready")


def start(*pages: Page, step: int = 0) -> None:
    """Say at every page that its person is ready, and wait for a step of the game in real time."""
    ready(*pages)
    pages[0].bring_to_front()
    expect(pages[0].locator("#status")).to_have_text(PLAYING)
    wait_for_step(pages[0], step)


def hold(page: Page, key: str) -> None:
    """Hold a key down for two steps."""
    page.keyboard.down(key)
    wait_for_step(page, step_of(page) + 2)
    page.keyboard.up(key)


def asked(*pages: Page) -> int | None:
    """Wait until one of these people is asked; returns the number of the page, None if the game is over."""
    for number, page in islice(cycle(enumerate(pages)), 600):
        with contextlib.suppress(TimeoutError):
            page.locator(f"{TURN}, {OVER}").filter(visible=True).first.wait_for(timeout=100)
            page.bring_to_front()  # clicks wait until it draws
            return None if page.is_visible(OVER) else number
    raise AssertionError(f"nobody is asked: {pages[0].inner_text('body')}")


def leave(page: Page) -> None:
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("#leave")


def record_of(page: Page, out: Path) -> dict[str, Any]:
    """Return the record of the only episode, once the page has been told that it is over."""
    page.locator(OVER).wait_for()
    (result,) = read_records(out)
    assert not first_difference(result)
    return result


def look(page: Page, name: str, least: float = 23.5) -> None:
    """Check a page at every size."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        audit(page, f"{name}-{width}", least)
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})


def audit(page: Page, name: str, least: float = 23.5) -> None:
    """Check that nothing is too wide, what is pressed at least so high, and what axe finds."""
    page.bring_to_front()  # tabs in the background do not draw
    page.evaluate(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
    assert page.evaluate(SMALL, least) == [], name
    if SHOTS:
        touch = page.evaluate("matchMedia('(pointer: coarse)').matches")  # which pictures of all of a page lose
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=not touch)
    page.evaluate(SETTLED)  # texts that are fading have any contrast
    violations = Axe().run(page, options=AUDIT).response["violations"]
    problems = [f"{e['id']}: {e['help']}: {[node['html'][:200] for node in e['nodes']]}" for e in violations]
    assert problems == [], f"{name}: {problems}"  # which pytest does not show for modules without tests
