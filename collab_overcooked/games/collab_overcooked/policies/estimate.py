"""An estimate of the steps until an order is delivered, to rank the nodes of a search."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.games.collab_overcooked.engine.constants import DISH, Agent, Group, Tile, Verb
from collab_overcooked.games.collab_overcooked.policies.order_work import Array, Order
from collab_overcooked.kernels.macro_actions import Macro

WORK_WEIGHT = 0.5  # of all work left, beside the longest chain of steps; these four were tuned on all built-in kitchens
RUNNING_RANGE = 6.0  # running actions count as begun when they have fewer steps left than this
RUNNING_WEIGHT = 0.25


class Estimate:
    """Estimates the steps left from what is still to be made and where things are; used to rank nodes only."""

    def __init__(self, order: Order) -> None:
        self.order, self.book = order, order.book
        self.reach = self._reach()
        self.hand = {item: self._by_hops(item) for item in [*order.items, DISH]}

    def _reach(self) -> Array:
        book = self.book
        reach = np.zeros((len(book.rows), book.ways.shape[0]), np.float32)
        for action, (verb, _, group) in enumerate(book.rows):
            if verb in (Verb.CONTINUE, Verb.WAIT):
                continue
            goals = [goal for s in book.members[group] for goal in book.goals[s]]
            reach[action] = book.ways[:, goals].min(1) + 1
        return np.minimum(reach, 30)

    def _by_hops(self, item: int) -> Array:
        hops = np.min([self.book.hops[key] for key in self.order.consumers(item)], axis=0)
        return 3.0 + 6.0 * np.minimum(hops, 5)

    def __call__(self, state: Any, short: Array, dish: Array) -> Array:
        """Return (n,) numbers that order states by how near they are to the delivery."""
        ready, work = self._ready(state, short)
        path = ready[:, 0]
        if self.order.plated:
            path = np.maximum(path, np.where(dish, 12.0, 0.0))
            work = work + np.where(dish, 12.0, 0.0)
        return path + WORK_WEIGHT * work - self._credit(state)

    def _credit(self, state: Any) -> Array:
        running = state.macro_state[:, :, Macro.ACTION]
        poses = 4 * state.agents[:, :, Agent.CELL].astype(np.int64) + state.agents[:, :, Agent.FACING]
        left = self.reach[np.maximum(running, 0), poses]
        credit = RUNNING_WEIGHT * np.maximum(RUNNING_RANGE - left, 0.0)
        return np.asarray(np.where(running > 0, credit, 0.0).sum(1))

    def _ready(self, state: Any, short: Array) -> tuple[Array, Array]:
        order = self.order
        n = len(state.agents)
        ready = np.zeros((n, len(order.items)), np.float32)
        work = np.zeros(n, np.float32)
        for r in range(len(order.items) - 1, -1, -1):
            item = order.items[r]
            there = self._there(item, state)
            recipe = order.recipes.get(item)
            best = float(self.hand[item].min())
            if recipe is None:
                fetch = 3.0 + self._fetch_cost(item)
                missing = np.full(n, fetch, np.float32)
                work_of_item = fetch
            else:
                inputs = [order.row[part] for part in recipe.inputs]
                missing = ready[:, inputs].max(1) + 1 + recipe.time + 2 + best
                work_of_item = 1.0 + 2 + best
            ready[:, r] = np.where(short[:, r] > 0, missing, there.max(1))
            work += short[:, r] * work_of_item + there.sum(1)
        return ready, work

    def _fetch_cost(self, item: int) -> float:
        book = self.book
        seats = [i for i in range(book.n_agents) if book.can_any(i, book.members[Group.INGREDIENTS])]
        return float(self.hand[item][seats].min()) if seats else float(self.hand[item].min())

    def _there(self, item: int, state: Any) -> Array:
        book, cost = self.book, self.hand[item]
        parts = [np.where(state.agents[:, :, Agent.ITEM] == item, cost, 0.0)]
        near = np.array(
            [3.0 + min(cost[i] for i in range(book.n_agents) if book.can(i, s)) for s in self.order.live[item]]
        )
        parts.append(np.where(state.tiles[:, self.order.live[item], Tile.ITEM] == item, near, 0.0))
        recipe = self.order.recipes.get(item)
        utensils = book.utensils_of(recipe.kind) if recipe else []
        if utensils:
            takers = [min(cost[i] for i in range(book.n_agents) if book.can(i, s)) for s in utensils]
            left = np.maximum(state.tiles[:, utensils, Tile.TIME] - state.tiles[:, utensils, Tile.TIMER], 0)
            parts.append(np.where(state.tiles[:, utensils, Tile.ITEM] == item, left + 2.0 + np.array(takers), 0.0))
        return np.concatenate(parts, axis=1)


estimate_of: Callable[[Order], Estimate] = lru_cache(maxsize=256)(Estimate)  # made once
