"""What a scene of Rush may say: the form of each key, and what must hold between keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collab_overcooked.games.rush.engine.compile import Compiled
from collab_overcooked.games.rush.engine.constants import Kind
from collab_overcooked.games.rush.engine.rules import MAX_SHAPED
from collab_overcooked.games.rush.engine.spec import EpisodeSpec, Recipe
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.forms import Form, boolean, integer, list_of, mapping_of, one_of, record


def scene_form(compiled: Compiled) -> Form:
    """Return the form of a scene of a scenario."""
    names = compiled.names
    count = integer(0, MAX_OPTION)
    order = {
        "name": one_of(list(dict.fromkeys(name for episode in names.orders for name in episode)), "order"),
        **dict.fromkeys(("ingredients", "spices", "finished", "ruined"), boolean),
        "cooked": count,
        "rewarded": integer(0, MAX_SHAPED),
    }
    area = {
        "id": one_of(list(dict.fromkeys(number for episode in names.areas for number in episode)), "area"),
        "kind": one_of([kind.name.lower() for kind in Kind][1:], "kind"),
        "stock": mapping_of(names.goods, count, "good"),
        "spaces": count,
        "spaces_per_turn": count,
    }
    return record(
        {
            "scenario": one_of([names.scenario], "scenario"),
            "episode": integer(0, len(names.orders) - 1),
            "slot": count,
            "turn": count,
            "turns_left": count,
            "worker": integer(0, compiled.workers - 1),
            "seat": integer(0, compiled.n_agents - 1),
            "limit": integer(1, MAX_OPTION),
            "agents": count,
            "workers": count,
            "over": boolean,
            "orders": list_of(record(order, ["name"]), 0, compiled.n_orders, "orders"),
            "areas": list_of(record(area, ["id"]), 0, compiled.n_areas, "areas"),
        }
    )


def check_scene(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    episode = compiled.scenario.episodes[scene["episode"]]
    if scene["slot"] > scene["limit"]:
        raise ValueError(f"state.slot must be at most the limit of {scene['limit']} slots, not {scene['slot']}")
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
    """Orders are collected before they are cooked, and finished or ruined by the rules of cooking."""
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
    steps = order["ingredients"] + (order["spices"] and bool(recipe.spices)) + order["cooked"] - order["ruined"]
    if order["rewarded"] != min(steps, MAX_SHAPED):
        raise ValueError(
            f"{place}.rewarded must be {min(steps, MAX_SHAPED)} for such an order, not {order['rewarded']}"
        )


def _check_stock(episode: EpisodeSpec, scene: Mapping[str, Any]) -> None:
    """What orders have collected is missing from the stock, and nothing else is."""
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
