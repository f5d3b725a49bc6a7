"""What a scene of CuisineWorld may say: the form of each key, and what must hold between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.cuisineworld.engine.compile import Compiled
from collab_overcooked.games.cuisineworld.engine.constants import NOTHING, UNLIMITED, Place
from collab_overcooked.games.cuisineworld.engine.spec import Level, Tool
from collab_overcooked.games.cuisineworld.engine.state import COUNTERS
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
from collab_overcooked.kernels.orders import FORCED_SLOTS, HISTORY_SLOTS

MAX_COUNTER = 10**9  # of what counts on for ever, such as refused commands


def orders_form(compiled: Compiled) -> Form:
    """Return the form of the reset option ``orders``."""
    return list_of(one_of(compiled.names.orders, "order"), 1, FORCED_SLOTS, "orders")


def scene_form(compiled: Compiled) -> Form:
    """Return the form of a scene of a level."""
    places = compiled.tables.places
    room = int(places[places[:, Place.TABLE] != NOTHING, Place.CAPACITY].max())  # a serving table's, the largest
    names, count = compiled.names, integer(0, MAX_COUNTER)
    step, order = integer(0, MAX_OPTION), one_of(names.orders, "order")
    item = one_of(names.items, "item")
    agent = {
        "location": one_of(names.places, "location"),
        "holding": optional(item),
        "busy": count,
        "rewarded": boolean,
    }
    tool = {"content": list_of(item, 0, room, "items"), "busy": count, "ready": boolean, "rewarded": boolean}
    left = integer(1, MAX_COUNTER)
    wanted = {"items": mapping_of(names.items, left, "item"), "mixtures": mapping_of(names.products, left, "product")}
    forced = {"orders": list_of(order, 0, FORCED_SLOTS, "orders"), "used": integer(0, FORCED_SLOTS)}
    return record(
        {
            **dict.fromkeys(COUNTERS, count),
            "timestep": step,
            "limit": integer(1, MAX_OPTION),
            "timer": integer(0, MAX_OPTION if compiled.timing.interval == UNLIMITED else compiled.timing.interval - 1),
            "completed": count,
            "max_steps": count,
            "orders": list_of(
                record({"name": order, "remaining": optional(count)}, ["name"]), 0, compiled.max_open_orders, "orders"
            ),
            "agents": list_by_seat([record(agent)] * compiled.n_agents, "agents"),
            "tools": mapping_of(names.places, record(tool), "location"),
            "accomplished": list_of(order, 0, HISTORY_SLOTS, "orders"),
            "wanted": record(wanted),
            "forced": record(forced, ["orders", "used"]),
            "chance": rng_form(MAX_OPTION),  # the stream is drawn again from its beginning
        }
    )


def check_scene(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    level = compiled.level
    if scene["timestep"] > scene["limit"]:
        raise ValueError(f"state.timestep must be at most the limit of {scene['limit']}, not {scene['timestep']}")
    if scene["failed"] > scene["expired"]:
        raise ValueError(f"state.failed must be at most expired, {scene['expired']}, not {scene['failed']}")
    if len(scene["accomplished"]) != min(scene["completed"], HISTORY_SLOTS):
        raise ValueError(
            f"state.completed must be {len(scene['accomplished'])}, the number of accomplished orders, "
            f"not {scene['completed']}"
        )
    if scene["forced"]["used"] > len(scene["forced"]["orders"]):
        most = len(scene["forced"]["orders"])
        raise ValueError(f"state.forced.used must be an integer from 0 to {most}, not {scene['forced']['used']}")
    for k, order in enumerate(scene["orders"]):
        _check_order(f"state.orders[{k}]", order, compiled.timing.lifetimes[order["name"]])
    for kind, (name, tool) in zip(level.kitchen, scene["tools"].items(), strict=True):
        _check_tool(f"state.tools.{name}", tool, level.tools[kind], level)
    for k, agent in enumerate(scene["agents"]):
        there = level.tools[level.kitchen[compiled.names.places.index(agent["location"])]]
        _check_agent(f"state.agents[{k}]", agent, there, scene["tools"][agent["location"]], level)


def _check_order(place: str, order: Mapping[str, Any], lifetime: int) -> None:
    left = order["remaining"]
    if lifetime == UNLIMITED and left is not None:
        raise ValueError(f"{place}.remaining must be null, not {left}: {order['name']} has no end in this level")
    if lifetime != UNLIMITED and (left is None or left > lifetime):
        raise ValueError(f"{place}.remaining must be an integer from 0 to {lifetime}, not {left}")


def _check_tool(place: str, tool: Mapping[str, Any], kind: Tool, level: Level) -> None:
    """Tools hold parts of recipes or what was made of them, and are ready and busy only after an activation."""
    content, busy = tool["content"], tool["busy"]
    cooked = bool(content) and _is_made_in(content[0], kind, level)
    if kind.role == "storage" and content:
        raise ValueError(f"{place}.content must be empty, not {content}: a storage keeps nothing")
    if kind.role == "table" and not all(item in level.order_names for item in content):
        sold = [item for item in content if item not in level.order_names]
        raise ValueError(f"{place}.content must be of dishes that can be ordered, not {sold}")
    if kind.role == "cook":
        _check_content(f"{place}.content", content, kind, level)
    always = kind.open or kind.role == "storage"
    if tool["ready"] != always and not (tool["ready"] and cooked):
        raise ValueError(f"{place}.ready must be {str(always).lower()} for such a content, not {tool['ready']}")
    most = kind.busy if len(content) == 1 and cooked and tool["ready"] else 0
    if busy > most:
        raise ValueError(f"{place}.busy must be an integer from 0 to {most}, not {busy}")


def _is_made_in(item: str, kind: Tool, level: Level) -> bool:
    return item in level.recipes and level.recipes[item].tool == kind.kind


def _check_content(place: str, content: Sequence[str], kind: Tool, level: Level) -> None:
    if len(set(content)) < len(content):
        raise ValueError(f"{place} must name each item once, not {content}")
    if kind.capacity is not None and len(content) > kind.capacity:
        raise ValueError(f"{place} is {len(content)} items; it takes {kind.capacity}")
    recipes = [recipe for recipe in level.recipes_here if recipe.tool == kind.kind]
    mixture = not content or any(set(content) <= set(recipe.ingredients) for recipe in recipes)
    if not mixture and [recipe for recipe in recipes if [recipe.product] == list(content)] == []:
        raise ValueError(f"{place} must be part of a recipe of a {kind.kind} or what is made there, not {content}")


def _check_agent(place: str, agent: Mapping[str, Any], kind: Tool, tool: Mapping[str, Any], level: Level) -> None:
    """Agents are busy as long as the tool that they have activated, with empty hands."""
    if agent["busy"] and not (kind.busy_agent and agent["busy"] == tool["busy"] and agent["holding"] is None):
        most = tool["busy"] if kind.busy_agent and agent["holding"] is None else 0
        raise ValueError(f"{place}.busy must be {f'0 or {most}' if most else 0} at such a tool, not {agent['busy']}")
    if agent["rewarded"] and agent["holding"] not in level.base_ingredients:
        raise ValueError(f"{place}.rewarded must be false, not True: it is for a base ingredient in the hands")
