"""Observations of the room games: features of rooms, doors, repairs and distances, memory, and action masks."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers, index
from collab_overcooked.kernels.blocks import Block, Objects, numbered, start_of
from collab_overcooked.kernels.jit import kernel

from .constants import NOTHING, STAY, Clock, Feature, Generator, Param, Player, RoomColumn, Sight, Sighting
from .rules import generator_in
from .state import Tables

# Without ``index``, a step takes 4 to 12 % longer.


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
    rooms = tables.rooms
    door_rooms = tables.door_rooms
    players = env.players
    generators = env.generators
    clock = env.clock
    sightings, known_doors, known_repairs = env.sightings, env.known_doors, env.known_repairs
    doors, n_players = clock[Clock.DOORS], players.shape[0]
    distances = tables.distances[doors]
    for n in range(n_players):
        room = players[n, Player.ROOM]
        for other in range(n_players + 1):
            at = players[other, Player.ROOM] if other < n_players else clock[Clock.ADVERSARY]
            if is_in_sight(room, at, distances):
                sightings[n, other, Sighting.ROOM] = at
                sightings[n, other, Sighting.TURN] = clock[Clock.T]
        for d in range(door_rooms.shape[0]):
            if room == door_rooms[d, 0] or room == door_rooms[d, 1] or rooms[room, RoomColumn.BUTTON] == d:
                known_doors[n] = (known_doors[n] & ~(1 << d)) | (doors & (1 << d))
        for g in range(generators.shape[0]):
            if is_in_sight(room, generators[g, Generator.ROOM], distances):
                known_repairs[n, g] = generators[g, Generator.PROGRESS]


@kernel
def forget(env):
    """At the start, players know the positions of all players, doors and generators. Mutates: env."""
    players = env.players
    generators = env.generators
    clock = env.clock
    sightings = env.sightings
    for n in range(players.shape[0]):
        env.known_doors[n] = clock[Clock.DOORS]
        for other in range(players.shape[0] + 1):
            at = players[other, Player.ROOM] if other < players.shape[0] else clock[Clock.ADVERSARY]
            sightings[n, other, Sighting.ROOM] = at
            sightings[n, other, Sighting.TURN] = clock[Clock.T]
        for g in range(generators.shape[0]):
            env.known_repairs[n, g] = generators[g, Generator.PROGRESS]


@kernel
def encode_players(spans, env, seat, everything, distances, adversary, out):
    """Players are encoded by seat, starting with the observer; out of sight, at their last known room. Mutates: out."""
    players = env.players
    sightings = env.sightings[seat]
    turn = env.clock[Clock.T]
    active, fixing = start_of(spans, Feature.ACTIVE, 0), start_of(spans, Feature.FIXING, 0)
    n_players = players.shape[0]
    from_adversary = start_of(spans, Feature.FROM_ADVERSARY, 0)
    other = seat
    out[index(start_of(spans, Feature.OWN_ROOM, 0) + players[index(seat), Player.ROOM])] = 1
    for k in range(n_players):
        room, ago = players[index(other), Player.ROOM], 0
        if not everything:
            room = sightings[index(other), Sighting.ROOM]
            ago = turn - sightings[index(other), Sighting.TURN]
        if k > 0:
            encode_sighting(spans, room, ago, k - 1, out)
        out[index(active + k)] = players[index(other), Player.ACTIVE]
        out[index(fixing + k)] = players[index(other), Player.FIXING] if ago == 0 else 0
        out[index(from_adversary + k)] = distances[index(adversary), index(room)]
        other = other + 1 if other + 1 < n_players else 0


@kernel
def encode_sighting(spans, room, ago, k, out):
    """Other players, and then the adversary, are encoded as their room and the turns since. Mutates: out."""
    out[index(start_of(spans, Feature.ROOM, k) + room)] = 1
    out[start_of(spans, Feature.AGO, k)] = clip_u8(ago)


@kernel
def encode_things(tables, env, seat, everything, doors, out):
    """Doors are encoded as open or closed, generators as fixes and room, and the gate as open or closed.

    Mutates: out.
    """
    params, spans, generators = tables.params, tables.spans, env.generators
    at = start_of(spans, Feature.DOORS, 0)
    for d in range(params[Param.N_DOORS]):
        out[index(at + d)] = (doors >> d) & 1
    gate = generators.shape[0] > 0
    for g in range(generators.shape[0]):
        done = generators[g, Generator.PROGRESS] if everything else env.known_repairs[seat, g]
        out[start_of(spans, Feature.FIXES, g)] = clip_u8(min(done, params[Param.FIXES]))
        out[index(start_of(spans, Feature.GENERATOR_ROOM, g) + generators[g, Generator.ROOM])] = 1
        gate &= done >= params[Param.FIXES]
    out[start_of(spans, Feature.GATE, 0)] = gate


@kernel
def encode_seat(tables, env, seat, out):
    """Write the blocks of an observation, see ``features_of``. Mutates: out."""
    players, clock, spans = env.players, env.clock, tables.spans
    n_players = players.shape[0]
    n_rooms = tables.passages.shape[0]
    turn = clock[Clock.T]
    everything = tables.params[Param.SIGHT] == Sight.ALL
    doors = clock[Clock.DOORS]
    adversary = clock[Clock.ADVERSARY]
    ago = 0
    target = clock[Clock.TARGET]
    if not everything:
        doors = env.known_doors[seat]
        adversary = env.sightings[seat, n_players, Sighting.ROOM]
        ago = turn - env.sightings[seat, n_players, Sighting.TURN]
    distances = tables.distances[index(doors)]
    out[:] = 0
    encode_players(spans, env, seat, everything, distances, adversary, out)
    encode_sighting(spans, adversary, ago, n_players - 1, out)
    if ago == 0:
        k = n_players if target == NOTHING else target - seat if target >= seat else target - seat + n_players
        out[index(start_of(spans, Feature.TARGET, 0) + k)] = 1
    encode_things(tables, env, seat, everything, doors, out)
    at = start_of(spans, Feature.FROM_HERE, 0)
    from_here = distances[index(players[index(seat), Player.ROOM])]
    for room in range(n_rooms):
        out[index(at + room)] = from_here[room]
    out[start_of(spans, Feature.TURNS_LEFT, 0)] = clip_u8(clock[Clock.LIMIT] - turn)


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


def features_of(tables: Tables) -> list[Objects]:
    """Return what an observation shows, by ``Feature``; counts without a bound are left to be clipped."""
    params = tables.params
    n_players = len(tables.starts)
    rooms = (1,) * len(tables.rooms)
    others = (*(f"player {k}" for k in range(1, n_players)), "adversary")
    ways, ago = tables.distances.max((0, 1)), ENDLESS if params[Param.SIGHT] == Sight.ROOM else 0
    other = (Block("room", rooms, "where it is, or was seen last"), Block("ago", (ago,), "turns since it was seen"))
    players = (
        Block("in the game", (1,) * n_players, "by player"),
        Block("at work", (1,) * n_players, "by player: on a generator, as far as seen"),
        Block("target", (1,) * (n_players + 1), "whom the killer is after: by player, then nobody"),
        Block("doors", (1,) * int(params[Param.N_DOORS]), "1 if open, or open when seen last"),
    )
    generator = (Block("fixes", (params[Param.FIXES],), "as seen last"), Block("room", rooms, "where it is"))
    rest = (
        Block("gate", (1,), "1 once all generators are known to be repaired"),
        Block("distances", ways, "from here to all rooms by open doors"),
        Block("distances of the adversary", (ways.max(),) * n_players, "to each player"),
        Block("turns left", (ENDLESS,), "at most 255"),
    )
    return [
        Objects((Block("room", rooms, "of player 0, who is oneself"),)),
        Objects(other, others),
        Objects(players),
        Objects(generator, numbered("generator", len(tables.generators))),
        Objects(rest),
    ]
