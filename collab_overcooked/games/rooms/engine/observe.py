"""Observations of the room games: features of rooms, doors, repairs and distances, memory, and action masks."""

from __future__ import annotations

from typing import Any

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers, index
from collab_overcooked.kernels.jit import kernel

from .constants import NOTHING, STAY, Clock, Generator, Param, Player, RoomColumn, Sight, Sighting
from .rules import generator_in


def highest_numbers(tables: Any) -> list[int]:
    """Return the highest value of each number of one player's observation, as ``encode_seat`` writes them."""
    n_players, n_generators = len(tables.starts), len(tables.generators)
    n_rooms, n_doors, distances = len(tables.rooms), int(tables.params[Param.N_DOORS]), tables.distances
    turns = ENDLESS if tables.params[Param.SIGHT] == Sight.ROOM else 0  # since others were seen
    entities = [1] * n_rooms + ([1] * n_rooms + [turns]) * n_players
    flags = [1] * (2 * n_players + n_players + 1)  # in the game, at work, target
    things = [1] * n_doors + ([int(tables.params[Param.FIXES])] + [1] * n_rooms) * n_generators + [1]  # and the gate
    ways = distances.max((0, 1)).tolist() + [int(distances.max())] * n_players
    return entities + flags + things + ways + [ENDLESS]


@kernel
def is_in_sight(room, other, distances):
    """With limited sight, players see their room and the rooms behind its open passages."""
    return distances[room, other] <= 1


@kernel
def remember(tables, env):
    """With limited sight, players remember the room and turn of their last sight of others, doors and repairs.

    Mutates: env.
    """
    if tables.params[Param.SIGHT] == Sight.ALL:
        return
    rooms, door_rooms, players, generators, clock = (
        tables.rooms,
        tables.door_rooms,
        env.players,
        env.generators,
        env.clock,
    )
    sightings, known_doors, known_repairs = env.sightings, env.known_doors, env.known_repairs
    doors, n_players = clock[Clock.DOORS], players.shape[0]
    distances = tables.distances[doors]
    for n in range(n_players):
        room = players[n, Player.ROOM]
        for other in range(n_players + 1):
            at = players[other, Player.ROOM] if other < n_players else clock[Clock.ADVERSARY]
            if is_in_sight(room, at, distances):
                sightings[n, other, Sighting.ROOM], sightings[n, other, Sighting.TURN] = at, clock[Clock.T]
        for d in range(door_rooms.shape[0]):
            if room == door_rooms[d, 0] or room == door_rooms[d, 1] or rooms[room, RoomColumn.BUTTON] == d:
                known_doors[n] = (known_doors[n] & ~(1 << d)) | (doors & (1 << d))
        for g in range(generators.shape[0]):
            if is_in_sight(room, generators[g, Generator.ROOM], distances):
                known_repairs[n, g] = generators[g, Generator.PROGRESS]


@kernel
def forget(env):
    """At the start, players know the positions of all players, doors and generators. Mutates: env."""
    players, generators, clock, sightings = env.players, env.generators, env.clock, env.sightings
    for n in range(players.shape[0]):
        env.known_doors[n] = clock[Clock.DOORS]
        for other in range(players.shape[0] + 1):
            at = players[other, Player.ROOM] if other < players.shape[0] else clock[Clock.ADVERSARY]
            sightings[n, other, Sighting.ROOM], sightings[n, other, Sighting.TURN] = at, clock[Clock.T]
        for g in range(generators.shape[0]):
            env.known_repairs[n, g] = generators[g, Generator.PROGRESS]


