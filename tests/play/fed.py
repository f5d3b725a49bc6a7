"""A player's page in Chromium that is fed messages by hand, without server and game."""

from __future__ import annotations

import json
from typing import Any

from collab_overcooked.core.limits import SENTENCES
from collab_overcooked.play.server import FILES, page_file

HOME = "http://127.0.0.1:9"
NOTE_MESSAGES = """const parse = JSON.parse;
JSON.parse = (text) => {
    const value = parse(text);
    if (value?.type) setTimeout(() => { window.handled = true; });  // once the page has shown it
    return value;
}"""
KEYS = ["up", "down", "left", "right", "act", "stay"]
NAMES = ["Alice", "Bob"]
MESSAGE = {"agent": 1, "say": "hello", "plan": "wait(1)", "last": False}


def welcome(role: str, clock: str, goal: str, **more: Any) -> dict[str, Any]:
    keys = KEYS if clock == "ticks" and role == "seat" else []
    return {
        "type": "welcome",
        "id": "p-1",
        "game": "Housework",
        "role": role,
        "seat": 0 if role == "seat" else None,
        "names": NAMES,
        "post": "chef" if role == "seat" else "",
        "team": ["human", "RL"],
        "manual": "Rules.",
        "clock": clock,
        "tick": 0.15,
        "keys": keys,
        "show": "both",
        "menu": "legal",
        "language": "",
        "single": [],
        "supplies": ["an onion"],
        "moves": {},
        "goal": goal,
        "offers_practice": False,
        "objective": "Bring 2 things.",
        "limit": 40,
        "talks": True,
        "message_rules": [[name, {"n": 12.5, "names": NAMES}] for name in SENTENCES],
        "max_chars": None,
        "episodes": 3,
    } | more


def state(name: str, here: bool, ready: bool) -> dict[str, Any]:
    present = {"agent_0": True, "agent_1": here, "voice": True}
    readiness = dict.fromkeys(present, ready)
    return {"type": "state", "state": name, "number": 2, "here": present, "ready": readiness, "lost": []}


def question(kind: str, actions: int, error: list[str] | None) -> dict[str, Any]:
    texts = [f"goto({k})" for k in range(actions)]
    return {
        "type": "ask",
        "turn": 1,
        "kind": kind,
        "timestep": 3,
        "actions": texts,
        "legal": texts,
        "requests": {text: f"request('{text}')" for text in texts},
        "walks": [],
        "late": texts[:1],
        "waits": ["wait(1)", "wait(2)"],
        "blocked": {"use(stove)": "Carry food first."},
        "idle": "noop",
        "plan": texts[:1],
        "announced": [[], texts[:1]],
        "inbox": [MESSAGE],
        "error": error,
        "attempt": "goto(9)",
        "refused": [],
        "earlier": [[1, "goto(1)"]],
        "history": [[], []],
        "feedback": "",
    }


def serve(page: Any, pages: dict[str, str]) -> None:
    """Answer a page's requests without a server: files of the package, and what is given by path."""

    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(HOME).partition("?")[0]
        name = path.removeprefix("/page/")
        text, kind = (page_file(name), FILES[name]) if name in FILES else (pages[path], "text/html")
        route.fulfill(body=text, content_type=kind)

    page.route("**/*", answer)


class Feed:
    """A player's page that is sent messages one by one.

    Attributes:
        page: The page.
        sent: Messages of the page.
    """

    def __init__(self, context: Any) -> None:
        self.page, self.sent = context.new_page(), list[dict[str, Any]]()
        self._sockets: list[Any] = []
        serve(self.page, {"/s/t": page_file("play.html")})
        self.page.route_web_socket("**/socket", self._connect)
        self.page.add_init_script(NOTE_MESSAGES)

    def _connect(self, socket: Any) -> None:
        socket.on_message(lambda text: self.sent.append(json.loads(text)))
        self._sockets.append(socket)

    def open(self, language: str = "en") -> None:
        """Load the page anew."""
        self.page.goto(f"{HOME}/s/t?language={language}")
        self.page.wait_for_function("document.title && document.querySelector('#language').value")

    def send(self, *messages: dict[str, Any]) -> None:
        """Send messages; each is shown before the next one comes."""
        for message in messages:
            self.page.evaluate("window.handled = false")
            self._sockets[-1].send(json.dumps(message))
            self.page.wait_for_function("window.handled === true")
