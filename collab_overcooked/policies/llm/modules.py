"""Optional modules of language agents, with a common interface of three hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.llm.answers import (
    MAX_SAY,
    PROSE,
    Answer,
    Unreadable,
    read_verdict,
    shorten,
    verdict_schema,
)
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.markup import visible
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value

VOICE = "A voice"  # sender from outside the team
FAILED = " (failed)"  # after the label of an action
T = TypeVar("T")
Question = Callable[..., list[ChatMessage]]
"""Function ``question(name, **values)`` that fills a template of the agent's game and returns the chat."""


def rules_of(seen: AgentView, pays: bool = False) -> str:
    """Return the rules for a prompt: the game's manual, or its rules for people if it has none.

    Args:
        seen: Knowledge of the seat.
        pays: Whether the agent sends messages at the game's price.
    """
    rules, price = seen.manual or seen.view.rules, seen.view.talk_price
    return f"{rules}\n{price}" if pays and price else rules


class Refusal(NamedTuple):
    """A refused action: its text, reason code and message."""

    action: str
    code: str
    message: str


class Module:
    """Base class of modules, without effect."""

    def __init__(self, session: ModelSession, question: Question) -> None:
        self.session, self.question = session, question

    def values(self, seen: AgentView) -> dict[str, Any]:
        """Return variables for the decision's template."""
        return {}

    def objection(self, seen: AgentView, proposal: str) -> str:
        """Return an objection to a proposed decision, empty for none."""
        return ""

    def learn(self, seen: AgentView, refusal: Refusal, proposal: str = "") -> None:
        """Learn from a refused action, and from the decision that replaced it, if known."""


class AgentMemory(Module):
    """Window of the agent's own last actions; source: the agents of Sun et al. 2025 and of LLM-Co."""

    def __init__(self, session: ModelSession, question: Question, window: int) -> None:
        super().__init__(session, question)
        self.window = window

    def values(self, seen: AgentView) -> dict[str, Any]:
        events = seen.history[seen.seat] if seen.history and self.window else ()
        starts = seen.starts[seen.seat] if events else ()
        game = self.session.info.game
        names = dict(zip(game.action_texts(seat=seen.seat), seen.view.action_texts, strict=True))
        runs: list[tuple[int, int, str]] = []
        for (end, label), start in zip(reversed(events), reversed(starts), strict=True):
            action, failed, _ = seen.view.own_event_label(label).partition(FAILED)
            text = names.get(action, action) + failed
            first, last, after = runs[-1] if runs else (0, 0, "")
            if text == after and end >= first:
                runs[-1] = (min(start, first), last, text)
            elif len(runs) == self.window:
                break
            else:
                runs.append((start, end, text))
        until = 0 if game.has_duration else 1  # a step that has a duration ends at the time of the next one
        times = [(seen.clocks[first], seen.clocks[last - until], text) for first, last, text in reversed(runs)]
        spans = ((a if a == b else f"{a} to {b.rpartition(' ')[2]}", text) for a, b, text in times)
        return {"memory": list(spans)}


class MessageLog(Module):
    """Window of the last messages of the team, own ones included; source: CoELA's memory."""

    def __init__(self, session: ModelSession, question: Question, window: int) -> None:
        super().__init__(session, question)
        self.window = window

    def values(self, seen: AgentView) -> dict[str, Any]:
        sent = [message for message in (*(entry for _, entry in seen.past_messages), *seen.inbox) if message.say]
        recent = sent[-self.window :] if self.window else []
        return {"messages": [(VOICE if m.agent is None else seen.names[m.agent], m.say) for m in recent]}


class Reflection(Module):
    """Lessons from refused actions, written by the model in a separate call for each new mistake.

    Source: Sun et al. 2025 (section on the agent framework), whose public code never reaches this step.
    """

    def __init__(self, session: ModelSession, question: Question, limit: int) -> None:
        super().__init__(session, question)
        self.limit = limit
        self.lessons: dict[tuple[str, str], str] = {}

    def values(self, seen: AgentView) -> dict[str, Any]:
        return {"lessons": list(self.lessons.values())[-self.limit :] if self.limit else []}

    def learn(self, seen: AgentView, refusal: Refusal, proposal: str = "") -> None:
        if not self.limit:
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
    """Prediction of the partner's next action in a separate call; source: LLM-Co's auxiliary module."""

    def values(self, seen: AgentView) -> dict[str, Any]:
        if not seen.view.has_partners:
            return {"intention": ""}
        try:
            return {"intention": self.session.ask(self.question("intention", seen=seen), _sentence)}
        except UnusableReply:
            return {"intention": ""}


class SelfCheck(Module):
    """Judgement of decisions in a separate call before they are executed; source: LLM-Co's auxiliary module."""

    def objection(self, seen: AgentView, proposal: str) -> str:
        turns = self.question("check", seen=seen, proposal=proposal)
        schema = verdict_schema() if self.session.settings.json else None
        try:
            okay, reason = self.session.ask(turns, read_verdict, schema)
        except UnusableReply:
            return ""
        return "" if okay else _ended(reason or "It is not okay")


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _sentence(text: str) -> Answer:
    sentence = shorten(" ".join(visible(text).split()), MAX_SAY)
    if not sentence:
        raise Unreadable("Answer with one sentence.")
    return Answer(sentence, PROSE)


def decide_checked(
    ask: Callable[[str, str], T], describe: Callable[[T], str], check: Module, rounds: int, seen: AgentView
) -> T:
    """Return a decision without objection, or the last one after the maximum number of objections.

    Args:
        ask: Function from a rejected decision and the objection, both empty at first, to a decision.
        describe: Function from a decision to its text.
        check: Module that objects.
        rounds: Maximum number of objections.
        seen: Knowledge of the seat.
    """
    decision = ask("", "")
    for _ in range(rounds):
        objection = check.objection(seen, describe(decision))
        if not objection:
            break
        decision = ask(describe(decision), objection)
    return decision


def make_modules(session: ModelSession, question: Question, values: Mapping[str, Value]) -> dict[str, Module]:
    """Return the modules of an agent by name; disabled ones have no effect.

    Args:
        session: Session with the agent's model.
        question: Function that creates chats.
        values: Values of the switches, see ``settings.SWITCHES``.
    """
    makers: dict[str, Callable[[ModelSession, Question], Module]] = {
        "memory": partial(AgentMemory, window=int(values["memory"])),
        "reflection": partial(Reflection, limit=int(values["reflection"])),
        "intention": Intention if values["intention"] else Module,
        "check": SelfCheck if values["check"] else Module,
    }
    return {name: maker(session, question) for name, maker in makers.items()}
