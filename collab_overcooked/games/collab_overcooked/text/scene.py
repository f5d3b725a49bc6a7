"""Scenes of Collab-Overcooked: the meaning of each key, and constraints between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Codec, Part, Rows
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import (
    Parser,
    SchemaError,
    boolean_or_bit,
    integer,
    list_of,
    mapping_of,
    one_of,
    optional,
    record,
    tuple_of,
)
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import MEDIUM, Macro

from ..engine.config import CollabOvercookedConfig
from ..engine.constants import (
    DISH,
    FORMER_REASONS,
    NOTHING,
    Access,
    Agent,
    Clock,
    Food,
    Group,
    MacroState,
    Param,
    Reason,
    Recipe,
    Row,
    Station,
    Status,
    Tile,
    Verb,
)
from ..engine.rules import status
from ..engine.state import ORDER_SLOTS, State, empty_tile, filled_counters


def _present_name(reason: Any) -> Any:
    """Return the name of a reason that scenes of version 1.0.0 may write by a former one."""
    return FORMER_REASONS.get(reason, reason) if isinstance(reason, str) else reason


class CollabOvercookedScenes(CompiledGame):
    """Scenes of a kitchen; ``counters`` are in order of placement, which ``placed`` numbers."""

    config: CollabOvercookedConfig

    def orders_codec(self, least: int = 0) -> Codec:
        """Code lists of at least so many orders."""
        items = self.compiled.names.items
        return codec.sequence(codec.names_of(items, "food", items[DISH + 1 :]), ORDER_SLOTS, "orders", least)

    def scene_parts(self) -> dict[str, Part]:
        names, tables = self.compiled.names, self.compiled.tables
        left_out: dict[str, Any] = {"known_to": (), "belief": codec.kept}  # a cook knows of it what concerns itself
        limit: dict[str, Any] = {} if tables.params[Param.SHOW_LIMIT] else {"known_to": ()}
        named = codec.members_of(Reason, "reason", lower=False)
        reasons = named._replace(parser=lambda name: named.parser(_present_name(name)))
        memory = {
            "still": codec.column("macro_state", Macro.STILL, codec.COUNT),
            "reason": codec.column("macro_state", MacroState.REASON, reasons),
        }
        stations = {name: int(s) for name, s in zip(names.places, tables.groups[:, 0], strict=True)}
        utensils = {
            name: codec.entry(self._utensil_part(name, stations[name]), stations[name])
            for name in names.places[Group.UTENSIL :]
        }
        return {
            "timestep": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION, **limit),
            "delivered": codec.column("clock", Clock.DELIVERED, codec.COUNT),
            "orders": codec.row("orders", self.orders_codec()),
            "agents": codec.by_entry([self._agent_part(level) for level in self.compiled.levels], "agents"),
            "counters": self._counters_part(),
            "utensils": codec.group(utensils)._replace(parser=mapping_of(self._utensil_parser(), utensils, "utensil")),
            "memory": codec.by_entry([codec.group(memory)] * len(self.compiled.levels), "agents")._replace(**left_out),
            "placed": self._placed_part()._replace(**left_out),
            "chance": codec.rng_state(),
        }

    def _position_parser(self) -> Parser:
        side = max(len(self.compiled.kitchen.grid), len(self.compiled.kitchen.grid[0]))
        return tuple_of([integer(0, side - 1)] * 2, "coordinates")

    def _thing_codec(self) -> Codec:
        items = self.compiled.names.items
        return Codec(
            record({"item": one_of(items, "item"), "plated": boolean_or_bit}, ["item"]),
            lambda pair: {"item": items[pair[0]], "plated": bool(pair[1])},
            lambda thing: [items.index(thing["item"]), thing.get("plated", False)],
        )

    def _agent_part(self, level: str) -> Part:
        names = self.compiled.names
        tables = self.compiled.tables
        position = self._position_parser()
        thing = self._thing_codec()

        def floor_parser(value: Any) -> list[int]:
            cell: list[int] = position(value)
            if tuple(cell) not in names.floor:
                raise SchemaError(f"{cell} is not on the floor")
            return cell

        cell = Codec(floor_parser, lambda k: list(names.floor[k]), lambda at: names.floor.index(tuple(at)))
        hand = Codec(
            optional(thing.parser),
            lambda pair: None if pair[0] == NOTHING else thing.decode(pair),
            lambda value: [NOTHING, 0] if value is None else thing.encode(value),
        )
        possible = self._running_actions() if level == MEDIUM else []
        running = codec.column(
            "macro_state", Macro.ACTION, codec.optional(codec.names_of(names.catalogue, "action", possible))
        )

        def write_running(rows: Rows, value: str | None) -> None:
            """A wait has all its time left, unless the timer says something else."""
            running.write(rows, value)
            verb, item = (
                (NOTHING, 0) if value is None else tables.catalogue[names.catalogue.index(value), [Row.VERB, Row.ITEM]]
            )
            rows["macro_state"][Macro.TIMER] = item if verb == Verb.WAIT else 0

        return codec.group(
            {
                "position": codec.column("agents", Agent.CELL, cell),
                "facing": codec.column("agents", Agent.FACING, codec.members_of(Direction, "facing")),
                "holding": codec.column("agents", slice(Agent.ITEM, Agent.PLATED + 1), hand),
                "action": running._replace(write=write_running),
                "timer": codec.span("macro_state", Macro.TIMER, -MAX_OPTION, self.compiled.kitchen.max_wait),
            }
        )

    def _counters_part(self) -> Part:
        names = self.compiled.names
        tables = self.compiled.tables
        thing = self._thing_codec()
        pair = slice(Tile.ITEM, Tile.PLATED + 1)

        def read(rows: Rows) -> list[dict[str, Any]]:
            tiles = rows["tiles"]
            return [
                {"position": self._position(s), **thing.decode(tiles[s][pair])} for s in filled_counters(tables, tiles)
            ]

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            tiles = rows["tiles"]
            tiles[counters] = empty_tile(tiles.shape[1])
            for number, counter in enumerate(value, start=1):
                s = names.tiles.get(tuple(counter["position"]))
                if s not in counters:
                    raise ValueError(f"counter position {counter['position']} is not a counter")
                if tiles[s, Tile.ITEM] != NOTHING:
                    raise ValueError(f"counter position {counter['position']} is listed twice")
                tiles[s, pair] = thing.encode(counter)
                tiles[s, Tile.PLACED] = number
            rows["clock"][Clock.PLACEMENTS] = len(value)

        counters = [s for s in tables.groups[Group.COUNTER].tolist() if s != NOTHING]
        fields = {"position": self._position_parser(), "item": one_of(names.items, "item"), "plated": boolean_or_bit}
        return Part(list_of(record(fields, ["position", "item"]), 0, len(counters), "counters"), read, write)

    def _placed_part(self) -> Part:
        tables, step = self.compiled.tables, codec.COUNT.parser

        def read(rows: Rows) -> dict[str, Any]:
            tiles = rows["tiles"]
            numbers = [tiles[s][Tile.PLACED] for s in filled_counters(tables, tiles)]
            return {"total": rows["clock"][Clock.PLACEMENTS], "counters": numbers}

        def write(rows: Rows, value: Mapping[str, Any]) -> None:
            filled = filled_counters(tables, rows["tiles"])
            if len(value["counters"]) == len(filled):
                rows["tiles"][filled, Tile.PLACED] = value["counters"]
                rows["clock"][Clock.PLACEMENTS] = value["total"]

        n_counters = sum(s != NOTHING for s in tables.groups[Group.COUNTER])
        fields = {"total": step, "counters": list_of(step, 0, n_counters, "counters")}
        return Part(record(fields, list(fields)), read, write)

    def _position(self, s: int) -> list[int]:
        position: list[int] = self.compiled.tables.stations[s, [Station.X, Station.Y]].tolist()
        return position

    def _utensil_part(self, name: str, s: int) -> Part:
        items, tables = self.compiled.names.items, self.compiled.tables

        def read(rows: Rows) -> dict[str, Any]:
            tile = rows["tiles"]
            product = tile[Tile.ITEM]
            contents = tile[Tile.CONTENT : Tile.CONTENT + tile[Tile.COUNT]]
            derived = {"status": Status(status(np.asarray(tile, np.int32))).name.lower()} if rows.derived else {}
            return {
                "position": self._position(s),
                **derived,
                "contents": [items[item] for item in contents],
                "product": None if product == NOTHING else items[product],
                "timer": tile[Tile.TIMER],
                "time": tile[Tile.TIME],
            }

        def write(rows: Rows, value: Mapping[str, Any]) -> None:
            contents = [items.index(item) for item in value.get("contents", ())]
            product = value.get("product")
            capacity, tile = tables.stations[s, Station.CAPACITY], rows["tiles"]
            if len(contents) > capacity:
                raise ValueError(f"{name} takes {capacity} items, not {len(contents)}: {value['contents']}")
            tile[:] = empty_tile(len(tile))
            if product is not None:
                tile[Tile.ITEM] = items.index(product)
                if tables.foods[tile[Tile.ITEM], Food.UTENSIL] != tables.stations[s, Station.UTENSIL]:
                    raise ValueError(f"{product} cannot be made in {name}")
                recipe = tables.recipes[tables.recipes[:, Recipe.PRODUCT] == tile[Tile.ITEM]][0]
                contents = contents or recipe[Recipe.INPUT : Recipe.INPUT + recipe[Recipe.COUNT]].tolist()
                tile[Tile.TIMER] = value.get("timer", 0)
                tile[Tile.TIME] = value.get("time", recipe[Recipe.TIME])
            tile[Tile.COUNT] = len(contents)
            tile[Tile.CONTENT : Tile.CONTENT + len(contents)] = contents

        return Part(self._utensil_parser(), read, write)

    def _utensil_parser(self) -> Parser:
        items = self.compiled.names.items
        parser = record(
            {
                "position": self._position_parser(),
                "status": one_of([status.name.lower() for status in Status], "status"),
                "contents": list_of(one_of(items, "item"), 0, MAX_OPTION, "items"),
                "product": optional(one_of(items[DISH + 1 :], "item")),
                "timer": integer(0, MAX_OPTION),
                "time": integer(0, MAX_OPTION),
            }
        )

        def check(value: Any) -> dict[str, Any]:
            utensil: dict[str, Any] = parser(value)
            if utensil.get("product") is not None and not utensil.get("contents"):
                utensil.pop("contents", None)  # those of the recipe
            return utensil

        return check

    def _running_actions(self) -> list[str]:
        texts = self.compiled.names.catalogue[: self.compiled.n_possible]
        return [
            text
            for text, row in zip(texts, self.compiled.tables.catalogue, strict=False)
            if row[Row.VERB] != Verb.CONTINUE
        ]

    def _check_scene(self, scene: dict[str, Any]) -> None:
        places = [agent["position"] for agent in scene["agents"]]
        for seat, place in enumerate(places):
            if place in places[:seat]:
                raise ValueError(f"agents {places.index(place)} and {seat} both stand at {place}")
        for seat, agent in enumerate(scene["agents"]):
            if agent["holding"]:
                self._check_plated(f"state.agents[{seat}].holding", agent["holding"])
        for k, counter in enumerate(scene["counters"]):
            self._check_plated(f"state.counters[{k}]", counter)
        placed = scene["placed"]["counters"]
        if placed != sorted(set(placed) - {0}) or max(placed, default=0) > scene["placed"]["total"]:
            raise ValueError(f"state.placed.counters must rise from 1 to at most the total, not {placed}")
        for name, utensil in scene["utensils"].items():
            self._check_utensil(name, utensil)

    def _check_plated(self, place: str, thing: Mapping[str, Any]) -> None:
        item, items = thing["item"], self.compiled.names.items
        if thing["plated"] and self.compiled.tables.foods[items.index(item), Food.UTENSIL] == NOTHING:
            why = "a dish cannot lie on a dish" if item == items[DISH] else "no utensil makes it"
            raise ValueError(f"{place}.plated must be false for {item}, not True: {why}")

    def _check_utensil(self, name: str, utensil: Mapping[str, Any]) -> None:
        product, timer = utensil["product"], utensil["timer"]
        if product is None:
            return  # the parser accepts nothing else: without a product, timer and time are 0
        recipe = self.compiled.kitchen.recipe_by_product.get(product)
        if recipe is None or sorted(utensil["contents"]) != sorted(recipe.inputs):
            raise ValueError(f"state.utensils.{name}.contents must be what makes {product}, not {utensil['contents']}")
        if utensil["time"] != recipe.time:
            raise ValueError(f"state.utensils.{name}.time must be {recipe.time} for {product}, not {utensil['time']}")
        if not 1 <= timer <= recipe.time:
            raise ValueError(f"state.utensils.{name}.timer must be an integer from 1 to {recipe.time}, not {timer}")

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        clock = state.clock[i]
        decided = bool(state.orders[i, 0] == NOTHING)
        late = bool(clock[Clock.T] >= clock[Clock.LIMIT])
        clock[Clock.OVER] = decided or late
        return decided, late and not decided

    def hidden_counters(self, seat: int) -> list[int]:
        """Return the counters whose contents a seat does not know, as indices of stations."""
        tables = self.compiled.tables
        if self.config.global_state:
            return []
        counters = tables.groups[Group.COUNTER].tolist()
        return [s for s in counters if s != NOTHING and tables.access[seat, s] == Access.NONE]

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace hidden state in every environment of a batch: counters that the seat cannot use become empty.

        Things on other counters are as old as their order says. Mutates: state.
        """
        tables = self.compiled.tables
        state.tiles[:, self.hidden_counters(seat)] = empty_tile(state.tiles.shape[2])
        others = np.arange(state.macro_state.shape[1]) != seat
        state.macro_state[:, others, Macro.STILL] = state.macro_state[:, others, MacroState.REASON] = 0
        if not tables.params[Param.SHOW_LIMIT]:
            state.clock[:, Clock.LIMIT] = MAX_OPTION
        for b in range(len(state.clock)):
            filled = filled_counters(tables, state.tiles[b])
            state.tiles[b, filled, Tile.PLACED] = np.arange(1, len(filled) + 1)
            state.clock[b, Clock.PLACEMENTS] = len(filled)

    @cached_property
    def _hidden_positions(self) -> list[list[list[int]]]:
        seats = range(len(self.compiled.kitchen.agents))
        return [[self._position(s) for s in self.hidden_counters(seat)] for seat in seats]

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        hidden, known = self._hidden_positions[seat], super().seat_scene(scene, seat)
        return {**known, "counters": [c for c in known["counters"] if c["position"] not in hidden]}
