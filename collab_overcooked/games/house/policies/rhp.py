"""RHP, the rule-based hierarchical planner of TDW-MAT: containers first, then targets, then the bed; never a word.

Facts: the baseline of CoELA's public code. Its map of occupied cells and its steering are replaced by sub-plans.
"""

from __future__ import annotations

from collab_overcooked.games.house.engine.constants import CONTAINER_ROOM, Verb
from collab_overcooked.games.house.policies.subplans import (
    Scene,
    SubPlanPolicy,
    SubPlans,
    has_container,
    held,
    still_wanted,
    unseen_rooms,
)

LAST_TRIP, LAST_CONTAINER = 700, 1400  # frames before the end


class RulePlanner(SubPlanPolicy):
    """Goes to a random known thing of the kind that its rules ask for, or to a random unexplored room."""

    name = "rhp"

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        into = plans.id(Verb.PUT_IN)
        if into is not None:
            return into
        aim = self.aim(scene)
        if aim == "bed":
            deliver = plans.id(Verb.DELIVER)
            return self.wander(scene, plans) if deliver is None else deliver
        things = scene["things"]
        known = {o: action for o, action in plans.ids[Verb.FETCH].items() if things[o]["role"] == aim}
        return self.any_of(known) if known else self.wander(scene, plans)

    def aim(self, scene: Scene) -> str:
        """Return the aim of the first matching rule: ``"bed"``, ``"container"`` or ``"target"``."""
        left, carried = scene["limit"] - scene["tick"], held(scene)
        if carried and left < LAST_TRIP:
            return "bed"
        with_mates = sum(thing["status"] == "mate" for thing in scene["things"].values())
        if carried and sum(still_wanted(scene).values()) <= with_mates:
            return "bed"
        if has_container(scene):
            return "bed" if len(scene["me"]["inside"]) >= CONTAINER_ROOM else "target"
        if len(carried) == 2:
            return "bed"
        return "container" if left > LAST_CONTAINER else "target"

    def wander(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return a step towards a place that is not known yet: this room's rest, or a random room."""
        explore = plans.id(Verb.EXPLORE)
        unknown = {r: plans.ids[Verb.GO][r] for r in unseen_rooms(scene) if r in plans.ids[Verb.GO]}
        if explore is not None and (not unknown or self.rng.random() < 1 / (1 + len(unknown))):
            return explore
        return self.any_of(unknown or plans.ids[Verb.GO])
