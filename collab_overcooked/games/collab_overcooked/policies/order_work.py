"""The work that an order takes in a kitchen, and which actions are worth trying for it, for many states at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.games.collab_overcooked.engine.constants import DISH, NOTHING, Access, Agent, Group, Tile
from collab_overcooked.games.collab_overcooked.policies.cookbook import Cookbook, RecipeFacts
from collab_overcooked.kernels.macro_actions import Macro

Array = np.ndarray


@dataclass(frozen=True)
class Columns:
    """A seat's actions that can matter for an order, as columns of a table."""

    actions: Array  # Action ids
    # What each needs to be useful, and the item or utensil that this is about; see ``Order.useful``
    checks: tuple[tuple[str, int], ...]


class Order:
    """Useful actions for one order in one kitchen, for batches of states."""

    def __init__(self, book: Cookbook, order: int) -> None:
        self.book, self.order = book, order
        self.items = self._items()
        self.row = {item: r for r, item in enumerate(self.items)}
        self.recipes = {item: book.recipes[item] for item in self.items if item in book.recipes}
        self.plated = bool(book.needs_dish[order])
        self.counters = [s for s in book.counters if any(book.can(i, s) for i in range(book.n_agents))]
        self.fetched = np.full(len(book.rows), -2, np.int32)
        for item, action in book.fetch.items():
            self.fetched[action] = item
        self.live = {item: self._live_counters(item) for item in [*self.items, DISH]}
        self.columns = [self._columns(seat) for seat in range(book.n_agents)]

    def _items(self) -> list[int]:
        foods: list[int] = []

        def visit(item: int) -> None:
            recipe = self.book.recipes.get(item)
            for part in recipe.inputs if recipe else ():
                visit(part)
            if item not in foods:
                foods.append(item)

        visit(self.order)
        return foods[::-1]

    def consumers(self, item: int) -> list[tuple[str, int]]:
        """Return where an item is used: keys of ``Cookbook.hops``."""
        if item == self.order:
            return [("serve", 0)]
        if item == DISH:
            recipe = self.book.recipes.get(self.order)
            return [("kind", recipe.kind)] if recipe else [("serve", 0)]
        return [("kind", recipe.kind) for recipe in self.recipes.values() if item in recipe.inputs]

    def _live_counters(self, item: int) -> list[int]:
        live = []
        for s in self.counters:
            seats = [i for i in range(self.book.n_agents) if self.book.can(i, s)]
            moves = any(self.book.access[i][s] != Access.SHARED for i in seats)
            if moves or any(self.uses(i, item) for i in seats):
                live.append(s)
        return live

    def uses(self, seat: int, item: int) -> bool:
        """Return whether a seat can use an item itself."""
        return any(self.book.hops[key][seat] == 0 for key in self.consumers(item))

    def _columns(self, seat: int) -> Columns:
        book = self.book
        checked: list[tuple[int, tuple[str, int]]] = [(book.wait, ("always", 0)), (book.place, ("always", 0))]
        if book.can_any(seat, book.members[Group.SERVING]):
            checked.append((book.serve, ("holds", self.order)))
        for s in book.utensils:
            if book.can(seat, s):
                checked.append((book.put[s], ("put", s)))
                checked.append((book.operate[s], ("operate", s)))
                if self.plated:
                    checked.append((book.fill[s], ("fill", s)))
                checked += [(action, ("always", 0)) for (at, _), action in book.take.items() if at == s]
        items = [*self.items, DISH] if self.plated else self.items
        for item in items:
            check = "always" if self.uses(seat, item) else "move on"
            checked.append((book.pick[item], (check, item)))
            group = Group.DISHES if item == DISH else Group.INGREDIENTS
            if item in book.fetch and book.can_any(seat, book.members[group]):
                checked.append((book.fetch[item], ("short", item)))
        return Columns(np.array([action for action, _ in checked], np.int32), tuple(check for _, check in checked))

    def shortage(self, state: Any) -> tuple[Array, Array]:
        """Count what still has to be made or fetched.

        Returns:
            (n, items) how many more of each are needed, and (n,) whether a dish is.
        """
        hands = state.agents[:, :, Agent.ITEM]
        running = state.macro_state[:, :, Macro.ACTION]
        coming = np.where(running == NOTHING, -2, self.fetched[running])
        contents = state.tiles[:, self.book.utensils, Tile.ITEM]
        cooking = state.tiles[:, self.book.utensils]
        unstarted = cooking[:, :, Tile.TIMER, None] == 0
        inside = np.where(unstarted, cooking[:, :, Tile.CONTENT :], -2)
        inside = inside.reshape(len(state.tiles), inside.shape[1] * inside.shape[2])
        everything = np.concatenate([hands, coming, contents, inside], axis=1)

        def count(item: int) -> Array:
            lying = state.tiles[:, self.live[item], Tile.ITEM]
            return np.asarray((everything == item).sum(1) + (lying == item).sum(1))

        short = np.zeros((len(state.agents), len(self.items)), np.int32)
        needed = np.zeros_like(short)
        needed[:, 0] = 1
        for r, item in enumerate(self.items):
            short[:, r] = np.maximum(needed[:, r] - count(item), 0)
            recipe = self.recipes.get(item)
            for part in recipe.inputs if recipe else ():
                needed[:, self.row[part]] += short[:, r]
        served = (hands == self.order) & (state.agents[:, :, Agent.PLATED] == 1)
        there = state.tiles[:, self.live[self.order]]
        laid = (there[:, :, Tile.ITEM] == self.order) & (there[:, :, Tile.PLATED] == 1)
        dishes = count(DISH) + served.sum(1) + laid.sum(1)
        return short, (dishes == 0) & self.plated

    def contents(self, state: Any, station: int, recipe: RecipeFacts) -> tuple[dict[int, Array], Array]:
        """Compare a utensil's contents with a recipe.

        Returns:
            By input how many more fit (n,), and (n,) whether nothing else is inside.
        """
        inside = state.tiles[:, station, Tile.CONTENT :]
        room, known = {}, 0
        for item in set(recipe.inputs):
            count = (inside == item).sum(1)
            known = known + count
            room[item] = recipe.inputs.count(item) - count
        fits = (known == state.tiles[:, station, Tile.COUNT]) & (state.tiles[:, station, Tile.TIMER] == 0)
        for count in room.values():
            fits &= count >= 0
        return room, fits

    def useful(self, state: Any, masks: list[Array]) -> list[Array]:
        """Return for every seat whether its accepted actions are worth trying, (n, columns)."""
        short, dish = self.shortage(state)
        puts, starts = self._utensils(state, short)
        useful = []
        for seat, columns in enumerate(self.columns):
            hand = state.agents[:, seat, Agent.ITEM]
            good = masks[seat].astype(bool)
            for c, (check, a) in enumerate(columns.checks):
                if check == "put":
                    good[:, c] &= np.take_along_axis(puts[a], np.maximum(hand, 0)[:, None], 1)[:, 0]
                elif check == "operate":
                    good[:, c] &= starts[a]
                elif check == "holds":
                    good[:, c] &= hand == a
                elif check == "fill":
                    good[:, c] &= state.tiles[:, a, Tile.ITEM] == self.order
                elif check == "short":
                    good[:, c] &= (dish if a == DISH else short[:, self.row[a]] > 0) | self._in_the_way(seat, state)
                elif check == "move on":
                    good[:, c] &= self._out_of_reach(seat, a, state)
            useful.append(good)
        return useful

    def _in_the_way(self, seat: int, state: Any) -> Array:
        return np.asarray((state.macro_state[:, self.book.mates[seat], Macro.ACTION] > self.book.longest_wait).any(1))

    def _out_of_reach(self, seat: int, item: int, state: Any) -> Array:
        counters = [s for s in self.counters if self.book.access[seat][s] in (Access.PRIVATE, Access.SOME)]
        return (state.tiles[:, counters, Tile.ITEM] == item).any(1)

    def _utensils(self, state: Any, short: Array) -> tuple[dict[int, Array], dict[int, Array]]:
        puts, starts = {}, {}
        n, n_items = len(state.tiles), len(self.book.needs_dish)
        for s in self.book.utensils:
            accepts = np.zeros((n, n_items), bool)
            complete, fitting = np.zeros(n, bool), np.zeros(n, bool)
            for item, recipe in self.recipes.items():
                if recipe.kind != self.book.kind[s]:
                    continue
                room, fits = self.contents(state, s, recipe)
                fits &= short[:, self.row[item]] > 0
                for part, count in room.items():
                    accepts[:, part] |= fits & (count > 0)
                fitting |= fits
                complete |= fits & (state.tiles[:, s, Tile.COUNT] == len(recipe.inputs))
            puts[s] = accepts
            starts[s] = complete | ~fitting  # what fits no recipe is started to destroy it
        return puts, starts


order_of: Callable[[Cookbook, int], Order] = lru_cache(maxsize=256)(Order)  # by kitchen and item, made once
