"""Scenes of kitchens: what Overcooked and OvercookedV2 have in common, each with its own words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.scene_codec import Codec, Part, Rows
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import Parser, integer, list_of, one_of, optional, record
from collab_overcooked.io.text import plural
from collab_overcooked.kernels.grid import Direction

from ..engine.constants import (
    FIRST_INGREDIENT,
    FIRST_STATION,
    HAND_END,
    LAST_BELT,
    LAST_STATION,
    MACHINE_WORK,
    MAX_INGREDIENTS,
    WORK,
    Clock,
    Item,
    Player,
    Terrain,
    Thing,
)
from ..engine.rules import age_pot
from ..engine.spec import counts_of, number_of
from ..engine.state import State
from ..pool import PREPARED, KitchenPool

MAX_SCORE = 10**9  # also of what counts on for ever
FACING = codec.members_of(Direction, "facing")
SOUP = "soup"  # in a pot
EMPTY = frozenset((int(Item.NONE), int(Item.OPEN)))  # of cells

Scene = Mapping[str, Any]


def can_lie(item: int, kind: int, prepare: np.ndarray) -> bool:
    """Return whether a thing may lie on a kind of cell: anything on counters, soup in pots, its own at a station."""
    if FIRST_STATION <= kind <= LAST_STATION:
        return bool(item >= FIRST_INGREDIENT and prepare[item - FIRST_INGREDIENT] == kind)
    is_counter = Terrain.COUNTER <= kind <= LAST_BELT  # no kernel, as scenes are checked before any runs
    return bool(is_counter or (kind == Terrain.POT and item == Item.SOUP))


def check_places(players: Sequence[Mapping[str, Any]], can_stand: np.ndarray, where: str) -> None:
    """Refuse players that stand where none can, or where another one stands.

    Raises:
        ValueError: There is one.
    """
    places = [player["position"] for player in players]
    for seat, (x, y) in enumerate(places):
        if not can_stand[y, x]:
            raise ValueError(f"state.players[{seat}]: no player can stand at {[x, y]}; players stand on {where}")
        if [x, y] in places[:seat]:
            raise ValueError(f"players {places.index([x, y])} and {seat} both stand at {[x, y]}")


def warning_text(soup: Mapping[str, Any], unit: str = "step") -> str:
    """Return what happens to soup that stays in its pot: when it burns; empty if it is not ready or does not burn."""
    if "burns_in" not in soup:
        return ""
    return f"burns in {plural(soup['burns_in'], unit)}" if unit else f"burns in {soup['burns_in']}"


class KitchenScenes(KitchenPool, ABC):
    """Scenes of a pool of layouts: players, and things in hands, on counters, at stations and in pots.

    Objects are in reading order. Soup in a pot that may burn has ``burns_in``, the steps until it does.
    """

    dish_name: ClassVar[str]  # Of an empty dish
    plated_name: ClassVar[str]  # Of soup outside of pots
    where_things_lie: ClassVar[str]

    @property
    @abstractmethod
    def ingredient_names(self) -> Sequence[str]:
        """Names of the ingredients, by kind."""

    @abstractmethod
    def timed(self, tick: int, time: int, in_pot: bool, derived: bool) -> dict[str, Any]:
        """Return the keys of a soup that tell how long it has cooked.

        Args:
            tick: Steps that it has cooked, and then waited in its pot; -1 before it cooks.
            time: Steps of cooking.
            in_pot: Whether it is in a pot.
            derived: Whether to return the keys that follow from the others, too.
        """

    @abstractmethod
    def tick_of(self, soup: Mapping[str, Any], time: int, in_pot: bool) -> int:
        """Return the tick that the keys of ``timed`` tell; steps that ``burns_in`` tells are added to it."""

    def layout_of(self, scene: Scene) -> int:
        """Return the number of a scene's layout in the pool."""
        return self.layout_index(scene["layout"]) if "layout" in scene else 0

    def clock_parts(self) -> dict[str, Part]:
        """Declare steps and points."""
        return {
            "timestep": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "served": codec.span("clock", Clock.SERVED, 0, MAX_SCORE),
            "score": codec.span("clock", Clock.SCORE, -MAX_SCORE, MAX_SCORE),
        }

    def position_codec(self) -> Codec:
        """Declare the column and row of a cell."""
        height, width = self.compiled.tables.terrain.shape[1:]
        return codec.vector([codec.integers(0, width - 1), codec.integers(0, height - 1)], "coordinates")

    def player_parts(self, thing: Mapping[str, Parser]) -> dict[str, Part]:
        """Declare a player, given the keys of a thing."""
        hand = slice(Player.HAND, HAND_END)

        def read(rows: Rows) -> dict[str, Any] | None:
            return self.decode_thing(rows["players"][hand], rows.env["clock"][Clock.LAYOUT], False, rows.derived)

        def write(rows: Rows, value: Mapping[str, Any] | None) -> None:
            rows["players"][hand] = self._encode_thing(value, rows.env["clock"][Clock.LAYOUT], False)

        return {
            "position": codec.column("players", slice(Player.X, Player.Y + 1), self.position_codec()),
            "facing": codec.column("players", Player.FACING, FACING),
            "holding": Part(optional(record(thing, ["item"])), read, write),
        }

    def ingredients_parser(self) -> Parser:
        """Declare the ingredients of a soup, in any order."""
        names = self.ingredient_names
        listed = list_of(one_of(names, "ingredient"), 1, MAX_INGREDIENTS, "ingredients")
        return lambda value: sorted(listed(value), key=names.index)

    def thing_parsers(self) -> dict[str, Parser]:
        """Declare the keys of a thing."""
        names = dict.fromkeys([*self.ingredient_names, self.dish_name, self.plated_name, SOUP])
        return {
            "item": one_of(list(names), "item"),
            "ingredients": self.ingredients_parser(),
            "work": integer(0, MACHINE_WORK),
            "needs": integer(1, MACHINE_WORK),
            "preparation": one_of([*PREPARED.values()], "preparation"),
        }

    def soup_codec(self, numbers: Sequence[int], what: str) -> Codec:
        """Declare one of several soups, given their numbers."""
        listed = one_of([", ".join(self._names(number)) for number in numbers], what)
        read = self.ingredients_parser()

        def parser(value: Any) -> list[str]:
            names: list[str] = read(value)
            listed(", ".join(names))
            return names

        return Codec(parser, self._names, self._number)

    def _names(self, soup: int) -> list[str]:
        counts = zip(self.ingredient_names, counts_of(soup), strict=False)
        return [name for name, count in counts for _ in range(count)]

    def _number(self, names: Sequence[str]) -> int:
        return number_of([names.count(name) for name in self.ingredient_names])

    def _item(self, name: str) -> int:
        if name in self.ingredient_names:
            return FIRST_INGREDIENT + self.ingredient_names.index(name)
        return Item.DISH if name == self.dish_name else Item.SOUP

    def decode_thing(self, thing: Sequence[int], k: int, in_pot: bool, derived: bool = True) -> dict[str, Any] | None:
        """Return what is in a hand or a cell of layout ``k``, None for nothing; see ``Thing``.

        Args:
            thing: Its numbers.
            k: Number of the layout.
            in_pot: Whether the cell is a pot.
            derived: Whether to tell what follows from the rest, too.
        """
        tables, burn = self.compiled.tables, self.compiled.config.burn
        item, soup, tick = thing
        if item in (Item.NONE, Item.OPEN):
            return None
        if item == Item.DISH:
            return {"item": self.dish_name}
        if item != Item.SOUP:
            name = self.ingredient_names[item - FIRST_INGREDIENT]
            return {"item": name, **self._decode_work(item, int(tick), derived)}
        time = int(tables.times[k, soup])
        told = {"ingredients": self._names(soup), **self.timed(int(tick), time, in_pot, derived)}
        if burn is not None and in_pot and told.get("ready"):
            told["burns_in"] = time + burn - int(tick)
        return {"item": SOUP if in_pot else self.plated_name, **told}

    def pot_later(self, soup: Mapping[str, Any], k: int) -> dict[str, Any] | None:
        """Return what a pot of layout ``k`` holds a step later if nobody uses it; None if its soup burns."""
        tables, pot = self.compiled.tables, np.array(self._encode_thing(soup, k, True), np.int32)
        age_pot(pot, tables.times[k], tables.params)
        return self.decode_thing(pot.tolist(), k, in_pot=True)

    def _decode_work(self, item: int, work: int, derived: bool) -> dict[str, Any]:
        station = int(self.compiled.tables.prepare[item - FIRST_INGREDIENT])
        if station == 0:
            return {}
        told = {"needs": WORK[Terrain(station)], "preparation": PREPARED[Terrain(station)]}
        return {"work": work, **(told if derived else {})}

    def _encode_thing(self, thing: Mapping[str, Any] | None, k: int, in_pot: bool) -> list[int]:
        if thing is None:
            return [Item.NONE, 0, 0]
        item = self._item(thing["item"])
        if item != Item.SOUP:
            return [item, 0, thing.get("work", 0)]
        soup = self._number(thing.get("ingredients", []))
        time = int(self.compiled.tables.times[k, soup])
        tick = self.tick_of(thing, time, in_pot)
        if tick == time and "burns_in" in thing:
            tick += self.compiled.config.burn - thing["burns_in"]
        return [item, soup, tick]

    def object_part(self, thing: Mapping[str, Parser]) -> Part:
        """Declare what lies in the kitchen, given the keys of a thing.

        Writing the part raises a ValueError for a thing in a cell that cannot take it.
        """
        tables = self.compiled.tables
        position = self.position_codec()
        burn = self.compiled.config.burn

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            k, cells = rows["clock"][Clock.LAYOUT], rows["cells"]
            terrain = tables.terrain[k]
            cells[(terrain != Terrain.GATE) & (terrain != Terrain.BUTTON)] = 0
            for thing in value:
                x, y = thing["position"]
                in_pot = bool(terrain[y, x] == Terrain.POT)
                item, soup_name = self._item(thing["item"]), SOUP if in_pot else self.plated_name
                is_misnamed = item == Item.SOUP and thing["item"] != soup_name
                if is_misnamed or not can_lie(item, terrain[y, x], tables.prepare):
                    raise ValueError(f"{thing['item']} cannot lie at {[x, y]}: {self.where_things_lie}")
                if cells[y, x, Thing.ITEM] != Item.NONE:
                    raise ValueError(f"two objects lie at {[x, y]}")
                cells[y, x] = self._encode_thing(thing, k, in_pot)

        keys = {"position": position.parser, **thing}
        if burn is not None:
            keys["burns_in"] = integer(1, burn)
        parser = list_of(record(keys, ["position", "item"]), 0, tables.terrain[0].size, "objects")
        return Part(parser, self._objects, write)

    def _objects(self, rows: Rows) -> list[dict[str, Any]]:
        k = rows["clock"][Clock.LAYOUT]
        pots = self.compiled.tables.terrain[k] == Terrain.POT
        item_of = int(Thing.ITEM)
        lying = []
        for y, line in enumerate(rows["cells"]):
            for x, cell in enumerate(line):
                if cell[item_of] in EMPTY:  # most are, and policies read the scenes of many copies
                    continue
                thing = self.decode_thing(cell, k, bool(pots[y, x]), rows.derived)
                if thing is not None:
                    lying.append({"position": [x, y], **thing})
        return lying

    def check_things(self, scene: Scene) -> None:
        """Refuse soups without ingredients or with impossible times, and more work than an ingredient takes.

        Raises:
            ValueError: There is one.
        """
        k = self.layout_of(scene)
        for place, thing, in_pot in self._things(k, scene):
            item, soup, tick = self._encode_thing(thing, k, in_pot)
            if item == Item.SOUP:
                self._check_soup(place, thing["item"], soup, tick, k, in_pot)
            elif item >= FIRST_INGREDIENT:
                most = self._decode_work(item, 0, True).get("needs", 0)
                if tick > most:
                    raise ValueError(f"{place}: work on {thing['item']} is 0 to {most}, not {tick}")

    def _check_soup(self, place: str, name: str, soup: int, tick: int, k: int, in_pot: bool) -> None:
        if soup == 0:
            allowed = f"ingredients of a {name} are 1 to {MAX_INGREDIENTS} of {', '.join(self.ingredient_names)}"
            raise ValueError(f"{place}: {allowed}, not []")
        time = int(self.compiled.tables.times[k, soup])
        last = self.compiled.config.last_tick(time) if in_pot else time
        if tick > last or (tick < time and not in_pot):
            allowed = f"in a pot is -1 to {last}" if in_pot else f"outside a pot is {time}"
            raise ValueError(f"{place}: tick of a soup {allowed}, not {tick}")

    def _things(self, k: int, scene: Scene) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
        for seat, player in enumerate(scene["players"]):
            if player["holding"]:
                yield f"state.players[{seat}].holding", player["holding"], False
        for number, thing in enumerate(scene["objects"]):
            x, y = thing["position"]
            yield f"state.objects[{number}]", thing, bool(self.compiled.tables.terrain[k, y, x] == Terrain.POT)

    def _complete(self, state: State, i: int, scene: Scene) -> tuple[bool, bool]:
        clock = state.clock[i]
        clock[Clock.OVER] = clock[Clock.T] >= clock[Clock.LIMIT]
        return False, bool(clock[Clock.OVER])
