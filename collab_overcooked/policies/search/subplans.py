"""Interface of games for plan search: the sub-plans of all seats, as known to one seat.

A game's record names its ``SubplanProvider`` (``GameRecord.subplans``). Plan search, its prompts and its tests use
nothing else of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class SubPlan:
    """A unit of work that one seat can carry out by itself.

    Attributes:
        text: Name; equal texts of different seats or states are the same sub-plan.
        action: Id of the action that begins or continues it in the current state; None if impossible.
        cost: Steps from the seat's current place until it is done.
        value: Value on the game's scale.
        uses: Names of the resources that are exclusive to the seat meanwhile.
        place: Place where it ends, for ``PlanningView.travel``.
        start: Place where it begins, if different from ``place``.
        work: Steps except those of travel.
        load: Change of the number of carried objects; below 0 the seat puts down everything.
        hands: Free capacity needed to begin, if different from ``load``.
        widens: Increase of the seat's capacity afterwards.
        via: Text of the sub-plan by which a seat that does not know this one discovers it; empty for none.
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
    """Return 0, for games without distances between places."""
    return 0.0


@dataclass(frozen=True)
class Finding:
    """A fact that a seat knows and can report to its teammates.

    Attributes:
        text: Sentence that states it.
        data: The same fact for the teammates' ``SubplanProvider``; equal data is not new.
        since: Timestep or tick of the observation; of two findings with the same name the later one holds.
    """

    text: str
    data: Any
    since: int = field(default=0, compare=False)


Findings = Mapping[str, Finding]
"""Findings by name, such as ``"apple 3"``. A message reports a finding if it contains the name."""


def join_findings(*sources: Findings) -> dict[str, Finding]:
    """Merge findings by name; the latest of each name wins."""
    joined: dict[str, Finding] = {}
    for findings in sources:
        for name, finding in findings.items():
            if name not in joined or joined[name].since <= finding.since:
                joined[name] = finding
    return joined


@dataclass(frozen=True)
class PlanningView:
    """View of a seat on the sub-plans of all seats in one state.

    Attributes:
        options: Sub-plans by seat; those of other seats as far as the seat knows them.
        places: Place by seat; None if unknown.
        held: Number of carried objects by seat.
        room: Default capacity of a seat.
        rooms: Capacity by seat, if different from ``room``.
        travel: Function that returns the steps between two places.
        facts: Observed facts; any new one triggers re-planning.
        urgent: Seats that must deliver their load now.
        steps: Maximum useful length of a plan.
        scale: Steps after which a gain is discounted by a factor e, for the comparison of plans.
        findings: Findings that the seat has observed itself and can report.
        unit: Unit of the steps in the texts of the game.
        notes: Meaning of the texts of sub-plans, for language models; empty if the manual explains them.
        describe: Function that returns the state as text.
        idle: Action of a seat without work; None for the game's idle action.
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
    unit: str = "steps"
    notes: str = ""
    describe: Callable[[], str] = str
    idle: int | None = None

    @cached_property
    def _by_text(self) -> dict[int, dict[str, SubPlan]]:
        return {seat: {option.text: option for option in reversed(options)} for seat, options in self.options.items()}

    def option(self, seat: int, text: str) -> SubPlan | None:
        """Return a seat's sub-plan by name, None if missing."""
        return self._by_text[seat].get(text)

    def way_to(self, seat: int, entry: SubPlan, known: frozenset[str]) -> SubPlan | None:
        """Return the seat's version of a plan's entry, or the sub-plan by which the seat discovers it.

        Args:
            seat: Index of the agent.
            entry: Entry of a plan.
            known: Names that the seat already knew, which it does not search again.

        Returns:
            None if the entry is impossible.
        """
        return self.option(seat, entry.text) or (None if entry.text in known else self.option(seat, entry.via))

    def capacity(self, seat: int) -> int:
        """Return the number of objects that a seat can carry."""
        return self.rooms.get(seat, self.room)

    def takes(self, seat: int) -> frozenset[str]:
        """Return the names of the objects that a seat knows and could take."""
        return frozenset(option.text for option in self.options[seat] if option.load > 0)


SubplanProvider = Callable[..., PlanningView]
"""Function from a ``Seen``, and optionally the ``Findings`` reported by teammates, to a seat's ``PlanningView``.

A game's ``subplans`` entry returns it when called with the compiled game. The entry has ``study``, by id.
"""

Step = Mapping[int, SubPlan]
Plan = tuple[Step, ...]
"""Steps of a joint plan: sub-plans by seat."""


@dataclass(frozen=True)
class Study:
    """Setup for the comparison of a game's teams.

    Attributes:
        scenes: Names and options of the environment; seeds are distributed evenly over the scenes.
        metric: Metric of the comparison.
        better: ``"higher"`` or ``"lower"``.
        scale: Factor of the metric for display.
        heading: Column heading of the metric.
        bound: Further options of ``planner`` as the bound.
    """

    scenes: tuple[tuple[str, Mapping[str, Any]], ...]
    metric: str
    better: str
    heading: str
    scale: float = 1.0
    bound: Mapping[str, Any] = field(default_factory=dict)


def plan_text(plan: Plan, names: Mapping[int, str] | tuple[str, ...]) -> str:
    """Return a plan as text, one line per step."""
    lines = [
        f"{number}. " + "; ".join(f"{names[seat]}: {entry.text}" for seat, entry in sorted(step.items()))
        for number, step in enumerate(plan, start=1)
    ]
    return "\n".join(lines) or "no plan"


def without_clashes(plan: Plan) -> Plan:
    """Return a plan without conflicts over resources: only the earliest entry that uses one is kept."""
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