@kernel
def encode_players(env, seat, everything, distances, killer, last, out):
    """Players are encoded by seat, starting with the observer; out of sight, at their last known room. Mutates: out."""
    players, sightings, turn = env.players, env.sightings[seat], env.clock[Clock.T]
    n_players, slot = players.shape[0], distances.shape[0] + 1
    at = (n_players + 1) * slot - 1
    other = seat
    out[index(players[index(seat), Player.ROOM])] = 1
    for k in range(n_players):
        room, ago = players[index(other), Player.ROOM], 0
        if not everything:
            room = sightings[index(other), Sighting.ROOM]
            ago = turn - sightings[index(other), Sighting.TURN]
        if k > 0:
            out[index(k * slot - 1 + room)] = 1
            out[index(k * slot + slot - 2)] = clip_u8(ago)
        out[index(at + k)] = players[index(other), Player.ACTIVE]
        out[index(at + n_players + k)] = players[index(other), Player.FIXING] if ago == 0 else 0
        out[index(last - n_players + k)] = distances[index(killer), index(room)]
        other = other + 1 if other + 1 < n_players else 0


@kernel
def encode_things(tables, env, seat, everything, doors, at, out):
    """Doors are encoded as open or closed, generators as fixes and room, and the gate as open or closed.

    Mutates: out.
    """
    params, n_rooms, generators = tables.params, tables.passages.shape[0], env.generators
    for d in range(params[Param.N_DOORS]):
        out[index(at)] = (doors >> d) & 1
        at += 1
    gate = generators.shape[0] > 0
    for g in range(generators.shape[0]):
        done = generators[g, Generator.PROGRESS] if everything else env.known_repairs[seat, g]
        out[index(at)] = clip_u8(min(done, params[Param.FIXES]))
        out[index(at + 1 + generators[g, Generator.ROOM])] = 1
        gate &= done >= params[Param.FIXES]
        at += 1 + n_rooms
    out[index(at)] = gate
    return at + 1


@kernel
def encode_seat(tables, env, seat, out):
    """Write rooms, player flags, target, doors, generators, distances and turns left, in this order. Mutates: out."""
    players, clock = env.players, env.clock
    n_players, n_rooms, turn = players.shape[0], tables.passages.shape[0], clock[Clock.T]
    everything = tables.params[Param.SIGHT] == Sight.ALL
    doors, killer, ago, target = clock[Clock.DOORS], clock[Clock.ADVERSARY], 0, clock[Clock.TARGET]
    if not everything:
        doors, killer, ago = (
            env.known_doors[seat],
            env.sightings[seat, n_players, Sighting.ROOM],
            turn - env.sightings[seat, n_players, Sighting.TURN],
        )
    distances = tables.distances[index(doors)]
    out[:] = 0
    flags = (n_players + 1) * (n_rooms + 1) - 1
    out[index(flags - n_rooms - 1 + killer)] = 1
    out[index(flags - 1)] = clip_u8(ago)
    if ago == 0:
        k = n_players if target == NOTHING else target - seat if target >= seat else target - seat + n_players
        out[index(flags + 2 * n_players + k)] = 1
    at = flags + 3 * n_players + 1
    at = encode_things(tables, env, seat, everything, doors, at, out)
    from_here = distances[index(players[index(seat), Player.ROOM])]
    for room in range(n_rooms):
        out[index(at + room)] = from_here[room]
    last = at + n_rooms + n_players
    encode_players(env, seat, everything, distances, killer, last, out)
    out[index(last)] = clip_u8(clock[Clock.LIMIT] - turn)


@kernel
def write_mask(tables, env, seat, mask):
    """Active players can take the room's legal actions and work on a generator in it. Mutates: mask."""
    player = env.players[seat]
    room = player[Player.ROOM]
    if player[Player.ACTIVE] == 0:
        mask[:] = 0
        mask[STAY] = 1
        return
    copy_numbers(tables.legal[index(env.clock[Clock.DOORS]), index(room)], mask)
    if generator_in(room, env.generators) != NOTHING:
        mask[mask.shape[0] - 1] = 1


@kernel
def observe_env(tables, env, out):
    """Players observe what is in sight or known to them. Mutates: out."""
    for n in range(out.masks.shape[0]):
        encode_seat(tables, env, n, out.observations[n])
        write_mask(tables, env, n, out.masks[n])
