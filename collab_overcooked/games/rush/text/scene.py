"""Scenes of Rush: what each key says, and what must hold between keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.scene_codec import Part, Rows
from collab_overcooked.games.rush.engine.compile import Compiled
from collab_overcooked.games.rush.engine.constants import Area, Clock, Kind, Order
from collab_overcooked.games.rush.engine.rules import MAX_SHAPED, count_orders
from collab_overcooked.games.rush.engine.spec import EpisodeSpec, Recipe
from collab_overcooked.games.rush.engine.state import State
from collab_overcooked.io.checks import index_of, near_matches
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import list_of, mapping_of, one_of, record


def scene_parts(compiled: Compiled) -> dict[str, Part]:
    """Declare the scenes of a scenario.

    Episodes and turns count from 0, ``turns_left`` the present one, too; ``limit`` counts slots. An order has what was
    collected for it, how often it was ``cooked`` and the tenths of shaped reward that it has paid, ``rewarded``.
    """
    names, count, workers = compiled.names, codec.COUNT, compiled.workers

    def turns_left(rows: Rows) -> int:
        return -(-(rows["clock"][Clock.LIMIT] - rows["clock"][Clock.T]) // workers)

    order = {
        **codec.columns("orders", codec.BOOLEAN, ingredients=Order.INGREDIENTS, spices=Order.SPICES),
        "cooked": codec.column("orders", Order.COOKED, count),
        **codec.columns("orders", codec.BOOLEAN, finished=Order.FINISHED, ruined=Order.RUINED),
        "rewarded": codec.span("orders", Order.SHAPED, 0, MAX_SHAPED),
    }
    return {
        "scenario": codec.constant(one_of([names.scenario], "scenario"), names.scenario),
        "episode": codec.read_only(codec.span("clock", Clock.EPISODE, 0, len(names.orders) - 1)),
        **codec.columns("clock", count, slot=Clock.T, turn=Clock.TURN),
        "worker": codec.span("clock", Clock.WORKER, 0, workers - 1),
        "seat": codec.span("clock", Clock.SEAT, 0, compiled.n_agents - 1),
        "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
        "turns_left": Part(count.form, turns_left),
        "agents": codec.constant(count.form, compiled.n_agents),
        "workers": codec.constant(count.form, workers),
        "over": codec.read_only(codec.column("clock", Clock.OVER, codec.BOOLEAN), derived=True),
        "orders": _orders(compiled, order),
        "areas": _areas(compiled),
    }


def _orders(compiled: Compiled, parts: Mapping[str, Part]) -> Part:
    names, order = compiled.names, codec.group(parts)

    def read(rows: Rows) -> list[dict[str, Any]]:
        named = enumerate(names.orders[rows["clock"][Clock.EPISODE]])
        return [{"name": name, **order.read(rows.entry(k))} for k, name in named]

    def write(rows: Rows, value: Sequence[dict[str, Any]]) -> None:
        episode = rows["clock"][Clock.EPISODE]
        for entry in value:
            k = index_of("order", entry["name"], names.orders[episode])
            order.write(rows.entry(k), entry)
            if "rewarded" not in entry:
                recipe = compiled.scenario.episodes[episode].recipes[entry["name"]]
                rows["orders"][k, Order.SHAPED] = _shaped_so_far(order.read(rows.entry(k)), recipe)

    known = list(dict.fromkeys(name for episode in names.orders for name in episode))
    form = record({"name": one_of(known, "order"), **{key: part.form for key, part in parts.items()}}, ["name"])
    return Part(list_of(form, 0, compiled.n_orders, "orders"), read, write)


def _areas(compiled: Compiled) -> Part:
    names, count, areas = compiled.names, codec.COUNT.form, compiled.tables.areas
    n_ingredients, n_goods = len(names.ingredients), len(names.goods)
    shelves = {Kind.PANTRY: range(n_ingredients), Kind.SPICEBAG: range(n_ingredients, n_goods)}

    def read(rows: Rows) -> list[dict[str, Any]]:
        episode = rows["clock"][Clock.EPISODE]
        return [
            {
                "id": number,
                "kind": Kind(kind).name.lower(),
                "stock": {names.goods[k]: stock[k] for k in shelves.get(kind, ())},
                "spaces": left,
                "spaces_per_turn": spaces,
            }
            for number, (kind, spaces), stock, left in zip(
                names.areas[episode], areas[episode].tolist(), rows["stock"], rows["spaces"], strict=False
            )
        ]

    def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
        episode = rows["clock"][Clock.EPISODE]
        for area in value:
            at = index_of("area", area["id"], names.areas[episode])
            kind = Kind(areas[episode, at, Area.KIND])
            shelf = {names.goods[k]: k for k in shelves.get(kind, ())}
            for good, number in area.get("stock", {}).items():
                if good not in shelf:
                    raise ValueError(near_matches(f"good of the {kind.name.lower()}", good, shelf))
                rows["stock"][at, shelf[good]] = number
            rows["spaces"][at] = area.get("spaces", rows["spaces"][at])

    fields = {
        "id": one_of(list(dict.fromkeys(number for episode in names.areas for number in episode)), "area"),
        "kind": one_of([kind.name.lower() for kind in Kind][1:], "kind"),
        "stock": mapping_of(count, names.goods, "good"),
        **dict.fromkeys(("spaces", "spaces_per_turn"), count),
    }
    return Part(list_of(record(fields, ["id"]), 0, compiled.n_areas, "areas"), read, write)


def settle(compiled: Compiled, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Count the slots of a written scene, and take what orders have collected from the stock if no areas are given."""
    clock, tables = state.clock[i], compiled.tables
    clock[Clock.T] = clock[Clock.TURN] * compiled.workers + clock[Clock.WORKER]
    if "areas" not in scene:
        needs, n_ingredients = tables.needs[clock[Clock.EPISODE]], len(compiled.names.ingredients)
        _take_collected(state.orders[i], state.stock[i], needs, n_ingredients)


