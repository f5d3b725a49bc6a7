"""Interface of games for plan search: the sub-plans of all seats, as known to one seat.

A game's record names its ``SubplanProvider`` (``GameSpec.subplans``). Plan search, its prompts and its tests use
nothing else of the game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class SubPlan:
    """A unit of work that one seat can carry out by itself."""

    text: str  # Name; equal texts of different seats or states are the same sub-plan
    # Id of the action that begins or continues it in the current state; None if impossible
    action: int | None = field(default=None, compare=False)
    cost: float = field(default=1.0, compare=False)  # Steps from the seat's current place until it is done
    value: float = field(default=1.0, compare=False)  # Value on the game's scale
    # Names of the resources that are exclusive to the seat meanwhile
    uses: frozenset[str] = field(default=frozenset(), compare=False)
    place: Hashable = field(default=None, compare=False)  # Place where it ends, for ``PlanningView.travel``
    work: float = field(default=0.0, compare=False)  # Steps except those of travel
    # Change of the number of carried objects; below 0 the seat puts down everything
    load: int = field(default=0, compare=False)
    # Text of the sub-plan by which a seat that does not know this one discovers it; empty for none
    via: str = field(default="", compare=False)
    start: Hashable = field(default=None, compare=False)  # Place where it begins, if different from ``place``
    hands: int = field(default=0, compare=False)  # Free capacity needed to begin, if different from ``load``
    widens: int = field(default=0, compare=False)  # Increase of the seat's capacity afterwards


def no_way(here: Hashable, there: Hashable) -> float:
    """Return 0, for games without distances between places."""
    return 0.0


@dataclass(frozen=True)
class Finding:
    """A fact that a seat knows and can report to its teammates."""

    text: str  # Sentence that states it
    data: Any  # The same fact for the teammates' ``SubplanProvider``; equal data is not new
    # Timestep or tick of the observation; of two findings with the same name the later one holds
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
    """View of a seat on the sub-plans of all seats in one state."""

    options: Mapping[int, list[SubPlan]]  # Sub-plans by seat; those of other seats as far as the seat knows them
    places: Mapping[int, Hashable]  # Place by seat; None if unknown
    held: Mapping[int, int] = field(default_factory=dict)  # Number of carried objects by seat
    room: int = 1  # Default capacity of a seat
    rooms: Mapping[int, int] = field(default_factory=dict)  # Capacity by seat, if different from ``room``
    travel: Callable[[Any, Any], float] = no_way  # Function that returns the steps between two places
    triggers: frozenset[str] = frozenset()  # Observations, as texts; any new one triggers re-planning
    urgent: frozenset[int] = frozenset()  # Seats that must deliver their load now
    steps: int = 1  # Maximum useful length of a plan
    scale: float = 20.0  # Steps after which a gain is discounted by a factor e, for the comparison of plans
    findings: Findings = field(default_factory=dict)  # Findings that the seat has observed itself and can report
    unit: str = "steps"  # Unit of the steps in the texts of the game
    notes: str = ""  # Meaning of the texts of sub-plans, for language models; empty if the manual explains them
    describe: Callable[[], str] = str  # Function that returns the state as text
    idle: int | None = None  # Action of a seat without work; None for the game's idle action

    @cached_property
    def _by_text(self) -> dict[int, dict[str, SubPlan]]:
        return {seat: {option.text: option for option in reversed(options)} for seat, options in self.options.items()}

    def option(self, seat: int, text: str) -> SubPlan | None:
        """Return a seat's sub-plan by name, None if missing."""
        return self._by_text[seat].get(text)

    def way_to(self, seat: int, entry: SubPlan, known: frozenset[str]) -> SubPlan | None:
        """Return the seat's version of a plan's entry, or the sub-plan that discovers the entry for the seat.

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
"""Function from a ``AgentView``, and optionally the ``Findings`` reported by teammates, to a seat's ``PlanningView``.

A game's ``subplans`` entry returns it when called with the compiled game. The entry has ``study``, by id.
"""

Step = Mapping[int, SubPlan]
Plan = tuple[Step, ...]
"""Steps of a joint plan: sub-plans by seat."""


@dataclass(frozen=True)
class SubplanStudy:
    """Setup for the comparison of a game's teams."""

    # Names and options of the environment; seeds are distributed evenly over the scenes
    scenes: tuple[tuple[str, Mapping[str, Any]], ...]
    metric: str  # Metric of the comparison
    better: str  # ``"higher"`` or ``"lower"``
    heading: str  # Column heading of the metric
    scale: float = 1.0  # Factor of the metric for display
    bound: Mapping[str, Any] = field(default_factory=dict)  # Further options of ``planner`` as the bound


def option_in(message: str, options: Sequence[SubPlan]) -> SubPlan | None:
    """Return the sub-plan with the longest name that occurs in a message."""
    plain = " ".join(message.casefold().split())
    inside = [o for o in options if re.search(rf"(?<!\w){re.escape(o.text.casefold())}(?!\w)", plain)]
    return max(inside, key=lambda option: len(option.text), default=None)


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
