"""Moves of all players together, without collisions, the most urgent first."""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import HAND_END, NOTHING, Param, Player
from collab_overcooked.games.overcooked.engine.rules import can_interact
from collab_overcooked.games.overcooked.policies.assignment_arrays import BASE, FAR, INTERACT, KIN, Goal, Station
from collab_overcooked.games.overcooked.policies.distances import is_shut
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
