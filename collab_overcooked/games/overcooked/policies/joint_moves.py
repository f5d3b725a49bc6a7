"""Moves of all players together, without collisions, the most urgent first."""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import HAND_END, NOTHING, Param, Player
from collab_overcooked.games.overcooked.engine.rules import can_interact
from collab_overcooked.games.overcooked.policies.assignment_arrays import BASE, FAR, INTERACT, KIN, Goal, Station
from collab_overcooked.games.overcooked.policies.distances import is_shut, shut
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel


@kernel
def faces(i, s, players, stations):
    """Return whether a player faces a station."""
    dx, dy = OFFSETS[players[i, Player.FACING]]
    ahead_x, ahead_y = players[i, Player.X] + dx, players[i, Player.Y] + dy
    return ahead_x == stations[s, Station.X] and ahead_y == stations[s, Station.Y]


@kernel
def station_answers(s, hand, stations, cells, times, params):
    """Return whether hands can do something at a station now."""
    cell = cells[stations[s, Station.Y], stations[s, Station.X]]
    terrain, auto_start, anyone = stations[s, Station.TERRAIN], params[Param.AUTO_START], params[Param.GATE_ANYONE]
    return can_interact(hand, cell, terrain, times, auto_start, anyone)


@kernel
def can_act(i, s, players, stations, cells, times, params):
    """Return whether a player faces a station at which it can do something now."""
    hand = players[i, Player.HAND : HAND_END]
    return faces(i, s, players, stations) and station_answers(s, hand, stations, cells, times, params)


@kernel
def list_choices(i, stations, neighbours, gates, floor, players, cells, scratch):
    """List where each move of a player leads, and how many steps are left after it. Mutates: scratch.

    The fifth choice is to stay. Without a goal all cells are alike, but staying is least trouble.
    """
    cell, s = floor[players[i, Player.Y], players[i, Player.X]], scratch.goals[i, Goal.STATION]
    choices = scratch.choices[i]
    choices[4, 0] = cell
    choices[4, 1] = 0 if s == NOTHING or faces(i, s, players, stations) else 2 * way(i, s, cell, scratch)
    for direction in range(4):
        target = neighbours[cell, direction]
        if target != NOTHING and is_shut(target, stations, gates, cells):
            target = NOTHING
        choices[direction, 0] = cell if target == NOTHING else target
        if s == NOTHING:
            choices[direction, 1] = 1
            continue
        x, y = players[i, Player.X], players[i, Player.Y]
        if target != NOTHING:
            x, y = x + OFFSETS[direction][0], y + OFFSETS[direction][1]
        arrived = (
            x + OFFSETS[direction][0] == stations[s, Station.X] and y + OFFSETS[direction][1] == stations[s, Station.Y]
        )
        choices[direction, 1] = 1 if arrived else 2 * way(i, s, choices[direction, 0], scratch) + 1
    if scratch.steps[i] != NOTHING:
        for choice in range(5):
            choices[choice, 1] = 0 if choices[choice, 0] == scratch.steps[i] else BASE - 1


@kernel
def way(i, s, cell, scratch):
    """Return the steps from a cell to facing a player's goal, through closed gates if there is no other way."""
    return scratch.opened[s, cell] if scratch.goals[i, Goal.OPENED] == 1 else scratch.fields[s, cell]


@kernel
def rank_players(players, floor, turn, scratch):
    """Order players by urgency, then by nearness; a turn of 1 reverses the order, to break a jam. Mutates: scratch."""
    n = players.shape[0]
    for i in range(n):
        scratch.order[i] = i
    for a in range(n):
        for b in range(a + 1, n):
            first, second = (
                urgency(scratch.order[a], players, floor, scratch),
                urgency(scratch.order[b], players, floor, scratch),
            )
            if (second > first) != (turn == 1):
                scratch.order[a], scratch.order[b] = scratch.order[b], scratch.order[a]


@kernel
def urgency(i, players, floor, scratch):
    """Return how urgent a player's errand is; no two are equally urgent."""
    s, cell = scratch.goals[i, Goal.STATION], floor[players[i, Player.Y], players[i, Player.X]]
    left = FAR if s == NOTHING else min(way(i, s, cell, scratch), FAR)
    return (scratch.goals[i, Goal.RANK] * (FAR + 1) + FAR - left) * 8 - i


