"""A language agent of five parts, after CoELA: perception, memory, communication, planning, execution.

Each decision: the moment is put into words, a message is drafted, and the model chooses among the listed actions and
sending the draft, thinking in a call of its own first. A message takes the place of an action, or goes along with one
where words are free. Source: Zhang et al. 2024 (CoELA), section 4; all texts are our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from collab_overcooked.policies.api import Decision, Message, Seen
from collab_overcooked.policies.llm.answers import Unreadable, fields_schema, read_fields, read_say, shorten, visible
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.llm.team_agent import TeamAgent

MAX_THOUGHTS = 2_000  # characters of the first stage that the second one is shown


class Perception:
    """Puts the moment into words."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def look(self, seen: Seen) -> dict[str, Any]:
        """Return what the templates use: the moment in the game's words, and what memory holds."""
        return self.agent.situation(seen)


class Recollection:
    """Remembers the agent's own last actions, the last messages, and whether it has just spoken."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent
        self.has_spoken = False

    def hear(self, seen: Seen) -> None:
        """Note new messages of others."""
        self.agent.hearing.hear(seen)

    def note(self, seen: Seen, words: str) -> None:
        """Note what the agent says, if it says anything."""
        self.has_spoken = bool(words)
        if words:
            self.agent.hearing.say(seen, words)


class Communication:
    """Drafts a message before each choice, unless the last act was one."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def draft(self, values: Mapping[str, Any]) -> str:
        """Return a message, empty for none."""
        chat = self.agent.question("draft", **values)
        schema = fields_schema(["message"]) if self.agent.json else None
        try:
            found = self.agent.session.ask(chat, partial(read_fields, names=["message"], needed=[]), schema)
        except UnusableReply:
            return ""
        return read_say(found["message"])[0]


class Planning:
    """Chooses among the listed actions and the draft; with ``two_stage`` it thinks in words first."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def choose(self, values: Mapping[str, Any], draft: str) -> int:
        """Return the number of an action, or the next number for sending the draft."""
        agent = self.agent
        texts = [*values["actions"], *([f'send the message "{draft}"'] if draft else [])]
        if len(texts) == 1:
            return 0
        shown = {**values, "actions": texts}
        if agent.on["two_stage"]:
            chat = agent.question("next", stage="think", **shown)
            try:
                thoughts = agent.session.ask(chat, _thoughts)
            except UnusableReply:
                pass
            else:
                choice = agent.question("next", stage="choose", **shown)[-1]
                return agent.pick([*chat, ChatMessage("assistant", thoughts), choice], texts)
        return agent.pick(agent.question("next", stage="both", **shown), texts)


class Execution:
    """Carries a choice out: the game itself runs a listed action to its end."""

    def __init__(self, agent: TeamAgent) -> None:
        self.agent = agent

    def carry_out(self, seen: Seen, action: int | None, words: str) -> Decision:
        """Return the decision: an action with words, or words alone, whose price the runner has the seat pay."""
        return Decision(action=action, say=words, **self.agent.session.take_cost())


class CoelaAgent(TeamAgent):
    """Five parts; a subclass replaces any of them in ``parts``."""

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
        made = [self.parts[name](self) for name in order]
        self.perception, self.recollection, self.communication, self.planning, self.execution = made

    def act(self, seen: Seen) -> Decision:
        """Draft, choose, carry out."""
        self.recollection.hear(seen)
        values = self.perception.look(seen)
        speaks = bool(self.on["talk"]) and not self.recollection.has_spoken and self.may_speak(seen)
        draft = self.communication.draft(values) if speaks else ""
        texts, number = values["actions"], self.planning.choose(values, draft)
        words = draft if number == len(texts) else ""
        if words and not self.paying:  # words are free: they go along with an action
            number = self.planning.choose(values, "")
        self.recollection.note(seen, words)
        action = seen.legal_actions[texts[number]] if number < len(texts) else None
        decision: Decision = self.execution.carry_out(seen, action, words)
        return decision

    def reply(self, seen: Seen) -> Message | None:
        """Listen; whoever has something to say drafts it when it is free to choose."""
        self.recollection.hear(seen)
        return None


def _thoughts(text: str) -> str:
    words = shorten(visible(text), MAX_THOUGHTS)
    if not words:
        raise Unreadable("Write down your thoughts.")
    return words
