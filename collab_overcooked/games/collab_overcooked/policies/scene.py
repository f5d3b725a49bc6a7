"""A kitchen as scripted policies read it: its compiled tables, and states with all running actions completed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.envs.api import FullGame, clone
from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.macro_actions import MEDIUM, Macro
from collab_overcooked.kernels.paths import UNREACHABLE
from collab_overcooked.policies.api import compiled_of

from ..engine.constants import (
    DISH,
    NOTHING,
    WAIT_ONE,
    Access,
    Agent,
    Cell,
    EventColumn,
    Food,
    Group,
    Paths,
    Recipe,
    Row,
    Station,
    Tile,
    Verb,
)
from ..engine.macro_actions import named_by_row, nearest_goal
from ..engine.rules import interact, judge_start
from ..engine.state import shared_floors

NEEDS_MEDIUM = "this policy chooses medium-level actions; make the game with action_level='medium'"


class KitchenTables:
    """Compiled tables of a kitchen as lists, and the hand-overs between its agents."""

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
        self.actions = {tuple(row): action for action, row in enumerate(self.rows)}
        self.members = [[s for s in group if s != NOTHING] for group in tables.groups.tolist()]
        self.utensils = [group[0] for group in self.members[Group.UTENSIL :]]
        self.recipes = {row[Recipe.PRODUCT]: row for row in tables.recipes.tolist()}
        self.needs_dish = tables.foods[:, Food.NEEDS_DISH].tolist()
        self.raw = tables.foods[:, Food.RAW].tolist()
        near = shared_floors(tables).tolist()
        self.mates = [[j for j, met in enumerate(row) if met and j != i] for i, row in enumerate(near)]
        self.can_meet = any(self.mates)
        self.wait = WAIT_ONE
        self.place = self.actions[Verb.PLACE, NOTHING, Group.COUNTER]
        self.serve = self.actions[Verb.DELIVER, NOTHING, Group.SERVING]
        self.hops = self._hops()

    def act_on(self, verb: int, station: int, item: int = NOTHING) -> int:
        """Return the action with a verb at a station, NOTHING if there is none."""
        return self.actions.get((verb, item, self.stations[station][Station.GROUP]), NOTHING)

    def fetch(self, item: int) -> int:
        """Return the action that takes an ingredient or the dish from its dispenser."""
        return self.actions[Verb.PICKUP, item, Group.DISHES if item == DISH else Group.INGREDIENTS]

    def dispensers(self, item: int) -> list[int]:
        """Return the dispensers of an item."""
        if item == DISH:
            return self.members[Group.DISHES]
        return self.members[Group.INGREDIENTS] if self.raw[item] else []

    def kind(self, station: int) -> int:
        """Return the kind of a utensil, NOTHING for other stations."""
        return int(self.stations[station][Station.UTENSIL])

    def maker(self, product: int) -> int:
        """Return the kind of utensil that makes a product, NOTHING for other items."""
        return int(self.tables.foods[product, Food.UTENSIL])

    def time(self, product: int) -> int:
        """Return the steps that a utensil takes for a product."""
        return int(self.recipes[product][Recipe.TIME])

    def inputs(self, product: int) -> list[int]:
        """Return the inputs of a product's recipe; empty without one."""
        row = self.recipes.get(product)
        return sorted(row[Recipe.INPUT : Recipe.INPUT + row[Recipe.COUNT]]) if row else []

    def can(self, seat: int, station: int) -> bool:
        """Return whether a seat can use a station."""
        return bool(self.access[seat][station] != Access.NONE)

    def can_any(self, seat: int, stations: Iterable[int]) -> bool:
        """Return whether a seat can use at least one of the stations."""
        return any(self.can(seat, s) for s in stations)

    def users(self, station: int) -> list[int]:
        """Return the seats that can use a station."""
        return [i for i in range(self.n_agents) if self.can(i, station)]

    def utensils_of(self, kind: int) -> list[int]:
        """Return the utensils of a kind."""
        return [s for s in self.utensils if self.kind(s) == kind]

    def goals(self, stations: Iterable[int]) -> list[int]:
        """Return the poses from which one of some stations can be used."""
        poses = [pose for s in stations for pose in self.stations[s][Station.GOAL : Station.GOAL + 4]]
        return [pose for pose in poses if pose != NOTHING]

    def steps_to(self, pose: int, stations: Iterable[int]) -> int:
        """Return the steps until a seat in a pose has interacted with the nearest of some stations."""
        return int(min(self.distances[pose, self.goals(stations)], default=UNREACHABLE)) + 1

    def _hops(self) -> dict[int, list[int]]:
        """Return by kind of utensil, NOTHING for the serving station, the hand-overs from each seat to its user."""
        near = []  # by agent: the agents that share a counter with it
        for i in range(self.n_agents):
            counters = [s for s in self.members[Group.COUNTER] if self.can(i, s)]
            near.append([j for j in range(self.n_agents) if self.can_any(j, counters)])
        hops_by_kind: dict[int, list[int]] = {}
        for kind in {NOTHING, *map(self.kind, self.utensils)}:
            stations = self.members[Group.SERVING] if kind == NOTHING else self.utensils_of(kind)
            hops = [0 if self.can_any(i, stations) else UNREACHABLE for i in range(self.n_agents)]
            for _ in range(self.n_agents):
                hops = [min([hops[i], *(hops[j] + 1 for j in near[i])]) for i in range(self.n_agents)]
            hops_by_kind[kind] = hops
        return hops_by_kind


