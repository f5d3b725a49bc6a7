"""Joint decision for a kitchen: goals of all players, and moves towards them that do not block each other.

Pots need ingredients now, a dish when the soup is almost ready, and ingredients for the next soup. Things in hands are
counted first, then things on counters; empty hands get the remaining jobs, the fastest pair of player and job first.
Hand-overs go via counters that both sides reach; players who carry something through a closed gate need a player with
empty hands to open it. Moves are then chosen for all players jointly, with priority for the most urgent thing.

Kernels here are compiled like the rules (see ``kernels.jit``): no allocation, all scratch memory is in ``Scratch``.
"""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import NOTHING, Frame, Item, Param, Player, Terrain
from collab_overcooked.games.overcooked.policies.assignment_arrays import (
    DISH,
    FAR,
    GATE_COST,
    INTERACT,
    KIN,
    LOCKED_IN,
    ONION,
    PASSING,
    SOUP,
    STAY,
    TOMATO,
    Goal,
    Need,
    Station,
)
from collab_overcooked.games.overcooked.policies.distances import find_carries, survey
from collab_overcooked.games.overcooked.policies.full_hands import (
    best_counter,
    column_of,
    count_loose,
    list_needs,
    send,
    send_carrier,
)
from collab_overcooked.games.overcooked.policies.job_times import item_at, job_time, open_for_oneself
from collab_overcooked.games.overcooked.policies.joint_moves import can_act, make_way, move_together
from collab_overcooked.kernels.jit import kernel


@kernel
def assign(limit, stations, stands, gates, floor, players, cells, trust, scratch):
    """Give jobs to empty hands, the pair of player and job that takes the least time first. Mutates: scratch."""
    for _ in range(players.shape[0]):
        least, who, what, where = FAR, NOTHING, NOTHING, NOTHING
        for i in range(players.shape[0]):
            if players[i, Player.HAND] != Item.NONE or scratch.goals[i, Goal.STATION] != NOTHING or trust[i] != KIN:
                continue
            cell = floor[players[i, Player.Y], players[i, Player.X]]
            for s in range(stations.shape[0]):
                steps, target = job_time(s, i, cell, limit, stations, stands, floor, players, cells, scratch)
                if steps < least:
                    least, who, what, where = steps, i, s, target
        if who == NOTHING:
            return
        cell = floor[players[who, Player.Y], players[who, Player.X]]
        send(who, what, 2, cell, scratch)
        terrain = stations[what, Station.TERRAIN]
        if terrain == Terrain.POT:
            scratch.needs[what, Need.START] = 0
        elif terrain != Terrain.GATE:
            settle(what, where, stations, cells, scratch)
        else:
            scratch.goals[who, Goal.RANK] = 4
        if scratch.goals[who, Goal.OPENED] == 1:
            open_for_oneself(who, cell, gates, scratch)


@kernel
def settle(s, target, stations, cells, scratch):
    """Remove a thing that a player goes to fetch from the needs. Mutates: scratch."""
    item = item_at(s, stations, cells)
    if stations[s, Station.TERRAIN] == Terrain.COUNTER:
        scratch.taken[s] = 1
        scratch.loose[item] -= 1
    if item == SOUP:
        return
    now = column_of(item, False)
    scratch.needs[target, now if scratch.needs[target, now] > 0 or item == DISH else column_of(item, True)] -= 1


@kernel
def clear_hands(stations, stands, floor, players, cells, trust, scratch):
    """Put down unneeded things if a dish or soup waits for empty hands. Mutates: scratch."""
    waiting = scratch.loose[SOUP] > 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            wants = scratch.needs[s, Need.DISH] > 0 or scratch.needs[s, Need.START] > 0
            waiting = waiting or wants or scratch.needs[s, Need.ONIONS] + scratch.needs[s, Need.TOMATOES] > 0
    for i in range(players.shape[0]):
        if not waiting or trust[i] != KIN or players[i, Player.HAND] == Item.NONE:
            continue
        if scratch.goals[i, Goal.RANK] > 2:
            continue
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        c = best_counter(i, NOTHING, cell, stations, stands, cells, scratch)
        if c != NOTHING:
            scratch.taken[c] = 1
            send(i, c, 2, cell, scratch)
            return


@kernel
def assign_env(tables, static, k, players, cells, trust, claimed, turn, scratch, actions):
    """Decide for one kitchen. Mutates: scratch, actions (N,)."""
    stations, stands, gates = static.stations[k], static.stands[k], static.gates[k]
    neighbours, floor, times = tables.neighbours[k], tables.floor[k], tables.times[k]
    params, goals, n = tables.params, scratch.goals, players.shape[0]
    helpers = 0
    for i in range(n):
        helpers += trust[i] == KIN
    scratch.gate[0] = GATE_COST if helpers > 1 else LOCKED_IN
    survey(stations, stands, gates, neighbours, floor, players, cells, trust, scratch)
    find_carries(stations, stands, static.regions[k], floor, players, scratch)
    list_needs(stations, floor, players, cells, tables.values[k], times, params[Param.AUTO_START], scratch)
    count_loose(stations, cells, claimed, scratch)
    for i in range(n):
        goals[i] = 0
        goals[i, Goal.STATION] = NOTHING
    for item in (SOUP, DISH, ONION, TOMATO):
        for i in range(n):
            if players[i, Player.HAND] == item:
                cell = floor[players[i, Player.Y], players[i, Player.X]]
                send_carrier(i, item, cell, stations, stands, cells, scratch)
    assign(tables.frames[k, Frame.GATE_LIMIT], stations, stands, gates, floor, players, cells, trust, scratch)
    clear_hands(stations, stands, floor, players, cells, trust, scratch)
    for i in range(n):
        s = goals[i, Goal.STATION]
        acts = s != NOTHING and trust[i] == KIN and can_act(i, s, players, stations, cells, times, params)
        actions[i] = INTERACT if acts else STAY
    scratch.steps[:] = NOTHING
    if turn >= PASSING:
        make_way(turn - PASSING, stations, stands, neighbours, gates, floor, players, cells, trust, scratch)
    move_together(players, neighbours, stations, gates, floor, cells, turn, trust, scratch, actions)
