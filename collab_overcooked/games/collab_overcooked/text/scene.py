"""Form of scenes of Collab-Overcooked: the form of each key, and checks between keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.games.collab_overcooked.engine.compile import Compiled
from collab_overcooked.games.collab_overcooked.engine.constants import (
    DISH,
    NOTHING,
    Food,
    Group,
    Param,
    Reason,
    Row,
    Status,
    Verb,
)
from collab_overcooked.games.collab_overcooked.engine.state import ORDER_SLOTS
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.forms import (
    Form,
    boolean,
    integer,
    list_by_seat,
    list_of,
    mapping_of,
    one_of,
    optional,
    record,
    rng_form,
)
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.kernels.paths import UNREACHABLE


def orders_form(compiled: Compiled, least: int) -> Form:
    """Return the form of a list of at least so many orders."""
    return list_of(one_of(compiled.names.items[DISH + 1 :], "food"), least, ORDER_SLOTS, "orders")


def scene_form(compiled: Compiled) -> Form:
    """Return the form of a scene of a kitchen."""
    names, step = compiled.names, integer(0, MAX_OPTION)
    counter = record({"position": _position_form(compiled), **_thing_form(compiled)}, ["position", "item"])
    n_counters = sum(s != NOTHING for s in compiled.tables.groups[Group.COUNTER])
    memory = record({"still": step, "reason": one_of([reason.name for reason in Reason], "reason")})
    placed = {"total": step, "counters": list_of(step, 0, n_counters, "counters")}
    return record(
        {
            "timestep": step,
            "limit": integer(1, MAX_OPTION),
            "delivered": step,
            "orders": orders_form(compiled, 0),
            "agents": list_by_seat([_agent_form(compiled, level) for level in compiled.levels], "agents"),
            "counters": list_of(counter, 0, n_counters, "counters"),
            "utensils": mapping_of(names.places[Group.UTENSIL :], _utensil_form(compiled), "utensil"),
            "memory": list_by_seat([memory] * len(compiled.levels), "agents"),
            "placed": record(placed, list(placed)),
            "chance": rng_form(),
        }
    )


def _position_form(compiled: Compiled) -> Form:
    side = max(len(compiled.kitchen.grid), len(compiled.kitchen.grid[0]))
    return list_of(integer(0, side - 1), 2, 2, "coordinates")


def _thing_form(compiled: Compiled) -> dict[str, Form]:
    return {"item": one_of(compiled.names.items, "item"), "plated": boolean}


def _agent_form(compiled: Compiled, level: str) -> Form:
    facings = [direction.name.lower() for direction in Direction]
    return record(
        {
            "position": _position_form(compiled),
            "facing": one_of(facings, "facing"),
            "holding": optional(record(_thing_form(compiled), ["item"])),
            "action": optional(one_of(_running_actions(compiled) if level == MEDIUM else [], "action")),
            "timer": integer(-MAX_OPTION, compiled.kitchen.max_wait),
        }
    )


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

    def check(value: Any, place: str) -> dict[str, Any]:
        utensil: dict[str, Any] = form(value, place)
        if utensil.get("product") is not None and not utensil.get("contents"):
            utensil.pop("contents", None)  # those of the recipe
        return utensil

    return check


def _running_actions(compiled: Compiled) -> list[str]:
    """Return the texts of the actions that can be running when a step begins."""
    texts = compiled.names.catalogue[: compiled.n_possible]
    return [text for text, row in zip(texts, compiled.tables.catalogue, strict=False) if row[Row.VERB] != Verb.CONTINUE]


def check_scene(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    if scene["timestep"] > scene["limit"]:
        raise ValueError(f"state.timestep must be at most the limit of {scene['limit']}, not {scene['timestep']}")
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
    """Agents stay on the floor on which they start."""
    tables, cell = compiled.tables, compiled.names.floor.index((position[0], position[1]))
    start = 4 * tables.starts[seat, 0] + tables.starts[seat, 1]
    if (tables.ways[0, start, 4 * cell : 4 * cell + 4] == UNREACHABLE).all():
        raise ValueError(f"state.agents[{seat}].position must be in reach of the agent's start, not {position}")


def _check_plated(compiled: Compiled, place: str, thing: Mapping[str, Any]) -> None:
    """Only products of utensils can be on a dish."""
    is_product = compiled.tables.foods[compiled.names.items.index(thing["item"]), Food.UTENSIL] != NOTHING
    if thing["plated"] and not is_product:
        why = "a dish cannot lie on a dish" if thing["item"] == compiled.names.items[DISH] else "no utensil makes it"
        raise ValueError(f"{place}.plated must be false for {thing['item']}, not True: {why}")


def _check_action(
    compiled: Compiled, seat: int, agent: Mapping[str, Any], memory: Mapping[str, Any], timestep: int
) -> None:
    """Waits count down to 0; other actions count on below it, as long as their agent is not stuck."""
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
    """Contents, product and time of a started utensil match its recipe."""
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
