"""Scenes of Collab-Overcooked: what each key says, and what must hold between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.scene_codec import Codec, Part, Rows
from collab_overcooked.games.collab_overcooked.engine.compile import Compiled
from collab_overcooked.games.collab_overcooked.engine.constants import (
    DISH,
    NOTHING,
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
from collab_overcooked.games.collab_overcooked.engine.rules import status
from collab_overcooked.games.collab_overcooked.engine.state import ORDER_SLOTS, empty_tile, filled_counters
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import (
    Form,
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
from collab_overcooked.kernels.paths import UNREACHABLE


def orders_codec(compiled: Compiled, least: int = 0) -> Codec:
    """Code lists of at least so many orders."""
    items = compiled.names.items
    return codec.sequence(codec.names_of(items, "food", items[DISH + 1 :]), ORDER_SLOTS, "orders", least)


def scene_parts(compiled: Compiled) -> dict[str, Part]:
    """Declare the scenes of a kitchen; ``counters`` are in order of placement, which ``placed`` numbers."""
    names, tables = compiled.names, compiled.tables
    left_out: dict[str, Any] = {"known_to": (), "belief": codec.kept}  # a cook knows of it what concerns itself
    limit: dict[str, Any] = {} if tables.params[Param.SHOW_LIMIT] else {"known_to": ()}
    memory = {
        "still": codec.column("macro_state", Macro.STILL, codec.COUNT),
        "reason": codec.column("macro_state", MacroState.REASON, codec.members_of(Reason, "reason", lower=False)),
    }
    stations = {name: int(s) for name, s in zip(names.places, tables.groups[:, 0], strict=True)}
    utensils = {
        name: codec.entry(_utensil(compiled, name, stations[name]), stations[name])
        for name in names.places[Group.UTENSIL :]
    }
    return {
        "timestep": codec.column("clock", Clock.T, codec.COUNT),
        "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION, **limit),
        "delivered": codec.column("clock", Clock.DELIVERED, codec.COUNT),
        "orders": codec.row("orders", orders_codec(compiled)),
        "agents": codec.by_entry([_agent(compiled, level) for level in compiled.levels], "agents"),
        "counters": _counters(compiled),
        "utensils": codec.group(utensils)._replace(form=mapping_of(_utensil_form(compiled), utensils, "utensil")),
        "memory": codec.by_entry([codec.group(memory)] * len(compiled.levels), "agents")._replace(**left_out),
        "placed": _placed(compiled)._replace(**left_out),
        "chance": codec.rng_state(),
    }


def _position_form(compiled: Compiled) -> Form:
    side = max(len(compiled.kitchen.grid), len(compiled.kitchen.grid[0]))
    return tuple_of([integer(0, side - 1)] * 2, "coordinates")


def _thing_codec(compiled: Compiled) -> Codec:
    items = compiled.names.items
    return Codec(
        record({"item": one_of(items, "item"), "plated": boolean_or_bit}, ["item"]),
        lambda pair: {"item": items[pair[0]], "plated": bool(pair[1])},
        lambda thing: [items.index(thing["item"]), thing.get("plated", False)],
    )


def _agent(compiled: Compiled, level: str) -> Part:
    names, tables, position = compiled.names, compiled.tables, _position_form(compiled)
    thing = _thing_codec(compiled)

    def floor_form(value: Any) -> list[int]:
        cell: list[int] = position(value)
        if tuple(cell) not in names.floor:
            raise SchemaError(f"{cell} is not on the floor")
        return cell

    cell = Codec(floor_form, lambda k: list(names.floor[k]), lambda at: names.floor.index(tuple(at)))
    hand = Codec(
        optional(thing.form),
        lambda pair: None if pair[0] == NOTHING else thing.decode(pair),
        lambda value: [NOTHING, 0] if value is None else thing.encode(value),
    )
    possible = _running_actions(compiled) if level == MEDIUM else []
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
            "timer": codec.span("macro_state", Macro.TIMER, -MAX_OPTION, compiled.kitchen.max_wait),
        }
    )


def _counters(compiled: Compiled) -> Part:
    names, tables, thing = compiled.names, compiled.tables, _thing_codec(compiled)
    pair = slice(Tile.ITEM, Tile.PLATED + 1)

    def read(rows: Rows) -> list[dict[str, Any]]:
        tiles = rows["tiles"]
        return [
            {"position": _position(compiled, s), **thing.decode(tiles[s][pair])} for s in filled_counters(tables, tiles)
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
    fields = {"position": _position_form(compiled), "item": one_of(names.items, "item"), "plated": boolean_or_bit}
    return Part(list_of(record(fields, ["position", "item"]), 0, len(counters), "counters"), read, write)


def _placed(compiled: Compiled) -> Part:
    tables, step = compiled.tables, codec.COUNT.form

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


def _position(compiled: Compiled, s: int) -> list[int]:
    position: list[int] = compiled.tables.stations[s, [Station.X, Station.Y]].tolist()
    return position


def _utensil(compiled: Compiled, name: str, s: int) -> Part:
    items, tables = compiled.names.items, compiled.tables

    def read(rows: Rows) -> dict[str, Any]:
        tile = rows["tiles"]
        product, contents = tile[Tile.ITEM], tile[Tile.CONTENT : Tile.CONTENT + tile[Tile.COUNT]]
        derived = {"status": Status(status(np.asarray(tile, np.int32))).name.lower()} if rows.derived else {}
        return {
            "position": _position(compiled, s),
            **derived,
            "contents": [items[item] for item in contents],
            "product": None if product == NOTHING else items[product],
            "timer": tile[Tile.TIMER],
            "time": tile[Tile.TIME],
        }

    def write(rows: Rows, value: Mapping[str, Any]) -> None:
        contents, product = [items.index(item) for item in value.get("contents", ())], value.get("product")
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
            tile[Tile.TIMER], tile[Tile.TIME] = value.get("timer", 0), value.get("time", recipe[Recipe.TIME])
        tile[Tile.COUNT] = len(contents)
        tile[Tile.CONTENT : Tile.CONTENT + len(contents)] = contents

    return Part(_utensil_form(compiled), read, write)


def _utensil_form(compiled: Compiled) -> Form:
    items = compiled.names.items
    form = record(
        {
            "position": _position_form(compiled),
            "status": one_of([status.name.lower() for status in Status], "status"),
            "contents": list_of(one_of(items, "item"), 0, MAX_OPTION, "items"),
            "product": optional(one_of(items[DISH + 1 :], "item")),
            "timer": integer(0, MAX_OPTION),
            "time": integer(0, MAX_OPTION),
        }
    )

    def check(value: Any) -> dict[str, Any]:
        utensil: dict[str, Any] = form(value)
        if utensil.get("product") is not None and not utensil.get("contents"):
            utensil.pop("contents", None)  # those of the recipe
        return utensil

    return check


def _running_actions(compiled: Compiled) -> list[str]:
    texts = compiled.names.catalogue[: compiled.n_possible]
    return [text for text, row in zip(texts, compiled.tables.catalogue, strict=False) if row[Row.VERB] != Verb.CONTINUE]


def check_scene(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to."""
    places = [agent["position"] for agent in scene["agents"]]
    for seat, place in enumerate(places):
        if place in places[:seat]:
            raise ValueError(f"agents {places.index(place)} and {seat} both stand at {place}")
    for seat, (agent, memory) in enumerate(zip(scene["agents"], scene["memory"], strict=True)):
        _check_position(compiled, seat, agent["position"])
        if agent["holding"]:
            _check_plated(compiled, f"state.agents[{seat}].holding", agent["holding"])
        _check_action(compiled, seat, agent, memory, scene["timestep"])
    for k, counter in enumerate(scene["counters"]):
        _check_plated(compiled, f"state.counters[{k}]", counter)
    placed = scene["placed"]["counters"]
    if placed != sorted(set(placed) - {0}) or max(placed, default=0) > scene["placed"]["total"]:
        raise ValueError(f"state.placed.counters must rise from 1 to at most the total, not {placed}")
    for name, utensil in scene["utensils"].items():
        _check_utensil(compiled, name, utensil)