@kernel
def move_together(players, neighbours, stations, gates, floor, cells, turn, trust, scratch, actions):
    """Of all joint moves without a collision the one is made that is best for the most urgent, then for the next.

    Whoever can interact at its goal does so. Mutates: scratch, actions.
    """
    n = players.shape[0]
    rank_players(players, floor, turn, scratch)
    for i in range(n):
        list_choices(i, stations, neighbours, gates, floor, players, cells, scratch)
    total = 1
    for _ in range(n):
        total *= 5
    best, least = 0, np.int64(1) << 62
    for code in range(total):
        cost, rest = np.int64(0), code
        for rank in range(n):
            i = scratch.order[rank]
            choice = 4 - rest % 5
            rest //= 5
            if (actions[i] == INTERACT or trust[i] != KIN) and choice != 4:
                cost = np.int64(1) << 62
                break
            scratch.goals[i, Goal.CHOICE] = choice
            cost = cost * BASE + scratch.choices[i, choice, 1]
        if cost < least and not collides(players, floor, scratch):
            best, least = code, cost
    for rank in range(n):
        i = scratch.order[rank]
        if actions[i] != INTERACT:
            actions[i] = 4 - best % 5
        best //= 5


@kernel
def make_way(i, stations, stands, neighbours, gates, floor, players, cells, trust, scratch):
    """A player that others keep from its goal gets there with the one of them that is nearest to the goal.

    Both take the first step of the shortest joint way. Mutates: scratch.
    """
    n, s, j, there = neighbours.shape[0], scratch.goals[i, Goal.STATION], NOTHING, 0
    if s == NOTHING or scratch.pairs.shape[0] < n * n:
        return
    shut(stations, gates, floor, players, cells, trust, scratch.passable)
    for k in range(players.shape[0]):
        cell = floor[players[k, Player.Y], players[k, Player.X]]
        scratch.passable[cell] = 0
        if k != i and trust[k] == KIN and (j == NOTHING or scratch.opened[s, cell] < scratch.opened[s, there]):
            j, there = k, cell
    here = floor[players[i, Player.Y], players[i, Player.X]]
    if j == NOTHING:
        return
    scratch.passable[here], scratch.passable[there] = 1, 1
    pair = next_pair(here, there, stands[s], neighbours, scratch)
    if pair != NOTHING:
        scratch.steps[i], scratch.steps[j] = pair // n, pair % n


@kernel
def next_pair(here, there, stands, neighbours, scratch):
    """Return the cells, as one number, that two players move to so that the first soon has one of its stands.

    It is NOTHING if the first has one already, or never gets to one. Mutates: scratch.
    """
    n, count = neighbours.shape[0], 0
    scratch.pairs[:] = 0
    for stand in stands:
        if stand == here:
            return NOTHING
        if stand == NOTHING or scratch.passable[stand] == 0:
            continue
        for other in range(n):
            if other != stand and scratch.passable[other] == 1:
                scratch.pairs[stand * n + other] = 1
                scratch.pair_queue[count] = stand * n + other
                count += 1
    return spread(count, here * n + there, neighbours, scratch)


@kernel
def spread(count, end, neighbours, scratch):
    """Mark all pairs of cells that two players get to from those in the queue, until one is at the end.

    Mutates: scratch.

    Returns:
        The pair before the end, NOTHING if it is never reached.
    """
    n, pairs, queue, passable = neighbours.shape[0], scratch.pairs, scratch.pair_queue, scratch.passable
    head = 0
    while head < count:
        first, second = queue[head] // n, queue[head] % n
        for code in range(25):
            one = first if code // 5 == 4 else neighbours[first, code // 5]
            two = second if code % 5 == 4 else neighbours[second, code % 5]
            if one == NOTHING or two == NOTHING or passable[one] == 0 or passable[two] == 0:
                continue
            if one == two or (one == second and two == first) or pairs[one * n + two] == 1:
                continue
            if one * n + two == end:
                return queue[head]
            pairs[one * n + two] = 1
            queue[count] = one * n + two
            count += 1
        head += 1
    return NOTHING


@kernel
def find_barred(stations, stands, neighbours, floor, players, barred, scratch):
    """Find the stations that two players never get to, all gates open, as neither can pass the other.

    Mutates: barred (2, S), scratch.
    """
    n, pairs = neighbours.shape[0], scratch.pairs
    pairs[:], scratch.passable[:] = 0, 1
    first, second = floor[players[0, Player.Y], players[0, Player.X]], floor[players[1, Player.Y], players[1, Player.X]]
    pairs[first * n + second], scratch.pair_queue[0] = 1, first * n + second
    spread(1, NOTHING, neighbours, scratch)
    for s in range(stations.shape[0]):
        barred[:, s] = 1
        for stand in stands[s]:
            for other in range(n):
                if stand != NOTHING and pairs[stand * n + other] == 1:
                    barred[0, s] = 0
                if stand != NOTHING and pairs[other * n + stand] == 1:
                    barred[1, s] = 0


@kernel
def collides(players, floor, scratch):
    """Return whether the choices of two players end on one cell, or swap theirs."""
    n = players.shape[0]
    for i in range(n):
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        target = scratch.choices[i, scratch.goals[i, Goal.CHOICE], 0]
        for j in range(i + 1, n):
            other = floor[players[j, Player.Y], players[j, Player.X]]
            aim = scratch.choices[j, scratch.goals[j, Goal.CHOICE], 0]
            if target == aim or (target == other and aim == cell):
                return True
    return False