def complete(tables: Any, state: State, i: int) -> tuple[bool, bool]:
    """Count the decided orders of environment ``i``.

    Returns:
        Whether all orders are decided, and, if not, whether no slot is left.
    """
    clock = state.clock[i]
    clock[Clock.FINISHED] = state.orders[i, :, Order.FINISHED].sum()
    clock[Clock.RUINED] = state.orders[i, :, Order.RUINED].sum()
    decided = bool(clock[Clock.FINISHED] + clock[Clock.RUINED] == count_orders(tables.dishes[clock[Clock.EPISODE]]))
    clock[Clock.OVER] = decided or clock[Clock.T] >= clock[Clock.LIMIT]
    return decided, bool(clock[Clock.OVER]) and not decided


def _take_collected(orders: np.ndarray, stock: np.ndarray, needs: np.ndarray, n_ingredients: int) -> None:
    goods = slice(0, n_ingredients), slice(n_ingredients, None)
    for order, need in zip(orders, needs, strict=True):
        for column, part in zip((Order.INGREDIENTS, Order.SPICES), goods, strict=True):
            if order[column] and need[part].any():
                shelf = next((shelf for shelf in stock if (shelf[part] >= need[part]).all()), stock[0])
                shelf[part] -= need[part]  # below 0 is refused later


def check_scene(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to."""
    episode = compiled.scenario.episodes[scene["episode"]]
    for k, order in enumerate(scene["orders"]):
        _check_order(f"state.orders[{k}]", order, episode.recipes[order["name"]])
    for k, (area, built) in enumerate(zip(scene["areas"], episode.areas, strict=True)):
        place = f"state.areas[{k}]"
        if area["spaces"] > built.spaces:
            raise ValueError(f"{place}.spaces must be an integer from 0 to {built.spaces}, not {area['spaces']}")
        for good, count in area["stock"].items():
            if not 0 <= count <= built.stock.get(good, 0):
                most = built.stock.get(good, 0)
                raise ValueError(f"{place}.stock.{good} must be an integer from 0 to {most}, not {count}")
    _check_stock(episode, scene)


def _check_order(place: str, order: Mapping[str, Any], recipe: Recipe) -> None:
    if order["finished"] and order["ruined"]:
        raise ValueError(f"{place}: order {order['name']} is both finished and ruined; it can only be one of them")
    if not recipe.spices and not order["spices"]:
        raise ValueError(f"{place}.spices must be true, not False: {order['name']} needs none")
    most = recipe.cook_time if order["ingredients"] else 0
    least = most + 1 if order["ruined"] else 0
    most += order["ruined"]
    if not least <= order["cooked"] <= most:
        now = "ruined" if order["ruined"] else "not ruined"
        allowed = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"{place}.cooked of an order that is {now} must be {allowed}, not {order['cooked']}")
    done = order["ingredients"] and order["spices"] and order["cooked"] >= recipe.cook_time
    if order["ruined"] and done:
        raise ValueError(f"{place}.ruined must be false, not True: the order was finished before")
    if order["finished"] != (done and not order["ruined"]):
        raise ValueError(f"{place}.finished must be {str(done).lower()} for such an order, not {order['finished']}")
    paid = _shaped_so_far(order, recipe)
    if order["rewarded"] != paid:
        raise ValueError(f"{place}.rewarded must be {paid} for such an order, not {order['rewarded']}")


def _shaped_so_far(order: Mapping[str, Any], recipe: Recipe) -> int:
    steps = order["ingredients"] + (order["spices"] and bool(recipe.spices)) + order["cooked"] - order["ruined"]
    return min(steps, MAX_SHAPED)


def _check_stock(episode: EpisodeSpec, scene: Mapping[str, Any]) -> None:
    taken: dict[str, int] = {}
    for good, count in _taken(episode, scene):
        taken[good] = taken.get(good, 0) + count
    for good in {good: None for area in episode.areas for good in area.stock} | taken:
        first = sum(area.stock.get(good, 0) for area in episode.areas)
        left = sum(area["stock"].get(good, 0) for area in scene["areas"])
        if first - left != taken.get(good, 0):
            raise ValueError(
                f"state.areas: stock of {good} is {left} in all, but {first - taken.get(good, 0)} must be left of "
                f"{first}, as orders have collected {taken.get(good, 0)}"
            )


def _taken(episode: EpisodeSpec, scene: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for order in scene["orders"]:
        recipe = episode.recipes[order["name"]]
        yield from recipe.ingredients.items() if order["ingredients"] else ()
        yield from recipe.spices.items() if order["spices"] else ()
