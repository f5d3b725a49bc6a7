"""What a game offers to plan with: the sub-plans of all seats, as one seat knows them.

A game's record names its ``SubplanProvider`` (``GameRecord.subplans``). Plan search, its prompts and its tests know
nothing else of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


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
        start: Where it begins, if not where it ends.
        work: Those of the steps that are not the way there.
        load: Change of what the seat carries; below 0 it is rid of everything.
        hands: How many more things the seat must be able to carry to begin it, where that is not ``load``.
        widens: How many more things the seat can carry afterwards.
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
    start: Hashable = field(default=None, compare=False)
    hands: int = field(default=0, compare=False)
    widens: int = field(default=0, compare=False)


def no_way(here: Hashable, there: Hashable) -> float:
    """Return nothing: places of this game are as near as can be."""
    return 0.0


@dataclass(frozen=True)
class Finding:
    """Something that a seat knows and can tell its teammates.

    Attributes:
        text: Sentence that tells it.
        data: The same for ``SubplanProvider`` of the teammates; equal data is no news.
        since: Timestep or tick at which it was observed; of two findings with the same name the later one holds.
    """

    text: str
    data: Any
    since: int = field(default=0, compare=False)


Findings = Mapping[str, Finding]
"""Findings by name, such as ``"apple 3"``. A message tells a finding if it contains the name."""


def join_findings(*sources: Findings) -> dict[str, Finding]:
    """Return all findings by name, of each name the latest."""
    joined: dict[str, Finding] = {}
    for findings in sources:
        for name, finding in findings.items():
            if name not in joined or joined[name].since <= finding.since:
                joined[name] = finding
    return joined


@dataclass(frozen=True)
class PlanningView:
    """What one seat knows of what all seats could do.

    Attributes:
        options: Sub-plans by seat; those of other seats as far as the seat can tell.
        places: By seat, where it is; None where that is unknown.
        held: By seat, how many things it carries.
        room: How many a seat can carry, where ``rooms`` does not say.
        rooms: The same by seat.
        travel: Steps between two places.
        facts: What has been found or brought about; anything new in it is a reason to look at the plan again.
        urgent: Seats that must bring home what they carry now.
        steps: Longest plan that makes sense.
        scale: Steps after which what is gained counts e times less; plans are compared by it.
        findings: What the seat has observed itself and can tell.
        notes: What the texts of sub-plans mean, for language models; empty if the manual says so.
        tell: Says the moment in words.
        idle: Action of a seat with nothing to do; None for doing nothing.
    """

    options: Mapping[int, list[SubPlan]]
    places: Mapping[int, Hashable]
    held: Mapping[int, int] = field(default_factory=dict)
    room: int = 1
    rooms: Mapping[int, int] = field(default_factory=dict)
    travel: Callable[[Any, Any], float] = no_way
    facts: frozenset[str] = frozenset()
    urgent: frozenset[int] = frozenset()
    steps: int = 1
    scale: float = 20.0
    findings: Findings = field(default_factory=dict)
    notes: str = ""
    tell: Callable[[], str] = str
    idle: int | None = None

    @cached_property
    def _by_text(self) -> dict[int, dict[str, SubPlan]]:
        return {seat: {option.text: option for option in reversed(own)} for seat, own in self.options.items()}

    def option(self, seat: int, text: str) -> SubPlan | None:
        """Return a seat's sub-plan of a name, None if it has none."""
        return self._by_text[seat].get(text)

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

    def capacity(self, seat: int) -> int:
        """Return how many things a seat can carry."""
        return self.rooms.get(seat, self.room)

    def takes(self, seat: int) -> frozenset[str]:
        """Return the names of what a seat knows of that can be taken."""
        return frozenset(option.text for option in self.options[seat] if option.load > 0)


SubplanProvider = Callable[..., PlanningView]
"""What a game's ``subplans`` entry returns when it is called with the compiled game. The entry has ``study``, by id.

It is called with a ``Seen``, and with the ``Findings`` that teammates have told if there are any.
"""

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
        bound: Options that ``planner`` needs besides, as the bound.
    """

    scenes: tuple[tuple[str, Mapping[str, Any]], ...]
    metric: str
    better: str
    heading: str
    scale: float = 1.0
    bound: Mapping[str, Any] = field(default_factory=dict)


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
