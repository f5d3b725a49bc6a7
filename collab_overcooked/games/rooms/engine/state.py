"""The arrays of a batch of room games, and readable scenes of one of them.

Shape letters: B environment, N player, R room, K neighbour of a room, D door, G generator, A action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.rooms.engine.constants import (
    NOTHING,
    Clock,
    Deed,
    EventColumn,
    Generator,
    Outcome,
    Param,
    Player,
    Reason,
    RoomColumn,
)
from collab_overcooked.games.rooms.engine.spec import RoomLayout
from collab_overcooked.kernels.arrays import Array, array_of
from collab_overcooked.kernels.rng import Rng, restore_rng, rng_to_dict


class Tables(NamedTuple):
    """Constants of a compiled layout: read-only arrays, int32 unless stated otherwise."""

    params: Array  # (15,) see Param
    passages: Array  # (R, R) FREE, 1 + door, or NOTHING
    ways: Array  # (2**D, R, K) rooms that open passages of a room lead to in the order of its list, then NOTHING
    rooms: Array  # (R, 3) see RoomColumn
    distances: Array  # (2**D, R, R) uint8: passages from room to room by the open doors, UNREACHABLE
    legal: Array  # (2**D, R, A) int8: what a player in a room can do, but for generators
    door_rooms: Array  # (D, 2) rooms on both sides
    starts: Array  # (N,) rooms of the players
    generators: Array  # (G,) their rooms, if these are not drawn
    candidates: Array  # (C,) rooms that can be drawn
    keys: Array  # (V,) int64: sorted keys of the states that the adversary "worst" knows, see ``worst.state_key``
    values: Array  # (V,) turns that the players need there, NEVER if they cannot force it


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    players: Array = array_of("N", Player)
    generators: Array = array_of("G", Generator)
    clock: Array = array_of(Clock)
    sightings: Array = array_of("N", "M", 2)  # room and turn in which a player last saw each player, and the adversary
    known_doors: Array = array_of("N")  # bits of the doors as a player last saw them
    known_repairs: Array = array_of("N", "G")  # fixes of the generators as a player last saw them
    rng: Array = array_of(Rng)


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    shaped: Array = array_of("N", dtype=np.float32)  # see rules.shaped_reward
    terminated: Array = array_of(dtype=np.bool_)  # success or loss
    truncated: Array = array_of(dtype=np.bool_)  # no turn is left
    events: Array = array_of("N", EventColumn)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter; M counts the players and the adversary."""
    n, n_rooms = len(tables.starts), len(tables.rooms)
    return {"N": n, "M": n + 1, "G": len(tables.generators), "A": n_rooms + 2}


# ------------------------------------------------------------------------------------------- readable scenes


def decode(level: RoomLayout, tables: Tables, state: State, i: int) -> dict[str, Any]:
    """Return environment ``i`` as plain words and numbers, fit for JSON; text and pictures are made from it.

    Returns:
        Mapping with ``map``, ``turn`` (played so far), ``limit``, ``outcome`` (name of the Outcome), ``players``
        (``room``, the room ``before`` the last turn, whether ``active``, ``seen`` by the killer and said to have been
        ``fixing``), ``adversary`` (``room`` and ``target``, a seat or None), ``doors`` (open or not, by name),
        ``generators`` (``room``, ``progress``, fixes ``needed``, and the ``fixer`` whose fixes count, a seat or None)
        and whether the ``gate`` is open.
    """
    clock, names, params = state.clock[i], level.rooms, tables.params
    needed = int(params[Param.FIXES])
    return {
        "map": level.name,
        "turn": int(clock[Clock.T]),
        "limit": int(clock[Clock.LIMIT]),
        "outcome": Outcome(clock[Clock.OUTCOME]).name.lower(),
        "players": [
            {
                "room": names[row[Player.ROOM]],
                "before": names[row[Player.BEFORE]],
                "active": bool(row[Player.ACTIVE]),
                "seen": bool(row[Player.SEEN]),
                "fixing": bool(row[Player.FIXING]),
            }
            for row in state.players[i].tolist()
        ],
        "adversary": {"room": names[clock[Clock.ADVERSARY]], "target": _seat(clock[Clock.TARGET])},
        "doors": {name: bool(clock[Clock.DOORS] >> d & 1) for d, name in enumerate(level.door_names)},
        "generators": [
            {
                "room": names[row[Generator.ROOM]],
                "progress": row[Generator.PROGRESS],
                "needed": needed,
                "fixer": _seat(row[Generator.FIXER]),
            }
            for row in state.generators[i].tolist()
        ],
        "gate": bool(len(state.generators[i])) and bool((state.generators[i, :, Generator.PROGRESS] >= needed).all()),
        "chance": rng_to_dict(state.rng[i]),
    }


def _seat(seat: int) -> int | None:
    return None if seat == NOTHING else int(seat)


