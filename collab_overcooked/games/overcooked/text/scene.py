"""Scenes of Overcooked: the meaning of each key, and constraints between keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.scene_codec import Part, Rows
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import boolean_or_bit, integer, list_of, one_of, optional, record
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import MEDIUM, Macro

from ..engine.constants import (
    FIRST_INGREDIENT,
    FIRST_ROWS,
    FIRST_STATION,
    HAND_END,
    IDLE,
    INGREDIENTS,
    LAST_BELT,
    LAST_STATION,
    MACHINE_WORK,
    MAX_INGREDIENTS,
    MEMORY,
    NOTHING,
    PATIENCE,
    WORK,
    Action,
    Clock,
    DirectiveHistory,
    Item,
    LayoutSize,
    Player,
    Terrain,
    Thing,
)
from ..engine.rules import is_ready
from ..engine.spec import counts_of, number_of
from ..engine.state import State
from ..pool import PREPARED, KitchenPool

MAX_COUNTER = 10**9  # of what counts on for ever, such as the score
OBJECTS = {"onion": Item.ONION, "tomato": Item.TOMATO, "dish": Item.DISH, "soup": Item.SOUP}
COUNT, FACING = codec.integers(0, MAX_COUNTER), codec.members_of(Direction, "facing")

Scene = Mapping[str, Any]


def _running(directives: Sequence[str], steps: int) -> Part:
    """Declare a running directive; it has all its time left, unless the memory says something else."""
    known = codec.names_of(directives, "directive", directives[len(FIRST_ROWS) :])
    running = codec.column("macro_state", Macro.ACTION, codec.optional(known))

    def write(rows: Rows, value: str | None) -> None:
        running.write(rows, value)
        rows["macro_state"][Macro.TIMER] = 0 if value is None else steps

    return running._replace(write=write)


def _past(directives: Sequence[str], position: codec.Codec, cells: int) -> Part:
    chosen = codec.optional(codec.names_of(directives, "directive", directives[1:]), 0)
    place = slice(DirectiveHistory.X, DirectiveHistory.Y + 1)
    columns: dict[str, tuple[int | slice, codec.Codec]] = {
        "timer": (Macro.TIMER, codec.integers(-1, cells)),
        "still": (Macro.STILL, codec.integers(0, PATIENCE + 1)),
        "directive": (DirectiveHistory.DIRECTIVE, codec.names_of(directives, "directive")),
        "away": (DirectiveHistory.AWAY, codec.BOOLEAN),
        "move": (DirectiveHistory.MOVE, codec.members_of(Action, "move")),
        "position": (place, codec.optional(position, [NOTHING, NOTHING])),
        "facing": (DirectiveHistory.FACING, codec.optional(FACING)),
        "last": (
            slice(DirectiveHistory.LAST, DirectiveHistory.LAST + MEMORY),
            codec.vector([chosen] * MEMORY, "directives"),
        ),
        "failed": (
            slice(DirectiveHistory.FAILED, DirectiveHistory.FAILED + MEMORY),
            codec.vector([codec.BOOLEAN] * MEMORY, "booleans"),
        ),
    }
    parts = {key: codec.column("macro_state", *column) for key, column in columns.items()}
    return codec.group(parts, tuple(key for key in parts if key != "failed"))


def _sorted_ingredients(value: Any) -> list[str]:
    parser = list_of(one_of(INGREDIENTS, "ingredient"), 1, MAX_INGREDIENTS, "ingredients")
    return sorted(parser(value))


THING = {
    "item": one_of(list(OBJECTS), "item"),
    "ingredients": _sorted_ingredients,
    "tick": integer(IDLE, MAX_COUNTER),
    "time": COUNT.parser,
    "ready": boolean_or_bit,
    "burns_in": COUNT.parser,
    "work": integer(0, MACHINE_WORK),
    "needs": integer(1, MACHINE_WORK),
    "preparation": one_of([*PREPARED.values()], "preparation"),
}


def decode_work(item: int, work: int, prepare: np.ndarray, derived: bool) -> dict[str, Any]:
    """Decode the work done on an ingredient, and how it is prepared; empty where it needs no preparation."""
    station = prepare[item - FIRST_INGREDIENT] if item >= FIRST_INGREDIENT else 0
    if station == 0:
        return {}
    told = {"needs": WORK[Terrain(station)], "preparation": PREPARED[Terrain(station)]}
    return {"work": int(work), **(told if derived else {})}


def check_work(place: str, thing: Mapping[str, Any], item: int, prepare: np.ndarray) -> None:
    """Refuse more work on an ingredient than its preparation takes.

    Raises:
        ValueError: The ingredient has more.
    """
    station = prepare[item - FIRST_INGREDIENT] if item >= FIRST_INGREDIENT else 0
    most = WORK[Terrain(station)] if station else 0
    if thing.get("work", 0) > most:
        raise ValueError(f"{place}: work on {thing['item']} is 0 to {most}, not {thing['work']}")


def names_of(soup: int) -> list[str]:
    """Return the ingredients of a soup, given by its number, by name."""
    return [name for name, count in zip(INGREDIENTS, counts_of(soup), strict=False) for _ in range(count)]


def _decode_thing(thing: Sequence[int], times: Any, prepare: Any, derived: bool) -> dict[str, Any] | None:
    item, soup, tick = thing
    if item in (Item.NONE, Item.OPEN):
        return None
    if item != Item.SOUP:
        return {"item": Item(item).name.lower(), **decode_work(item, tick, prepare, derived)}
    return {
        "item": "soup",
        "ingredients": names_of(soup),
        "tick": tick,
        "time": int(times[soup]),
        **({"ready": bool(is_ready(np.asarray(thing, np.int32), times))} if derived else {}),
    }


def _encode_thing(thing: Mapping[str, Any] | None, times: Any) -> list[int]:
    if thing is None:
        return [Item.NONE, 0, 0]
    if thing["item"] != "soup":
        return [OBJECTS[thing["item"]], 0, thing.get("work", 0)]
    ingredients = thing.get("ingredients", [])
    soup = number_of([ingredients.count(name) for name in INGREDIENTS])
    return [Item.SOUP, soup, thing.get("tick", times[soup])]


def _check_soup(place: str, thing: Mapping[str, Any], in_pot: bool, burn: int | None) -> None:
    if thing["item"] != "soup":
        return
    if not thing["ingredients"]:
        allowed = f"ingredients of a soup are 1 to {MAX_INGREDIENTS} of {', '.join(INGREDIENTS)}"
        raise ValueError(f"{place}: {allowed}, not []")
    tick, time = thing["tick"], thing["time"]
    last = time + burn - 1 if burn is not None and in_pot else time
    if tick > last or (tick < time and not in_pot):
        where = "in a pot" if in_pot else "outside a pot"
        raise ValueError(f"{place}: tick of a soup {where} is {f'{IDLE} to {last}' if in_pot else time}, not {tick}")


def can_lie(item: int, kind: int, prepare: np.ndarray) -> bool:
    """Return whether a thing may lie on a kind of cell: anything on counters, soup in pots, its own at a station."""
    if FIRST_STATION <= kind <= LAST_STATION:
        return bool(item >= FIRST_INGREDIENT and prepare[item - FIRST_INGREDIENT] == kind)
    is_counter = Terrain.COUNTER <= kind <= LAST_BELT  # no kernel, as scenes are checked before any runs
    return bool(is_counter or (kind == Terrain.POT and item == Item.SOUP))


def check_places(players: Sequence[Mapping[str, Any]], can_stand: np.ndarray, where: str) -> None:
    """Refuse players that stand where none can, or where another one stands."""
    places = [player["position"] for player in players]
    for seat, (x, y) in enumerate(places):
        if not can_stand[y, x]:
            raise ValueError(f"state.players[{seat}]: no player can stand at {[x, y]}; players stand on {where}")
        if [x, y] in places[:seat]:
            raise ValueError(f"players {places.index([x, y])} and {seat} both stand at {[x, y]}")


class OvercookedScenes(KitchenPool):
    """Scenes of a pool of layouts.

    Objects on counters and in pots, and gates, are in reading order. A soup has ``ingredients``, ``tick`` (-1 until it
    cooks) and ``time``, its steps of cooking.
    """

    _directives: tuple[str, ...]

    def scene_parts(self) -> dict[str, Part]:
        tables, medium = self.compiled.tables, [level == MEDIUM for level in self.compiled.levels]
        height, width = tables.terrain.shape[1:]
        position = codec.vector([codec.integers(0, width - 1), codec.integers(0, height - 1)], "coordinates")
        player = {
            "position": codec.column("players", slice(Player.X, Player.Y + 1), position),
            "facing": codec.column("players", Player.FACING, FACING),
            "holding": self._holding(),
        }
        directed = codec.group(player | {"directive": _running(self._directives, height * width)})
        scene = {
            "timestep": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "served": codec.column("clock", Clock.SERVED, COUNT),
            "score": codec.span("clock", Clock.SCORE, -MAX_COUNTER, MAX_COUNTER),
            "layout": codec.column("clock", Clock.LAYOUT, codec.names_of(self.compiled.names, "layout")),
            "players": codec.by_entry([directed if macros else codec.group(player) for macros in medium], "players"),
            "objects": self._objects(position),
            "gates": self._gates(position),
            "chance": codec.rng_state(),
        }
        scene |= self.change_parts() | self.order_parts()
        if self.compiled.config.order_time is not None:
            scene["order"] = codec.column("clock", Clock.RECIPE, self._order())
        if any(medium):
            past, none = (
                _past(self._directives, position, height * width),
                Part(optional(record({})), lambda rows: None),
            )
            memory = codec.by_entry([past if macros else none for macros in medium], "players")
            scene["memory"] = memory._replace(
                known_to=(), belief=codec.kept
            )  # no secret, but nothing to be shown either
        return scene

    def _order(self) -> codec.Codec:
        tables = self.compiled.tables
        known = sorted({soup for row in tables.recipes.tolist() for soup in row if soup})
        listed = one_of([", ".join(names_of(soup)) for soup in known], "order")

        def parser(value: Any) -> list[str]:
            names = _sorted_ingredients(value)
            listed(", ".join(names))
            return names

        return codec.Codec(parser, names_of, lambda names: number_of([names.count(name) for name in INGREDIENTS]))

    def _holding(self) -> Part:
        times, prepare = self.compiled.tables.times, self.compiled.tables.prepare
        hand = slice(Player.HAND, HAND_END)

        def read(rows: Rows) -> dict[str, Any] | None:
            return _decode_thing(rows["players"][hand], times[rows.env["clock"][Clock.LAYOUT]], prepare, rows.derived)

        def write(rows: Rows, value: Mapping[str, Any] | None) -> None:
            rows["players"][hand] = _encode_thing(value, times[rows.env["clock"][Clock.LAYOUT]])

        return Part(optional(record(THING, ["item"])), read, write)

    def _objects(self, position: codec.Codec) -> Part:
        tables, burn = self.compiled.tables, self.compiled.config.burn

        def read(rows: Rows) -> list[dict[str, Any]]:
            k = rows["clock"][Clock.LAYOUT]
            lying = []
            for y, line in enumerate(rows["cells"]):
                for x, cell in enumerate(line):
                    thing = _decode_thing(cell, tables.times[k], tables.prepare, rows.derived)
                    if thing is None:
                        continue
                    if burn is not None and thing.get("ready") and tables.terrain[k, y, x] == Terrain.POT:
                        thing["burns_in"] = thing["time"] + burn - thing["tick"]
                    lying.append({"position": [x, y], **thing})
            return lying

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            k, cells = rows["clock"][Clock.LAYOUT], rows["cells"]
            terrain = tables.terrain[k]
            cells[terrain != Terrain.GATE] = 0
            for thing in value:
                x, y = thing["position"]
                if not can_lie(OBJECTS[thing["item"]], terrain[y, x], tables.prepare):
                    raise ValueError(
                        f"{thing['item']} cannot lie at {[x, y]}: counters take anything, pots soup, other stations "
                        "what they prepare"
                    )
                if cells[y, x, Thing.ITEM] != Item.NONE:
                    raise ValueError(f"two objects lie at {[x, y]}")
                cells[y, x] = _encode_thing(thing, tables.times[k])

        parser = record({"position": position.parser, **THING}, ["position", "item"])
        return Part(list_of(parser, 0, tables.terrain[0].size, "objects"), read, write)

    def _gates(self, position: codec.Codec) -> Part:
        tables = self.compiled.tables

        def read(rows: Rows) -> list[dict[str, Any]]:
            frame = tables.frames[k := rows["clock"][Clock.LAYOUT]]
            gates = []
            for x, y in tables.gates[k, : frame[LayoutSize.GATES]].tolist():
                item, _, counter = rows["cells"][y][x]
                limit = int(frame[LayoutSize.GATE_LIMIT])
                gates.append({"position": [x, y], "open": item == Item.OPEN, "counter": counter, "limit": limit})
            return gates

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            for gate in value:
                x, y = gate["position"]
                if tables.terrain[rows["clock"][Clock.LAYOUT], y, x] != Terrain.GATE:
                    raise ValueError(f"there is no gate at {[x, y]}")
                rows["cells"][y, x] = Item.OPEN if gate.get("open") else Item.NONE, 0, gate.get("counter", 0)

        gate = {"position": position.parser, "open": boolean_or_bit, "counter": COUNT.parser, "limit": COUNT.parser}
        return Part(list_of(record(gate, ["position"]), 0, tables.terrain[0].size, "gates"), read, write)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        k = self.compiled.names.index(scene["layout"])
        for k_gate, gate in enumerate(scene["gates"]):
            if gate["counter"] > (gate["limit"] if gate["open"] else 0):
                allowed = f"counter of an open gate is 0 to {gate['limit']}, of a closed one 0"
                raise ValueError(f"state.gates[{k_gate}]: {allowed}, not {gate['counter']}")
        for place, thing, in_pot in self._things(k, scene):
            _check_soup(place, thing, in_pot, self.compiled.config.burn)
            check_work(place, thing, OBJECTS[thing["item"]], self.compiled.tables.prepare)
        can_stand = self.compiled.tables.floor[k] != NOTHING
        for gate in scene["gates"]:
            x, y = gate["position"]
            can_stand[y, x] = gate["open"]
        check_places(scene["players"], can_stand, "floor or in open gates")

    def _things(self, k: int, scene: Scene) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
        for seat, player in enumerate(scene["players"]):
            if player["holding"]:
                yield f"state.players[{seat}].holding", player["holding"], False
        for number, thing in enumerate(scene["objects"]):
            x, y = thing["position"]
            yield f"state.objects[{number}]", thing, self.compiled.tables.terrain[k, y, x] == Terrain.POT

    def _complete(self, state: State, i: int, scene: Scene) -> tuple[bool, bool]:
        clock = state.clock[i]
        clock[Clock.OVER] = clock[Clock.T] >= clock[Clock.LIMIT]
        return False, bool(clock[Clock.OVER])
