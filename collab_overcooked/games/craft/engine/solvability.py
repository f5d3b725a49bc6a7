"""Upper bounds on the score of any team on a level."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import Any

import numpy as np

from .compile import Compiled, CraftConfig, compile_level
from .constants import NOTHING, PACES, STACK, Item, Param, Place, Role

KILL, MINE, FURNACE, CHEST = 1, 2, 4, 8  # bit flags of a spot: what can be done from there


@dataclass(frozen=True)
class Bound:
    """Upper bounds for any team.

    They relax the game, so that no team can do better: any dish serves any order, agents share their bags, every walk
    takes one step, and agents never wait for each other after the first dish. What remains are the steps of agents:
    each dish needs a kill, a put and a store, its share of a fuel needs a mine and a put, and output is taken at least
    once per stack. An agent that starts where it can do nothing first walks with an empty bag; further walks carry
    items between spots, where no spot is near enough to both places.
    """

    first: int  # First step, counted from 0, after which a dish can be in the chest
    delivered: tuple[int, ...]  # Dishes that can be in the chest after each step
    served: int  # Orders that these dishes can serve
    ratio: float  # Completed orders / (completed + failed orders)


def bound(compiled: Compiled) -> Bound:
    """Return the bounds of a compiled level."""
    starts = _abilities(compiled, compiled.tables.starts)
    spots = {*starts, *_abilities(compiled, compiled.tables.places[:, [Place.X, Place.Z]])}
    if compiled.config.walk:  # agents may stop between places, where everything may be within reach
        spots.add(KILL | MINE | FURNACE | CHEST)

    def carried(one: int, other: int) -> int:
        return not any(spot & one and spot & other for spot in spots)

    meat = carried(KILL, FURNACE)
    log = carried(MINE, FURNACE)
    dish = carried(FURNACE, CHEST)
    loads = 1 + carried(KILL, MINE) if meat and log else meat + log
    lost = sorted(not start and not compiled.tables.params[Param.WALK_TO_TAKE] for start in starts)
    walks = {k: sum(lost[:k]) + loads + dish for k in range(1, len(compiled.tables.starts) + 1)}
    cook_steps = compiled.config.cook_steps
    loaded = max(
        (not any(start & ability for start in starts)) + 1 + carry for ability, carry in ((KILL, meat), (MINE, log))
    )
    first = loaded + cook_steps + 1 + dish
    if len(compiled.tables.starts) == 1:  # one agent does these one after the other: kill, mine, two puts, take, store
        first = max(first, walks[1] + 5 + cook_steps - 1)
    delivered = tuple(_delivered(compiled, step, first, walks) for step in range(compiled.level.max_cycles))
    served, due = _serve(compiled, delivered)
    return Bound(first, delivered, served, min(1.0, served / due) if due else 1.0)


def _abilities(compiled: Compiled, points: np.ndarray) -> list[int]:
    places = compiled.tables.places.astype(np.int64)
    reach = compiled.tables.reach
    items = compiled.tables.items
    raw_items = np.flatnonzero(items[:, Item.COOKED] != NOTHING)
    fuel = np.flatnonzero(items[:, Item.FUEL])
    abilities = []
    for point in points.astype(np.int64):
        ability = 0
        for place in places:
            if ((place[[Place.X, Place.Z]] - point) ** 2).sum() <= reach[place[Place.ROLE]]:
                ability |= {Role.CHEST: CHEST, Role.FURNACE: FURNACE}.get(Role(place[Place.ROLE]), 0)
                ability |= KILL * (place[Place.GIVES] in raw_items) | MINE * (place[Place.GIVES] in fuel)
        abilities.append(ability)
    return abilities


def _delivered(compiled: Compiled, step: int, first: int, walks: dict[int, int]) -> int:
    if step < first:
        return 0
    furnaces = sum(place.role == "furnace" for place in compiled.level.places)
    cooked = furnaces * ((step - first) // compiled.config.cook_steps + 1)
    left = max(agents * (step + 1) - walked for agents, walked in walks.items())
    return min(cooked, next(dishes for dishes in count() if _work(compiled, dishes + 1) > left))


def _work(compiled: Compiled, dishes: int) -> int:
    return 3 * dishes + 2 * ceil(dishes / compiled.config.items_per_fuel) + ceil(dishes / STACK)


def _serve(compiled: Compiled, delivered: Sequence[int]) -> tuple[int, int]:
    interval, lifetime = (int(compiled.tables.params[param]) for param in (Param.INTERVAL, Param.LIFETIME))
    waiting: deque[int] = deque()
    served = 0
    for step, stock in enumerate(delivered):
        if step % interval == 0:
            waiting.append(step + lifetime - 1)  # last step in which it can be served
        while waiting and served < stock:
            waiting.popleft()
            served += 1
        while waiting and waiting[0] <= step:
            waiting.popleft()
    due = len(range(0, compiled.level.max_cycles - lifetime + 1, interval))
    return served, due


def bounds_by_pace(level: Any, agents: int, options: Mapping[str, Any]) -> list[Bound]:
    """Return the bounds of a level for a number of agents at each pace."""
    configs = [CraftConfig(**{**options, "level": level, "agents": agents, "pace": pace}) for pace in PACES]
    return [bound(compile_level(config)) for config in configs]


def upper_bounds(level: Any, agents: int, options: Mapping[str, Any]) -> list[float]:
    """Return the shares of orders that no team can exceed, by pace."""
    return [limit.ratio for limit in bounds_by_pace(level, agents, options)]
