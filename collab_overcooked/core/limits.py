"""Limits of messages between agents: who hears whom, when, and how much may be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from collab_overcooked.io.options import option
from collab_overcooked.io.structs import check_fields

MAX_DELAY = 16  # steps
HEARERS: Mapping[str, Callable[[int, int, int], bool]] = {
    "all": lambda speaker, hearer, agents: True,
    "ring": lambda speaker, hearer, agents: hearer in (speaker, (speaker + 1) % agents),
    "one-way": lambda speaker, hearer, agents: speaker in (0, hearer),
    "nobody": lambda speaker, hearer, agents: hearer == speaker,
}
"""Whether a seat hears another, by the values of ``messages_to`` and ``channel_to``."""
MAX_LIMIT = 1_000  # messages of a conversation, corrections of a decision
MAX_CHARS = 1_000_000  # characters of a limit
Characters = Annotated[int, Meta(ge=1, le=MAX_CHARS)]
SENTENCES: Mapping[str, str] = {
    "max_chars": "A message has at most {n} characters; the rest is cut off.",
    "chars_left": "You may write {n} more characters in this episode.",
    "heard_by": "Your messages are heard by {names}.",
    "heard_by_nobody": "Your messages are heard by nobody.",
    "hears": "You hear {names}.",
    "hears_nobody": "You hear nobody.",
    "one_step_later": "Messages arrive {n} step later, so nobody answers at once.",
    "steps_later": "Messages arrive {n} steps later, so nobody answers at once.",
    "lost": "{n} % of all messages are lost; nobody is told which.",
}
"""What may hold for messages, in English; pages have the same sentences in their languages."""


class Rule(NamedTuple):
    """What holds for the messages of a seat: a name among ``SENTENCES``, and what fills its placeholders."""

    name: str
    values: Mapping[str, float | list[str]] = {}

    @property
    def sentence(self) -> str:
        """The rule in English."""
        names = self.values.get("names")
        values = {**self.values, "names": " and ".join(names)} if isinstance(names, list) else self.values
        return SENTENCES[self.name].format_map(values)


@dataclass(frozen=True)
class Limits:
    """Limits of conversations and corrections. Those of messages hold for agents, not for voices outside the team.

    Raises:
        OptionError: A limit is outside its range.
    """

    max_messages: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = option(
        6, "Maximum number of messages in a conversation, including the first; 0 for no messages."
    )
    max_corrections: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = option(
        1, "Maximum number of corrections of an invalid action, after which the agent waits one step."
    )
    max_chars: Characters | None = option(
        None, "Maximum number of characters in a message, announced plans aside; the rest is cut off."
    )
    max_episode_chars: Characters | None = option(
        None, "Maximum number of characters in all messages of an agent in an episode; later ones are not sent."
    )
    message_delay: Annotated[int, Meta(ge=0, le=MAX_DELAY)] = option(
        0, "Steps after which a message is heard; a delayed message is not answered at once."
    )
    message_loss: Annotated[float, Meta(ge=0, lt=1)] = option(
        0.0, "Probability that a message is heard by nobody, drawn from the episode's seed."
    )
    messages_to: str = option(
        "all",
        "Who hears an agent: all, ring (the next), one-way (all hear only agent_0) or nobody, a control.",
        allowed=tuple(HEARERS),
    )

    def __post_init__(self) -> None:
        check_fields(self)

    def changed(self) -> dict[str, Any]:
        """Return the limits that differ from their defaults."""
        return {limit.name: value for limit in fields(self) if (value := getattr(self, limit.name)) != limit.default}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of messages and corrections, and all other limits that differ from their defaults."""
        return {"max_messages": self.max_messages, "max_corrections": self.max_corrections} | self.changed()

    def hearers(self, speaker: int, n_agents: int) -> list[int]:
        """Return the other seats that hear a seat."""
        hears = HEARERS[self.messages_to]
        return [seat for seat in range(n_agents) if seat != speaker and hears(speaker, seat, n_agents)]

    def rules(self, seat: int, names: Sequence[str], left: int | None) -> list[Rule]:
        """Return what holds for the messages of a seat, beyond the defaults.

        Args:
            seat: Index of the agent.
            names: Names of all agents.
            left: Characters that the seat may still write in the episode; None for no limit.
        """
        if not self.max_messages:
            return []
        rules, count = [], len(names)
        if self.max_chars is not None:
            rules.append(Rule("max_chars", {"n": self.max_chars}))
        if left is not None:
            rules.append(Rule("chars_left", {"n": left}))
        if self.messages_to != "all":
            hearers = [names[k] for k in self.hearers(seat, count)]
            speakers = [names[k] for k in range(count) if seat in self.hearers(k, count)]
            rules.append(Rule("heard_by", {"names": hearers}) if hearers else Rule("heard_by_nobody"))
            rules.append(Rule("hears", {"names": speakers}) if speakers else Rule("hears_nobody"))
        if self.message_delay:
            name = "one_step_later" if self.message_delay == 1 else "steps_later"
            rules.append(Rule(name, {"n": self.message_delay}))
        if self.message_loss:
            percent = round(100 * self.message_loss, 4)
            rules.append(Rule("lost", {"n": int(percent) if percent == int(percent) else percent}))
        return rules
