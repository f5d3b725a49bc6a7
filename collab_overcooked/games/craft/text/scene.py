"""Scenes of CraftKitchen: keys, their forms, and checks between keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.games.craft.engine.compile import Compiled
from collab_overcooked.games.craft.engine.constants import FARTHEST_OUT, NOTHING, STACK, Clock, Furnace, Param
from collab_overcooked.games.craft.engine.spec import FURNACE
from collab_overcooked.games.craft.engine.state import State
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import integer, one_of, record
from collab_overcooked.kernels.mersenne import choose_again
from collab_overcooked.kernels.orders import HISTORY_SLOTS

Scene = Mapping[str, Any]
MAX_ITEMS = 10**6  # of a kind in a bag or the chest


def scene_parts(compiled: Compiled) -> dict[str, Part]:
    """Declare the scenes of a level.

    ``gone`` has the steps until a place's mob or block is back, ``served`` the dishes of the chest that went to orders,
    ``accomplished`` the orders in turn.
    """
    names, level = compiled.names, compiled.level
    dish, items = codec.names_of(names.orders, "order"), codec.counts(names.items, MAX_ITEMS, "item")
    sides = [codec.integers(low - FARTHEST_OUT, high + FARTHEST_OUT) for low, high in zip(*level.corners, strict=True)]
    agent = codec.group(
        {"at": codec.row("agents", codec.vector(sides, "coordinates")), "bag": codec.row("bags", items)}
    )
    sources = [place.name for place in level.places if place.gives]
    respawn = max(int(compiled.tables.params[Param.RESPAWN]) - 1, 1)
    furnaces = [place.name for place in level.places if place.role == FURNACE]
    lifetime, required = codec.integers(1, compiled.lifetime), ("name", "remaining")
    return {
        "timestep": codec.column("clock", Clock.T, codec.COUNT),
        "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
        **codec.columns("clock", codec.COUNT, completed=Clock.COMPLETED, expired=Clock.EXPIRED),
        "orders": codec.open_orders(dish, lifetime, compiled.slots, Clock.OPEN, required),
        "agents": codec.by_entry([agent] * compiled.n_agents, "agents"),
        "gone": codec.row("gone", codec.counts(names.places, respawn, "block or mob", sources)),
        "furnaces": codec.by_name(furnaces, _furnace(compiled), "furnace"),
        "chest": codec.row("chest", items),
        "served": codec.row("served", codec.counts(names.orders, MAX_ITEMS, "dish")),
        "accomplished": codec.row("history", codec.sequence(dish, HISTORY_SLOTS, "orders")),
        "forced": codec.forced_orders(dish, Clock.FORCED),
        "chance": codec.rng_state(MAX_OPTION),  # the stream is drawn again from its beginning
    }


def _furnace(compiled: Compiled) -> Part:
    items, params = compiled.names.items, compiled.tables.params

    def slot(first: int, allowed: Sequence[str]) -> Part:
        stack = codec.Codec(
            record({"item": one_of(allowed, "item"), "count": integer(1, STACK)}, ("item", "count")),
            lambda row: {"item": items[row[0]], "count": row[1]},
            lambda value: [items.index(value["item"]), value["count"]],
        )
        return codec.column("furnaces", slice(first, first + 2), codec.optional(stack, [NOTHING, 0]))

    return codec.group(
        {
            "fuel": slot(Furnace.FUEL, compiled.level.fuel),
            "input": slot(Furnace.INPUT, tuple(compiled.level.dishes.values())),
            "output": slot(Furnace.OUTPUT, compiled.names.orders),
            "heat": codec.span("furnaces", Furnace.HEAT, 0, int(params[Param.HEAT]) - 1),
            "progress": codec.column(
                "furnaces", Furnace.PROGRESS, codec.integers(0, int(params[Param.COOK_STEPS]) - 1)
            ),
        }
    )


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


def check_scene(compiled: Compiled, scene: Scene) -> None:
    """Reject a completed scene that no play can lead to."""
    codec.check_forced(scene)
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
        length = min(scene["completed"], HISTORY_SLOTS)
        raise ValueError(f"state.accomplished must list {length} orders, not {len(scene['accomplished'])}")
    for dish, count in served.items():
        if count > scene["chest"].get(dish, 0):
            raise ValueError(f"state.served.{dish} must be at most what the chest has, not {count}")
    for dish, count in done.items():
        if count > served.get(dish, 0):
            raise ValueError(f"state.accomplished names {dish} {count} times, more often than it was served")
