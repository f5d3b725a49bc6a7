"""The work that an order takes in a kitchen, and which actions are worth trying for it, for many states at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.kernels.macro_actions import Macro
from collab_overcooked.kernels.paths import UNREACHABLE

from ..engine.constants import DISH, NOTHING, Access, Agent, Group, Row, Tile, Verb
from .scene import KitchenScene, KitchenTables

Array = np.ndarray
HANDLING = 6  # steps that starting a utensil, taking a product and carrying it to its next station take about


@dataclass
class Making:
    """Product that is still to be made."""

    product: int
    kind: int  # Kind of utensil that makes it
    urgency: int  # Estimated steps from the start of the utensil to the delivery
    station: int | None = None  # Utensil that already holds some of its inputs
    missing: list[int] = field(default_factory=list)  # Inputs not yet in the utensil
    below: set[int] = field(default_factory=set)  # Utensil kinds that are still needed to make its inputs


@dataclass
class Purpose:
    """Purpose of an object: input of a product, dish of the order, or the order itself."""

    urgency: int  # Estimated steps from when the object is at hand to the delivery
    kind: int = NOTHING  # Kind of utensil that it is used in, NOTHING for the serving station
    making: Making | None = None  # Product that it is an input of


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
        self.scene, self.kitchen = scene, scene.kitchen
        self.purposes: dict[Place, Purpose] = {}
        self.makings: list[Making] = []
        self.fetches: list[tuple[int, Purpose]] = []
        self.final: int | None = None
        self._free = dict(self._objects())
        if scene.order != NOTHING:
            self._urgency = order_of(self.kitchen, scene.order).urgency
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
        seats = self.kitchen.users(index)
        fewest = min((hops[i] for i in seats), default=UNREACHABLE)
        stays = where == "counter" and all(self.kitchen.access[i][index] == Access.SHARED for i in seats)
        return fewest == 0 if stays else fewest < UNREACHABLE

    def room(self, seat: int, purpose: Purpose) -> int:
        """Count the empty counters on which a seat can hand over items to agents nearer to their use."""
        hops = self.hops(purpose)
        nearer = [i for i in range(self.kitchen.n_agents) if hops[i] < hops[seat]]
        return sum(
            s not in self.scene.counters and self.kitchen.can(seat, s) and any(self.kitchen.can(i, s) for i in nearer)
            for s in self.kitchen.members[Group.COUNTER]
        )

    def hops(self, purpose: Purpose) -> list[int]:
        """Return by seat how many hand-overs bring an object from it to where it is for."""
        return self.kitchen.hops[purpose.kind]

    def _need_order(self, order: int) -> None:
        plated = bool(self.kitchen.needs_dish[order])
        if self._claim(order, plated, Purpose(0)) is not None:
            return
        if plated:
            place = self._claim_in_utensil(order)
            self._need_dish(order)
        else:
            place = self._claim(order, False, Purpose(0))
        if place is None:
            if self.kitchen.raw[order]:
                self.fetches.append((order, Purpose(0)))
            else:
                self._need_making(order)
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
        purpose = Purpose(0, self.kitchen.maker(order))
        if self._claim(DISH, False, purpose) is None:
            self.fetches.append((DISH, purpose))

    def _need_making(self, product: int) -> set[int]:
        kind = self.kitchen.maker(product)
        making = Making(product, kind, self._urgency[product] + HANDLING + self.kitchen.time(product))
        making.missing = self.kitchen.inputs(product)
        making.station = self._begun(making)
        if making.station is not None:
            for item in self.scene.utensils[making.station].contents:
                making.missing.remove(item)
        self.makings.append(making)
        for item in making.missing:
            making.below |= self._need_input(item, making)
        return making.below | {kind}

    def _begun(self, making: Making) -> int | None:
        taken = [other.station for other in self.makings]
        for station in self.kitchen.utensils_of(making.kind):
            contents = self.scene.utensils[station].contents
            if contents and station not in taken and _within(contents, making.missing):
                return station
        return None

    def _need_input(self, item: int, making: Making) -> set[int]:
        purpose = Purpose(making.urgency + HANDLING, making.kind, making)
        place = self._claim(item, False, purpose)
        if place is None and self.kitchen.raw[item]:
            self.fetches.append((item, purpose))
            return set()
        if place is None:
            return self._need_making(item)
        return {self.kitchen.kind(place[1])} if place[0] == "utensil" else set()

    def receivers(self, seat: int, item: int, making: Making) -> list[int]:
        """Return the utensils into which a seat can put an input of a product right now."""
        if making.station is not None:
            return [making.station] if self.kitchen.can(seat, making.station) and item in making.missing else []
        taken = [other.station for other in self.makings]
        utensils = []
        for station in self.kitchen.utensils_of(making.kind):
            utensil = self.scene.utensils[station]
            empty = not utensil.contents and utensil.product == NOTHING
            if empty and station not in taken and self.kitchen.can(seat, station):
                utensils.append(station)
        spare = len(utensils) > 1 or making.kind not in making.below
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


@dataclass(frozen=True)
class Columns:
    """A seat's actions that can matter for an order, as columns of a table."""

    actions: Array  # Action ids
    # What each needs to be useful, and the item or utensil that this is about; see ``Order.useful``
    checks: tuple[tuple[str, int], ...]


