"""Play in the terminal line by line: over SSH, with a screen reader, or from a pipe. Needs only the core."""

from __future__ import annotations

import asyncio
import difflib
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from collab_overcooked.io.text import harmless
from collab_overcooked.play.people import Outbox, Person
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import TICKS, TURNS

HELP = (
    "a number or text chooses; ; between actions; say WORDS; t the whole text; m menu; p picture; ? rules; Enter "
    "nothing; q leaves. After the first step only changes are printed"
)
ENOUGH = 40  # actions that are listed without being asked for


def play_here(session: Session) -> None:
    """Play a session in this terminal, in turns."""
    if len(session.people) != 1:
        raise ValueError(f"a terminal is for one person, this team has {len(session.people)}; leave out --terminal")
    if session.settings.clock == TICKS:
        raise ValueError("clock: a terminal plays in turns; leave out --clock ticks, or leave out --terminal")
    session.settings = replace(session.settings, clock=TURNS)
    asyncio.run(LineScreen(session, input_line, print).run())


def input_line(prompt: str) -> str | None:
    """Return a line from standard input; None at its end."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def changed_lines(before: str, after: str) -> str:
    """Return the lines of a text that are new or changed, and those that are gone."""
    old, new = before.split("\n"), after.split("\n")
    changes = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            changes += new[c:d]
        elif kind == "delete":
            changes += [f"No longer: {line}" for line in old[a:b] if line.strip()]
    return "\n".join(line for line in changes if line.strip()) or "Nothing has changed."


class LineScreen:
    """A person who reads lines and writes lines.

    Args:
        session: With one person.
        read: Takes a prompt and returns a line, None at the end of all; waited for in a thread.
        write: Takes a text.
    """

    def __init__(self, session: Session, read: Callable[[str], str | None], write: Callable[[str], None]) -> None:
        self.session, self._read, self._write = session, read, write
        self.person: Person = session.people[0]
        self._outbox = Outbox("terminal")
        self._me: dict[str, Any] = {}
        self._question: dict[str, Any] | None = None
        self._text = self._written = ""  # the current text, and the last one that was printed
        self._listed: list[str] = []

    async def run(self) -> None:
        """Play until the session is over."""
        self.session.connect(self.person, self._outbox)
        playing = asyncio.create_task(self.session.run())
        while not playing.done() or self._outbox.waiting:
            getting = asyncio.create_task(self._outbox.get())
            await asyncio.wait({getting, playing}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done() and getting.result() is not None:
                await self._take(getting.result() or {})
            getting.cancel()
        playing.result()

    async def _take(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "welcome":
            self._me = message
            self._print(f"{message['game']}. {self._name(message['seat'])}. {HELP}")
            self._print(message["aim"])
        elif kind == "state" and message["state"] == "ready" and not message["ready"][self.person.agent]:
            while (line := await self._ask("Enter when you are ready, ? for the rules, q to leave: ")) == "?":
                self._print(self._me["manual"])
            self._send({"type": "leave" if line in ("q", None) else "ready"})
        elif kind == "frame":
            self._read_frame(message)
        elif kind == "ask":
            await self._decide(message)
        elif kind == "refused":
            self._print(f"Refused: {message['message']}")
            if self._question is not None:
                await self._decide(self._question)
        elif kind in ("over", "closing"):
            self._print(message.get("outcome") or message.get("why") or "Over.")

    def _read_frame(self, message: dict[str, Any]) -> None:
        for entry in message.get("said", ()):
            self._print(f"{self._name(entry['agent'])}: {entry['say']}")
        self._text = message.get("text") or self._picture()
        if "whole" in message:  # a round begins, which is not compared with the one before
            self._written, self._listed = "", []

    async def _decide(self, question: dict[str, Any]) -> None:
        self._question, reply = question, question["kind"] != "act"
        if question.get("error"):
            self._print(f"Refused: {question['attempt']}: {question['error'][1]}")
        elif not reply:
            self._print("\n" + (changed_lines(self._written, self._text) if self._written else self._text))
            self._written = self._text
        for entry in question.get("inbox", ()):
            plan_text = f" [{entry['plan']}]" if entry["plan"] else ""
            self._print(f"{self._name(entry['agent'])}: {entry['say']}{plan_text}")
        actions = question.get("actions", [])
        if question["kind"] != "reply":
            self._offer(actions)
        message, plan = "", None
        while plan is None:
            orders = question["kind"] == "voice" and actions
            line = await self._ask("say, or order NAMES> " if orders else "say> " if reply else "plan> ")
            if line is None or line == "q":
                self._send({"type": "leave"})
                return
            if orders and line.startswith("order "):
                plan = self._read_plan(line[6:], actions)
            elif reply:
                message, plan = line, ""
            elif line.startswith("say "):
                message = line[4:].strip()
            else:
                plan = self._read_plan(line, actions)
        answer = {"turn": question["turn"], "plan": plan, "say": message}
        self._send({"type": "reply", "last": False, **answer} if reply else {"type": "act", **answer})

    def _offer(self, actions: list[str]) -> None:
        """List the actions, unless they are those of before or too many to read each time."""
        if actions == self._listed:
            self._print("Actions as before, m lists them.")
        elif len(actions) > ENOUGH:
            self._print(f"{len(actions)} actions, m lists them.")
        else:
            self._list(actions)
        self._listed = actions

    def _read_plan(self, line: str, actions: list[str]) -> str | None:
        shows: dict[str, Callable[[], None]] = {
            "?": lambda: self._print(self._me["manual"]),
            "p": lambda: self._print(self._picture()),
            "t": lambda: self._print(self._text),
            "m": lambda: self._list(actions),
        }
        if line in shows:
            shows[line]()
            return None
        parts = [part.strip() for part in line.split(";")]
        numbered = [part.isdecimal() and 1 <= int(part) <= len(actions) for part in parts]
        return "; ".join(actions[int(part) - 1] if known else part for part, known in zip(parts, numbered, strict=True))

    def _picture(self) -> str:
        env, seat = self.session.env, self.person.seat
        return str(env.game.render(env.arrays[0], 0, "ansi", seat))

    def _list(self, actions: list[str]) -> None:
        self._print("\n".join(f"{number:3} {text}" for number, text in enumerate(actions, start=1)))

    def _name(self, seat: int | None) -> str:
        return "A voice" if seat is None else str(self._me["names"][seat])

    def _print(self, text: str) -> None:
        self._write(harmless(text))

    def _send(self, message: dict[str, Any]) -> None:
        self.session.receive(self.person, message)

    async def _ask(self, prompt: str) -> str | None:
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[str | None] = loop.create_future()

        def read() -> None:
            line = self._read(prompt)
            loop.call_soon_threadsafe(answered.set_result, line)

        threading.Thread(target=read, daemon=True).start()
        return await answered
