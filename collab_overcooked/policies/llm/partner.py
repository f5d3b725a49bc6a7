"""A language agent that plans, asks its teammates for what it cannot do, and talks.

One question gives an analysis, a plan and words. Words open a conversation within the timestep, in which everybody
answers in the same form; what the game refuses is handed back with the game's own message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from collab_overcooked.envs.seen import seat_names
from collab_overcooked.policies.api import Decision, Message, Seen
from collab_overcooked.policies.llm.answers import fields_schema, read_fields, read_plan, read_say
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.modules import VOICE, Refusal, decide_checked, make_modules
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value


class PartnerInstructions(Protocol):
    """What a game tells partner agents of itself; the class is called with the episode's ``EnvInfo`` and the seat."""

    def facts(self) -> dict[str, Any]:
        """Return what the game's own templates use."""

    def observation(self, seen: Seen, form: str) -> str:
        """Return what the seat sees, with the recipe in the form of the switch ``recipe``."""

    def example(self, seen: Seen) -> dict[str, str]:
        """Return an example of a ``plan`` and of a ``request`` that tell nothing of what is to be done."""

    def running(self, seen: Seen) -> str:
        """Return the action that the seat carries out already, empty if there is none."""


class PartnerAgent:
    """Instruction builder, planner, communication, error handling, memory and reflection, each behind its switch."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value], instructions: PartnerInstructions) -> None:
        self.session, self.on, self.instructions, self.game = session, values, instructions, session.info.game
        self.names = [*(["analysis"] if values["analysis"] else []), "plan", *(["say"] if values["talk"] else [])]
        self.modules = make_modules(session, self.question, values)
        self._decided: list[tuple[int, str]] = []  # timestep and plan
        self._facts = instructions.facts() | {
            "parts": self.names,
            "talk": values["talk"],
            "helper": values["helper"],
            "json": session.settings.json,
        }

    # ------------------------------------------------------------------------------------ instructions

    def question(self, template: str, **values: Any) -> list[ChatMessage]:
        """Return the chat of a question: the instructions, then a filled template."""
        fill = self.session.prompts.fill
        if "seen" in values:
            values["observation"] = self.instructions.observation(values["seen"], str(self.on["recipe"]))
        values = {**self._facts, **values}
        return [ChatMessage("system", fill("rules", **values)), ChatMessage("user", fill(template, **values))]

    # ------------------------------------------------------------------------------------ planning and talking

    def act(self, seen: Seen) -> Decision:
        """Return a plan and words; waiting if the model gives no plan."""
        if seen.error is not None and not self.on["correct"]:
            return Decision(action=seen.idle_action)
        try:
            plan, say, _ = self._plan(seen, replying=False)
            if seen.error is not None:
                self.modules["reflection"].learn(seen, Refusal(seen.attempt, *seen.error), plan)
        except UnusableReply:
            return Decision(action=seen.idle_action, **self.session.take_cost())
        return Decision(plan=plan, say=say, **self.session.take_cost())

    def reply(self, seen: Seen) -> Message | None:
        """Answer; a closing message and a silent one both end the conversation from this side."""
        if not self.on["talk"]:
            return None
        try:
            plan, say, last = self._plan(seen, replying=True)
        except UnusableReply:
            plan, say, last = "", "", True
        return Message(seen.seat, say, plan, last=last, **self.session.take_cost())

    def _plan(self, seen: Seen, replying: bool) -> tuple[str, str, bool]:
        """Return plan, words, and whether they are the last ones."""
        values: dict[str, Any] = {"intention": "", "seen": seen, "replying": replying, "chat": self._chat(seen.inbox)}
        values |= {"running": self.instructions.running(seen), "past": [], "decided": []}
        if window := int(self.on["messages"]):
            past = seen.past_messages[-window:]
            chat = self._chat([message for _, message in past])
            values["past"] = [{"timestep": t, **said} for (t, _), said in zip(past, chat, strict=True)]
        if window := int(self.on["decisions"]):
            values["decided"] = self._decided[-window:]
        for part in self.modules.values():
            values |= part.values(seen)
        needed = [] if replying else ["plan"]  # an empty reply is silence
        schema = fields_schema(self.names) if self.session.settings.json else None

        def ask(rejected: str, objection: str) -> dict[str, str]:
            chat = self.question(
                "plan", example=self.instructions.example(seen), rejected=rejected, objection=objection, **values
            )
            return self.session.ask(chat, partial(read_fields, names=self.names, needed=needed), schema)

        found = decide_checked(ask, lambda parts: parts["plan"], self.modules["check"], int(self.on["check"]), seen)
        say, last = read_say(found.get("say", ""))
        plan = read_plan(found["plan"])
        if plan:
            self._decided.append((seen.timestep, plan))
        return plan, say, last

    def _chat(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return messages with names instead of seats, and with plan and requests apart."""
        chat, names = [], seat_names(self.game)
        for message in messages:
            plan, requests = self.game.parse_plan(message.plan, message.agent or 0)
            name = VOICE if message.agent is None else names[message.agent]
            chat.append({"name": name, "say": message.say, "plan": plan, "requests": requests})
        return chat
