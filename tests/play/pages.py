"""The command `play` as users run it, and its pages in a browser."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from play import chromium

from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference

BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium on the PATH"),
]
ESCAPE = ("collab-escape", "--seed", "1", "--episodes", "1")
READY = "document.getElementById('ready').click()"
TURN = "document.getElementById('turn')?.hidden === false && !document.getElementById('send').disabled"
MINE = "/^Your turn/.test(document.getElementById('turn-title')?.textContent)"
START = "document.getElementById('start')?.hidden === false"
OVER = "document.getElementById('over')?.hidden === false"
PLAYING = "/^Playing/.test(document.getElementById('status')?.textContent)"
SHOTS = os.environ.get("PAGE_SHOTS", "")  # folder for pictures of every page, to be looked at by a person
SIZES = ((1280, 800), (768, 1024), (360, 640))
SMALL = """[...document.querySelectorAll('button, a.button, a.main, label:has(input)')]
    .filter(e => e.offsetParent && e.getBoundingClientRect().height < {}).map(e => e.outerHTML)"""
STEP = "Number(document.body?.dataset.step ?? -1)"


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


def opened(browser: chromium.Chromium, link: str) -> chromium.Page:
    page = browser.page()
    page.open(link)
    page.wait("document.getElementById('title')?.textContent", 60)
    return page


def records(out: Path, count: int = 1) -> list[dict]:
    end = time.monotonic() + 120
    while not (out / "records.jsonl").exists() and time.monotonic() < end:
        time.sleep(0.1)
    result = read_records(out)
    assert len(result) == count and not any(map(first_difference, result))
    return result


def look(page: chromium.Page, name: str, least: float = 23.5) -> None:
    """Check at every size that nothing is too wide, what is pressed at least so high, and what axe finds."""
    page.call("Page.bringToFront")  # tabs in the background do not draw
    for width, height in SIZES:
        page.size(width, height)
        page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide for {width}"
        assert page.run(SMALL.replace("{}", str(least))) == [], name
        if SHOTS:
            page.shot(Path(SHOTS) / f"{name}-{width}.png")
        if chromium.axe() is not None:
            assert (result := page.audit()) == [], f"{name} at {width}: {result}"
    page.size(*SIZES[0])
