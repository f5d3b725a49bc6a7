"""An agent that plans, asks its teammates for what it cannot do, and talks: the one of Collab-Overcooked.

One question gives an analysis, a plan and words. Words open a conversation within the timestep, in which everybody
answers in the same form; what the game refuses is handed back with the game's own message.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collab_overcooked.games.collab_overcooked.step_recipes import step_recipe
from collab_overcooked.games.collab_overcooked.text import recipe_text, vocabulary
from collab_overcooked.policies.api import Decision, Message, Seen
from collab_overcooked.policies.llm.answers import fields_schema, read_fields, read_plan, read_say
from collab_overcooked.policies.llm.client import Turn, Unusable
from collab_overcooked.policies.llm.modules import Refusal, considered, make_parts
from collab_overcooked.policies.llm.session import Mind
from collab_overcooked.policies.llm.settings import Value


class PartnerAgent:
    """Instruction builder, planner, communication, error handling, memory and reflection, each behind its switch.

    Args:
        mind: Model and prompts.
        values: Of the switches.
    """

    def __init__(self, mind: Mind, values: Mapping[str, Value]) -> None:
        self.mind, self.on, self.game = mind, values, mind.info.game
        self.names = [*(["analysis"] if values["analysis"] else []), "plan", *(["say"] if values["talk"] else [])]
        self.parts = make_parts(mind, self.question, values)
        self._facts = self._build_facts()

    # ------------------------------------------------------------------------------------ instructions

    def question(self, template: str, **values: Any) -> list[Turn]:
        """Return the chat of a question: the instructions, then a filled template."""
        fill = self.mind.prompts.fill
        if "seen" in values:
            values["observation"] = self.observation(values["seen"])
        values = {**self._facts, **values}
        return [Turn("system", fill("rules", **values)), Turn("user", fill(template, **values))]

    def _build_facts(self) -> dict[str, Any]:
        kitchen, seat = self.game.kitchen, self.mind.seat  # type: ignore[attr-defined]
        cooks = [
            {"name": agent.name, "role": agent.role, "knows": agent.knows_recipes, "actions": self._signatures(i)}
            for i, agent in enumerate(kitchen.agents)
        ]
        return {
            "me": cooks[seat],
            "mates": [cook for i, cook in enumerate(cooks) if i != seat],
            "cooks": cooks,
            "parts": self.names,
            "talk": self.on["talk"],
            "helper": self.on["helper"],
            "json": self.mind.settings.json,
        }

    def _signatures(self, seat: int) -> list[str]:
        """Return the actions of a seat; those of one kind that differ in the item only are one line."""
        compiled = self.game.compiled  # type: ignore[attr-defined]
        texts = vocabulary(compiled, seat)
        picks = [text.removesuffix(")").split(",")[1] for text in texts if text.startswith("pickup(")]
        others = [text for text in texts if not text.startswith("pickup(")]
        places = ", ".join(dict.fromkeys(picks))
        waits = f"wait(n), n timesteps from 1 to {compiled.kitchen.max_wait}"
        return [f"pickup(item,place), place being one of {places}", *others, waits]

    def observation(self, seen: Seen) -> str:
        """Return what the seat sees, with the recipe in the form that is switched on."""
        form, orders = self.on["recipe"], seen.scene["orders"]
        if form == "steps" or not orders:
            return seen.text
        usual = recipe_text(self.game.kitchen, orders[0])  # type: ignore[attr-defined]
        if usual not in seen.text:  # the seat has no recipe
            return seen.text
        history = seen.history if form == "rearranged" else ()
        return seen.text.replace(usual, step_recipe(self.game, orders[0], seen.seat, history))

    # ------------------------------------------------------------------------------------ planning and talking

    def act(self, seen: Seen) -> Decision:
        """Return a plan and words; waiting if the model gives no plan."""
        if seen.error is not None and not self.on["correct"]:
            return Decision(action=seen.idle_action)
        try:
            plan, say, _ = self._plan(seen, replying=False)
            if seen.error is not None:
                self.parts["reflection"].learn(seen, Refusal(seen.attempt, *seen.error), plan)
        except Unusable:
            return Decision(action=seen.idle_action, tokens=self.mind.take_tokens())
        return Decision(plan=plan, say=say, tokens=self.mind.take_tokens())

    def reply(self, seen: Seen) -> Message | None:
        """Answer; a closing message and a silent one both end the conversation from this side."""
        if not self.on["talk"]:
            return None
        try:
            plan, say, last = self._plan(seen, replying=True)
        except Unusable:
            plan, say, last = "", "", True
        return Message(seen.seat, say, plan, self.mind.take_tokens(), last)

    def _plan(self, seen: Seen, replying: bool) -> tuple[str, str, bool]:
        """Return plan, words, and whether they are the last ones."""
        values: dict[str, Any] = {"intention": "", "seen": seen, "replying": replying, "chat": self._chat(seen)}
        for part in self.parts.values():
            values |= part.values(seen)
        needed = [] if replying else ["plan"]  # an empty reply is silence
        schema = fields_schema(self.names) if self.mind.settings.json else None

        def ask(rejected: str, objection: str) -> dict[str, str]:
            chat = self.question("plan", rejected=rejected, objection=objection, **values)
            return self.mind.ask(chat, partial(read_fields, names=self.names, needed=needed), schema)

        found = considered(ask, lambda parts: parts["plan"], self.parts["check"], int(self.on["check"]), seen)
        say, last = read_say(found.get("say", ""))
        return read_plan(found["plan"]), say, last

    def _chat(self, seen: Seen) -> list[dict[str, Any]]:
        """Return this timestep's messages with names instead of seats, and with plan and requests apart."""
        chat = []
        for message in seen.inbox:
            plan, requests = self.game.parse_plan(message.plan, message.seat)
            name = self._facts["cooks"][message.agent]["name"]
            chat.append({"name": name, "say": message.say, "plan": plan, "requests": requests})
        return chat
