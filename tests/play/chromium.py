"""A real Chromium, driven over its own protocol: no driver and no package beside `websockets` is needed."""

from __future__ import annotations

import base64
import importlib.util
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

BINARIES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
KEY_CODES = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Tab": 9, " ": 32}


AUDITED = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def find() -> str | None:
    return next((path for path in map(shutil.which, BINARIES) if path), None)


def axe() -> Path | None:
    """Return the script of axe-core that `make` installs; None where it is not installed."""
    result = importlib.util.find_spec("axe_playwright_python")
    path = Path(result.origin).with_name("axe.min.js") if result and result.origin else None
    return path if path is not None and path.exists() else None


class Page:
    """One tab."""

    def __init__(self, address: str) -> None:
        from websockets.sync.client import connect

        self._connection = connect(address, max_size=None, ping_interval=None)
        self._socket = self._connection.__enter__()
        self._ids = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=30))
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return message["result"]
            self.events.append(message)

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def run(self, code: str) -> Any:
        done = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait(self, code: str, seconds: float = 30) -> Any:
        end = time.monotonic() + seconds
        while not (value := self.run(code)):
            assert time.monotonic() < end, f"not within {seconds} s: {code}; the page says: {self.text()[:600]}"
            time.sleep(0.1)
        return value

    def text(self) -> str:
        return str(self.run("document.body?.innerText ?? ''"))

    def size(self, width: int, height: int, touch: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        if touch:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)

    def key(self, key: str, seconds: float = 0.0, up: bool = True) -> None:
        code = KEY_CODES.get(key, ord(key[0].upper()))
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        time.sleep(seconds)
        if up:
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def touch(self, selector: str, seconds: float = 0.2) -> None:
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'center'}})")
        box = self.run(f"JSON.stringify({element}.getBoundingClientRect())")
        x, y, width, height = (json.loads(box)[name] for name in ("x", "y", "width", "height"))
        x, y = x + width / 2, y + height / 2
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        time.sleep(seconds)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def offline(self, on: bool) -> None:
        rate = 0 if on else -1
        self.call(
            "Network.emulateNetworkConditions", offline=on, latency=0, downloadThroughput=rate, uploadThroughput=rate
        )

    def shot(self, path: Path) -> None:
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        path.write_bytes(base64.b64decode(data))

    def audit(self) -> list[str]:
        """Return what axe finds wrong with the page; the protocol runs it in spite of the page's security policy."""
        path = axe()
        assert path is not None, "axe-core is not installed"
        if self.run("typeof axe") == "undefined":
            self.call("Runtime.evaluate", expression=path.read_text("utf-8"))
        options = {"runOnly": {"type": "tag", "values": AUDITED}, "resultTypes": ["violations"]}
        result = self.run(f"axe.run(document, {json.dumps(options)}).then(found => found.violations)")
        return [
            f"{entry['id']}: {entry['help']}: {[node['html'][:200] for node in entry['nodes']]}" for entry in result
        ]

    def close(self) -> None:
        self._connection.__exit__(None, None, None)

    def problems(self) -> list[str]:
        """Errors of the console and exceptions, and what was loaded from elsewhere."""
        self.run("1")
        results = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                results.append(json.dumps(params["exceptionDetails"])[:300])
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                results.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not re.match(r"(http://127\.0\.0\.1:|data:|about:)", url):
                    results.append(f"loads {url}")
        return results


class Chromium:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [find() or "chromium", *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._pages: list[Page] = []
        port = Path(self._folder.name) / "DevToolsActivePort"
        end = time.monotonic() + 60
        while not (port.exists() and port.read_text().count("\n")):
            assert time.monotonic() < end and self._process.poll() is None, "Chromium does not start"
            time.sleep(0.1)
        self._address = f"http://127.0.0.1:{port.read_text().split()[0]}"

    def page(self) -> Page:
        request = urllib.request.Request(f"{self._address}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=30) as answer:
            self._pages.append(Page(json.loads(answer.read())["webSocketDebuggerUrl"]))
        return self._pages[-1]

    def close(self) -> None:
        for page in self._pages:
            page.close()
        self._process.terminate()
        self._process.wait(20)
        self._folder.cleanup()
