"""The work that an order takes in a kitchen, and which actions are worth trying for it, for many states at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.kernels.macro_actions import Macro
from collab_overcooked.kernels.paths import UNREACHABLE

from ..engine.constants import DISH, NOTHING, Access, Agent, Group, Tile
from .scene import Cookbook, KitchenScene, RecipeFacts

HANDLING = 6  # steps that carrying an item to its next station takes about, for estimates of what is urgent


@dataclass
class Making:
    """Product that is still to be made."""

    recipe: RecipeFacts  # Recipe of the product
    urgency: int  # Estimated steps from the recipe's start to the delivery
    station: int | None = None  # Utensil that already holds some of its inputs
    missing: list[int] = field(default_factory=list)  # Inputs not yet in the utensil
    below: set[int] = field(default_factory=set)  # Utensil kinds that are still needed to make its inputs


@dataclass
class Purpose:
    """Purpose of an object: input of a product, dish of the order, or the order itself."""

    urgency: int
    making: Making | None = None


Place = tuple[str, int]
"""``("hand", seat)``, ``("counter", station)`` or ``("utensil", station)``."""


class Needs:
    """Needs of the first order of a scene, and purposes of the objects in the kitchen.

    Attributes:
        purposes: Purpose of every useful object by place.
        makings: Products still to be made.
        fetches: Ingredients, and the dish, that no agent has yet, with their purpose.
        final: Utensil in which the order itself is being made or is ready.
    """

    def __init__(self, scene: KitchenScene) -> None:
        self.scene, self.book = scene, scene.book
        self.purposes: dict[Place, Purpose] = {}
        self.makings: list[Making] = []
        self.fetches: list[tuple[int, Purpose]] = []
        self.final: int | None = None
        self._free = dict(self._objects())
        if scene.order != NOTHING:
            self._need_order(scene.order)

    def _objects(self) -> Iterator[tuple[Place, tuple[int, bool]]]:
        for seat, held in enumerate(self.scene.hands):
            if held[0] != NOTHING:
                yield ("hand", seat), held
        for station, utensil in self.scene.utensils.items():
            if utensil.product != NOTHING:
                yield ("utensil", station), (utensil.product, False)
        for station, lying in self.scene.counters.items():
            yield ("counter", station), lying

    def _claim(self, item: int, plated: bool, purpose: Purpose) -> Place | None:
        for place, held in self._free.items():
            if held == (item, plated) and self._serves(place, purpose):
                del self._free[place]
                self.purposes[place] = purpose
                return place
        return None

    def _serves(self, place: Place, purpose: Purpose) -> bool:
        where, index = place
        hops = self.hops(purpose)
        if where == "hand":
            return hops[index] < UNREACHABLE
        seats = [i for i in range(self.book.n_agents) if self.book.can(i, index)]
        fewest = min((hops[i] for i in seats), default=UNREACHABLE)
        stays = where == "counter" and all(self.book.access[i][index] == Access.SHARED for i in seats)
        return fewest == 0 if stays else fewest < UNREACHABLE

    def room(self, seat: int, purpose: Purpose) -> int:
        """Count the empty counters on which a seat can hand over items to agents nearer to their use."""
        hops = self.hops(purpose)
        nearer = [i for i in range(self.book.n_agents) if hops[i] < hops[seat]]
        return sum(
            s not in self.scene.counters and self.book.can(seat, s) and any(self.book.can(i, s) for i in nearer)
            for s in self.book.counters
        )

    def hops(self, purpose: Purpose) -> list[int]:
        """Return by seat how many hand-overs bring an object from it to where it is for."""
        if purpose.making is not None:
            return self.book.hops["kind", purpose.making.recipe.kind]
        return self.book.hops["serve", 0]

    def _need_order(self, order: int) -> None:
        plated = bool(self.book.needs_dish[order])
        if self._claim(order, plated, Purpose(0)) is not None:
            return
        if plated:
            place = self._claim_in_utensil(order)
            self._need_dish(order)
        else:
            place = self._claim(order, False, Purpose(0))
        if place is None:
            if self.book.raw[order]:
                self.fetches.append((order, Purpose(0)))
            else:
                self._need_making(order, HANDLING)
        elif place[0] == "utensil":
            self.final = place[1]

    def _claim_in_utensil(self, order: int) -> Place | None:
        for place, held in self._free.items():
            if place[0] == "utensil" and held[0] == order:
                del self._free[place]
                self.purposes[place] = Purpose(0)
                return place
        return None

    def _need_dish(self, order: int) -> None:
        recipe = self.book.recipes.get(order)
        purpose = Purpose(0, Making(recipe, 0)) if recipe is not None else Purpose(0)
        if self._claim(DISH, False, purpose) is None:
            self.fetches.append((DISH, purpose))

    def _need_making(self, product: int, urgency: int) -> set[int]:
        recipe = self.book.recipes[product]
        making = Making(recipe, urgency + recipe.time)
        making.missing = list(recipe.inputs)
        making.station = self._begun(recipe)
        if making.station is not None:
            for item in self.scene.utensils[making.station].contents:
                making.missing.remove(item)
        self.makings.append(making)
        for item in making.missing:
            making.below |= self._need_input(item, making)
        return making.below | {recipe.kind}

    def _begun(self, recipe: RecipeFacts) -> int | None:
        taken = [making.station for making in self.makings]
        for station in self.book.utensils_of(recipe.kind):
            contents = self.scene.utensils[station].contents
            if contents and station not in taken and _within(contents, recipe.inputs):
                return station
        return None

    def _need_input(self, item: int, making: Making) -> set[int]:
        purpose = Purpose(making.urgency + HANDLING, making)
        place = self._claim(item, False, purpose)
        if place is None and self.book.raw[item]:
            self.fetches.append((item, purpose))
            return set()
        if place is None:
            return self._need_making(item, making.urgency + HANDLING)
        return {self.book.kind[place[1]]} if place[0] == "utensil" else set()

    def receivers(self, seat: int, item: int, making: Making) -> list[int]:
        """Return the utensils into which a seat can put an input of a product right now."""
        if making.station is not None:
            return [making.station] if self.book.can(seat, making.station) and item in making.missing else []
        taken = [other.station for other in self.makings]
        utensils = []
        for station in self.book.utensils_of(making.recipe.kind):
            utensil = self.scene.utensils[station]
            empty = not utensil.contents and utensil.product == NOTHING
            if empty and station not in taken and self.book.can(seat, station):
                utensils.append(station)
        spare = len(utensils) > 1 or making.recipe.kind not in making.below
        return utensils if spare else []

    def is_junk(self, station: int) -> bool:
        """Return whether a utensil holds something that the order does not need."""
        utensil = self.scene.utensils[station]
        if utensil.product != NOTHING:
            return ("utensil", station) not in self.purposes
        return bool(utensil.contents) and station not in [making.station for making in self.makings]


def _within(contents: Iterable[int], inputs: Iterable[int]) -> bool:
    rest = list(inputs)
    for item in contents:
        if item not in rest:
            return False
        rest.remove(item)
    return True


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
        """Count the items that still have to be made or fetched.

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
