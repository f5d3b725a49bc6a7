"""Knowledge of one agent as a part of a scene, and labels of rooms and places."""

from __future__ import annotations

from typing import Any

from collab_overcooked.games.house.engine.compile import PLACES, Compiled
from collab_overcooked.games.house.engine.constants import (
    NOTHING,
    Belief,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
)

Scene = dict[str, Any]
WALL = "#"


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
    reached = all(g["have"] >= g["need"] for g in scene["goals"])  # ends the game, so all may know
    done = [thing["name"] for thing in believed.values() if thing["status"] == "done"]
    inside = [o for o, thing in enumerate(things) if thing["rel"] == "inside" and thing["parent"] in agent["hands"]]
    return {
        "seat": seat,
        **{name: scene[name] for name in ("task", "tick", "limit", "grid")},
        "goal": {"place": goal, "name": scene["places"][goal]["name"], "found": goal in places, "reached": reached},
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
