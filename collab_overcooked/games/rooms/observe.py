"""What a player sees: a vector of rooms, doors, repairs and distances, its memory where sight ends, and its mask."""

from __future__ import annotations

from collab_overcooked._jit import kernel
from collab_overcooked.core.arrays import clip_u8
from collab_overcooked.games.rooms.constants import (
    NOTHING,
    STAY,
    Clock,
    Generator,
    Param,
    Player,
    Reason,
    RoomColumn,
    Sight,
)
from collab_overcooked.games.rooms.rules import is_open, why_refused


def observation_length(n_players: int, n_rooms: int, n_doors: int, n_generators: int) -> int:
    """Return L, the numbers in one player's observation."""
    entities = (n_players + 1) * n_rooms + n_players  # rooms as one-hot, turns since others were seen
    flags = 2 * n_players + n_players + 1  # in the game, at work, target
    things = n_doors + n_generators * (1 + n_rooms) + 1  # doors, generators, gate
    return entities + flags + things + n_rooms + n_players + 1  # distances, turns left


@kernel
def is_in_sight(room, other, doors, passages):
    """Players see their own room and those that open passages lead to."""
    return room == other or is_open(passages[room, other], doors)


@kernel
def remember_env(players, generators, clock, sightings, known_doors, known_repairs, tables):
    """Every player keeps where and when it last saw the others, the doors at its room or its button, and repairs.

    Mutates: sightings, known_doors, known_repairs.
    """
    passages, rooms, door_rooms = tables.passages, tables.rooms, tables.door_rooms
    doors, n_players = clock[Clock.DOORS], players.shape[0]
    for n in range(n_players):
        room = players[n, Player.ROOM]
        for other in range(n_players + 1):
            at = players[other, Player.ROOM] if other < n_players else clock[Clock.ADVERSARY]
            if is_in_sight(room, at, doors, passages):
                sightings[n, other, 0], sightings[n, other, 1] = at, clock[Clock.T]
        for d in range(door_rooms.shape[0]):
            if room == door_rooms[d, 0] or room == door_rooms[d, 1] or rooms[room, RoomColumn.BUTTON] == d:
                known_doors[n] = (known_doors[n] & ~(1 << d)) | (doors & (1 << d))
        for g in range(generators.shape[0]):
            if is_in_sight(room, generators[g, Generator.ROOM], doors, passages):
                known_repairs[n, g] = generators[g, Generator.PROGRESS]


@kernel
def remember(state, b, tables):
    """Players that see everything need no memory. Mutates: state."""
    if tables.params[Param.SIGHT] == Sight.ROOM:
        remember_env(
            state.players[b],
            state.generators[b],
            state.clock[b],
            state.sightings[b],
            state.known_doors[b],
            state.known_repairs[b],
            tables,
        )


@kernel
def forget(state, b, tables):
    """At the start players know the map, with everybody and everything in place. Mutates: state."""
    players, clock, sightings = state.players[b], state.clock[b], state.sightings[b]
    for n in range(players.shape[0]):
        state.known_doors[b, n] = clock[Clock.DOORS]
        for other in range(players.shape[0] + 1):
            at = players[other, Player.ROOM] if other < players.shape[0] else clock[Clock.ADVERSARY]
            sightings[n, other, 0], sightings[n, other, 1] = at, clock[Clock.T]
        for g in range(state.known_repairs.shape[2]):
            state.known_repairs[b, n, g] = state.generators[b, g, Generator.PROGRESS]


@kernel
def encode_rooms(seat, players, clock, sightings, everything, n_rooms, out):
    """Others follow the player itself by seat, the adversary comes last; who is out of sight is where it was last seen.

    Mutates: out.
    """
    n_players, at = players.shape[0], 0
    for k in range(n_players + 1):
        other = (seat + k) % n_players if k < n_players else n_players
        room = clock[Clock.ADVERSARY] if other == n_players else players[other, Player.ROOM]
        ago = 0
        if not everything:
            room, ago = sightings[other, 0], clock[Clock.T] - sightings[other, 1]
        out[at + room] = 1
        at += n_rooms
        if k > 0:
            out[at] = clip_u8(ago)
            at += 1
    return at


