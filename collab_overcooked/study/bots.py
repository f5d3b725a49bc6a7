"""Bots that take part in a study: they read its pages, answer at random, and play through real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin

from collab_overcooked.play.messages import KEYS
from collab_overcooked.policies.search.partners import QUESTION, RATE

POLL = 0.5  # seconds between looks into the waiting room
TAP = 0.2  # seconds between keys in real time
PRACTICE_MOVES = 3  # after which a bot skips what is left of a practice
AGREES = 6  # highest score with which a bot still objects to a plan
WINDOW = {"window": "1280", "focus_losses": "0"}  # of a bot: width in pixels, and losses of the focus
SPEAKS = 0.1  # share of decisions and keys with a message
LEAVING = {
    "game": "Loses the connection during the first game, comes back, and leaves for good.",
    "page": "Leaves by the link of the first page after a game.",
    "consent": "Does not agree.",
    "tab": "Closes the tab of the first page after consent.",
}
"""Ways in which bots leave."""
MAX_PAGE_SECONDS = 600.0  # seconds for one page of a game


class PageForm(HTMLParser):
    """The form of a page, its waiting room and its links.

    Attributes:
        action: Where the form is sent; None without one.
        fields: Possible values by field; one that can hold any text has none.
        kinds: Type of each field.
        spans: Smallest and largest value of each field of numbers.
        refused: Whether it comes back with error messages.
        news: Address of the waiting room's news; empty without one.
        links: Addresses of links that look like buttons.
        left: Seconds for which the page is to be read.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, list[str]] = {}
        self.kinds: dict[str, str] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        self.refused = False
        self.news = ""
        self.links: list[str] = []
        self.left = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the fields, links and timers of the page."""
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = attributes["action"]
        elif tag == "select":
            self.kinds[attributes["name"]] = tag
            places = self.fields.setdefault(attributes["name"], [])
            places.append(str(len(places) + 1))
        elif tag in ("input", "textarea", "button") and "name" in attributes:
            kind = attributes.get("inputmode", attributes.get("type", tag))
            self.kinds.setdefault(attributes["name"], kind)
            self.fields.setdefault(attributes["name"], []).extend(
                [attributes["value"]] if attributes.get("value") else []
            )
        elif tag == "a" and "button" in attributes.get("class", "").split():
            self.links.append(attributes["href"])
        if "data-low" in attributes:
            self.spans[attributes["name"]] = int(attributes["data-low"]), int(attributes["data-high"])
        self.refused |= "aria-invalid" in attributes
        self.news = attributes.get("data-news", self.news)
        self.left = int(attributes["data-left"]) if attributes.get("data-timer") == "least" else self.left


@dataclass
class Bot:
    """A bot that takes part in a study.

    Args:
        base: Address of the server.
        entry: Address of the study's first page below it.
        seed: Random seed of its choices.
        leaves: How it leaves, one of ``LEAVING``; empty if it stays.
        right_answers: Returns answers that it must give on the current page, by field; it chooses all others at random.
    """

    base: str
    entry: str
    seed: int
    leaves: str = ""
    right_answers: Callable[[Bot], Mapping[str, Sequence[str]]] = lambda bot: {}
    pages: int = 0  # Number of pages it has seen
    requests: list[float] = field(default_factory=list)  # Duration of each request, in seconds
    answers: list[float] = field(default_factory=list)  # Seconds from each decision to the next message of the server
    last: str = ""  # Text of its last page
    own_page: str = ""  # Address of its own page

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._played = False  # whether it has played a game
        self._practises = False  # whether the round of its game is practice
        self._moves = 0  # decisions or keys of that round

    async def run(self) -> None:
        """Take part from the first page to the last.

        Raises:
            ValueError: A page refuses the answers.
        """
        address, text = await self._get(self.entry)
        while True:
            if "/study/" in address:
                self.own_page = address
            page = PageForm(text)
            if page.refused:
                raise ValueError(f"{address}: the page refuses a bot's answers")
            if self.own_page and (self.leaves == "tab" or (self.leaves == "page" and self._played)):
                self.last = await self._leave()
                return
            if page.action is not None:
                await asyncio.sleep(page.left)
                address, text = await self._get(page.action, self.fill(page))
            elif page.news:
                address, text = await self._wait(page.news)
            elif any(link.endswith("/play") for link in page.links):
                address, text = await self._get(page.links[0])
            else:
                self.last = text
                return
            if "/s/" in address:
                if self.leaves == "game":
                    await self._play(address, lost=True)
                await self._play(address)
                self._played = True
                address, text = await self._get(self.own_page)

    async def _leave(self) -> str:
        """Leave by the link of the page, or just close the tab; returns the text of the last page."""
        if self.leaves == "tab":
            return ""
        _, text = await self._get(f"{self.own_page}/leave", [])
        return text

    def fill(self, page: PageForm) -> list[tuple[str, str]]:
        """Return values of all fields that the form accepts, random where no answer is given."""
        sent = []
        given = self.right_answers(self)
        for name, values in page.fields.items():
            kind = page.kinds[name]
            if name in given:
                sent += [(name, value) for value in given[name]]
            elif name == "agree" and self.leaves == "consent":
                sent.append((name, "no"))
            elif kind in ("radio", "checkbox"):
                sent.append((name, self._random.choice(values)))
            elif kind == "select":
                sent += [(name, place) for place in self._random.sample(values, len(values))]
            elif kind in ("numeric", "range"):
                sent.append((name, str(self._random.randint(*page.spans[name]))))
            elif kind == "textarea":
                sent.append((name, f"text of bot {self.seed}"))
            elif name in WINDOW:
                sent.append((name, WINDOW[name]))
            else:  # hidden fields, and the first of the buttons
                sent.append((name, values[0]))
        return sent

    async def _get(self, address: str, fields: list[tuple[str, str]] | None = None) -> tuple[str, str]:
        data = None if fields is None else urlencode(fields).encode()
        request = urllib.request.Request(urljoin(self.base, address), data)
        begun = time.perf_counter()

        def fetch() -> tuple[str, str]:
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.geturl(), answer.read().decode()
            except urllib.error.HTTPError as error:
                raise ValueError(f"{request.full_url}: {error.code} {error.read(300).decode()}") from None

        page = await asyncio.to_thread(fetch)
        self.requests.append(time.perf_counter() - begun)
        self.pages += 1
        return page

    async def _wait(self, news: str) -> tuple[str, str]:
        while True:
            _, text = await self._get(news)
            go = json.loads(text)["go"]
            if go:
                return await self._get(go)
            await asyncio.sleep(POLL)

    async def _play(self, address: str, lost: bool = False) -> None:
        from websockets.asyncio.client import connect

        async with connect(address.replace("http", "ws", 1) + "/socket", max_size=None) as socket:
            tapping: asyncio.Task[None] | None = None
            answered = 0.0
            try:
                while True:
                    message = json.loads(await asyncio.wait_for(socket.recv(), MAX_PAGE_SECONDS))
                    if answered:
                        self.answers.append(time.perf_counter() - answered)
                        answered = 0.0
                    kind = message["type"]
                    if kind == "welcome":
                        self._practises, self._moves = bool(message["goal"]), 0
                    if kind == "welcome" and message["clock"] == "ticks" and tapping is None:
                        tapping = asyncio.create_task(self._tap(socket, message["talks"]))
                    playing = kind == "state" and message["state"] == "playing"
                    if kind == "closing" or (kind == "over" and not message["more"]) or (lost and playing):
                        return
                    reply = {"type": "leave"} if self.leaves == "game" and playing else self._reply(message)
                    if reply is not None:
                        answered = time.perf_counter() if kind == "ask" else 0.0
                        await socket.send(json.dumps(reply))
            finally:
                if tapping is not None:
                    tapping.cancel()

    def _reply(self, message: dict[str, Any]) -> dict[str, Any] | None:
        kind = message["type"]
        if kind == "welcome":
            return {"type": "window", "width": int(WINDOW["window"]), "lost": False}
        if kind == "state" and message["state"] == "ready":
            return {"type": "ready"}
        if kind != "ask":
            return None
        if self._skips():
            return {"type": "skip"}
        if message["kind"] == "voice":
            orders = self._random.sample(message["actions"], min(2, len(message["actions"])))
            voice = {"plan": "; ".join(orders) if self._random.random() < SPEAKS else "", "say": "Hurry!", "last": True}
            return {"type": "reply", "turn": message["turn"], **voice}
        if message["kind"] == "reply":
            say = self._criticise(message["inbox"][-1]["say"], message["legal"])
            return {"type": "reply", "turn": message["turn"], "plan": "", "say": say, "last": not say}
        known = message["legal"] or [message["idle"]]
        plan = message["idle"] if message["error"] else self._random.choice(known)
        say = f"I will {plan}." if self._random.random() < SPEAKS else ""
        return {"type": "act", "turn": message["turn"], "plan": plan, "say": say}

    def _skips(self) -> bool:
        """Count a move; return whether it is one too many for a practice."""
        self._moves += 1
        return self._practises and self._moves > PRACTICE_MOVES

    def _criticise(self, message: str, legal: list[str]) -> str:
        """Answer a plan as a critic with a random score or rating; messages of other kinds get no answer."""
        if message.endswith(RATE):
            return f"Rating {self._random.randint(1, 5)}."
        if not message.endswith(QUESTION):
            return ""
        score = self._random.randint(1, 10)
        return f"I agree. Score {score}." if score > AGREES else f"I would rather {legal[0]}. Score {score}."

    async def _tap(self, socket: Any, talks: bool) -> None:
        with contextlib.suppress(Exception):  # the game is over
            while True:
                tap = {"type": "tap", "key": self._random.choice(KEYS)}
                await socket.send(json.dumps({"type": "skip"} if self._skips() else tap))
                if talks and self._random.random() < SPEAKS:
                    await socket.send(json.dumps({"type": "say", "say": f"I press {tap['key']}."}))
                await asyncio.sleep(TAP)
