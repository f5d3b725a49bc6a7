"""Measure how long people wait: from the start of `collab-overcooked play` to the first picture in a browser.

    python benchmarks/first_picture.py [RUNS]

The browser (Chromium, from the PATH) is open already, and kernels are compiled by a first run that does not count.
Printed are, by game, the seconds to the link that the command prints, and those to a picture with its cells and
agents drawn.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from playwright.sync_api import Browser
from support.browser_fixtures import chromium

TEAM = ("--team", "agent_0=person", "agent_1=greedy")
GAMES = (("cuisineworld",), ("collab-overcooked", "--tasks", "boiled_egg"))
DRAWN = """() => !document.body?.classList.contains('no-frame')
  && document.querySelectorAll('#board use').length > 3 && document.querySelectorAll('.cook').length > 0"""


def measure(browser: Browser, message: tuple[str, ...]) -> tuple[float, float]:
    """Return the seconds to the link and to the picture."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "collab_overcooked", "play", *message, *TEAM, "--no-open", "--out", folder]
        page = browser.new_page()
        start = time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
        try:
            link = next(result[0] for line in process.stderr or () if (result := re.search(r"http://\S+", line)))
            linked = time.monotonic() - start
            page.goto(link, wait_until="commit")
            page.wait_for_function(DRAWN, timeout=300_000)
            return linked, time.monotonic() - start
        finally:
            process.terminate()
            process.wait(30)
            if process.stderr is not None:
                process.stderr.close()


def main(runs: int = 3) -> None:
    """Measure and print."""
    with chromium() as browser:
        for text in GAMES:
            measure(browser, text)
            measured = [measure(browser, text) for _ in range(runs)]
            links, pictures = zip(*measured, strict=True)
            link, picture = statistics.median(links), statistics.median(pictures)
            print(f"{text[0]}: link after {link:.1f} s, picture after {picture:.1f} s (slowest {max(pictures):.1f} s)")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
