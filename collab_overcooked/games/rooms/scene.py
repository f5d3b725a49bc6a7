"""What a scene of the room games may say: the form of each key."""

from __future__ import annotations

from typing import Any

from collab_overcooked.core.config import MOST
from collab_overcooked.core.forms import Form, flag, list_by_seat, list_of, mapping_of, one_of, or_none, record, whole
from collab_overcooked.games.rooms.compile import Compiled
from collab_overcooked.games.rooms.constants import Outcome, Param


def scene_form(compiled: Compiled) -> Form:
    """Return the form of a scene of a map; a room that is a number may be written as one."""
    level, tables = compiled.level, compiled.tables
    named, seat = one_of(level.rooms, "room"), or_none(whole(0, compiled.n_players - 1))
    needed = int(tables.params[Param.FIXES])

    def room(value: Any, place: str) -> Any:
        return named(str(value) if type(value) is int else value, place)

    player = {"room": room, "before": room, **dict.fromkeys(("active", "seen", "fixing"), flag)}
    generator = {"room": room, "progress": whole(0, MOST), "needed": whole(needed, needed), "fixer": seat}
    place = record({"room": room, "ago": whole(0, MOST)}, ("room", "ago"))
    own = {
        "players": list_by_seat([place] * compiled.n_players, "players"),
        "adversary": place,
        "doors": mapping_of(level.door_names, flag, "door"),
        "generators": list_by_seat([whole(0, MOST)] * len(tables.generators), "generators"),
        "in_sight": list_of(room, 1, compiled.n_rooms, "rooms"),
    }
    known = list_by_seat([record(own)] * compiled.n_players, "players")
    return record(
        {
            "map": one_of([level.name], "map"),
            "turn": whole(0, MOST),
            "limit": whole(1, MOST),
            "outcome": one_of([outcome.name.lower() for outcome in Outcome], "outcome"),
            "players": list_by_seat([record(player)] * compiled.n_players, "players"),
            "adversary": record({"room": room, "target": seat}),
            "doors": mapping_of(level.door_names, flag, "door"),
            "generators": list_by_seat([record(generator)] * len(tables.generators), "generators"),
            "gate": flag,
            **({"known": known} if compiled.config.sight == "room" else {}),
        }
    )
