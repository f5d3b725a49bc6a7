"""What a game offers to plan with: the sub-plans of all seats, as one seat knows them.

A game names in its record what makes a ``Look`` (``GameRecord.subplans``); plan search, its prompts and its tests know
nothing else of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collab_overcooked.policies.api import Seen


@dataclass(frozen=True)
class SubPlan:
    """Something that one seat can do by itself until it is done.

    Attributes:
        text: Its name: equal texts of different seats or moments are the same sub-plan.
        action: Id of the action with which the seat begins it, or goes on with it, now; None if it cannot.
        cost: Steps from where the seat is until it is done.
        value: What it is worth, on a scale of the game's own.
        uses: What nobody else can use or take meanwhile.
        place: Where it ends, for ``Moment.travel``.
        work: Those of the steps that are not the way there.
        load: Change of what the seat carries; below 0 it is rid of everything.
        via: Text of the sub-plan by which a seat that does not know of this one gets to know of it; empty for none.
    """

    text: str
    action: int | None = field(default=None, compare=False)
    cost: float = field(default=1.0, compare=False)
    value: float = field(default=1.0, compare=False)
    uses: frozenset[str] = field(default=frozenset(), compare=False)
    place: Hashable = field(default=None, compare=False)
    work: float = field(default=0.0, compare=False)
    load: int = field(default=0, compare=False)
    via: str = field(default="", compare=False)


def no_way(here: Hashable, there: Hashable) -> float:
    """Return nothing: places of this game are as near as can be."""
    return 0.0


@dataclass(frozen=True)
class Moment:
    """What one seat knows of what all seats could do.

    Attributes:
        options: Sub-plans by seat; those of other seats as far as the seat can tell.
        places: By seat, where it is; None where that is unknown.
        held: By seat, how many things it carries.
        room: How many a seat can carry.
        travel: Steps between two places.
        facts: What has been found or brought about; anything new in it is a reason to look at the plan again.
        urgent: Seats that must bring home what they carry now.
        steps: Longest plan that makes sense.
        tell: Says the moment in words.
        idle: Action of a seat with nothing to do; None for doing nothing.
    """

    options: Mapping[int, list[SubPlan]]
    places: Mapping[int, Hashable]
    held: Mapping[int, int] = field(default_factory=dict)
    room: int = 1
    travel: Callable[[Any, Any], float] = no_way
    facts: frozenset[str] = frozenset()
    urgent: frozenset[int] = frozenset()
    steps: int = 1
    tell: Callable[[], str] = str
    idle: int | None = None

    def option(self, seat: int, text: str) -> SubPlan | None:
        """Return a seat's sub-plan of a name, None if it has none."""
        return next((option for option in self.options[seat] if option.text == text), None)

    def way_to(self, seat: int, entry: SubPlan, known: frozenset[str]) -> SubPlan | None:
        """Return an entry of a plan as the seat has it, or that by which it gets to know of it.

        Args:
            seat: Whose.
            entry: Of a plan.
            known: Names that the seat knew already: it does not look for them again.

        Returns:
            None if the entry is impossible.
        """
        return self.option(seat, entry.text) or (None if entry.text in known else self.option(seat, entry.via))

    def takes(self, seat: int) -> frozenset[str]:
        """Return the names of what a seat knows of that can be taken."""
        return frozenset(option.text for option in self.options[seat] if option.load > 0)


Look = Callable[[Seen], Moment]
"""What a game's ``subplans`` entry returns when it is called with the compiled game. The entry has ``study``, by id."""

Step = Mapping[int, SubPlan]
Plan = tuple[Step, ...]
"""Steps of a joint plan: sub-plans by seat."""


@dataclass(frozen=True)
class Study:
    """What a game's teams are compared in.

    Attributes:
        scenes: Names and options of the environment; seeded scenes are spread over them evenly.
        metric: What counts.
        better: ``"higher"`` or ``"lower"``.
        scale: What the metric is multiplied by for readers.
        heading: What readers call it.
    """

    scenes: tuple[tuple[str, Mapping[str, Any]], ...]
    metric: str
    better: str
    heading: str
    scale: float = 1.0


def plan_text(plan: Plan, names: Mapping[int, str] | tuple[str, ...]) -> str:
    """Return a plan in words, one line for each step."""
    lines = [
        f"{number}. " + "; ".join(f"{names[seat]}: {entry.text}" for seat, entry in sorted(step.items()))
        for number, step in enumerate(plan, start=1)
    ]
    return "\n".join(lines) or "no plan"


def without_clashes(plan: Plan) -> Plan:
    """Return a plan in which nothing is used by two seats, nor twice by one: the earlier entry keeps it."""
    taken: set[str] = set()
    kept = []
    for step in plan:
        row = {}
        for seat, entry in sorted(step.items()):
            if not entry.uses & taken:
                row[seat] = entry
                taken |= entry.uses
        kept.append(row)
    return tuple(row for row in kept if row)
