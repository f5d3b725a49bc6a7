"""Sub-plans of one seat as policies see them, and what ordinary policies of the household games share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.games.house.engine.constants import CONTAINER_ROOM, Home, Param, Verb
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.policies.api import EnvInfo, Seen, Silent

Scene = Mapping[str, Any]


class SubPlans:
    """The valid sub-plans of a state.

    Args:
        rows: Verb and argument of every action, by id.
        mask: int8 (A,).

    Attributes:
        ids: Action id by argument, by verb.
    """

    def __init__(self, rows: Sequence[Sequence[int]], mask: np.ndarray) -> None:
        self.ids: dict[Verb, dict[int, int]] = {verb: {} for verb in Verb}
        for action in np.flatnonzero(mask).tolist():
            verb, arg = rows[action]
            self.ids[Verb(verb)][arg] = action

    def id(self, verb: Verb, arg: int = 0) -> int | None:
        """Return the action of a sub-plan, None if it is not accepted now."""
        return self.ids[verb].get(arg)


class SubPlanPolicy(Silent):
    """A policy that chooses among sub-plans by what its seat knows; a subclass says how."""

    name = ""

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Look the list of sub-plans up."""
        tables: Any = getattr(getattr(info.game, "compiled", None), "tables", None)
        if not hasattr(tables, "catalogue") or not hasattr(tables, "furniture"):
            raise ValueError(f"policy {self.name!r} plays the household games only, not {info.game.id}")
        if tables.levels[seat] != Level.MEDIUM:
            raise ValueError(f"policy {self.name!r} plays by sub-plans; its seat needs action_level=medium")
        self.seat, self.tables, self.game = seat, tables, info.game
        self.is_transport = tables.params[Param.HOME] == Home.TRANSPORT
        self.rows = tables.catalogue[Level.MEDIUM].tolist()
        self.rng = np.random.default_rng([seed, seat])

    def act(self, seen: Seen) -> int:
        """Choose a sub-plan; wait if there is none."""
        if seen.error is not None:
            return seen.idle_action
        chosen = self.choose(seen.scene, SubPlans(self.rows, seen.mask))
        return seen.idle_action if chosen is None else chosen

    def choose(self, scene: Scene, plans: SubPlans) -> int | None:
        """Return an action, None to wait."""
        raise NotImplementedError

    def ticks(self, cells: int) -> int:
        """Return how long a way takes."""
        return int(cells * self.tables.cost[Verb.WALK])

    def ticks_to_deliver(self, scene: Scene) -> int:
        """Return how long it takes to bring what is held to the goal place."""
        place = scene["places"].get(scene["goal"]["place"])
        return self.ticks(place["way"] if place else 60) + 2 * int(self.tables.cost[Verb.PUT]) + 2

    def any_of(self, ids: Mapping[int, int]) -> int | None:
        """Return one of some actions, all alike; None if there are none."""
        return int(self.rng.choice(list(ids.values()))) if ids else None


def held(scene: Scene) -> list[int]:
    """Return the things in the hands."""
    return [o for o in scene["me"]["hands"] if o is not None]


def has_container(scene: Scene) -> bool:
    """Tell whether a container is held."""
    return any(scene["things"][o]["role"] == "container" for o in held(scene))


def is_full(scene: Scene) -> bool:
    """Tell whether both hands, and a held container, are full."""
    if has_container(scene) and len(scene["me"]["inside"]) < CONTAINER_ROOM:
        return False
    return len(held(scene)) == 2


def still_wanted(scene: Scene) -> dict[str, int]:
    """Return how many of each kind are wanted beside those seen at the goal place and those that the seat holds."""
    carried = [scene["things"][o]["name"] for o in (*held(scene), *scene["me"]["inside"])]
    counts = {goal["name"]: goal["need"] - goal["seen"] - carried.count(goal["name"]) for goal in scene["goals"]}
    return {name: count for name, count in counts.items() if count > 0}


def unseen_rooms(scene: Scene) -> list[int]:
    """Return the rooms that are not known whole, the nearest first."""
    rooms = [r for r, room in enumerate(scene["rooms"]) if room["known"] != "all"]
    return sorted(rooms, key=lambda r: scene["rooms"][r]["way"])
