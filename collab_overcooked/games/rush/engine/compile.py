"""Compile a scenario and its options into read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from collab_overcooked.games.rush.engine.config import RushConfig
from collab_overcooked.games.rush.engine.constants import NOTHING, Area, Dish, Kind, Mask, Param, Reward
from collab_overcooked.games.rush.engine.observe import highest_numbers
from collab_overcooked.games.rush.engine.spec import EpisodeSpec, Scenario
from collab_overcooked.games.rush.engine.state import Tables
from collab_overcooked.io.checks import parse_integer, quote_value


@dataclass(frozen=True)
class Names:
    """Names for the indices in the tables."""

    scenario: str  # Name of the scenario
    ingredients: tuple[str, ...]  # The first goods
    spices: tuple[str, ...]  # The other goods
    orders: tuple[tuple[str, ...], ...]  # Names of the orders of each episode, in slot order
    areas: tuple[tuple[int, ...], ...]  # Area ids of each episode, in the order of the action numbers

    @property
    def goods(self) -> tuple[str, ...]:
        """Ingredients, then spices."""
        return self.ingredients + self.spices


@dataclass(frozen=True)
class Compiled:
    """A scenario ready to play."""

    scenario: Scenario  # Source of the tables
    config: RushConfig  # Options
    names: Names  # Names for indices in the tables
    tables: Tables  # Read-only arrays
    n_agents: int  # N
    workers: int  # Workers of each agent
    max_turns: int  # Turns of an episode
    n_orders: int  # O, order slots of the largest episode
    n_areas: int  # P, areas of the largest episode
    n_actions: int  # A, size of the action space
    highest: tuple[int, ...]  # (L,) highest value of each number of one agent's observation

    def action(self, area: int, order: int) -> int:
        """Return the number of using an area for an order, both counted from 0."""
        return 1 + area * self.n_orders + order

    def parts(self, action: int) -> tuple[int, int]:
        """Return area and order of an action, both counted from 0; of NO_ACTION both are NOTHING."""
        return divmod(action - 1, self.n_orders) if action else (NOTHING, NOTHING)


def compile_scenario(scenario: Scenario, config: RushConfig | None = None) -> Compiled:
    """Compile a scenario."""
    config = config or RushConfig()
    if config.episode is not None:
        check_episode(config.episode, len(scenario.episodes))
    agents, workers, max_turns = (
        parse_integer(name, getattr(scenario, name) if getattr(config, name) is None else getattr(config, name), 1)
        for name in ("agents", "workers", "max_turns")
    )
    n_orders = max(len(episode.orders) for episode in scenario.episodes)
    n_areas = max(len(episode.areas) for episode in scenario.episodes)
    names = Names(
        scenario=scenario.name,
        ingredients=scenario.ingredients,
        spices=scenario.spices,
        orders=tuple(episode.orders for episode in scenario.episodes),
        areas=tuple(tuple(area.id for area in episode.areas) for episode in scenario.episodes),
    )
    shape = (len(scenario.episodes), n_orders, n_areas)
    counts = {"n_agents": agents, "workers": workers, "max_turns": max_turns}
    goods = {"n_ingredients": len(scenario.ingredients), "n_episodes": len(scenario.episodes)}
    params = config.pack(Param, **counts, **goods, mask=Mask, reward=Reward)
    tables = Tables(params, *_episodes(scenario, names, *shape))
    for array in tables:
        array.setflags(write=False)
    return Compiled(
        scenario=scenario,
        config=config,
        names=names,
        tables=tables,
        n_agents=agents,
        workers=workers,
        max_turns=max_turns,
        n_orders=n_orders,
        n_areas=n_areas,
        n_actions=1 + n_areas * n_orders,
        highest=tuple(highest_numbers(tables)),
    )


def check_episode(value: Any, n_episodes: int) -> int:
    """Validate and return the number of an episode."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < n_episodes:
        raise ValueError(f"episode must be an integer from 0 to {n_episodes - 1}, not {quote_value(value)}")
    return int(value)


def _episodes(
    scenario: Scenario, names: Names, n_episodes: int, n_orders: int, n_areas: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n_goods = len(names.goods)
    dishes = np.zeros((n_episodes, n_orders, len(Dish)), np.int32)
    needs = np.zeros((n_episodes, n_orders, n_goods), np.int32)
    areas = np.zeros((n_episodes, n_areas, len(Area)), np.int32)
    stock = np.zeros((n_episodes, n_areas, n_goods), np.int32)
    for e, episode in enumerate(scenario.episodes):
        _fill_orders(episode, names.goods, dishes[e], needs[e])
        for at, area in enumerate(episode.areas):
            areas[e, at, Area.KIND] = Kind[area.kind.upper()]
            areas[e, at, Area.SPACES] = area.spaces
            for good, count in area.stock.items():
                stock[e, at, names.goods.index(good)] = count
    return dishes, needs, areas, stock


def _fill_orders(episode: EpisodeSpec, goods: tuple[str, ...], dishes: np.ndarray, needs: np.ndarray) -> None:
    for o, name in enumerate(episode.orders):
        recipe = episode.recipes[name]
        dishes[o, Dish.EXISTS] = 1
        dishes[o, Dish.COOK_TIME] = recipe.cook_time
        for good, count in (*recipe.ingredients.items(), *recipe.spices.items()):
            needs[o, goods.index(good)] = count
