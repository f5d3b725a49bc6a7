"""Layouts with other names of rooms, so that a number says nothing about where its room is."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.games.rooms.engine.spec import RoomLayout


def renamed(level: RoomLayout, rng: np.random.Generator) -> dict[str, Any]:
    """Return the values of a layout with rooms named, listed and placed anew.

    Numbered rooms get different numbers from 1 to twice their count, named ones each other's names, except exits. The
    picture is mirrored at random.
    """
    names, count = dict(enumerate(level.rooms)), len(level.rooms)
    if all(name.isdecimal() for name in level.rooms):
        names = dict(enumerate(map(str, (rng.permutation(2 * count)[:count] + 1).tolist())))
    else:
        moved = [room for room in names if room not in level.exits]
        names |= {room: level.rooms[other] for room, other in zip(moved, rng.permutation(moved).tolist(), strict=True)}
    order = sorted(names, key=lambda room: names[room].zfill(3))

    def listed(rooms: Any) -> list[str]:
        return [names[room] for room in rooms]

    values: dict[str, Any] = {
        "name": level.name,
        "game": level.game,
        "description": level.description,
        "rooms": {names[room]: listed(rng.permutation(level.neighbours[room]).tolist()) for room in order},
        "starts": {"agents": listed(level.players), "adversary": names[level.adversary]},
    }
    if level.one_way:
        values["one_way"] = True
    if level.doors:
        values["doors"] = [
            {"between": listed(door.rooms), "button": names[door.button], "open": door.is_open} for door in level.doors
        ]
    if level.generators:
        values |= {"generators": listed(level.generators), "exits": listed(level.exits)}
    if level.places:
        edge, flips = np.max(level.places, axis=0), rng.integers(2, size=2)
        places = np.where(flips, edge - np.array(level.places), level.places).tolist()
        values["places"] = {names[room]: places[room] for room in order}
    return values