@kernel
def encode_things(generators, doors, repairs, everything, n_rooms, params, out, at):
    """Doors are open or not, generators have fixes and a room, and the gate is open once all have enough.

    Mutates: out.
    """
    for d in range(params[Param.N_DOORS]):
        out[at] = (doors >> d) & 1
        at += 1
    gate = generators.shape[0] > 0
    for g in range(generators.shape[0]):
        done = generators[g, Generator.PROGRESS] if everything else repairs[g]
        out[at] = clip_u8(min(done, params[Param.FIXES]))
        out[at + 1 + generators[g, Generator.ROOM]] = 1
        gate &= done >= params[Param.FIXES]
        at += 1 + n_rooms
    out[at] = gate
    return at + 1


@kernel
def encode_seat(seat, players, generators, clock, sightings, doors, repairs, tables, out):
    """Rooms, flags of the players, target, things, distances and turns left, in this order. Mutates: out."""
    params, everything = tables.params, tables.params[Param.SIGHT] == Sight.ALL
    n_players, n_rooms = players.shape[0], tables.passages.shape[0]
    distances, turn = tables.distances[doors], clock[Clock.T]
    out[:] = 0
    at = encode_rooms(seat, players, clock, sightings, everything, n_rooms, out)
    killer = clock[Clock.ADVERSARY] if everything else sightings[n_players, 0]
    told = everything or sightings[n_players, 1] == turn
    target, last = at + 2 * n_players, out.shape[0] - 1
    for k in range(n_players):
        other = (seat + k) % n_players
        shown = everything or sightings[other, 1] == turn
        out[at + k] = players[other, Player.ACTIVE]
        out[at + n_players + k] = players[other, Player.FIXING] if shown else 0
        out[target + k] = told and clock[Clock.TARGET] == other
        room = players[other, Player.ROOM] if everything else sightings[other, 0]
        out[last - n_players + k] = distances[killer, room]
    out[target + n_players] = told and clock[Clock.TARGET] == NOTHING
    at = encode_things(generators, doors, repairs, everything, n_rooms, params, out, target + n_players + 1)
    for room in range(n_rooms):
        out[at + room] = distances[players[seat, Player.ROOM], room]
    out[last] = clip_u8(clock[Clock.LIMIT] - turn)


@kernel
def write_mask(player, generators, doors, passages, neighbours, rooms, mask):
    """Only rooms of the own room's list need to be asked for: no passage leads to others. Mutates: mask."""
    mask[:] = 0
    mask[STAY] = 1
    for k in range(neighbours.shape[1]):
        other = neighbours[player[Player.ROOM], k]
        if other != NOTHING:
            mask[1 + other] = why_refused(1 + other, player, generators, doors, passages, rooms) == Reason.OK
    use = passages.shape[0] + 1
    mask[use] = why_refused(use, player, generators, doors, passages, rooms) == Reason.OK


@kernel
def observe_env(state, b, tables, observations, masks):
    """Write what all players of an environment see, and what they can do. Mutates: observations, masks."""
    players, generators, clock = state.players[b], state.generators[b], state.clock[b]
    passages, neighbours, rooms = tables.passages, tables.neighbours, tables.rooms
    everything = tables.params[Param.SIGHT] == Sight.ALL
    for n in range(players.shape[0]):
        doors = clock[Clock.DOORS] if everything else state.known_doors[b, n]
        repairs = state.known_repairs[b, n]
        encode_seat(n, players, generators, clock, state.sightings[b, n], doors, repairs, tables, observations[n])
        write_mask(players[n], generators, clock[Clock.DOORS], passages, neighbours, rooms, masks[n])
