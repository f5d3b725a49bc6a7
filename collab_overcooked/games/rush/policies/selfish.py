"""Unbalanced play of Rush: one agent plays the best plan for one agent, the others do nothing (paper, section 5)."""

from __future__ import annotations

from collab_overcooked.games.rush.engine.constants import NO_ACTION
from collab_overcooked.games.rush.policies.planner import PlannerPolicy
from collab_overcooked.policies.api import EnvInfo, Seen


class SelfishPolicy(PlannerPolicy):
    """The first seat that uses this policy plays the best plan for one agent alone; the others do nothing."""

    name = "selfish"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._works = self.seats(seat, info.team)[seat]

    def seats(self, seat: int, team: tuple[str, ...]) -> tuple[bool, ...]:
        first = team.index(team[seat])
        return tuple(other == first for other in range(len(team)))

    def act(self, seen: Seen) -> int:
        return super().act(seen) if self._works else NO_ACTION
