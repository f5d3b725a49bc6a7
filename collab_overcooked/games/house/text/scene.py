"""A home as words and numbers: all of it, and what one agent knows of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.games.house.engine.compile import PLACES, ROOM_TYPES, THINGS, Compiled
from collab_overcooked.games.house.engine.constants import (
    HANDS,
    NOTHING,
    Agent,
    Belief,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
    Place,
    Rel,
    Role,
    Thing,
    World,
)
from collab_overcooked.games.house.engine.state import State
from collab_overcooked.kernels.rng import rng_to_dict

Scene = dict[str, Any]
WALL = "#"
CLOCKS = {
    "tick": World.T,
    "limit": World.LIMIT,
    "steps": World.STEPS,
    "most_steps": World.MAX_STEPS,
    "paid": World.BEST,
}
PLAIN = ("verb", "arg", "left", "aim", "room", "spoke", "messages", "failed")  # columns of Agent behind the hands


def decode(compiled: Compiled, state: State, i: int, derived: bool = True) -> Scene:
    """Return environment ``i`` with what every agent knows, and if ``derived`` with the ways to all places."""
    width, world = compiled.sizes.width, state.world[i]
    letters = "".join(WALL if room == NOTHING else str(room) for room in state.cells[i].tolist())
    return {
        "task": compiled.tasks[world[World.TASK]],
        **{name: int(world[column]) for name, column in CLOCKS.items()},
        "goal_place": int(world[World.GOAL]),
        "goals": [
            {"name": THINGS[row[Goal.CLASS]], "need": int(row[Goal.NEED]), "have": int(row[Goal.HAVE])}
            for row in state.goals[i]
            if row[Goal.CLASS] != NOTHING
        ],
        "grid": [letters[k : k + width] for k in range(0, len(letters), width)],
        "rooms": [
            {"name": room_label(compiled.rooms, r), "type": ROOM_TYPES[row[0]], "box": row[1:]}
            for r, row in enumerate(state.rooms[i].tolist())
        ],
        "places": [_place(compiled, row, p, width) for p, row in enumerate(state.places[i].tolist())],
        "things": [_thing(row) for row in state.things[i].tolist()],
        "agents": [_agent(state, i, seat, width, derived) for seat in range(compiled.sizes.agents)],
        "known": [_known(state, i, seat) for seat in range(compiled.sizes.agents)],
        "chance": rng_to_dict(state.rng[i]),
    }


def room_label(rooms: tuple[str, ...], r: int) -> str:
    """Return the name of a room, numbered if there are several of its type."""
    return rooms[r] if rooms.count(rooms[r]) == 1 else f"{rooms[r]} {rooms[: r + 1].count(rooms[r])}"


def place_label(compiled: Compiled, p: int) -> str:
    """Return the name of a place: its room, or furniture, numbered if there are several of its class."""
    rooms, furniture = compiled.sizes.rooms, compiled.tables.furniture
    if p < rooms:
        return room_label(compiled.rooms, p)
    if p >= rooms + len(furniture):
        return "spot"
    classes = [row[2] for row in furniture.tolist()]
    furniture_class = classes[p - rooms]
    number = f" {classes[: p - rooms + 1].count(furniture_class)}" if classes.count(furniture_class) > 1 else ""
    return PLACES[furniture_class] + number


def _place(compiled: Compiled, row: list[int], p: int, width: int) -> dict[str, Any]:
    cell = row[Place.CELL]
    return {
        "kind": Kind(row[Place.KIND]).name.lower(),
        "name": place_label(compiled, p),
        "room": row[Place.ROOM],
        "at": [cell % width, cell // width],
        "open": bool(row[Place.OPEN]),
        "free": row[Place.FREE],
    }


def _thing(row: list[int]) -> dict[str, Any]:
    return {
        "name": THINGS[row[Thing.CLASS]],
        "role": Role(row[Thing.ROLE]).name.lower(),
        "rel": Rel(row[Thing.REL]).name.lower(),
        "parent": row[Thing.PARENT],
        "in_view": bool(row[Thing.IN_VIEW]),
    }


def _agent(state: State, i: int, seat: int, width: int, derived: bool) -> dict[str, Any]:
    row = state.agents[i, seat].tolist()
    cell = row[Agent.CELL]
    agent = {
        "at": [cell % width, cell // width],
        "hands": [None if o == NOTHING else o for o in row[Agent.LEFT_HAND : Agent.LEFT_HAND + HANDS]],
        **dict(zip(PLAIN, row[Agent.VERB :], strict=True)),
        "running": state.macro_state[i, seat].tolist(),
    }
    if derived:  # distances of all places
        ways = np.where(state.places[i, :, Place.KIND] == Kind.NONE, NOTHING, state.dist[i, :, cell])
        agent["ways"] = ways.tolist()
    return agent


def _known(state: State, i: int, seat: int) -> dict[str, Any]:
    arrays = (state.know_things, state.know_rooms, state.know_places, state.know_mates)
    return {
        name: array[i, seat].tolist()
        for name, array in zip(("things", "rooms", "places", "mates"), arrays, strict=True)
    }


# ------------------------------------------------------------------------------------------- what one agent knows


def known_scene(scene: Scene, seat: int) -> Scene:
    """Return the part of a scene that a seat knows; things and places are as it believes them to be.

    ``places`` and ``things`` are by their numbers; rooms, furniture and things have ``way``, the cells to walk there.
    """
    known, agent = scene["known"][seat], scene["agents"][seat]
    ways, things = agent["ways"], scene["things"]
    rooms = [
        {**room, "known": KnownRoom(state).name.lower(), "way": ways[r]}
        for r, (room, state) in enumerate(zip(scene["rooms"], known["rooms"], strict=True))
    ]
    places = {
        p: {
            **{name: place[name] for name in ("name", "kind", "room", "at")},
            "state": KnownPlace(known["places"][p]).name.lower(),
            "way": ways[p],
        }
        for p, place in enumerate(scene["places"])
        if place["kind"] in ("surface", "container", "bed") and known["places"][p] != KnownPlace.UNKNOWN
    }
    goal = scene["goal_place"]
    believed = {
        o: _believed(scene, ways, o, row)
        for o, row in enumerate(known["things"])
        if row[Belief.STATUS] != Known.UNKNOWN
    }
    done = [thing["name"] for thing in believed.values() if thing["status"] == "done"]
    inside = [o for o, thing in enumerate(things) if thing["rel"] == "inside" and thing["parent"] in agent["hands"]]
    return {
        "seat": seat,
        **{name: scene[name] for name in ("task", "tick", "limit", "grid")},
        "goal": {"place": goal, "name": scene["places"][goal]["name"], "found": goal in places},
        "goals": [{"name": g["name"], "need": g["need"], "seen": done.count(g["name"])} for g in scene["goals"]],
        "rooms": rooms,
        "places": places,
        "things": believed,
        "me": {**{name: agent[name] for name in ("at", "hands", "room", "running", "left")}, "inside": inside},
        "mates": {
            j: _mate(things, row) for j, row in enumerate(known["mates"]) if j != seat and row[Mate.TICK] != NOTHING
        },
        "team": len(scene["agents"]),
    }


def _mate(things: list[dict[str, Any]], row: list[int]) -> dict[str, Any]:
    hands = [None if o == NOTHING else things[o]["name"] for o in row[Mate.LEFT_HAND : Mate.TICK]]
    return {"room": row[Mate.ROOM], "hands": hands, "tick": row[Mate.TICK]}


def _believed(scene: Scene, ways: list[int], o: int, row: list[int]) -> dict[str, Any]:
    status, place = Known(row[Belief.STATUS]), row[Belief.PLACE]
    belief = {
        "name": scene["things"][o]["name"],
        "role": scene["things"][o]["role"],
        "status": status.name.lower(),
        "tick": row[Belief.TICK],
    }
    if status == Known.SEEN:
        where = scene["places"][place]
        belief |= {"place": place, "room": where["room"], "at": where["at"], "way": ways[place]}
    elif status == Known.MATE:
        belief["agent"] = place
    return belief
