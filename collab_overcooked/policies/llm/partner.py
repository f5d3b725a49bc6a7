"""Partner agent: a language agent that plans, requests actions from teammates, and sends messages.

One request gives an analysis, a plan and a message. Messages open a conversation within the timestep, in which all
teammates answer in the same form; refused actions are returned with the game's message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from collab_overcooked.policies.api import AgentView, Decision, Message
from collab_overcooked.policies.listed import in_order
from collab_overcooked.policies.llm.answers import Answer, fields_schema, read_fields, read_plan, read_say
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.modules import VOICE, Refusal, decide_checked, make_modules
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.llm.tools import TOOLS, act_tool, read_parts, talk_tools


class PartnerInstructions(Protocol):
    """A game's instructions for partner agents; the class is called with the episode's ``EnvInfo`` and the seat."""

    def variables(self) -> dict[str, Any]:
        """Return the variables of the game's templates."""

    def observation(self, seen: AgentView, form: str) -> str:
        """Return the seat's observation as text, with the recipe in the form of the switch ``recipe``."""

    def example(self, seen: AgentView) -> dict[str, str]:
        """Return an example of a ``plan`` and of a ``request`` that reveal nothing about the task."""

    def running(self, seen: AgentView) -> str:
        """Return the seat's running action, empty if there is none."""

    def requests(self) -> Sequence[str]:
        """Return the actions that the seat may ask its teammates for; empty if it does not know these."""


class PartnerAgent:
    """Agent with instructions, planning, communication, error handling, memory and reflection, each with a switch."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value], instructions: PartnerInstructions) -> None:
        self.session = session
        self.on = values
        self.instructions = instructions
        self.game = session.info.game
        self.names = [*(["analysis"] if values["analysis"] else []), "plan", *(["say"] if values["talk"] else [])]
        self.modules = make_modules(session, self.question, values)
        self._decided: list[tuple[int, str]] = []  # timestep and plan
        self._variables = instructions.variables() | {
            "parts": self.names,
            "talk": values["talk"],
            "delay": session.info.message_delay,
            "helper": values["helper"],
            "json": session.settings.json,
            "tools": values["channel"] == TOOLS,
            "public": values["plans"] == "public",
        }

    def question(self, template: str, **values: Any) -> list[ChatMessage]:
        """Return a chat: the instructions, then a filled template."""
        fill = self.session.prompts.fill
        if "seen" in values:
            values["observation"] = self.instructions.observation(values["seen"], str(self.on["recipe"]))
        values = {**self._variables, **values}
        return [ChatMessage("system", fill("rules", **values)), ChatMessage("user", fill(template, **values))]

    def act(self, seen: AgentView) -> Decision:
        """Return a plan and a message; wait if the model gives no plan."""
        if seen.error is not None and not self.on["correct"]:
            return Decision(action=seen.idle_action)
        try:
            plan, say, last = self._plan(seen, replying=False)
            if seen.error is not None:
                self.modules["reflection"].learn(seen, Refusal(seen.attempt, *seen.error), plan)
        except UnusableReply:
            return Decision(action=seen.idle_action, **self.session.take_cost())
        return Decision(plan=plan, say=say, last=last, public=self._variables["public"], **self.session.take_cost())

    def reply(self, seen: AgentView) -> Message | None:
        """Answer; a closing message and silence both end the conversation for this seat."""
        if not self.on["talk"]:
            return None
        try:
            plan, say, last = self._plan(seen, replying=True)
        except UnusableReply:
            plan, say, last = "", "", True
        return Message(seen.seat, say, plan, last=last, public=self._variables["public"], **self.session.take_cost())

    def _plan(self, seen: AgentView, replying: bool) -> tuple[str, str, bool]:
        values: dict[str, Any] = {"intention": "", "seen": seen, "replying": replying, "chat": self._chat(seen.inbox)}
        values |= {"running": self.instructions.running(seen), "past": [], "decided": []}
        if window := int(self.on["messages"]):
            past = seen.past_messages[-window:]
            chat = self._chat([message for _, message in past])
            values["past"] = [{"timestep": t, **message} for (t, _), message in zip(past, chat, strict=True)]
        if window := int(self.on["decisions"]):
            values["decided"] = self._decided[-window:]
        for part in self.modules.values():
            values |= part.values(seen)
        needed = [] if replying else ["plan"]  # an empty reply is silence
        tools = self._tools(seen) if self.on["channel"] == TOOLS else []
        schema = fields_schema(self.names) if self.session.settings.json and not tools else None
        read: Callable[[str], Answer] = partial(read_fields, names=self.names, needed=needed)
        if tools:
            read = partial(read_parts, tools=tools, needs_plan=not replying)

        def ask(rejected: str, objection: str) -> dict[str, str]:
            chat = self.question(
                "plan", example=self.instructions.example(seen), rejected=rejected, objection=objection, **values
            )
            parts: dict[str, str] = self.session.ask(chat, read, schema, tools)
            return parts

        parts = decide_checked(ask, lambda parts: parts["plan"], self.modules["check"], int(self.on["check"]), seen)
        say, last = read_say(parts.get("say", ""))
        plan = read_plan(parts["plan"])
        if plan:
            self._decided.append((seen.timestep, plan))
        return plan, say, last

    def _tools(self, seen: AgentView) -> list[dict[str, Any]]:
        act = "Take an action; call it several times for a plan, which is carried out in this order."
        waits = (seen.view.action_texts[action] for action in seen.view.waits)
        texts = [*seen.view.vocabulary, *waits]  # a later part of a plan may be impossible now
        actions, requests = (
            in_order(listed, str(self.on["order"]), self.session.seed, seen)
            for listed in (texts, self.instructions.requests())
        )
        return [act_tool(actions, act), *(talk_tools(requests) if self.on["talk"] else ())]

    def _chat(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return messages with names instead of seats, and with plan and requests separated."""
        chat, names = [], self.game.display_names
        for message in messages:
            plan, requests = self.game.parse_plan(message.plan, message.agent or 0)
            name = VOICE if message.agent is None else names[message.agent]
            chat.append({"name": name, "say": message.say, "plan": self.game.join_plan(plan), "requests": requests})
        return chat
