"""Measure how play feels: from a key to the picture that shows it, frames while agents slide, bytes to a player.

    python benchmarks/key_to_picture.py [PRESSES] [TICK] [DELAY]

A real Chromium (from the PATH) plays Overcooked beside a scripted partner. Keys go through the browser's own input; the
page notes when its own agent's picture changes, and whether a frame is drawn every 1/60 s while somebody slides. DELAY
is added to every round trip, in milliseconds, in the page: half before a key is sent, half before a frame is taken.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from play.pages import hosted, opened, start
from playwright.sync_api import expect
from support.browser_fixtures import chromium

TEAM = ("--team", "agent_0=person", "agent_1=greedy")
WORDS = ("overcooked", "--layouts", "cramped_room", "--max-cycles", "20000", *TEAM)
DELAYED = """(() => {
  const wait = %d / 2, send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) { setTimeout(() => send.call(this, data), wait); };
  const handler = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
  Object.defineProperty(WebSocket.prototype, 'onmessage', { ...handler, set(take) {
    handler.set.call(this, (event) => setTimeout(() => take(event), wait)); } });
})()"""
WATCH = """(() => {
  window.times = []; window.frames = []; let pressed = 0, before = '';
  const own = () => document.querySelector('.cooks .cook'), looks = () => own().style.transform + own().innerHTML;
  addEventListener('keydown', (event) => {
    if (!event.repeat && event.key.startsWith('Arrow')) { pressed = performance.now(); before = looks(); }
  }, true);
  new MutationObserver(() => {
    if (pressed && looks() !== before) {
      const from = pressed; pressed = 0;
      requestAnimationFrame(() => window.times.push(performance.now() - from));
    }
  }).observe(document.querySelector('.cooks'), { subtree: true, childList: true, attributes: true });
  let last = performance.now();
  const draw = (now) => { window.frames.push(now - last); last = now; requestAnimationFrame(draw); };
  requestAnimationFrame(draw);
})()"""


def main(presses: int = 60, tick: float = 0.15, delay: int = 0) -> None:
    """Measure and print."""
    received: list[str] = []
    with (
        chromium() as browser,
        browser.new_context() as context,
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), *WORDS, "--tick", str(tick)) as links,
    ):
        if delay:
            context.add_init_script(DELAYED % delay)
        page = opened(context, links[0])
        page.locator("#start").wait_for()
        page.on("websocket", lambda socket: socket.on("framereceived", lambda text: received.append(text)))
        started = time.monotonic()
        page.goto(links[0])
        page.locator("#start").wait_for()
        expect(page.locator(".cooks .cook")).to_have_count(2)
        ready = time.monotonic() - started
        start(page)
        received.clear()
        page.evaluate(WATCH)
        began = time.monotonic()
        keys = ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")
        for k in range(presses):
            page.keyboard.press(keys[k % 4], delay=50)
            page.wait_for_timeout(2000 * tick + delay + 37 * (k % 5))
        seconds = time.monotonic() - began
        times, frames = page.evaluate("times"), page.evaluate("frames")
        sizes = [len(data) for data in (str(text).encode() for text in received) if json.loads(data)["type"] == "frame"]
    times.sort()
    p95 = times[min(len(times) - 1, round(0.95 * len(times)))]
    print(f"tick {1000 * tick:.0f} ms, delay {delay} ms: {len(times)} of {presses} presses changed the own agent")
    print(f"key to picture: median {statistics.median(times):.0f} ms, p95 {p95:.0f} ms = {p95 / tick / 1000:.2f} ticks")
    print(
        f"drawing: {1000 * len(frames) / sum(frames):.0f} frames/s, {sum(f > 34 for f in frames)} of {len(frames)} late"
    )
    print(f"page to picture: {ready:.2f} s; {sum(sizes) / seconds / 1000:.1f} kB/s to the player, {len(sizes)} frames")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        int(arguments[0]) if arguments else 60,
        float(arguments[1]) if len(arguments) > 1 else 0.15,
        int(arguments[2]) if len(arguments) > 2 else 0,
    )
