"""What a scene of the room games may say: the form of each key, and what must hold between keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.games.rooms.engine.compile import Compiled
from collab_overcooked.games.rooms.engine.constants import Adversary, Goal, Outcome, Param
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


def scene_form(compiled: Compiled) -> Form:
    """Return the form of a scene of a map; a room that is a number may be written as one."""
    level, tables = compiled.level, compiled.tables
    named, seat = one_of(level.rooms, "room"), optional(integer(0, compiled.n_players - 1))
    needed = int(tables.params[Param.FIXES])

    def room(value: Any, place: str) -> Any:
        return named(str(value) if type(value) is int else value, place)

    player = {"room": room, "before": room, **dict.fromkeys(("active", "seen", "fixing"), boolean)}
    generator = {"room": room, "progress": integer(0, MAX_OPTION), "needed": integer(needed, needed), "fixer": seat}
    place = record({"room": room, "ago": integer(0, MAX_OPTION)}, ("room", "ago"))
    own = {
        "players": list_by_seat([place] * compiled.n_players, "players"),
        "adversary": place,
        "doors": mapping_of(level.door_names, boolean, "door"),
        "generators": list_by_seat([integer(0, MAX_OPTION)] * len(tables.generators), "generators"),
        "in_sight": list_of(room, 1, compiled.n_rooms, "rooms"),
    }
    known = list_by_seat([record(own)] * compiled.n_players, "players")
    return record(
        {
            "map": one_of([level.name], "map"),
            "turn": integer(0, MAX_OPTION),
            "limit": integer(1, MAX_OPTION),
            "outcome": one_of([outcome.name.lower() for outcome in Outcome], "outcome"),
            "players": list_by_seat([record(player)] * compiled.n_players, "players"),
            "adversary": record({"room": room, "target": seat}),
            "doors": mapping_of(level.door_names, boolean, "door"),
            "generators": list_by_seat([record(generator)] * len(tables.generators), "generators"),
            "gate": boolean,
            "chance": rng_form(),
            **({"known": known} if compiled.config.sight == "room" else {}),
        }
    )


def check_scene(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a scene that no play can lead to, whatever players see and know; ``check_sight`` is for that.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    params, players = compiled.tables.params, scene["players"]
    escape, can_be_out = compiled.goal == Goal.ESCAPE, bool(params[Param.LOSS_BY_ALL])
    if scene["turn"] > scene["limit"]:
        raise ValueError(f"state.turn must be at most the limit of {scene['limit']} turns, not {scene['turn']}")
    if not all(player["active"] for player in players) and not can_be_out:
        raise ValueError("state.players: active must be true, not False: by these rules nobody is out of the game")
    if scene["outcome"] == "running" and not any(player["active"] for player in players):
        raise ValueError("state.players: one must be active while the outcome is running")
    if not escape and any(player["fixing"] for player in players):
        raise ValueError("state.players: fixing must be false, not True: there is nothing to fix")
    by_one = bool(params[Param.FIX_BY_ONE])
    for k, generator in enumerate(scene["generators"]):
        if (generator["fixer"] is not None) != (by_one and generator["progress"] > 0):
            allowed = "a seat" if by_one and generator["progress"] > 0 else "null"
            raise ValueError(
                f"state.generators[{k}].fixer must be {allowed} for such a generator, not {generator['fixer']}"
            )


def check_sight(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """Refuse a completed scene in which somebody sees, knows or goes for what it cannot.

    Raises:
        ValueError: Naming the key, its value and what is allowed.
    """
    _check_target(compiled, scene)
    for seat, known in enumerate(scene.get("known", ())):
        _check_known(compiled, scene, seat, known)


def _check_target(compiled: Compiled, scene: Mapping[str, Any]) -> None:
    """The killer of 2024 goes for one of those next to it, that of 2023 for one in the game, others for nobody."""
    escape, kind = compiled.goal == Goal.ESCAPE, compiled.tables.params[Param.ADVERSARY]
    near = _distances(compiled, scene["doors"])[compiled.level.rooms.index(scene["adversary"]["room"])]
    in_sight = [
        seat
        for seat, player in enumerate(scene["players"])
        if escape and player["active"] and near[compiled.level.rooms.index(player["room"])] == 1
    ]
    coded, target = escape and kind == Adversary.CODED, scene["adversary"]["target"]
    for seat, player in enumerate(scene["players"]):
        if player["seen"] != (coded and seat in in_sight):
            raise ValueError(f"state.players[{seat}].seen must be {not player['seen']}: it sees rooms next to its own")
    allowed: list[int | None] = [*in_sight] or [None] if coded else [None]
    if escape and kind == Adversary.CLOSEST:
        allowed = [None, *(seat for seat, player in enumerate(scene["players"]) if player["active"])]
    if target not in allowed:
        raise ValueError(f"state.adversary.target must be one of {allowed}, not {target}")


def _check_known(compiled: Compiled, scene: Mapping[str, Any], seat: int, known: Mapping[str, Any]) -> None:
    """What a player sees it knows, and what it knows to be so now is so."""
    place, in_sight = f"state.known[{seat}]", known["in_sight"]
    truth = [*(player["room"] for player in scene["players"]), scene["adversary"]["room"]]
    for k, (room, own) in enumerate(zip(truth, [*known["players"], known["adversary"]], strict=True)):
        where = f"{place}.players[{k}]" if k < len(scene["players"]) else f"{place}.adversary"
        if own["ago"] > scene["turn"]:
            raise ValueError(f"{where}.ago must be at most the {scene['turn']} turns played, not {own['ago']}")
        if (room in in_sight and own["ago"] > 0) or (own["ago"] == 0 and own["room"] != room):
            raise ValueError(f"{where} must be room {room} 0 turns ago, not room {own['room']} {own['ago']} turns ago")
    rooms = compiled.level.rooms
    here = rooms.index(scene["players"][seat]["room"])
    for door, name in zip(compiled.level.doors, compiled.level.door_names, strict=True):
        if here in (*door.rooms, door.button) and known["doors"][name] != scene["doors"][name]:
            raise ValueError(f"{place}.doors.{name} must be {scene['doors'][name]}: the player is at it")
    for k, (generator, done) in enumerate(zip(scene["generators"], known["generators"], strict=True)):
        if generator["room"] in in_sight and done != generator["progress"]:
            raise ValueError(f"{place}.generators[{k}] must be {generator['progress']}, which is in sight, not {done}")


def _distances(compiled: Compiled, doors: Mapping[str, bool]) -> Any:
    """Return passages from room to room by the open doors."""
    return compiled.tables.distances[sum(doors[name] << d for d, name in enumerate(compiled.level.door_names))]
