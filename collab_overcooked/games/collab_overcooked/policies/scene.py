"""State of a kitchen with the running actions of all agents completed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from collab_overcooked.envs.api import FullGame
from collab_overcooked.kernels.macro_actions import MEDIUM, Macro
from collab_overcooked.kernels.paths import UNREACHABLE
from collab_overcooked.policies.api import compiled_of

from ..engine.constants import NOTHING, Access, Agent, Food, Group, Paths, Recipe, Row, Station, Tile, Verb

NEEDS_MEDIUM = "this policy chooses medium-level actions; make the game with action_level='medium'"


@dataclass(frozen=True)
class RecipeFacts:
    """A recipe as plain numbers: product, utensil kind, inputs (a multiset), steps it takes."""

    product: int
    kind: int
    inputs: tuple[int, ...]
    time: int


class Cookbook:
    """Recipes, stations and action ids of a kitchen, and the steps to reach stations."""

    def __init__(self, game: FullGame) -> None:
        tables = compiled_of(game, "CollabOvercooked-v0").tables
        if MEDIUM not in game.levels:  # type: ignore[attr-defined]
            raise ValueError(NEEDS_MEDIUM)
        self.tables = tables
        self.n_agents = game.n_agents
        self.stations = tables.stations.tolist()
        self.access = tables.access.tolist()
        self.distances = tables.paths[Paths.STEPS]
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
                if j != i and self.distances[4 * cell + facing, 4 * there : 4 * there + 4].min() < UNREACHABLE
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
        """Return whether a seat can use at least one of the stations."""
        return any(self.can(seat, s) for s in stations)

    def utensils_of(self, kind: int) -> list[int]:
        """Return the utensils of a kind."""
        return [s for s in self.utensils if self.kind[s] == kind]

    def _hops(self) -> dict[tuple[str, int], list[int]]:
        near = []  # by agent: the agents that share a counter with it
        for i in range(self.n_agents):
            counters = [s for s in self.counters if self.can(i, s)]
            near.append([j for j in range(self.n_agents) if self.can_any(j, counters)])
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
        distances = (self.distances[pose, goal] for s in stations for goal in self.goals[s])
        return int(min(distances, default=UNREACHABLE)) + 1


cookbook: Callable[[Any], Cookbook] = lru_cache(maxsize=64)(Cookbook)  # by game, made once; suites make a game a task


def refuse_primitive_seats(game: Any, seats: Iterable[int]) -> None:
    """Reject a game in which one of the seats has primitive actions."""
    if any(game.levels[seat] != MEDIUM for seat in seats):
        raise ValueError(NEEDS_MEDIUM)


@dataclass
class Utensil:
    """Contents of a utensil: unstarted inputs, or a product with the steps left."""

    contents: list[int] = field(default_factory=list)
    product: int = NOTHING
    left: int = 0


class KitchenScene:
    """State in which the running actions of all agents count as completed."""

    def __init__(self, book: Cookbook, state: Any, i: int = 0) -> None:
        self.book = book
        agents, macros, tiles = state.agents[i].tolist(), state.macro_state[i].tolist(), state.tiles[i].tolist()
        self.poses = [4 * row[Agent.CELL] + row[Agent.FACING] for row in agents]
        self.still = [row[Macro.STILL] for row in macros]
        self.running = [row[Macro.ACTION] for row in macros]
        self.hands = [(row[Agent.ITEM], bool(row[Agent.PLATED])) for row in agents]
        self.orders = [item for item in state.orders[i].tolist() if item != NOTHING]
        lying = [(s, tiles[s]) for s in book.counters if tiles[s][Tile.ITEM] != NOTHING]
        self.counters = {s: (tile[Tile.ITEM], bool(tile[Tile.PLATED])) for s, tile in lying}
        self.utensils = {s: _utensil(tiles[s]) for s in book.utensils}
        for seat, action in enumerate(self.running):
            if action != NOTHING:
                self.apply(seat, action)

    @property
    def order(self) -> int:
        """The item wanted now, NOTHING if none is."""
        return self.orders[0] if self.orders else NOTHING

    def free_counters(self, seat: int, shared: bool = False) -> int:
        """Count the empty counters that a seat can use, alone or not."""
        low = Access.SHARED if shared else Access.PRIVATE
        return sum(s not in self.counters and self.book.access[seat][s] >= low for s in self.book.counters)

    def counters_with(self, seat: int, item: int) -> list[int]:
        """Return the counters in a seat's reach where an item lies."""
        return [s for s, (lying, _) in self.counters.items() if lying == item and self.book.can(seat, s)]

    def apply(self, seat: int, action: int) -> None:
        """Change the scene as if a seat had carried an action out, as far as objects go."""
        verb, item, group = self.book.rows[action]
        if verb == Verb.PICKUP:
            self._apply_pickup(seat, item, group)
        elif verb == Verb.PLACE:
            self._apply_place(seat)
        elif verb == Verb.DELIVER:
            if self.hands[seat] == (self.order, bool(self.book.needs_dish[self.order])):
                self.orders.pop(0)
            self.hands[seat] = (NOTHING, False)
        elif group >= Group.UTENSIL:
            self._apply_utensil(seat, verb, self.book.members[group][0])

    def _apply_pickup(self, seat: int, item: int, group: int) -> None:
        if self.hands[seat][0] != NOTHING:
            return
        plated = False
        if group == Group.COUNTER:
            there = self.counters_with(seat, item)
            if not there:
                return
            there.sort(key=lambda s: self.book.steps_to(self.poses[seat], [s]))
            plated = self.counters.pop(there[0])[1]
        elif group >= Group.UTENSIL:
            self.utensils[self.book.members[group][0]] = Utensil()
        self.hands[seat] = (item, plated)

    def _apply_place(self, seat: int) -> None:
        free = [s for s in self.book.counters if s not in self.counters and self.book.can(seat, s)]
        shared = [s for s in free if self.book.access[seat][s] == Access.SHARED]
        if free and self.hands[seat][0] != NOTHING:
            nearest = min(shared or free, key=lambda s: self.book.steps_to(self.poses[seat], [s]))
            self.counters[nearest] = self.hands[seat]
            self.hands[seat] = (NOTHING, False)

    def _apply_utensil(self, seat: int, verb: int, station: int) -> None:
        utensil = self.utensils[station]
        if verb == Verb.PUT and self.hands[seat][0] != NOTHING and utensil.product == NOTHING:
            utensil.contents.append(self.hands[seat][0])
            self.hands[seat] = (NOTHING, False)
        elif verb == Verb.OPERATE and utensil.contents:
            contents, kind = sorted(utensil.contents), self.book.kind[station]
            matching = [r for r in self.book.recipes.values() if r.kind == kind and list(r.inputs) == contents]
            self.utensils[station] = (
                Utensil(product=matching[0].product, left=matching[0].time) if matching else Utensil()
            )
        elif verb == Verb.FILL and utensil.product != NOTHING:
            self.hands[seat] = (utensil.product, True)
            self.utensils[station] = Utensil()


def _utensil(tile: list[int]) -> Utensil:
    if tile[Tile.TIMER] > 0:
        return Utensil(product=tile[Tile.ITEM], left=tile[Tile.TIME] - tile[Tile.TIMER])
    return Utensil(contents=tile[Tile.CONTENT : Tile.CONTENT + tile[Tile.COUNT]])
