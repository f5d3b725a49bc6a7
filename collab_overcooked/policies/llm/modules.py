"""Modules of language agents that can be switched on and off, each behind the same three hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from collab_overcooked.envs.lexicon import translator_of
from collab_overcooked.policies.api import Seen
from collab_overcooked.policies.llm.answers import MAX_SAY, Unreadable, read_verdict, shorten, verdict_schema, visible
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value

VOICE = "A voice"  # of somebody without a seat
T = TypeVar("T")
Question = Callable[..., list[ChatMessage]]
"""Fills a template of the agent's game with its rules and values: ``question(name, **values)`` gives the chat."""


class Refusal(NamedTuple):
    """A refused action: its text, and code and message of the reason."""

    action: str
    code: str
    message: str


class Module:
    """A module that adds nothing; the others replace what they need."""

    def __init__(self, session: ModelSession, question: Question) -> None:
        self.session, self.question = session, question

    def values(self, seen: Seen) -> dict[str, Any]:
        """Return what the decision's template gets to know."""
        return {}

    def objection(self, seen: Seen, proposal: str) -> str:
        """Return what speaks against a proposed decision, empty if nothing does."""
        return ""

    def learn(self, seen: Seen, refusal: Refusal, proposal: str = "") -> None:
        """Look at a refused action, and at what was decided instead if that is known."""


class Memory(Module):
    """The window on the agent's own last actions; source: the agents of Sun et al. 2025 and of LLM-Co."""

    def __init__(self, session: ModelSession, question: Question, window: int) -> None:
        super().__init__(session, question)
        self.window = window

    def values(self, seen: Seen) -> dict[str, Any]:
        """Return ``memory``, pairs of timestep and action, the oldest first."""
        own = seen.history[seen.seat] if seen.history else ()
        say = translator_of(self.session.info.game)
        return {"memory": [(timestep, say(label)) for timestep, label in own[len(own) - min(self.window, len(own)) :]]}


class Hearing(Module):
    """The window on what was said to the agent, and by it; source: CoELA's memory."""

    def __init__(self, session: ModelSession, question: Question, window: int) -> None:
        super().__init__(session, question)
        self.window = window
        self.messages: list[tuple[str, str]] = []
        self._timestep, self._heard = -1, 0

    def hear(self, seen: Seen) -> None:
        """Note what others have said in this timestep, as far as it is new."""
        if seen.timestep != self._timestep:
            self._timestep, self._heard = seen.timestep, 0
        for message in seen.inbox[self._heard :]:
            if message.agent != seen.seat:
                self.messages.append((VOICE if message.agent is None else seen.names[message.agent], message.say))
        self._heard = len(seen.inbox)

    def say(self, seen: Seen, words: str) -> None:
        """Note what the agent says itself."""
        self.messages.append((seen.names[seen.seat], words))

    def values(self, seen: Seen) -> dict[str, Any]:
        """Return ``messages``, pairs of name and words, the oldest first."""
        return {"messages": self.messages[-self.window :] if self.window else []}


class Reflection(Module):
    """Lessons from refused actions, written by the model in a call of its own when the mistake is new.

    Source: Sun et al. 2025 (section on the agent framework), whose public code never reaches it.
    """

    def __init__(self, session: ModelSession, question: Question, shown: int) -> None:
        super().__init__(session, question)
        self.shown = shown
        self.lessons: dict[tuple[str, str], str] = {}

    def values(self, seen: Seen) -> dict[str, Any]:
        """Return ``lessons``, the last ones last."""
        return {"lessons": list(self.lessons.values())[-self.shown :] if self.shown else []}

    def learn(self, seen: Seen, refusal: Refusal, proposal: str = "") -> None:
        """Ask for a lesson and keep it; the lesson of a repeated mistake is shown again, and not written anew."""
        if not self.shown:
            return
        key = (refusal.code, refusal.action)
        if key in self.lessons:
            self.lessons[key] = self.lessons.pop(key)
            return
        chat = self.question("reflect", seen=seen, refusal=refusal, proposal=proposal)
        try:
            lesson = self.session.ask(chat, _sentence)
        except UnusableReply:
            return
        self.lessons[key] = lesson


class Intention(Module):
    """What the partner will probably do next, asked in a call of its own; source: LLM-Co's auxiliary module."""

    def values(self, seen: Seen) -> dict[str, Any]:
        """Return ``intention``, a sentence, or nothing if there was no usable answer."""
        try:
            return {"intention": self.session.ask(self.question("intention", seen=seen), _sentence)}
        except UnusableReply:
            return {"intention": ""}


class SelfCheck(Module):
    """Judges decisions in a call of its own before they are carried out; source: LLM-Co's auxiliary module."""

    def objection(self, seen: Seen, proposal: str) -> str:
        """Return the reason why a decision is not okay."""
        turns = self.question("check", seen=seen, proposal=proposal)
        schema = verdict_schema() if self.session.settings.json else None
        try:
            okay, reason = self.session.ask(turns, read_verdict, schema)
        except UnusableReply:
            return ""
        return "" if okay else reason or "It is not okay."


def _sentence(text: str) -> str:
    words = shorten(" ".join(visible(text).split()), MAX_SAY)
    if not words:
        raise Unreadable("Answer with one sentence.")
    return words


def decide_checked(
    ask: Callable[[str, str], T], words: Callable[[T], str], check: Module, rounds: int, seen: Seen
) -> T:
    """Return a decision to which there is no objection, or the last one after so many objections.

    Args:
        ask: Gets a decision, told the rejected one before it and the objection, both empty at first.
        words: Puts a decision into words.
        check: Objects.
        rounds: Objections that are heeded.
        seen: The moment.
    """
    decision = ask("", "")
    for _ in range(rounds):
        objection = check.objection(seen, words(decision))
        if not objection:
            break
        decision = ask(words(decision), objection)
    return decision


def make_modules(session: ModelSession, question: Question, values: Mapping[str, Value]) -> dict[str, Module]:
    """Return the modules of an agent by name; those that are switched off add nothing.

    Args:
        session: The agent's model.
        question: Makes chats.
        values: Of the switches, see ``settings.SWITCHES``.
    """
    makers: dict[str, Callable[[ModelSession, Question], Module]] = {
        "memory": partial(Memory, window=int(values["memory"])),
        "reflection": partial(Reflection, shown=int(values["reflection"])),
        "intention": Intention if values["intention"] else Module,
        "check": SelfCheck if values["check"] else Module,
    }
    return {name: maker(session, question) for name, maker in makers.items()}
