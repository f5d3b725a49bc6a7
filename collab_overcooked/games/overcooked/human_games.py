"""Rows of games that people played, in the public format of Overcooked-AI (2019 and later), as scenes and actions."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from collab_overcooked.envs.api import Game
from collab_overcooked.io.documents import rows_of
from collab_overcooked.kernels.grid import OFFSETS, Direction

from .engine.constants import Action

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
    """Return the names of the layouts that a game plays.

    Raises:
        ValueError: The game has macro actions.
    """
    if game.n_actions != len(Action):
        raise ValueError("games of people have the six primitive actions; they teach no other")
    return {layout.name for layout in getattr(game, "layouts", ())}


def find_layout(game: Game, row: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the layout of a row and its name; a grid in the row takes precedence over the name.

    Returns:
        Name of the game's layout, None if it is another one; the name in the row, with a remark if its grid differs.
    """
    layouts: Any = getattr(game, "layouts", ())
    name = str(row["layout_name"])
    today = LAYOUTS.get(name, name)
    named = [layout.name for layout in layouts if name == layout.name or today == LAYOUTS.get(layout.name, layout.name)]
    grid = read_grid(row.get("layout"))
    if grid is None:
        return next(iter(named), None), today
    same = [layout.name for layout in layouts if layout.grid == grid]
    best = next((candidate for candidate in same if candidate in named), next(iter(same), None))
    return best, f"{today} with another grid" if named and best is None else today


def read_grid(value: Any) -> tuple[str, ...] | None:
    """Return the grid of a row, rows as texts or lists of symbols, perhaps in JSON; None if there is none."""
    return _grid_of(value) if isinstance(value, str) else _plain_grid(value)


@lru_cache
def _grid_of(text: str) -> tuple[str, ...] | None:
    try:
        return _plain_grid(json.loads(text))
    except ValueError:  # a grid as in a layout file, or Python's text of a list
        return _plain_grid(ast.literal_eval(text) if text.startswith("[") else rows_of(text)[1])


def _plain_grid(rows: Any) -> tuple[str, ...] | None:
    if not isinstance(rows, list) or not rows:
        return None
    return tuple(re.sub("[0-9]", " ", "".join(row)) for row in rows)


def read_actions(value: Any, agents: int) -> list[int]:
    """Return each agent's action id from JSON, or from the Python text that part of the data has instead.

    Raises:
        ValueError: The text has another number of agents, or an unknown action.
    """
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