class Order:
    """Useful actions for one order in one kitchen, for batches of states."""

    def __init__(self, kitchen: KitchenTables, order: int) -> None:
        self.kitchen, self.order = kitchen, order
        self.urgency: dict[int, int] = {}  # by item: steps from its last station to the delivery, most of all its uses
        self.items: list[int] = []
        self._measure(order, 0)
        self.items.reverse()  # products before their inputs
        self.row = {item: r for r, item in enumerate(self.items)}
        self.inputs = {item: kitchen.inputs(item) for item in self.items}
        self.plated = bool(kitchen.needs_dish[order])
        self.counters = [s for s in kitchen.members[Group.COUNTER] if kitchen.users(s)]
        catalogue = np.array(kitchen.rows)
        fetches = (catalogue[:, Row.VERB] == Verb.PICKUP) & np.isin(
            catalogue[:, Row.GROUP], (Group.INGREDIENTS, Group.DISHES)
        )
        self.fetched = np.where(fetches, catalogue[:, Row.ITEM], -2)  # by action
        self.live = {item: self._live_counters(item) for item in [*self.items, DISH]}
        self.columns = [self._columns(seat) for seat in range(kitchen.n_agents)]

    def _measure(self, item: int, steps: int) -> None:
        self.urgency[item] = max(self.urgency.get(item, 0), steps)
        for part in self.kitchen.inputs(item):
            self._measure(part, steps + HANDLING + self.kitchen.time(item))
        if item not in self.items:
            self.items.append(item)

    def consumers(self, item: int) -> list[int]:
        """Return where an item is used: kinds of utensils, NOTHING for the serving station."""
        if item == self.order:
            return [NOTHING]
        if item == DISH:
            return [self.kitchen.maker(self.order)]
        return [self.kitchen.maker(product) for product, inputs in self.inputs.items() if item in inputs]

    def _live_counters(self, item: int) -> list[int]:
        live = []
        for s in self.counters:
            seats = self.kitchen.users(s)
            moves = any(self.kitchen.access[i][s] != Access.SHARED for i in seats)
            if moves or any(self.uses(i, item) for i in seats):
                live.append(s)
        return live

    def uses(self, seat: int, item: int) -> bool:
        """Return whether a seat can use an item itself."""
        return any(self.kitchen.hops[kind][seat] == 0 for kind in self.consumers(item))

    def _columns(self, seat: int) -> Columns:
        kitchen = self.kitchen
        checked: list[tuple[int, tuple[str, int]]] = [(kitchen.wait, ("always", 0)), (kitchen.place, ("always", 0))]
        if kitchen.can_any(seat, kitchen.members[Group.SERVING]):
            checked.append((kitchen.serve, ("holds", self.order)))
        for s in kitchen.utensils:
            if kitchen.can(seat, s):
                checked.append((kitchen.act_on(Verb.PUT, s), ("put", s)))
                checked.append((kitchen.act_on(Verb.OPERATE, s), ("operate", s)))
                if self.plated:
                    checked.append((kitchen.act_on(Verb.FILL, s), ("fill", s)))
                products = [item for item in kitchen.recipes if kitchen.maker(item) == kitchen.kind(s)]
                checked += [(kitchen.act_on(Verb.PICKUP, s, item), ("always", 0)) for item in products]
        for item in [*self.items, DISH] if self.plated else self.items:
            check = "always" if self.uses(seat, item) else "move on"
            checked.append((kitchen.actions[Verb.PICKUP, item, Group.COUNTER], (check, item)))
            if kitchen.can_any(seat, kitchen.dispensers(item)):
                checked.append((kitchen.fetch(item), ("short", item)))
        return Columns(np.array([action for action, _ in checked], np.int32), tuple(check for _, check in checked))

    def shortage(self, state: Any) -> tuple[Array, Array, Array]:
        """Count the items that still have to be made or fetched.

        Returns:
            (n, items) how many of each are needed, (n, items) how many of them are not there, and (n,) whether a dish
            is needed.
        """
        hands = state.agents[:, :, Agent.ITEM]
        running = state.macro_state[:, :, Macro.ACTION]
        coming = np.where(running == NOTHING, -2, self.fetched[running])
        contents = state.tiles[:, self.kitchen.utensils, Tile.ITEM]
        cooking = state.tiles[:, self.kitchen.utensils]
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
            for part in self.inputs[item]:
                needed[:, self.row[part]] += short[:, r]
        served = (hands == self.order) & (state.agents[:, :, Agent.PLATED] == 1)
        there = state.tiles[:, self.live[self.order]]
        laid = (there[:, :, Tile.ITEM] == self.order) & (there[:, :, Tile.PLATED] == 1)
        dishes = count(DISH) + served.sum(1) + laid.sum(1)
        return needed, short, (dishes == 0) & self.plated

    def contents(self, state: Any, station: int, inputs: list[int]) -> tuple[dict[int, Array], Array]:
        """Compare a utensil's contents with the inputs of a recipe.

        Returns:
            By input how many more fit (n,), and (n,) whether nothing else is inside.
        """
        inside = state.tiles[:, station, Tile.CONTENT :]
        room, known = {}, 0
        for item in set(inputs):
            count = (inside == item).sum(1)
            known = known + count
            room[item] = inputs.count(item) - count
        fits = (known == state.tiles[:, station, Tile.COUNT]) & (state.tiles[:, station, Tile.TIMER] == 0)
        for count in room.values():
            fits &= count >= 0
        return room, fits

    def useful(self, state: Any, masks: list[Array]) -> list[Array]:
        """Return for every seat whether its accepted actions are worth trying, (n, columns)."""
        _, short, dish = self.shortage(state)
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
        return np.asarray((state.macro_state[:, self.kitchen.mates[seat], Macro.ACTION] >= self.kitchen.place).any(1))

    def _out_of_reach(self, seat: int, item: int, state: Any) -> Array:
        counters = [s for s in self.counters if self.kitchen.access[seat][s] in (Access.PRIVATE, Access.SOME)]
        return (state.tiles[:, counters, Tile.ITEM] == item).any(1)

    def _utensils(self, state: Any, short: Array) -> tuple[dict[int, Array], dict[int, Array]]:
        puts, starts = {}, {}
        n, n_items = len(state.tiles), len(self.kitchen.needs_dish)
        for s in self.kitchen.utensils:
            accepts = np.zeros((n, n_items), bool)
            complete, fitting = np.zeros(n, bool), np.zeros(n, bool)
            for item, inputs in self.inputs.items():
                if not inputs or self.kitchen.maker(item) != self.kitchen.kind(s):
                    continue
                room, fits = self.contents(state, s, inputs)
                fits &= short[:, self.row[item]] > 0
                for part, count in room.items():
                    accepts[:, part] |= fits & (count > 0)
                fitting |= fits
                complete |= fits & (state.tiles[:, s, Tile.COUNT] == len(inputs))
            puts[s] = accepts
            starts[s] = complete | ~fitting  # what fits no recipe is started to destroy it
        return puts, starts


order_of: Callable[[KitchenTables, int], Order] = lru_cache(maxsize=256)(Order)  # by kitchen and item, made once
