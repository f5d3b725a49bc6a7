"""Base of language agents that choose among listed actions and send messages, in all games.

A listed action is a choice of the seat in the game: a sub-plan or directive if the game has them, else a single action.
Messages go through the runner, which charges for them if the game does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.listed import in_order, offered
from collab_overcooked.policies.llm.choices import choice_schema, read_choice
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.images import WAYS
from collab_overcooked.policies.llm.modules import AgentMemory, MessageLog, Refusal, rules_of
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value


class TeamAgent:
    """Base class that creates chats from the state, the agent's memory and the listed actions."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value]) -> None:
        self.session, self.on = session, values
        self.paying = frozenset(session.info.game.talk_actions(session.seat))
        self.memory = AgentMemory(session, self.question, int(values["memory"]))
        self.message_log = MessageLog(session, self.question, int(values["messages"]))
        self.rng = np.random.default_rng([session.seed, session.seat])

    @property
    def json(self) -> bool:
        """True if answers are requested as JSON."""
        return self.session.settings.json

    def question(self, template: str, **values: Any) -> list[ChatMessage]:
        """Return a chat: the rules, then a filled template."""
        seen: AgentView = values["seen"]
        variables = {
            "me": seen.names[seen.seat],
            "names": seen.names,
            "seat": seen.seat,
            "task": self.session.info.task,
            "manual": rules_of(seen, pays=True) if self.on["manual"] else "",
            "sees": WAYS[str(self.on["see"])],
            "feedback": seen.feedback,
            "helper": self.on["helper"] and seen.view.has_partners,
            "json": self.json,
        }
        fill, values = self.session.prompts.fill, {**variables, **values}
        return [ChatMessage("system", fill("choose_rules", **values)), ChatMessage("user", fill(template, **values))]

    def options(self, seen: AgentView) -> dict[str, int]:
        """Return the listed actions."""
        return offered(seen, self.session.info.game)

    def ordered(self, texts: Iterable[str], seen: AgentView) -> list[str]:
        """Return texts in the order of a list."""
        return in_order(texts, str(self.on["order"]), self.session.seed, seen)

    def may_speak(self, seen: AgentView) -> bool:
        """Return whether a message is free or can be paid for in this state."""
        return not self.paying or any(seen.mask[action] for action in self.paying)

    def situation(self, seen: AgentView) -> dict[str, Any]:
        """Return the variables of all templates of these agents."""
        refused = [Refusal(*reason) for seat, *reason in seen.refused if seat == seen.seat]
        options, idle = self.options(seen), seen.view.action_texts[seen.idle_action]
        values = self.memory.values(seen) | self.message_log.values(seen)
        return {
            "seen": seen,
            "state": seen.view.surroundings,
            "actions": self.ordered(options, seen),
            "idle": idle if idle in options else next(iter(options)),
            "refused": refused,
            **values,
        }

    def pick(self, chat: Sequence[ChatMessage], texts: Sequence[str], idle: str) -> str:
        """Return the text that the model picks.

        Without a usable answer, it is random or ``idle``, depending on the switch ``fallback``.
        """
        schema = choice_schema(len(texts)) if self.json else None
        try:
            return texts[self.session.ask(chat, partial(read_choice, texts=texts), schema)]
        except UnusableReply:
            return texts[int(self.rng.integers(len(texts)))] if self.on["fallback"] == "random" else idle
