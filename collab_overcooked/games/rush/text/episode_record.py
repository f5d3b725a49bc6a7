"""Records of episodes of Rush."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from collab_overcooked.core.record import EpisodeRecord, Event, Step, refusal_text
from collab_overcooked.io.structs import Count, Name, Text


class RushEvent(Event, kw_only=True):
    """Event of an agent's worker."""

    reason: Text
    order: Text | None
    area: Count | None = None
    worker: Count
    turn: Count
    advanced: bool
    finished: bool
    ruined: bool

    @property
    def is_refused(self) -> bool:
        return self.reason != "OK"

    @property
    def text(self) -> str:
        ends = [name for name, ended in (("finished", self.finished), ("ruined", self.ruined)) if ended]
        return refusal_text(": ".join([self.label, *ends]), self.reason)

    @property
    def change(self) -> int:
        """Effect on the team's result: 1 for a finished order, -1 for a ruined one, 0 otherwise."""
        return self.finished - self.ruined


class RushStep(Step, kw_only=True):
    """Step of a record; every agent has an event in it."""

    events: Sequence[RushEvent]


class RushOrder(Struct, kw_only=True):
    """Order at the end of an episode."""

    name: Text
    ingredients: bool = False
    spices: bool = False
    cooked: Count = 0
    rewarded: Count = 0
    finished: bool
    ruined: bool


class RushRecord(EpisodeRecord, kw_only=True):
    """Record of an episode, with its number within the scenario (``round``) and the spec of the teaching."""

    steps: Sequence[RushStep]
    scenario: Name
    max_turns: Count
    orders: list[RushOrder]
    round: Count | None = None
    teacher: Name = "none"
