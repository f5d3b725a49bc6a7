"""Greedy play by sub-plans: take the nearest wanted thing, look into the nearest unknown place, bring things home."""

from __future__ import annotations

from collab_overcooked.games.house.engine.constants import Verb
from collab_overcooked.games.house.policies.subplans import (
    Scene,
    SubPlanPolicy,
    SubPlans,
    has_container,
    held,
    is_full,
    still_wanted,
    unseen_rooms,
)

RESERVE = 60  # ticks that are kept for surprises on the way home in Transport


class Greedy(SubPlanPolicy):
    """Does what is nearest; goes home with full hands, or when time runs out or nothing else is left to do."""

    name = "greedy"

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        deliver = plans.id(Verb.DELIVER)
        left = scene["limit"] - scene["tick"] - (RESERVE if self.is_transport else 2)
        if deliver is not None and (left <= self.ticks_to_deliver(scene) or is_full(scene)):
            return deliver
        into = plans.id(Verb.PUT_IN)
        if into is not None and still_wanted(scene):
            return into
        fetch = self.nearest_thing(scene, plans)
        if fetch is not None:
            return fetch
        if deliver is not None and (len(held(scene)) == 2 or not still_wanted(scene)):
            return deliver
        looked = self.look_further(scene, plans)
        if looked is None:
            looked = self.any_of(plans.ids[Verb.GO]) if deliver is None and still_wanted(scene) else deliver
        return looked

    def nearest_thing(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return the sub-plan to fetch the nearest goal thing; in Transport, possibly a container first."""
        missing, things = still_wanted(scene), scene["things"]
        known = [o for o in plans.ids[Verb.FETCH] if things[o]["name"] in missing and things[o]["role"] == "target"]
        boxes = [o for o in plans.ids[Verb.FETCH] if things[o]["role"] == "container"]
        if boxes and not has_container(scene) and sum(missing.values()) > 2 and scene["tick"] < scene["limit"] // 2:
            box = min(boxes, key=lambda o: things[o]["way"])
            if not known or things[box]["way"] <= things[min(known, key=lambda o: things[o]["way"])]["way"]:
                known = [box]
        best = min(known, key=lambda o: things[o]["way"], default=None)
        return None if best is None else plans.ids[Verb.FETCH][best]

    def look_further(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return the sub-plan to explore this room, the nearest container, or the nearest unknown room, if any."""
        explore = plans.id(Verb.EXPLORE)
        if explore is not None:
            return explore
        options = [(scene["places"][p]["way"], action) for p, action in plans.ids[Verb.CHECK].items()]
        options += [
            (scene["rooms"][r]["way"], plans.ids[Verb.GO][r]) for r in unseen_rooms(scene) if r in plans.ids[Verb.GO]
        ]
        return min(options)[1] if options else None
