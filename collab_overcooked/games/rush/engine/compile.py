"""Compile a scenario and its options into read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from collab_overcooked.io.checks import quote_value
from collab_overcooked.kernels.blocks import Objects, spans_of

from .config import RushConfig
from .constants import NOTHING, Area, Dish, Kind, Mask, Param, Reward
from .observe import features_of
from .spec import Scenario
from .state import Tables


@dataclass(frozen=True)
class Compiled:
    """A scenario ready to play."""

    scenario: Scenario  # Source of the tables
    config: RushConfig  # Options, with those of the scenario filled in
    tables: Tables  # Read-only arrays
    features: list[Objects]  # What an observation shows

    @property
    def n_orders(self) -> int:
        """O, order slots of the largest episode."""
        return self.tables.needs.shape[1]

    @property
    def n_actions(self) -> int:
        """A: to use an area for an order, or to do nothing."""
        return 1 + self.tables.areas.shape[1] * self.n_orders

    def action(self, area: int, order: int) -> int:
        """Return the number of using an area for an order, both counted from 0."""
        return 1 + area * self.n_orders + order

    def parts(self, action: int) -> tuple[int, int]:
        """Return area and order of an action, both counted from 0; of NO_ACTION both are NOTHING."""
        return divmod(action - 1, self.n_orders) if action else (NOTHING, NOTHING)


def compile_scenario(scenario: Scenario, config: RushConfig | None = None) -> Compiled:
    """Compile a scenario."""
    config = config or RushConfig()
    episodes = scenario.episodes
    if config.episode is not None:
        check_episode(config.episode, len(episodes))
    missing = [name for name in ("agents", "workers", "max_turns") if getattr(config, name) is None]
    config = replace(config, **{name: getattr(scenario, name) for name in missing})
    goods = {"n_ingredients": len(scenario.ingredients), "n_episodes": len(episodes)}
    params = config.pack(Param, n_agents=config.agents, **goods, mask=Mask, reward=Reward)
    tables = Tables(params, *_episodes(scenario), spans=np.zeros((2, 0), np.int32))
    features = features_of(tables)
    tables = tables._replace(spans=spans_of(features))
    for array in tables:
        array.setflags(write=False)
    return Compiled(scenario, config, tables, features)


def check_episode(value: Any, n_episodes: int) -> int:
    """Validate and return the number of an episode.

    Raises:
        ValueError: The episode is not an integer from 0 to ``n_episodes - 1``.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < n_episodes:
        raise ValueError(f"episode must be an integer from 0 to {n_episodes - 1}, not {quote_value(value)}")
    return int(value)


def _episodes(scenario: Scenario) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    episodes, goods = scenario.episodes, scenario.goods
    n_orders = max(len(episode.orders) for episode in episodes)
    n_areas = max(len(episode.areas) for episode in episodes)
    dishes = np.zeros((len(episodes), n_orders, len(Dish)), np.int32)
    needs = np.zeros((len(episodes), n_orders, len(goods)), np.int32)
    areas = np.zeros((len(episodes), n_areas, len(Area)), np.int32)
    stock = np.zeros((len(episodes), n_areas, len(goods)), np.int32)
    for e, episode in enumerate(episodes):
        for o, recipe in enumerate(map(episode.recipes.__getitem__, episode.orders)):
            dishes[e, o, Dish.EXISTS], dishes[e, o, Dish.COOK_TIME] = 1, recipe.cook_time
            needed = {**recipe.ingredients, **recipe.spices}
            needs[e, o] = [needed.get(good, 0) for good in goods]
        for at, area in enumerate(episode.areas):
            areas[e, at, Area.KIND] = Kind[area.kind.upper()]
            areas[e, at, Area.SPACES] = area.spaces
            stock[e, at] = [area.stock.get(good, 0) for good in goods]
    return dishes, needs, areas, stock