def encode(level: RoomLayout, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene, of the form of ``scene.scene_form``, into environment ``i``; keys left out keep what is there.

    ``needed`` and ``gate`` are worked out anew, and the outcome as far as it can be.

    Raises:
        ValueError: If a generator is where none can be, or players have met the adversary.
    """
    clock, names = state.clock[i], level.rooms
    for name, column in (("turn", Clock.T), ("limit", Clock.LIMIT)):
        clock[column] = scene.get(name, clock[column])
    for seat, row in enumerate(scene.get("players", ())):
        _encode_player(names, state.players[i, seat], row)
    adversary = scene.get("adversary", {})
    if "room" in adversary:
        clock[Clock.ADVERSARY] = names.index(adversary["room"])
    if "target" in adversary:
        clock[Clock.TARGET] = _encode_seat(adversary["target"])
    for name, is_open in scene.get("doors", {}).items():
        bit = 1 << level.door_names.index(name)
        clock[Clock.DOORS] = clock[Clock.DOORS] & ~bit | (bit if is_open else 0)
    for g, row in enumerate(scene.get("generators", ())):
        _encode_generator(names, state.generators[i, g], row)
    rooms = state.generators[i, :, Generator.ROOM].tolist()
    for room in rooms:
        if tables.rooms[room, RoomColumn.BUTTON] != NOTHING or rooms.count(room) > 1:
            raise ValueError(f"generators: room {names[room]} has a button or another generator")
    if "chance" in scene:
        restore_rng(state.rng[i], scene["chance"])
    _encode_outcome(tables, state, i, scene)


def _encode_seat(seat: int | None) -> int:
    return NOTHING if seat is None else seat


def _encode_player(names: Sequence[str], player: Array, row: Mapping[str, Any]) -> None:
    if "room" in row:
        player[[Player.ROOM, Player.BEFORE]] = names.index(row["room"])
    if "before" in row:
        player[Player.BEFORE] = names.index(row["before"])
    for name, column in (("active", Player.ACTIVE), ("seen", Player.SEEN), ("fixing", Player.FIXING)):
        player[column] = row.get(name, player[column])


def _encode_generator(names: Sequence[str], generator: Array, row: Mapping[str, Any]) -> None:
    if "room" in row:
        generator[Generator.ROOM] = names.index(row["room"])
    generator[Generator.PROGRESS] = row.get("progress", generator[Generator.PROGRESS])
    if "fixer" in row:
        generator[Generator.FIXER] = _encode_seat(row["fixer"])


def _encode_outcome(tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    clock = state.clock[i]
    names = [outcome.name.lower() for outcome in Outcome]
    clock[Clock.OUTCOME] = names.index(scene.get("outcome", names[clock[Clock.OUTCOME]]))
    if clock[Clock.OUTCOME] == Outcome.RUNNING and clock[Clock.T] >= clock[Clock.LIMIT]:
        clock[Clock.OUTCOME] = Outcome.TIME_OUT
    active = state.players[i, :, Player.ACTIVE] == 1
    if clock[Clock.OUTCOME] == Outcome.RUNNING and clock[Clock.ADVERSARY] in state.players[i, active, Player.ROOM]:
        raise ValueError(
            f"players and adversary are both in room {scene.get('adversary', {}).get('room')}; that ends it"
        )


# ------------------------------------------------------------------------------------------- readable events


def event_of(level: RoomLayout, event: Sequence[int]) -> dict[str, Any]:
    """Return what a player did in the last turn, as plain words and numbers.

    Returns:
        Mapping with ``event`` (name of the Deed), ``reason`` (name of the Reason, ``"OK"`` if accepted), ``room`` and
        ``adversary`` (rooms after the turn), ``subject`` (door or room of the generator that it used, None), whether it
        ``caught`` the thief or was caught, ``completed`` a generator or ``escaped``, and a short ``label``.
    """
    deed, reason = Deed(event[EventColumn.CODE]), Reason(event[EventColumn.REASON])
    room, subject = level.rooms[event[EventColumn.ROOM]], None
    if deed == Deed.PRESSED:
        subject = level.door_names[event[EventColumn.SUBJECT]]
    label = {
        Deed.STAYED: "stayed",
        Deed.MOVED: f"went to {level.title(event[EventColumn.ROOM])}",
        Deed.PRESSED: f"pressed the button of door {subject}",
        Deed.FIXED: f"worked on the generator in {level.title(event[EventColumn.ROOM])}",
    }[deed]
    return {
        "event": deed.name.lower(),
        "reason": reason.name,
        "room": room,
        "adversary": level.rooms[event[EventColumn.ADVERSARY]],
        "subject": subject,
        "caught": bool(event[EventColumn.CAUGHT]),
        "completed": bool(event[EventColumn.COMPLETED]),
        "escaped": bool(event[EventColumn.ESCAPED]),
        "label": label,
    }