tables_of: Callable[[Any], KitchenTables] = lru_cache(maxsize=64)(KitchenTables)  # by game, made once


def refuse_primitive_seats(game: Any, seats: Iterable[int]) -> None:
    """Reject a game in which one of the seats has primitive actions."""
    if any(game.levels[seat] != MEDIUM for seat in seats):
        raise ValueError(NEEDS_MEDIUM)


@kernel
def complete_action(tables, env, i, action, event):
    """Carry out an action at its nearest goal, as if the agent stood there and food were done. Mutates: env, event."""
    row, agent = tables.catalogue[action], env.agents[i]
    if row[Row.GROUP] == NOTHING:
        return
    pose = 4 * agent[Agent.CELL] + agent[Agent.FACING]
    goal = nearest_goal(tables, env, i, row, tables.paths[Paths.STEPS, pose])
    if goal < 0:
        return
    s = tables.cells[goal // 4, Cell.FACED + goal % 4]
    tile = env.tiles[s]
    tile[Tile.TIMER] = tile[Tile.TIME]
    event[EventColumn.PARAMETER] = named_by_row(row)
    interact(tables, env, i, s, event)
    if tile[Tile.STARTED] == 1:
        judge_start(tile, tables.stations[s], tables.recipes)


class Utensil(NamedTuple):
    """What is in a utensil: inputs before the start, a product from then on."""

    contents: list[int]
    product: int


class KitchenScene:
    """State in which the running actions of all agents count as completed.

    Attributes:
        orders: Items wanted, the first one first.
        running: Running action by seat, NOTHING if idle.
        poses: Present pose by seat.
        hands: Held item by seat, and whether it lies on a dish.
        counters: Item by filled counter, and whether it lies on a dish.
        utensils: Content by utensil.
    """

    def __init__(self, kitchen: KitchenTables, state: Any, i: int = 0) -> None:
        self.kitchen = kitchen
        self._env: Any = row_at(clone(state, i), 0)
        self._event = np.zeros(len(EventColumn), np.int32)
        self.running = self._env.macro_state[:, Macro.ACTION].tolist()
        self.poses = (4 * self._env.agents[:, Agent.CELL] + self._env.agents[:, Agent.FACING]).tolist()
        for seat, action in enumerate(self.running):
            if action != NOTHING:
                complete_action(kitchen.tables, self._env, seat, action, self._event)
        self._read()

    @property
    def order(self) -> int:
        """The item wanted now, NOTHING if none is."""
        return self.orders[0] if self.orders else NOTHING

    def apply(self, seat: int, action: int) -> None:
        """Change the scene as if a seat had carried an action out, as far as objects go."""
        complete_action(self.kitchen.tables, self._env, seat, action, self._event)
        self._read()

    def _read(self) -> None:
        tiles = self._env.tiles.tolist()
        self.orders = [item for item in self._env.orders.tolist() if item != NOTHING]
        self.hands = [(item, bool(plated)) for _, _, item, plated in self._env.agents.tolist()]
        filled = [s for s in self.kitchen.members[Group.COUNTER] if tiles[s][Tile.ITEM] != NOTHING]
        self.counters = {s: (tiles[s][Tile.ITEM], bool(tiles[s][Tile.PLATED])) for s in filled}
        self.utensils = {s: _utensil(tiles[s]) for s in self.kitchen.utensils}

    def free_counters(self, seat: int, shared: bool = False) -> int:
        """Count the empty counters that a seat can use, alone or not."""
        low = Access.SHARED if shared else Access.PRIVATE
        counters = self.kitchen.members[Group.COUNTER]
        return sum(s not in self.counters and self.kitchen.access[seat][s] >= low for s in counters)


def _utensil(tile: list[int]) -> Utensil:
    contents = tile[Tile.CONTENT : Tile.CONTENT + tile[Tile.COUNT]]
    return Utensil(contents if tile[Tile.TIMER] == 0 else [], tile[Tile.ITEM])
