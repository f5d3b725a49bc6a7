"""A moment of CraftKitchen as words and numbers, back into arrays, and what such a scene may say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.games.craft.engine.compile import Compiled
from collab_overcooked.games.craft.engine.constants import NOTHING, STACK, Clock, Furnace, Param
from collab_overcooked.games.craft.engine.spec import FURNACE
from collab_overcooked.games.craft.engine.state import State
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.forms import (
    Form,
    integer,
    list_by_seat,
    list_of,
    mapping_of,
    one_of,
    optional,
    record,
    rng_form,
)
from collab_overcooked.kernels.mersenne import choose_again
from collab_overcooked.kernels.orders import FORCED_SLOTS, HISTORY_SLOTS, Queue
from collab_overcooked.kernels.rng import restore_rng, rng_to_dict

Scene = Mapping[str, Any]
COUNTERS = {"timestep": Clock.T, "limit": Clock.LIMIT, "completed": Clock.COMPLETED, "expired": Clock.EXPIRED}
SLOTS = {"fuel": Furnace.FUEL, "input": Furnace.INPUT, "output": Furnace.OUTPUT}
TIMES = {"heat": Furnace.HEAT, "progress": Furnace.PROGRESS}
FARTHEST_OUT = 20  # cells beyond places and starts in which agents of a scene may stand; pictures show them
MAX_ITEMS = 10**6  # of a kind in a bag or the chest


def furnaces_of(compiled: Compiled) -> list[str]:
    """Return the names of the furnaces."""
    return [place.name for place in compiled.level.places if place.role == FURNACE]


def decode(compiled: Compiled, state: State, i: int) -> dict[str, Any]:
    """Return environment ``i`` as plain words and numbers, fit for JSON.

    Returns:
        Counters, ``orders`` (name and remaining steps), ``agents`` (place and bag), ``gone`` (steps until a place's
        mob or block is back), ``furnaces``, ``chest``, ``served`` (dishes of the chest that went to orders),
        ``accomplished`` (orders in turn), and what nobody knows: ``forced`` and ``chance``.
    """
    names, clock = compiled.names, state.clock[i]
    done = state.history[i, : min(int(clock[Clock.COMPLETED]), HISTORY_SLOTS)].tolist()
    forced = [names.orders[order] for order in state.forced[i].tolist() if order != NOTHING]
    agents = zip(state.agents[i].tolist(), state.bags[i].tolist(), strict=True)
    return {
        **{name: int(clock[column]) for name, column in COUNTERS.items()},
        "orders": [
            {"name": names.orders[order], "remaining": remaining}
            for remaining, order in state.orders[i, : clock[Clock.OPEN]].tolist()
        ],
        "agents": [{"at": at, "bag": _counts(names.items, bag)} for at, bag in agents],
        "gone": _counts(names.places, state.gone[i].tolist()),
        "furnaces": {
            name: _decode_furnace(names.items, row)
            for name, row in zip(furnaces_of(compiled), state.furnaces[i].tolist(), strict=True)
        },
        "chest": _counts(names.items, state.chest[i].tolist()),
        "served": _counts(names.orders, state.served[i].tolist()),
        "accomplished": [names.orders[order] for order in done],
        "forced": {"orders": forced, "used": int(clock[Clock.FORCED])},
        "chance": rng_to_dict(state.rng[i]),
    }


def _counts(names: Sequence[str], values: Sequence[int]) -> dict[str, int]:
    return {name: value for name, value in zip(names, values, strict=True) if value}


def _decode_furnace(items: Sequence[str], row: Sequence[int]) -> dict[str, Any]:
    slots = {
        name: {"item": items[row[slot]], "count": row[slot + 1]} if row[slot + 1] else None
        for name, slot in SLOTS.items()
    }
    return slots | {name: row[column] for name, column in TIMES.items()}


# ------------------------------------------------------------------------------------------- writing scenes


def orders_form(compiled: Compiled) -> Form:
    """Return the form of the reset option ``orders``."""
    return list_of(one_of(compiled.names.orders, "order"), 1, FORCED_SLOTS, "orders")


def scene_form(compiled: Compiled) -> Form:
    """Return the form of a scene of a level."""
    names, level, params = compiled.names, compiled.level, compiled.tables.params
    count, dish, items = integer(0, MAX_OPTION), one_of(names.orders, "order"), integer(1, MAX_ITEMS)
    sides = [integer(low - FARTHEST_OUT, high + FARTHEST_OUT) for low, high in zip(*level.corners, strict=True)]
    point = list_by_seat(sides, "coordinates")

    def slot(allowed: Sequence[str]) -> Form:
        fields = {"item": one_of(allowed, "item"), "count": integer(1, STACK)}
        return optional(record(fields, ("item", "count")))

    furnace = {
        "fuel": slot(level.fuel),
        "input": slot(tuple(level.dishes.values())),
        "output": slot(names.orders),
        "heat": integer(0, int(params[Param.HEAT]) - 1),
        "progress": integer(0, int(params[Param.COOK_STEPS]) - 1),
    }
    sources = [place.name for place in level.places if place.gives]
    order = record({"name": dish, "remaining": integer(1, compiled.lifetime)}, ("name", "remaining"))
    fields = {
        **dict.fromkeys(COUNTERS, count),
        "limit": integer(1, MAX_OPTION),
        "orders": list_of(order, 0, compiled.slots, "orders"),
        "agents": list_by_seat(
            [record({"at": point, "bag": mapping_of(names.items, items, "item")})] * compiled.n_agents, "agents"
        ),
        "gone": mapping_of(sources, integer(1, max(int(params[Param.RESPAWN]) - 1, 1)), "block or mob"),
        "furnaces": mapping_of(furnaces_of(compiled), record(furnace), "furnace"),
        "chest": mapping_of(names.items, items, "item"),
        "served": mapping_of(names.orders, items, "dish"),
        "accomplished": list_of(dish, 0, HISTORY_SLOTS, "orders"),
        "forced": record(
            {"orders": list_of(dish, 0, FORCED_SLOTS, "orders"), "used": integer(0, FORCED_SLOTS)}, ["orders", "used"]
        ),
        "chance": rng_form(MAX_OPTION),  # the stream is drawn again from its beginning
    }
    return record(fields)


def encode(compiled: Compiled, state: State, i: int, scene: Scene) -> None:
    """Write a scene of the form ``scene_form`` into environment ``i``; keys left out keep what is there."""
    names, clock = compiled.names, state.clock[i]
    for name, column in COUNTERS.items():
        clock[column] = scene.get(name, clock[column])
    if "orders" in scene:
        rows = sorted((order["remaining"], names.orders.index(order["name"])) for order in scene["orders"])
        state.orders[i, :, Queue.REMAINING], state.orders[i, :, Queue.ORDER] = 0, NOTHING
        state.orders[i, : len(rows)] = np.array(rows, np.int32).reshape(-1, 2)
        clock[Clock.OPEN] = len(rows)
    for at, bag, agent in zip(state.agents[i], state.bags[i], scene.get("agents", ()), strict=False):
        at[:] = agent.get("at", at)
        _encode_counts(names.items, bag, agent, "bag")
    _encode_counts(names.places, state.gone[i], scene, "gone")
    _encode_counts(names.items, state.chest[i], scene, "chest")
    _encode_counts(names.orders, state.served[i], scene, "served")
    for name, furnace in scene.get("furnaces", {}).items():
        _encode_furnace(names.items, state.furnaces[i, furnaces_of(compiled).index(name)], furnace)
    for key, array in (("accomplished", state.history[i]), ("forced", state.forced[i])):
        if key in scene:
            listed = scene[key] if key == "accomplished" else scene[key]["orders"]
            array[:] = NOTHING
            array[: len(listed)] = [names.orders.index(name) for name in listed]
    if "forced" in scene:
        clock[Clock.FORCED] = scene["forced"]["used"]
    if "chance" in scene:
        restore_rng(state.rng[i], scene["chance"])


def complete(compiled: Compiled, state: State, i: int, scene: Scene) -> tuple[bool, bool]:
    """Bring the stream of orders in environment ``i`` to where a checked scene says.

    Returns:
        False, as no episode is ever terminated, and whether no step is left.
    """
    clock = state.clock[i]
    if "chance" in scene:
        choose_again(state.stream[i], *state.rng[i].tolist(), len(compiled.names.orders))
    clock[Clock.OVER] = clock[Clock.T] >= clock[Clock.LIMIT]
    return False, bool(clock[Clock.OVER])


def _encode_counts(names: Sequence[str], row: np.ndarray, scene: Scene, key: str) -> None:
    if key in scene:
        row[:] = [scene[key].get(name, 0) for name in names]


def _encode_furnace(items: Sequence[str], row: np.ndarray, furnace: Scene) -> None:
    for name, slot in SLOTS.items():
        if name in furnace:
            own = furnace[name]
            row[slot : slot + 2] = (NOTHING, 0) if own is None else (items.index(own["item"]), own["count"])
    for name, column in TIMES.items():
        row[column] = furnace.get(name, row[column])


# ------------------------------------------------------------------------------------------- what cannot be


def check_scene(compiled: Compiled, scene: Scene) -> None:
    """Refuse a whole scene that no play can lead to.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    if scene["timestep"] > scene["limit"]:
        raise ValueError(f"state.timestep must be at most the limit of {scene['limit']}, not {scene['timestep']}")
    if scene["forced"]["used"] > len(scene["forced"]["orders"]):
        most = len(scene["forced"]["orders"])
        raise ValueError(f"state.forced.used must be an integer from 0 to {most}, not {scene['forced']['used']}")
    _check_orders(compiled, scene)
    _check_served(scene)
    for name, steps in scene["gone"].items():
        if steps >= compiled.config.respawn:
            raise ValueError(f"state.gone.{name} must be left out, not {steps}: everything is back in the next step")
    spots = {tuple(place.at) for place in compiled.level.places}
    for k, agent in enumerate(scene["agents"]):
        if not compiled.config.walk and tuple(agent["at"]) not in {*spots, compiled.level.starts[k]}:
            raise ValueError(f"state.agents[{k}].at must be the agent's start or a place, not {agent['at']}")
    for name, furnace in scene["furnaces"].items():
        if furnace["progress"] and not (furnace["input"] and (furnace["fuel"] or furnace["heat"] > 1)):
            raise ValueError(f"state.furnaces.{name}.progress must be 0 where nothing can cook")


