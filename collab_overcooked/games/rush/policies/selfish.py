"""Unbalanced play of Rush: one agent does everything, as well as one can, and the others nothing (paper, section 5)."""

from __future__ import annotations

from collab_overcooked.games.rush.engine.constants import NO_ACTION
from collab_overcooked.games.rush.policies.planner import PlannerPolicy
from collab_overcooked.policies.api import EnvInfo, Seen


class SelfishPolicy(PlannerPolicy):
    """Of the seats of its kind, the first one plays the best plan for one agent alone; the others do nothing."""

    name = "selfish"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Find out whether to work.

        Raises:
            ValueError: If the game is not one of Rush.
        """
        super().reset(seat, info, seed)
        self._works = self.seats(seat, info.team)[seat]

    def seats(self, seat: int, team: tuple[str, ...]) -> tuple[bool, ...]:
        """Return which seats of a team a plan is for: the first one of this kind."""
        first = team.index(team[seat])
        return tuple(other == first for other in range(len(team)))

    def act(self, seen: Seen) -> int:
        """Return the plan's action, or NO_ACTION for a seat that leaves the work to another one."""
        return super().act(seen) if self._works else NO_ACTION
