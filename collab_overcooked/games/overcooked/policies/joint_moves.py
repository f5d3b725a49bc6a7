"""Moves of all players together towards their goals, without collisions, the most urgent first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel

from ..engine.constants import NOTHING, Player
from .distances import FAR, locate, shut
from .kitchen import INTERACT, SAME_POLICY, Array, Goal, Station, faces, is_shut

BASE = 1 << 13  # of the joint cost, one digit a player
PASSING = 2  # plus its number, where the others make way for a player
MAX_PAIRED = 128  # cells of the largest floor on which two players look for a way past each other


class Moves(NamedTuple):
    """Scratch memory for the moves of one environment; shape letters as in ``kitchen``."""

    order: Array = array_of("N")  # players by urgency
    choices: Array = array_of("N", 5, 2)  # cell after a move, and its cost
    choice: Array = array_of("N")  # move that is looked at
    steps: Array = array_of("N", fill=NOTHING)  # cell that a player has to move to, NOTHING for its own choice
    pairs: Array = array_of("pairs")  # 1 for cells of two players from which the first gets to its goal
    queue: Array = array_of("pairs")


@kernel
def send(distances, goals, i, s, rank):
    """A player goes for a station. Mutates: goals."""
    cell = distances.here[i]
    goals[i, Goal.STATION] = s
    goals[i, Goal.RANK] = rank
    goals[i, Goal.OPENED] = s != NOTHING and distances.fields[s, cell] >= FAR and distances.opened[s, cell] < FAR


@kernel
def steps_left(distances, goal, cell):
    """Return the steps from a cell to facing a goal, through closed gates if there is no other way."""
    s = goal[Goal.STATION]
    return distances.opened[s, cell] if goal[Goal.OPENED] == 1 else distances.fields[s, cell]


@kernel
def list_choices(kitchen, env, distances, goal, i, moves):
    """List where each move of a player leads, and how many steps are left after it. Mutates: moves.choices.

    The fifth choice is to stay. Without a goal all cells are alike, but staying is least trouble.
    """
    cell = distances.here[i]
    s = goal[Goal.STATION]
    player = env.players[i]
    choices = moves.choices[i]
    choices[4, 0] = cell
    choices[4, 1] = 0 if s == NOTHING or faces(player, kitchen.stations[s]) else 2 * steps_left(distances, goal, cell)
    for direction in range(4):
        target = kitchen.neighbours[cell, direction]
        if target != NOTHING and is_shut(kitchen, env.cells, target):
            target = NOTHING
        choices[direction, 0] = cell if target == NOTHING else target
        if s == NOTHING:
            choices[direction, 1] = 1
            continue
        dx, dy = OFFSETS[direction]
        reach = 1 if target == NOTHING else 2  # cells ahead of the player that it faces after the move
        ahead_x, ahead_y = player[Player.X] + reach * dx, player[Player.Y] + reach * dy
        arrived = ahead_x == kitchen.stations[s, Station.X] and ahead_y == kitchen.stations[s, Station.Y]
        choices[direction, 1] = 1 if arrived else 2 * steps_left(distances, goal, choices[direction, 0]) + 1
    if moves.steps[i] != NOTHING:
        for choice in range(5):
            choices[choice, 1] = 0 if choices[choice, 0] == moves.steps[i] else BASE - 1


@kernel
def urgency(distances, goals, i):
    """Return how urgent a player's subtask is; no two are equally urgent."""
    left = FAR if goals[i, Goal.STATION] == NOTHING else min(steps_left(distances, goals[i], distances.here[i]), FAR)
    return (goals[i, Goal.RANK] * (FAR + 1) + FAR - left) * 8 - i


@kernel
def rank_players(turn, distances, goals, order):
    """Order players by urgency, then by nearness; a turn of 1 reverses the order, to break a jam. Mutates: order."""
    n = order.shape[0]
    for i in range(n):
        order[i] = i
    for a in range(n):
        for b in range(a + 1, n):
            if (urgency(distances, goals, order[b]) > urgency(distances, goals, order[a])) != (turn == 1):
                order[a], order[b] = order[b], order[a]


@kernel
def collides(moves, here):
    """Return whether the choices of two players end on one cell, or swap theirs."""
    for i in range(here.shape[0]):
        target = moves.choices[i, moves.choice[i], 0]
        for j in range(i + 1, here.shape[0]):
            heading = moves.choices[j, moves.choice[j], 0]
            if target == heading or (target == here[j] and heading == here[i]):
                return True
    return False


