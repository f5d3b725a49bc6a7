"""Form of scenes of Overcooked: the form of each key, and checks between keys.

The possible places of things and players depend on the layout and are checked by ``state.encode``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.games.overcooked.engine.compile import Compiled
from collab_overcooked.games.overcooked.engine.constants import (
    FIRST_ROWS,
    IDLE,
    INGREDIENTS,
    MAX_INGREDIENTS,
    MEMORY,
    NOTHING,
    PATIENCE,
    Action,
    Frame,
    Object,
    Row,
)
from collab_overcooked.games.overcooked.engine.state import OBJECTS, SceneNames
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.forms import Form, boolean, integer, list_by_seat, list_of, one_of, optional, record, rng_form
from collab_overcooked.kernels.grid import Direction

MAX_COUNTER = 10**9  # of what counts on for ever, such as the score
FACINGS = [direction.name.lower() for direction in Direction]


def scene_form(compiled: Compiled, names: SceneNames) -> Form:
    """Return the form of a scene of a pool of layouts."""
    count, step = integer(0, MAX_COUNTER), integer(0, MAX_OPTION)
    height, width = compiled.tables.terrain.shape[1:]
    position = list_of(integer(0, max(height, width) - 1), 2, 2, "coordinates")
    ingredients = list_of(one_of(INGREDIENTS, "ingredient"), 1, MAX_INGREDIENTS, "ingredients")
    thing = {
        "item": one_of(list(OBJECTS), "item"),
        "ingredients": lambda value, place: sorted(ingredients(value, place)),
        "tick": integer(IDLE, MAX_COUNTER),
        "time": count,
        "ready": boolean,
    }
    player = {"position": position, "facing": one_of(FACINGS, "facing"), "holding": optional(record(thing, ["item"]))}
    directed = player | {"directive": optional(one_of(names.directives[len(FIRST_ROWS) :], "directive"))}
    gate = {"position": position, "open": boolean, "counter": count, "limit": count}
    scene = {
        "timestep": step,
        "limit": integer(1, MAX_OPTION),
        "served": count,
        "score": count,
        "layout": one_of(names.layouts, "layout"),
        "players": list_by_seat([record(directed if medium else player) for medium in names.medium], "players"),
        "objects": list_of(record({"position": position, **thing}, ["position", "item"]), 0, height * width, "objects"),
        "gates": list_of(record(gate, ["position"]), 0, height * width, "gates"),
        "chance": rng_form(),
    }
    if any(names.medium):
        past = _past_form(names, position, height * width)
        scene["memory"] = list_by_seat([past if medium else optional(record({})) for medium in names.medium], "players")
    return record(scene)


def _past_form(names: SceneNames, position: Form, cells: int) -> Form:
    """Return the form of what a player with directives remembers."""
    past = {
        "timer": integer(-1, cells),
        "still": integer(0, PATIENCE + 1),
        "directive": one_of(names.directives, "directive"),
        "away": boolean,
        "move": one_of([action.name.lower() for action in Action], "move"),
        "position": optional(position),
        "facing": optional(one_of(FACINGS, "facing")),
        "last": list_of(optional(one_of(names.directives[1:], "directive")), MEMORY, MEMORY, "directives"),
    }
    return record(past, list(past))


def check_scene(compiled: Compiled, names: SceneNames, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    if scene["timestep"] > scene["limit"]:
        raise ValueError(f"state.timestep must be at most the limit of {scene['limit']}, not {scene['timestep']}")
    k = names.layouts.index(scene["layout"])
    for seat, player in enumerate(scene["players"]):
        running = player.get("directive")
        if running is None:
            continue
        slot = compiled.tables.catalogue[names.directives.index(running), Row.SLOT]
        if compiled.tables.objects[k, slot, Object.X] == NOTHING:
            raise ValueError(
                f"state.players[{seat}].directive must be one for an object of {scene['layout']}, not {running!r}"
            )
        past = scene["memory"][seat]
        for key, least, most in (("timer", 0, past["timer"]), ("still", 0, PATIENCE)):
            if not least <= past[key] <= most:
                allowed = f"at least {least}" if key == "timer" else f"{least} to {most}"
                raise ValueError(f"state.memory[{seat}].{key} of a running directive is {allowed}, not {past[key]}")
    height, width = compiled.tables.frames[k, [Frame.HEIGHT, Frame.WIDTH]].tolist()
    for seat, past in enumerate(scene.get("memory", ())):
        place = past and past["position"]
        if place and not (place[0] < width and place[1] < height):
            raise ValueError(f"state.memory[{seat}].position must lie in a grid of {width} x {height}, not {place}")
