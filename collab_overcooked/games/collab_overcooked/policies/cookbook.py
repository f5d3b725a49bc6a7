"""A kitchen's recipes, places, distances and action ids as lists and dicts, for policies that look them up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.collab_overcooked.engine.constants import (
    NOTHING,
    Access,
    Food,
    Group,
    Recipe,
    Row,
    Station,
    Verb,
)
from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.kernels.paths import UNREACHABLE
from collab_overcooked.policies.api import compiled_of

NEEDS_MEDIUM = "this policy chooses medium-level actions; make the game with action_level='medium'"


@dataclass(frozen=True)
class RecipeFacts:
    """A recipe as plain numbers: product, utensil kind, inputs (a multiset), steps it takes."""

    product: int
    kind: int
    inputs: tuple[int, ...]
    time: int


class Cookbook:
    """A kitchen's recipes, places and action ids, and what they cost to reach."""

    def __init__(self, game: FullGame) -> None:
        tables = compiled_of(game, "CollabOvercooked-v0").tables
        if MEDIUM not in game.levels:  # type: ignore[attr-defined]
            raise ValueError(NEEDS_MEDIUM)
        self.tables = tables
        self.n_agents = game.n_agents
        self.stations = tables.stations.tolist()
        self.access = tables.access.tolist()
        self.ways = tables.ways[0]
        self.rows = tables.catalogue[: game.n_actions].tolist()
        self.recipes = {
            row[Recipe.PRODUCT]: RecipeFacts(
                row[Recipe.PRODUCT],
                row[Recipe.UTENSIL],
                tuple(sorted(row[Recipe.INPUT : Recipe.INPUT + row[Recipe.COUNT]])),
                row[Recipe.TIME],
            )
            for row in tables.recipes.tolist()
        }
        self.needs_dish = tables.foods[:, Food.NEEDS_DISH].tolist()
        self.raw = tables.foods[:, Food.RAW].tolist()
        starts = tables.starts.tolist()
        self.mates = [  # by seat those who walk the same floor
            [
                j
                for j, (there, _) in enumerate(starts)
                if j != i and self.ways[4 * cell + facing, 4 * there : 4 * there + 4].min() < UNREACHABLE
            ]
            for i, (cell, facing) in enumerate(starts)
        ]
        self.can_meet = any(self.mates)
        self._name_places()
        self._name_actions()
        self.hops = self._hops()

    def _name_places(self) -> None:
        groups = self.tables.groups.tolist()
        self.counters = [s for s in groups[Group.COUNTER] if s != NOTHING]
        self.utensils = [group[0] for group in groups[Group.UTENSIL :]]
        self.kind = {s: self.stations[s][Station.UTENSIL] for s in self.utensils}
        self.members = [[s for s in group if s != NOTHING] for group in groups]
        self.goals = {
            s: [pose for pose in row[Station.GOAL : Station.GOAL + 4] if pose != NOTHING]
            for s, row in enumerate(self.stations)
        }

    def _name_actions(self) -> None:
        self.wait = self.place = self.serve = NOTHING
        self.longest_wait = max(action for action, row in enumerate(self.rows) if row[Row.VERB] == Verb.WAIT)
        self.put: dict[int, int] = {}
        self.operate: dict[int, int] = {}
        self.fill: dict[int, int] = {}
        self.take: dict[tuple[int, int], int] = {}  # (utensil station, product)
        self.pick: dict[int, int] = {}  # item on a counter
        self.fetch: dict[int, int] = {}  # item of a dispenser, the dish included
        for action, (verb, item, group) in enumerate(self.rows):
            if verb == Verb.WAIT and item == 1:
                self.wait = action
            elif verb == Verb.PLACE:
                self.place = action
            elif verb == Verb.DELIVER:
                self.serve = action
            elif verb == Verb.PICKUP and group == Group.COUNTER:
                self.pick[item] = action
            elif verb == Verb.PICKUP and group in (Group.INGREDIENTS, Group.DISHES):
                self.fetch[item] = action
            elif group >= Group.UTENSIL:
                self._name_utensil_action(action, verb, item, self.members[group][0])

    def _name_utensil_action(self, action: int, verb: int, item: int, station: int) -> None:
        if verb == Verb.PICKUP:
            self.take[station, item] = action
        else:
            {Verb.PUT: self.put, Verb.OPERATE: self.operate, Verb.FILL: self.fill}[Verb(verb)][station] = action

    def can(self, seat: int, station: int) -> bool:
        """Return whether a seat can use a station."""
        return bool(self.access[seat][station] != Access.NONE)

    def can_any(self, seat: int, stations: Iterable[int]) -> bool:
        """Return whether a seat can use one of some stations."""
        return any(self.can(seat, s) for s in stations)

    def utensils_of(self, kind: int) -> list[int]:
        """Return the utensils of a kind."""
        return [s for s in self.utensils if self.kind[s] == kind]

    def _hops(self) -> dict[tuple[str, int], list[int]]:
        near = [
            [j for j in range(self.n_agents) if self.can_any(j, (s for s in self.counters if self.can(i, s)))]
            for i in range(self.n_agents)
        ]
        targets = {("kind", kind): self.utensils_of(kind) for kind in set(self.kind.values())}
        targets["serve", 0] = self.members[Group.SERVING]
        hops_by_target: dict[tuple[str, int], list[int]] = {}
        for key, stations in targets.items():
            hops = [0 if self.can_any(i, stations) else UNREACHABLE for i in range(self.n_agents)]
            for _ in range(self.n_agents):
                hops = [min([hops[i], *(hops[j] + 1 for j in near[i])]) for i in range(self.n_agents)]
            hops_by_target[key] = hops
        return hops_by_target

    def steps_to(self, pose: int, stations: Iterable[int]) -> int:
        """Return the steps until a seat in a pose has interacted with the nearest of some stations."""
        return int(min((self.ways[pose, goal] for s in stations for goal in self.goals[s]), default=UNREACHABLE)) + 1


cookbook: Callable[[Any], Cookbook] = lru_cache(maxsize=64)(Cookbook)  # by game, made once; suites make a game a task


def refuse_primitive_seats(game: Any, seats: Iterable[int]) -> None:
    """Reject a game in which one of the seats has primitive actions."""
    if any(game.levels[seat] != MEDIUM for seat in seats):
        raise ValueError(NEEDS_MEDIUM)
