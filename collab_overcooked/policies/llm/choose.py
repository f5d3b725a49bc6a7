"""An agent for any game: it picks one of the numbered actions that are accepted now."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collab_overcooked.policies.api import Decision, Seen, Silent
from collab_overcooked.policies.llm.answers import choice_schema, read_choice
from collab_overcooked.policies.llm.client import Turn, Unusable
from collab_overcooked.policies.llm.modules import Refusal, decide_checked, make_modules
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value


class ChooseAgent(Silent):
    """Rules, the moment in words, numbered actions; the answer is a number."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value]) -> None:
        self.session, self.on = session, values
        self.modules = make_modules(session, self.question, values)

    def question(self, template: str, **values: Any) -> list[Turn]:
        """Return the chat of a question: the rules, then a filled template."""
        fill, facts = self.session.prompts.fill, {**self._facts(values["seen"]), **values}
        return [Turn("system", fill("choose_rules", **facts)), Turn("user", fill(template, **facts))]

    def act(self, seen: Seen) -> Decision:
        """Return one of the accepted actions; waiting if the model does not name one."""
        try:
            action = self._choose(seen)
        except Unusable:
            action = seen.idle_action
        return Decision(action=action, **self.session.take_cost())

    def _choose(self, seen: Seen) -> int:
        paying = self.session.info.game.talk_actions(seen.seat)  # without words they are of no use
        texts = [text for text, action in seen.legal_actions.items() if action not in paying]
        refused = [Refusal(*reason) for seat, *reason in seen.refused if seat == seen.seat]
        for refusal in refused:  # masks are of the moment before the others of the same step have acted
            self.modules["reflection"].learn(seen, refusal)
        values: dict[str, Any] = {"intention": "", "seen": seen, "actions": texts, "refused": refused}
        for part in self.modules.values():
            values |= part.values(seen)
        schema = self._schema(len(texts))

        def ask(rejected: str, objection: str) -> int:
            chat = self.question("choose", rejected=rejected, objection=objection, **values)
            return self.session.ask(chat, partial(read_choice, texts=texts), schema)

        number = decide_checked(ask, texts.__getitem__, self.modules["check"], int(self.on["check"]), seen)
        return seen.legal_actions[texts[number]]

    def _schema(self, count: int) -> dict[str, Any] | None:
        if not self.session.settings.json:
            return None
        schema = choice_schema(count)
        words = [name for name, switch in (("partner", "predict"), ("analysis", "analysis")) if self.on[switch]]
        schema["properties"] = {**{name: {"type": "string"} for name in words}, **schema["properties"]}
        schema["required"] = list(schema["properties"])
        return schema

    def _facts(self, seen: Seen) -> dict[str, Any]:
        return {
            "me": seen.names[seen.seat],
            "names": seen.names,
            "seat": seen.seat,
            "task": self.session.info.task,
            "manual": seen.manual if self.on["manual"] else "",
            "feedback": seen.feedback,
            "helper": self.on["helper"],
            "analysis": self.on["analysis"],
            "predict": self.on["predict"],
            "json": self.session.settings.json,
        }