def _check_position(compiled: Compiled, seat: int, position: list[int]) -> None:
    tables, cell = compiled.tables, compiled.names.floor.index((position[0], position[1]))
    start = 4 * tables.starts[seat, 0] + tables.starts[seat, 1]
    if (tables.ways[0, start, 4 * cell : 4 * cell + 4] == UNREACHABLE).all():
        raise ValueError(f"state.agents[{seat}].position must be in reach of the agent's start, not {position}")


def _check_plated(compiled: Compiled, place: str, thing: Mapping[str, Any]) -> None:
    is_product = compiled.tables.foods[compiled.names.items.index(thing["item"]), Food.UTENSIL] != NOTHING
    if thing["plated"] and not is_product:
        why = "a dish cannot lie on a dish" if thing["item"] == compiled.names.items[DISH] else "no utensil makes it"
        raise ValueError(f"{place}.plated must be false for {thing['item']}, not True: {why}")


def _check_action(
    compiled: Compiled, seat: int, agent: Mapping[str, Any], memory: Mapping[str, Any], timestep: int
) -> None:
    action, timer, still = agent["action"], agent["timer"], memory["still"]
    least, most, longest = -timestep, compiled.kitchen.max_wait, timestep
    if action is not None:
        row = compiled.tables.catalogue[compiled.names.catalogue.index(action)]
        is_wait = row[Row.VERB] == Verb.WAIT
        least, most = (1, int(row[Row.ITEM])) if is_wait else (least, 0)
        patience = int(compiled.tables.params[Param.STUCK])
        longest = longest if is_wait or patience == 0 else min(longest, patience - 1)
    if not least <= timer <= most:
        raise ValueError(f"state.agents[{seat}].timer must be an integer from {least} to {most}, not {timer}")
    if still > longest:
        raise ValueError(f"state.memory[{seat}].still must be an integer from 0 to {longest}, not {still}")


def _check_utensil(compiled: Compiled, name: str, utensil: Mapping[str, Any]) -> None:
    product, timer = utensil["product"], utensil["timer"]
    if product is None:
        return  # the form leaves nothing else to say: without a product, timer and time are 0
    recipe = compiled.kitchen.recipe_of(product)
    if recipe is None or sorted(utensil["contents"]) != sorted(recipe.inputs):
        raise ValueError(f"state.utensils.{name}.contents must be what makes {product}, not {utensil['contents']}")
    if utensil["time"] != recipe.time:
        raise ValueError(f"state.utensils.{name}.time must be {recipe.time} for {product}, not {utensil['time']}")
    if not 1 <= timer <= recipe.time:
        raise ValueError(f"state.utensils.{name}.timer must be an integer from 1 to {recipe.time}, not {timer}")