@kernel
def move_together(kitchen, env, team, distances, goals, moves, actions):
    """Of all joint moves without a collision the one is made that is best for the most urgent, then for the next.

    Whoever can interact at its goal does so. Mutates: moves, actions.
    """
    n, order = actions.shape[0], moves.order
    rank_players(team.turn[0], distances, goals, order)
    for i in range(n):
        list_choices(kitchen, env, distances, goals[i], i, moves)
    best, least = 0, np.int64(1) << 62
    for code in range(5**n):
        cost, rest = np.int64(0), code
        for rank in range(n):
            i = order[rank]
            choice = 4 - rest % 5
            rest //= 5
            if (actions[i] == INTERACT or team.trust[i] != SAME_POLICY) and choice != 4:
                cost = np.int64(1) << 62
                break
            moves.choice[i] = choice
            cost = cost * BASE + moves.choices[i, choice, 1]
        if cost < least and not collides(moves, distances.here):
            best, least = code, cost
    for rank in range(n):
        i = order[rank]
        if actions[i] != INTERACT:
            actions[i] = 4 - best % 5
        best //= 5


@kernel
def yield_to(kitchen, env, team, distances, goals, moves):
    """The player of a turn, kept from its goal, gets there with the one of the others that is nearest to the goal.

    Both take the first step of the shortest joint way. Mutates: moves, distances.passable.
    """
    moves.steps[:] = NOTHING
    n = kitchen.neighbours.shape[0]
    i = team.turn[0] - PASSING
    j = NOTHING
    there = 0
    s = goals[i, Goal.STATION] if i >= 0 else NOTHING
    if s == NOTHING or moves.pairs.shape[0] < n * n:
        return
    shut(kitchen, env.cells, team.trust, distances)
    for k in range(goals.shape[0]):
        cell = distances.here[k]
        distances.passable[cell] = 0
        is_nearer = j == NOTHING or distances.opened[s, cell] < distances.opened[s, there]
        if k != i and team.trust[k] == SAME_POLICY and is_nearer:
            j, there = k, cell
    if j == NOTHING:
        return
    here = distances.here[i]
    distances.passable[here], distances.passable[there] = 1, 1
    pair = next_pair(kitchen, distances.passable, s, here, there, moves)
    if pair != NOTHING:
        moves.steps[i], moves.steps[j] = pair // n, pair % n


@kernel
def next_pair(kitchen, passable, s, here, there, moves):
    """Return the cells, as one number, that two players move to so that the first soon faces a station.

    It is NOTHING if the first does already, or never gets there. Mutates: moves.pairs, moves.queue.
    """
    n, count = passable.shape[0], 0
    moves.pairs[:] = 0
    for stand in kitchen.stands[s]:
        if stand == here:
            return NOTHING
        if stand == NOTHING or passable[stand] == 0:
            continue
        for other in range(n):
            if other != stand and passable[other] == 1:
                moves.pairs[stand * n + other] = 1
                moves.queue[count] = stand * n + other
                count += 1
    return spread(kitchen.neighbours, passable, count, here * n + there, moves)


@kernel
def spread(neighbours, passable, count, end, moves):
    """Mark all pairs of cells that two players get to from those in the queue, until one is at the end.

    Mutates: moves.pairs, moves.queue.

    Returns:
        The pair before the end, NOTHING if it is never reached.
    """
    n = neighbours.shape[0]
    pairs = moves.pairs
    queue = moves.queue
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
def find_barred(kitchen, players, distances, moves, barred):
    """Find the stations that two players never get to, all gates open, as neither can pass the other.

    Mutates: barred (2, S), distances.here, distances.passable, moves.
    """
    n, pairs = kitchen.neighbours.shape[0], moves.pairs
    locate(kitchen, players, distances)
    pairs[:], distances.passable[:] = 0, 1
    start = distances.here[0] * n + distances.here[1]
    pairs[start], moves.queue[0] = 1, start
    spread(kitchen.neighbours, distances.passable, 1, NOTHING, moves)
    for s in range(barred.shape[1]):
        barred[:, s] = 1
        for stand in kitchen.stands[s]:
            for other in range(n):
                if stand != NOTHING and pairs[stand * n + other] == 1:
                    barred[0, s] = 0
                if stand != NOTHING and pairs[other * n + stand] == 1:
                    barred[1, s] = 0
