"""Rows of games that people played, in the public format of Overcooked-AI (2019 and later), as scenes and actions."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

from collab_overcooked.envs.api import Game
from collab_overcooked.games.overcooked.engine.constants import Action
from collab_overcooked.kernels.grid import OFFSETS, Direction

LAYOUTS = {  # names of 2019
    "random0": "forced_coordination",
    "random1": "coordination_ring",
    "random3": "counter_circuit",
    "simple": "cramped_room",
    "unident_s": "asymmetric_advantages",
    "counter_circuit_o_1order": "counter_circuit",
}
FACINGS = {OFFSETS[direction]: direction.name.lower() for direction in Direction}
MOVES: Mapping[Any, int] = {  # how the data name actions
    **{OFFSETS[direction]: direction for direction in Direction},
    (0, 0): Action.STAY,
    "stay": Action.STAY,
    "interact": Action.INTERACT,
}


def layout_names(game: Game) -> set[str]:
    """Return the names of the layouts that a game plays."""
    if game.n_actions != len(Action):
        raise ValueError("games of people have the six primitive actions; they teach no other")
    return {layout.name for layout in getattr(game, "layouts", ())}


def layout_name(value: str) -> str:
    """Return today's name of a layout."""
    return LAYOUTS.get(value, value)


def read_actions(value: Any, agents: int) -> list[int]:
    """Return each agent's action id from JSON, or from the Python text that part of the data has instead."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            value = ast.literal_eval(value)
    keys = [action.lower() if isinstance(action, str) else tuple(action) for action in value]
    if len(keys) != agents:
        raise ValueError(f"actions of {len(keys)} agents, not of {agents}")
    return [MOVES[key] for key in keys]


def read_state(value: Any, layout: str) -> dict[str, Any]:
    """Return Overcooked-AI's state, of 2019 or of today, as a scene."""
    state = json.loads(value) if isinstance(value, str) else value
    objects = state.get("objects") or []
    things = objects.values() if isinstance(objects, dict) else objects
    return {
        "layout": layout,
        "timestep": 0,  # people played for longer than an episode here
        "players": [
            {
                "position": list(player["position"]),
                "facing": FACINGS[tuple(player["orientation"])],
                "holding": read_thing(player.get("held_object")),
            }
            for player in state["players"]
        ],
        "objects": [{"position": list(thing["position"]), **(read_thing(thing) or {})} for thing in things],
    }


def read_thing(thing: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an object as a scene has it."""
    if thing is None or thing["name"] != "soup":
        return None if thing is None else {"item": thing["name"]}
    if "state" in thing:  # 2019: kind, number of ingredients, time cooked, which starts by itself at the third
        kind, number, time = thing["state"]
        names, tick = [kind] * number, time if number == 3 else -1
    else:
        names = [item["name"] if isinstance(item, dict) else item for item in thing["_ingredients"]]
        tick = thing.get("cooking_tick", thing.get("_cooking_tick", -1))
    return {"item": "soup", "ingredients": names, "tick": tick}
