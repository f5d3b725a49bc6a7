"""Agent for all games that picks one of the numbered legal actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.game_spec import VOCABULARY
from collab_overcooked.policies.api import AgentView, Decision, PolicyBase
from collab_overcooked.policies.listed import ActionList
from collab_overcooked.policies.llm.choices import choice_schema, read_choice
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.images import WAYS
from collab_overcooked.policies.llm.modules import Refusal, decide_checked, make_modules, rules_of
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import AUTO, Value
from collab_overcooked.policies.llm.tools import TOOLS, act_tool, read_act


class ChooseAgent(PolicyBase):
    """Agent with a prompt of rules, state as text, and numbered actions; the answer is a number."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value]) -> None:
        self.session, self.on = session, values
        self.modules = make_modules(session, self.question, values)
        menu = None if values["menu"] == AUTO else str(values["menu"])
        self.listed = ActionList(session.info.game, session.seed, str(values["order"]), int(values["patience"]), menu)

    def question(self, template: str, **values: Any) -> list[ChatMessage]:
        """Return a chat: the rules, then a filled template."""
        fill, variables = self.session.prompts.fill, {**self._variables(values["seen"]), **values}
        return [
            ChatMessage("system", fill("choose_rules", **variables)),
            ChatMessage("user", fill(template, **variables)),
        ]

    def act(self, seen: AgentView) -> Decision:
        """Return one of the listed actions; wait if the model's choice is unreadable, or impossible."""
        if self.listed.is_lost(seen):
            return Decision(action=seen.idle_action)
        if self.on["alone"]:
            seen = without_partners(seen)
        if not self.on["earlier"]:
            seen = replace(seen, earlier=())
        if self.listed.goes_on_waiting(seen):
            return Decision(action=seen.idle_action)
        try:
            action = self._choose(seen)
        except UnusableReply:
            action = seen.idle_action
        return Decision(action=action, **self.session.take_cost())

    def _choose(self, seen: AgentView) -> int:
        options = self.listed.options(seen)
        texts = list(options)
        refused = [Refusal(*reason) for seat, *reason in seen.refused if seat == seen.seat]
        for refusal in refused:  # masks precede the other agents' actions of the same step
            self.modules["reflection"].learn(seen, refusal)
        first = int(self.on["first"])
        values: dict[str, Any] = {"intention": "", "seen": seen, "actions": texts, "first": first, "refused": refused}
        for part in self.modules.values():
            values |= part.values(seen)
        schema, tools = self._schema(seen, len(texts)), self._tools(texts)
        parse = None if self.session.settings.json else partial(self._parse, seen, texts)
        read = (
            partial(read_act, tools=tools, texts=texts)
            if tools
            else partial(read_choice, texts=texts, first=first, parse=parse)
        )

        def ask(rejected: str, objection: str) -> int:
            chat = self.question("choose", rejected=rejected, objection=objection, **values)
            return int(self.session.ask(chat, read, schema, tools))

        number = decide_checked(ask, texts.__getitem__, self.modules["check"], int(self.on["check"]), seen)
        self.listed.note(seen, texts[number])
        return options[texts[number]]

    def _parse(self, seen: AgentView, texts: Sequence[str], phrase: str) -> int | None:
        """Return the index of the action that the game reads in a phrase; None if it reads none of the list."""
        try:
            action = self.session.info.game.parse(phrase, seat=seen.seat)
        except ValueError:
            return None
        text = seen.view.action_texts[action]
        return texts.index(text) if text in texts else None

    def _predicts(self, seen: AgentView) -> bool:
        return bool(self.on["predict"]) and seen.view.has_partners

    def _schema(self, seen: AgentView, count: int) -> dict[str, Any] | None:
        if not self.session.settings.json or self.on["channel"] == TOOLS:
            return None
        schema = choice_schema(count, int(self.on["first"]))
        asks = {"partner": self._predicts(seen), "analysis": self.on["analysis"]}
        fields = [name for name, is_asked in asks.items() if is_asked]
        schema["properties"] = {**{name: {"type": "string"} for name in fields}, **schema["properties"]}
        schema["required"] = list(schema["properties"])
        return schema

    def _tools(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        return [act_tool(texts, "Choose the one action that you take now.")] if self.on["channel"] == TOOLS else []

    def _variables(self, seen: AgentView) -> dict[str, Any]:
        menu = self.listed.menu
        # The state's text may list what is possible now
        observed = {"observation": seen.view.surroundings} if menu == VOCABULARY else {}
        return observed | {
            "menu": menu,
            "me": seen.names[seen.seat],
            "names": seen.names[seen.seat : seen.seat + 1] if self.on["alone"] else seen.names,
            "seat": seen.seat,
            "task": self.session.info.task,
            "manual": rules_of(seen) if self.on["manual"] else "",
            "sees": WAYS[str(self.on["see"])],
            "feedback": seen.feedback,
            "helper": self.on["helper"] and seen.view.has_partners,
            "analysis": self.on["analysis"],
            "predict": self._predicts(seen),
            "json": self.session.settings.json,
            "tools": self.on["channel"] == TOOLS,
        }


class LoneView:
    """View of a seat whose texts do not mention its partners."""

    has_partners = False

    def __init__(self, view: SeatView, manual: str, text: str) -> None:
        self._view = view
        self.manual = manual
        self.text = text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)


def without_partners(seen: AgentView) -> AgentView:
    """Return a seat's knowledge without texts about and messages of its partners; the size of the team stays.

    Raises:
        ValueError: The rules of the game are about several agents.
    """
    texts = seen.view.lone_texts
    if texts is None:
        raise ValueError("policy 'llm': alone=on is not possible: the rules of this game are about several agents")
    view = cast(SeatView, LoneView(seen.view, *texts))
    return replace(seen, view=view, announced=(), inbox=(), earlier=())
