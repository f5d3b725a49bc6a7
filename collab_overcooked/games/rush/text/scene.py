"""Scenes of Rush: the meaning of each key, and constraints between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Part, Rows
from collab_overcooked.io.checks import index_of, near_matches
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import list_of, mapping_of, one_of, record

from ..engine.compile import Compiled
from ..engine.constants import Clock, Kind, Order, Param
from ..engine.rules import MAX_SHAPED, count_orders
from ..engine.spec import Recipe, Scenario
from ..engine.state import State


class RushScene(CompiledGame):
    """Scenes of a scenario."""

    compiled: Compiled
    scenario: Scenario

    def scene_parts(self) -> dict[str, Part]:
        """Declare the keys of scenes.

        Episodes and turns count from 0, ``turns_left`` the present one, too; ``limit`` counts slots. An order has what
        was collected for it, how often it was ``cooked`` and the tenths of shaped reward that it paid, ``rewarded``.
        """
        scenario, count = self.scenario, codec.COUNT
        workers = int(self.compiled.tables.params[Param.WORKERS])

        def turns_left(rows: Rows) -> int:
            return -(-(rows["clock"][Clock.LIMIT] - rows["clock"][Clock.T]) // workers)

        order = {
            **codec.columns("orders", codec.BOOLEAN, ingredients=Order.INGREDIENTS, spices=Order.SPICES),
            "cooked": codec.column("orders", Order.COOKED, count),
            **codec.columns("orders", codec.BOOLEAN, finished=Order.FINISHED, ruined=Order.RUINED),
            "rewarded": codec.span("orders", Order.SHAPED, 0, MAX_SHAPED),
        }
        return {
            "scenario": codec.constant(one_of([scenario.name], "scenario"), scenario.name),
            "episode": codec.read_only(codec.span("clock", Clock.EPISODE, 0, len(scenario.episodes) - 1)),
            **codec.columns("clock", count, slot=Clock.T, turn=Clock.TURN),
            "worker": codec.span("clock", Clock.WORKER, 0, workers - 1),
            "seat": codec.span("clock", Clock.SEAT, 0, self.n_agents - 1),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "turns_left": Part(count.parser, turns_left),
            "agents": codec.constant(count.parser, self.n_agents),
            "workers": codec.constant(count.parser, workers),
            "over": codec.read_only(codec.column("clock", Clock.OVER, codec.BOOLEAN), derived=True),
            "orders": self._orders(order),
            "areas": self._areas(),
        }

    def _orders(self, parts: Mapping[str, Part]) -> Part:
        episodes, order = self.scenario.episodes, codec.group(parts)

        def read(rows: Rows) -> list[dict[str, Any]]:
            named = enumerate(episodes[rows["clock"][Clock.EPISODE]].orders)
            return [{"name": name, **order.read(rows.entry(k))} for k, name in named]

        def write(rows: Rows, value: Sequence[dict[str, Any]]) -> None:
            episode = episodes[rows["clock"][Clock.EPISODE]]
            for entry in value:
                k = index_of("order", entry["name"], episode.orders)
                order.write(rows.entry(k), entry)
                if "rewarded" not in entry:
                    paid = _shaped_so_far(order.read(rows.entry(k)), episode.recipes[entry["name"]])
                    rows["orders"][k, Order.SHAPED] = paid

        known = list(dict.fromkeys(name for episode in episodes for name in episode.orders))
        parser = record({"name": one_of(known, "order"), **{key: part.parser for key, part in parts.items()}}, ["name"])
        return Part(list_of(parser, 0, self.sizes["O"], "orders"), read, write)

    def _areas(self) -> Part:
        episodes, goods, count = self.scenario.episodes, self.scenario.goods, codec.COUNT.parser
        shelves = {"pantry": self.scenario.ingredients, "spicebag": self.scenario.spices}

        def read(rows: Rows) -> list[dict[str, Any]]:
            areas = zip(episodes[rows["clock"][Clock.EPISODE]].areas, rows["stock"], rows["spaces"], strict=False)
            return [
                {
                    "id": area.id,
                    "name": area.name,
                    "kind": area.kind,
                    "stock": {good: stock[goods.index(good)] for good in shelves.get(area.kind, ())},
                    "spaces": left,
                    "spaces_per_turn": area.spaces,
                }
                for area, stock, left in areas
            ]

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            episode = episodes[rows["clock"][Clock.EPISODE]]
            for area in value:
                at = index_of("area", area["id"], episode.area_ids)
                shelf = shelves.get(episode.areas[at].kind, ())
                for good, number in area.get("stock", {}).items():
                    if good not in shelf:
                        raise ValueError(near_matches(f"good of the {episode.areas[at].kind}", good, shelf))
                    rows["stock"][at, goods.index(good)] = number
                rows["spaces"][at] = area.get("spaces", rows["spaces"][at])

        ids = dict.fromkeys(number for episode in episodes for number in episode.area_ids)
        names = dict.fromkeys(area.name for episode in episodes for area in episode.areas)
        fields = {
            "id": one_of(list(ids), "area"),
            "name": one_of(list(names), "name"),
            "kind": one_of([kind.name.lower() for kind in Kind][1:], "kind"),
            "stock": mapping_of(count, goods, "good"),
            **dict.fromkeys(("spaces", "spaces_per_turn"), count),
        }
        return Part(list_of(record(fields, ["id"]), 0, self.sizes["P"], "areas"), read, write)

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        """Also count the slots; if no areas are given, subtract collected goods of orders from the stock."""
        super()._encode(state, i, scene)
        clock, tables = state.clock[i], self.compiled.tables
        clock[Clock.T] = clock[Clock.TURN] * tables.params[Param.WORKERS] + clock[Clock.WORKER]
        if "areas" not in scene:
            needs = tables.needs[clock[Clock.EPISODE]]
            _take_collected(state.orders[i], state.stock[i], needs, len(self.scenario.ingredients))

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        clock, tables = state.clock[i], self.compiled.tables
        clock[Clock.FINISHED] = state.orders[i, :, Order.FINISHED].sum()
        clock[Clock.RUINED] = state.orders[i, :, Order.RUINED].sum()
        decided = bool(clock[Clock.FINISHED] + clock[Clock.RUINED] == count_orders(tables.dishes[clock[Clock.EPISODE]]))
        clock[Clock.OVER] = decided or clock[Clock.T] >= clock[Clock.LIMIT]
        return decided, bool(clock[Clock.OVER]) and not decided

    def _check_scene(self, scene: dict[str, Any]) -> None:
        episode = self.scenario.episodes[scene["episode"]]
        for k, order in enumerate(scene["orders"]):
            _check_order(f"state.orders[{k}]", order, episode.recipes[order["name"]])
        for k, (area, built) in enumerate(zip(scene["areas"], episode.areas, strict=True)):
            place = f"state.areas[{k}]"
            if area["spaces"] > built.spaces:
                raise ValueError(f"{place}.spaces must be an integer from 0 to {built.spaces}, not {area['spaces']}")
            for good, count in area["stock"].items():
                most = built.stock.get(good, 0)
                if not 0 <= count <= most:
                    raise ValueError(f"{place}.stock.{good} must be an integer from 0 to {most}, not {count}")


def _take_collected(orders: np.ndarray, stock: np.ndarray, needs: np.ndarray, n_ingredients: int) -> None:
    goods = slice(0, n_ingredients), slice(n_ingredients, None)
    for order, need in zip(orders, needs, strict=True):
        for column, part in zip((Order.INGREDIENTS, Order.SPICES), goods, strict=True):
            if order[column] and need[part].any():
                shelf = next((shelf for shelf in stock if (shelf[part] >= need[part]).all()), stock[0])
                shelf[part] -= need[part]  # below 0 is refused later


def _check_order(place: str, order: Mapping[str, Any], recipe: Recipe) -> None:
    if order["finished"] and order["ruined"]:
        raise ValueError(f"{place}: order {order['name']} is both finished and ruined; it can only be one of them")
    most = recipe.cook_time if order["ingredients"] else 0
    least = most + 1 if order["ruined"] else 0
    most += order["ruined"]
    if not least <= order["cooked"] <= most:
        now = "ruined" if order["ruined"] else "not ruined"
        allowed = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"{place}.cooked of an order that is {now} must be {allowed}, not {order['cooked']}")
    done = order["ingredients"] and order["spices"] and order["cooked"] >= recipe.cook_time
    if order["finished"] != (done and not order["ruined"]):
        raise ValueError(f"{place}.finished must be {str(done).lower()} for such an order, not {order['finished']}")


def _shaped_so_far(order: Mapping[str, Any], recipe: Recipe) -> int:
    steps = order["ingredients"] + (order["spices"] and bool(recipe.spices)) + order["cooked"] - order["ruined"]
    return min(steps, MAX_SHAPED)
