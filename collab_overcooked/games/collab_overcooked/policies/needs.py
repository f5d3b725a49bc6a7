"""The needs of an order, and the purposes of the objects around."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from collab_overcooked.games.collab_overcooked.engine.constants import DISH, NOTHING, Access
from collab_overcooked.games.collab_overcooked.policies.cookbook import RecipeFacts
from collab_overcooked.games.collab_overcooked.policies.scene import Scene
from collab_overcooked.kernels.paths import UNREACHABLE

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

    def __init__(self, scene: Scene) -> None:
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
        """Count the empty counters on which a seat can hand something over to those who are nearer to its use."""
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
