"""Keys of states, and the adversary that plays optimally against the players by a table of state values."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel

from .constants import NEVER, NOTHING, Adversary, Clock, Exchange, Generator, Goal, Param, Player, RoomColumn
from .rules import distance_to_players, is_caught, is_repaired


@kernel
def state_key(tables, env, is_first):
    """Return everything that future turns depend on, as one integer below 2**62."""
    players, generators, clock = env.players, env.generators, env.clock
    params, n_rooms = tables.params, tables.passages.shape[0]
    coded = params[Param.GOAL] == Goal.ESCAPE and params[Param.ADVERSARY] == Adversary.CODED
    n_players, fixes, key = players.shape[0], params[Param.FIXES], 0
    for n in range(n_players):
        at = players[n, Player.ROOM] if players[n, Player.ACTIVE] == 1 else n_rooms
        key = key * (n_rooms + 1) + at
        if coded:
            key = key * 2 + players[n, Player.SEEN]
    key = key * n_rooms + clock[Clock.ADVERSARY]
    if coded:
        key = key * (n_players + 1) + clock[Clock.TARGET] + 1
    for g in range(generators.shape[0]):
        key = key * n_rooms + generators[g, Generator.ROOM]
        key = key * (fixes + 1) + min(generators[g, Generator.PROGRESS], fixes)
        if params[Param.FIX_BY_ONE] == 1:
            key = key * (n_players + 1) + generators[g, Generator.FIXER] + 1
    key = (key << params[Param.N_DOORS]) + clock[Clock.DOORS]
    return key * 2 + (1 if is_first and params[Param.EXCHANGE] == Exchange.LATER else 0)


@kernel
def find_key(keys, key):
    """Return the index of a key in a sorted row, or NOTHING."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < keys.shape[0] and keys[low] == key else NOTHING


@kernel
def value_after(tables, env, now):
    """Return the turns that the players need once the adversary has moved to a room; NEVER if they cannot force it.

    Restores all arrays.
    """
    players, clock, params = env.players, env.clock, tables.params
    before, turn = clock[Clock.ADVERSARY], clock[Clock.T]
    active, caught, left, escaped = 0, 0, 0, False
    gate = is_repaired(env.generators, params)
    for n in range(players.shape[0]):
        active |= players[n, Player.ACTIVE] << n
        meets = is_caught(players[n], before, now, turn, params[Param.EXCHANGE])
        caught += meets
        if players[n, Player.ACTIVE] == 1 and not meets:
            left += 1
            escaped |= gate and tables.rooms[players[n, Player.ROOM], RoomColumn.EXIT] == 1
        elif params[Param.LOSS_BY_ALL] == 1:
            players[n, Player.ACTIVE] = 0
    clock[Clock.ADVERSARY] = now
    key = state_key(tables, env, False)
    clock[Clock.ADVERSARY] = before
    for n in range(players.shape[0]):
        players[n, Player.ACTIVE] = (active >> n) & 1
    if params[Param.GOAL] == Goal.CAPTURE and caught > 0:
        return 0
    if params[Param.GOAL] == Goal.ESCAPE and (left == 0 or (caught > 0 and params[Param.LOSS_BY_ALL] == 0)):
        return NEVER
    if escaped:
        return 0
    at = find_key(tables.keys, key)
    return tables.values[at] if at != NOTHING else NEVER


@kernel
def worst_way(tables, env, doors):
    """Return the room in reach that costs the players the most turns; ties by the distance to them.

    Among equal rooms, a killer takes the one nearest to the players and a thief the one farthest from them. Its own
    room comes first where it may stay.
    """
    room, distances = env.clock[Clock.ADVERSARY], tables.distances[doors]
    ways = tables.ways[doors, room]
    sign = -1 if tables.params[Param.GOAL] == Goal.ESCAPE else 1
    best, best_distance, chosen = NOTHING, 0, room
    if tables.params[Param.MAY_STAY] == 1:
        best = value_after(tables, env, room)
        best_distance = sign * distance_to_players(room, env.players, Player.ROOM, distances)
    for k in range(ways.shape[0]):
        other = ways[k]
        if other == NOTHING:
            break
        value = value_after(tables, env, other)
        distance = sign * distance_to_players(other, env.players, Player.ROOM, distances)
        if value > best or (value == best and distance > best_distance):
            best, best_distance, chosen = value, distance, other
    return chosen
