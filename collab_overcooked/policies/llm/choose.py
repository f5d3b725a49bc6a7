"""An agent for any game: it picks one of the numbered actions that are accepted now."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.policies.api import Decision, Message, View
from collab_overcooked.policies.llm.answers import choice_schema, read_choice
from collab_overcooked.policies.llm.client import Turn, Unusable
from collab_overcooked.policies.llm.modules import Refusal, considered, make_parts
from collab_overcooked.policies.llm.session import Mind
from collab_overcooked.policies.llm.settings import Value


class ChooseAgent:
    """Rules, the moment in words, numbered actions; the answer is a number.

    Args:
        mind: Model and prompts.
        values: Of the switches.
    """

    def __init__(self, mind: Mind, values: Mapping[str, Value]) -> None:
        self.mind, self.on = mind, values
        self.parts = make_parts(mind, self.question, values)

    def question(self, template: str, **values: Any) -> list[Turn]:
        """Return the chat of a question: the rules, then a filled template."""
        fill, facts = self.mind.prompts.fill, {**self._facts(values["view"]), **values}
        return [Turn("system", fill("choose_rules", **facts)), Turn("user", fill(template, **facts))]

    def act(self, view: View) -> Decision:
        """Return one of the accepted actions; waiting if the model does not name one."""
        try:
            action = self._choose(view)
        except Unusable:
            action = idle(view)
        return Decision(action=action, tokens=self.mind.take_tokens())

    def reply(self, view: View) -> Message | None:
        """Have nothing to say."""
        return None

    def _choose(self, view: View) -> int:
        texts = list(view.legal_actions)
        refused = [Refusal(*reason) for seat, *reason in view.refused if seat == view.seat]
        for refusal in refused:  # masks are of the moment before the others of the same step have acted
            self.parts["reflection"].learn(view, refusal)
        values: dict[str, Any] = {"intention": "", "view": view, "actions": texts, "refused": refused}
        for part in self.parts.values():
            values |= part.values(view)
        schema = self._schema(len(texts))

        def ask(rejected: str, objection: str) -> int:
            chat = self.question("choose", rejected=rejected, objection=objection, **values)
            return self.mind.ask(chat, partial(read_choice, texts=texts), schema)

        number = considered(ask, texts.__getitem__, self.parts["check"], int(self.on["check"]), view)
        return view.legal_actions[texts[number]]

    def _schema(self, count: int) -> dict[str, Any] | None:
        if not self.mind.settings.json:
            return None
        schema = choice_schema(count)
        if self.on["analysis"]:
            schema["properties"] = {"analysis": {"type": "string"}, **schema["properties"]}
            schema["required"] = list(schema["properties"])
        return schema

    def _facts(self, view: View) -> dict[str, Any]:
        info, seat = self.mind.info, self.mind.seat
        names = seat_names(info.game)
        return {
            "me": names[seat],
            "names": names,
            "seat": seat,
            "task": info.task,
            "manual": self._manual(view),
            "feedback": view.extras.get("feedback", ""),
            "helper": self.on["helper"],
            "analysis": self.on["analysis"],
            "json": self.mind.settings.json,
        }

    def _manual(self, view: View) -> str:
        """Return the rules in the game's own words, empty where it has none or they are switched off."""
        game = view.game
        return game.manual(view.state, 0, view.seat) if self.on["manual"] else ""


def seat_names(game: Any) -> tuple[str, ...]:
    """Return the names of the seats in texts."""
    return tuple(getattr(game, "display_names", [f"agent_{seat}" for seat in range(game.n_agents)]))


def idle(view: View) -> int:
    """Return the action of doing nothing, or the first accepted one where that is refused."""
    action = view.game.idle_action()
    return action if view.mask[action] else int(np.flatnonzero(view.mask)[0])