def _check_orders(compiled: Compiled, scene: Scene) -> None:
    """Orders come at the start and after each interval; each is open, completed or expired."""
    step, interval = scene["timestep"], compiled.interval
    come = min(step, scene["limit"] - 1) // interval + 1
    born = [step - compiled.lifetime + order["remaining"] for order in scene["orders"]]
    for k, (t, order) in enumerate(zip(born, scene["orders"], strict=True)):
        if t < 0 or t % interval or t >= scene["limit"] or t in born[:k]:
            raise ValueError(
                f"state.orders[{k}].remaining must be that of an order of its own, one for every {interval} steps, "
                f"not {order['remaining']} at step {step}"
            )
    known = scene["completed"] + scene["expired"] + len(born)
    if known != come:
        raise ValueError(f"state: {known} orders are completed, expired or open; by step {step} there were {come}")


def _check_served(scene: Scene) -> None:
    served, done = scene["served"], Counter[str](scene["accomplished"])
    if sum(served.values()) != scene["completed"]:
        raise ValueError(f"state.served must sum up to completed, {scene['completed']}, not {sum(served.values())}")
    if len(scene["accomplished"]) != min(scene["completed"], HISTORY_SLOTS):
        wanted = min(scene["completed"], HISTORY_SLOTS)
        raise ValueError(f"state.accomplished must list {wanted} orders, not {len(scene['accomplished'])}")
    for dish, count in served.items():
        if count > scene["chest"].get(dish, 0):
            raise ValueError(f"state.served.{dish} must be at most what the chest has, not {count}")
    for dish, count in done.items():
        if count > served.get(dish, 0):
            raise ValueError(f"state.accomplished names {dish} {count} times, more often than it was served")
