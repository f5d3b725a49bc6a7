"""State of a kitchen with the running actions of all agents completed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from collab_overcooked.games.collab_overcooked.engine.constants import NOTHING, Access, Agent, Group, Tile, Verb
from collab_overcooked.games.collab_overcooked.policies.cookbook import Cookbook
from collab_overcooked.kernels.macro_actions import Macro


@dataclass
class Utensil:
    """Contents of a utensil: unstarted inputs, or a product with the steps left."""

    contents: list[int] = field(default_factory=list)
    product: int = NOTHING
    left: int = 0


class Scene:
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
