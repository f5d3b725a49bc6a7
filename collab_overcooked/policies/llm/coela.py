"""Language agent with five modules, after CoELA: perception, memory, communication, planning, execution.

For each decision, the state is described as text, a message is drafted, and the model chooses among the listed actions
and sending the draft, with a separate call for reasoning first. A message replaces an action, or accompanies one in
games where messages are free. Source: Zhang et al. 2024 (CoELA), section 4; all texts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from collab_overcooked.policies.api import AgentView, Decision, Message
from collab_overcooked.policies.llm.answers import (
    PROSE,
    Answer,
    Unreadable,
    fields_schema,
    read_fields,
    read_say,
    shorten,
)
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.markup import visible
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.llm.team_agent import TeamAgent

MAX_THOUGHTS = 2_000  # characters of the first stage's thoughts in the second stage's prompt


class Perception:
    """Describes the state as text."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def look(self, seen: AgentView) -> dict[str, Any]:
        """Return the variables of the templates: the state as text, and the memory."""
        return self.agent.situation(seen)


class Recollection:
    """Memory of whether the last act was a message; actions and messages are remembered by ``situation``."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent
        self.has_spoken = False

    def note(self, message: str) -> None:
        """Store whether the agent sends a message."""
        self.has_spoken = bool(message)


class Communication:
    """Drafts a message before each choice, unless the last act was a message."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def draft(self, values: Mapping[str, Any]) -> str:
        """Return a message, empty for none."""
        chat = self.agent.question("draft", **values)
        schema = fields_schema(["message"]) if self.agent.json else None
        try:
            fields = self.agent.session.ask(chat, partial(read_fields, names=["message"], needed=[]), schema)
        except UnusableReply:
            return ""
        return read_say(fields["message"])[0]


class Planning:
    """Chooses among the listed actions and the draft; with ``two_stage`` after a separate reasoning call."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def choose(self, values: Mapping[str, Any], draft: str) -> str:
        """Return the text of an action, or the draft for sending it."""
        chosen = self._choose(values, send := f'send the message "{draft}"' if draft else "")
        return draft if chosen == send else chosen

    def _choose(self, values: Mapping[str, Any], send: str) -> str:
        agent = self.agent
        texts = agent.ordered([*values["actions"], *filter(None, [send])], values["seen"])
        if len(texts) == 1:
            return texts[0]
        listed = {**values, "actions": texts, "free_message": bool(send) and not agent.paying}
        if agent.on["two_stage"]:
            chat = agent.question("next", stage="think", **listed)
            try:
                thoughts = agent.session.ask(chat, _thoughts)
            except UnusableReply:
                pass
            else:
                choice = agent.question("next", stage="choose", **listed)[-1]
                return agent.pick([*chat, ChatMessage("assistant", thoughts), choice], texts, values["idle"])
        return agent.pick(agent.question("next", stage="both", **listed), texts, values["idle"])


class Execution:
    """Executes a choice; the game itself runs a listed action to its end."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def carry_out(self, seen: AgentView, action: int | None, message: str) -> Decision:
        """Return the decision: an action with a message, or only a message, which the runner charges to the seat."""
        return Decision(action=action, say=message, **self.agent.session.take_cost())


class CoelaAgent(TeamAgent):
    """Agent of five modules; a subclass can replace any of them in ``parts``."""

    parts: ClassVar[Mapping[str, type]] = {
        "perception": Perception,
        "memory": Recollection,
        "communication": Communication,
        "planning": Planning,
        "execution": Execution,
    }

    def __init__(self, session: ModelSession, values: Mapping[str, Value]) -> None:
        super().__init__(session, values)
        order = ("perception", "memory", "communication", "planning", "execution")
        parts_ = [self.parts[name](self) for name in order]
        self.perception, self.recollection, self.communication, self.planning, self.execution = parts_

    def act(self, seen: AgentView) -> Decision:
        """Draft a message, choose, and execute the choice."""
        values = self.perception.look(seen)
        speaks = bool(self.on["talk"]) and not self.recollection.has_spoken and self.may_speak(seen)
        draft = self.communication.draft(values) if speaks else ""
        chosen = self.planning.choose(values, draft)
        message = draft if chosen == draft else ""
        if message and not self.paying:  # messages are free and accompany an action
            chosen = self.planning.choose({**values, "sent": message}, "")
        self.recollection.note(message)
        action = None if chosen == draft else seen.legal_actions[chosen]
        decision: Decision = self.execution.carry_out(seen, action, message)
        return decision

    def reply(self, seen: AgentView) -> Message | None:
        """Return None: messages are drafted only with a choice."""
        return None


def _thoughts(text: str) -> Answer:
    thoughts = shorten(visible(text), MAX_THOUGHTS)
    if not thoughts:
        raise Unreadable("Write down your thoughts.")
    return Answer(thoughts, PROSE)
