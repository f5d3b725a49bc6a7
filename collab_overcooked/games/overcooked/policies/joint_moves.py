"""Targets of players with full hands, and moves of all players together, without collisions, the most urgent first."""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel

from ..engine.constants import HAND_END, MAX_INGREDIENTS, NOTHING, Item, Param, Player, Terrain, Thing
from ..engine.rules import can_interact, ingredients_in, is_full, is_idle
from .assignment_arrays import (
    AHEAD,
    BASE,
    DISH,
    FAR,
    HAND_OVER,
    INTERACT,
    KIN,
    LAST_RESORT,
    NEED_DISH,
    NEED_LATER,
    NEED_NOW,
    SOUP,
    TOMATO,
    Goal,
    Need,
    Station,
    is_same_side,
    is_shut,
    shut,
    travel,
)


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


@kernel
def is_supplied(terrain, pot, stations, floor, players, scratch):
    """Return whether players can bring a pot what a kind of dispenser has, over counters if necessary."""
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != terrain:
            continue
        for i in range(players.shape[0]):
            cell = floor[players[i, Player.Y], players[i, Player.X]]
            if scratch.opened[s, cell] < FAR and scratch.carries[pot, cell] < FAR:
                return True
    return False


@kernel
def best_soup(pot, values, auto_start, has_onions, has_tomatoes, needs, onions, tomatoes):
    """Of all soups that the content can still become the one that pays most is made; of equal ones the smallest.

    What no player can bring is not put in. Pots that start by themselves only do so with three ingredients. Where
    nothing pays any more, onions fill the pot, or tomatoes where these are all there is.
    Mutates: needs, at the columns of missing onions and tomatoes.
    """
    most, left = 0, MAX_INGREDIENTS - ingredients_in(pot)
    needs[onions], needs[tomatoes] = left, 0
    if has_tomatoes and not has_onions:
        needs[onions], needs[tomatoes] = 0, left
    for o in range(MAX_INGREDIENTS + 1):
        for t in range(MAX_INGREDIENTS + 1 - o):
            if o < pot[Thing.ONIONS] or t < pot[Thing.TOMATOES] or values[o, t] < most or values[o, t] == 0:
                continue
            if (o > pot[Thing.ONIONS] and not has_onions) or (t > pot[Thing.TOMATOES] and not has_tomatoes):
                continue
            missing = o + t - ingredients_in(pot)
            if auto_start == 1 and missing < left:
                continue
            if values[o, t] > most or missing < needs[onions] + needs[tomatoes]:
                most = values[o, t]
                needs[onions], needs[tomatoes] = o - pot[Thing.ONIONS], t - pot[Thing.TOMATOES]


@kernel
def list_needs(stations, floor, players, cells, values, times, auto_start, scratch):
    """Say of every pot what it needs. Mutates: scratch."""
    needs = scratch.needs
    for s in range(stations.shape[0]):
        needs[s] = 0
        if stations[s, Station.TERRAIN] != Terrain.POT:
            continue
        pot = cells[stations[s, Station.Y], stations[s, Station.X]]
        has_onions = is_supplied(Terrain.ONIONS, s, stations, floor, players, scratch)
        has_tomatoes = is_supplied(Terrain.TOMATOES, s, stations, floor, players, scratch)
        if not is_full(pot):
            best_soup(pot, values, auto_start, has_onions, has_tomatoes, needs[s], Need.ONIONS, Need.TOMATOES)
        complete = needs[s, Need.ONIONS] + needs[s, Need.TOMATOES] == 0
        if not complete:
            continue
        needs[s, Need.START] = is_idle(pot)
        needs[s, Need.DISH] = 1
        time = times[pot[Thing.ONIONS], pot[Thing.TOMATOES]]
        needs[s, Need.READY] = max(time - max(pot[Thing.TICK], 0), 0)
        if scratch.relief[0] == 1:
            continue
        onions, tomatoes = Need.NEXT_ONIONS, Need.NEXT_TOMATOES
        best_soup(scratch.empty, values, auto_start, has_onions, has_tomatoes, needs[s], onions, tomatoes)


@kernel
def count_loose(stations, players, cells, claimed, scratch):
    """Count unclaimed things on counters, and soups. Mutates: scratch."""
    scratch.loose[:] = 0
    for s in range(stations.shape[0]):
        scratch.taken[s] = 0
        if stations[s, Station.TERRAIN] == Terrain.COUNTER:
            item = cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM]
            scratch.taken[s] = claimed[s] == 1 and item != Item.NONE
            scratch.loose[item] += scratch.taken[s] == 0
    scratch.soups[0] = scratch.loose[SOUP]
    for i in range(players.shape[0]):
        scratch.soups[0] += players[i, Player.HAND] == SOUP


@kernel
def column_of(item, later):
    """Return the column of ``Need`` for an item, now or for the next soup."""
    if item == DISH:
        return NEED_DISH
    first = NEED_LATER if later else NEED_NOW
    return first + (1 if item == TOMATO else 0)


@kernel
def best_pot(item, later, cell, stations, scratch):
    """Find the pot that needs an item and gets it soonest from a cell; waiting for soup counts like walking."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != Terrain.POT or scratch.needs[s, column_of(item, later)] <= 0:
            continue
        steps = scratch.carries[s, cell]
        if steps < FAR and (item == DISH or later):
            steps = max(steps, scratch.needs[s, Need.READY])
        if steps < least:
            best, least = s, steps
    return best


@kernel
def best_serving(cell, stations, scratch):
    """Find the serving cell that a soup gets to soonest."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.SERVING and scratch.carries[s, cell] < least:
            best, least = s, scratch.carries[s, cell]
    return best


@kernel
def is_shared(i, c, target, scratch):
    """Return whether a player other than one gets to a counter and to a target."""
    for j in range(scratch.barred.shape[0]):
        if j != i and scratch.barred[j, c] == 0 and scratch.barred[j, target] == 0:
            return True
    return False


@kernel
def hand_over_time(i, c, target, cell, stands, scratch):
    """Return the steps of a thing from a counter to a target in other hands, FAR if no other player gets to both.

    Steps count twice where the player itself only lacks a way past a teammate: it goes as near as possible.
    """
    if not is_shared(i, c, target, scratch):
        return FAR
    onward = FAR
    for stand in stands[c]:
        if stand != NOTHING:
            onward = min(onward, scratch.carries[target, stand])
    if travel(target, cell, scratch) >= FAR and onward >= scratch.carries[target, cell]:
        return FAR  # it would lie no nearer there
    return HAND_OVER + (2 * onward if travel(target, cell, scratch) < FAR else onward)


@kernel
def best_counter(i, target, cell, stations, stands, cells, scratch):
    """Find the empty counter on which a thing is handed over for a target, or put out of the way without one."""
    best, least = NOTHING, FAR
    for c in range(stations.shape[0]):
        if stations[c, Station.TERRAIN] != Terrain.COUNTER or scratch.taken[c] == 1 or scratch.barred[i, c] == 1:
            continue
        if cells[stations[c, Station.Y], stations[c, Station.X], Thing.ITEM] != Item.NONE:
            continue
        steps = scratch.fields[c, cell]
        if target != NOTHING:
            steps += hand_over_time(i, c, target, cell, stands, scratch)
        elif is_meeting_place(c, stands, scratch):
            steps += AHEAD if scratch.relief[0] == 0 else LAST_RESORT  # better left free for handing over
        if steps < least:
            best, least = c, steps
    return best


@kernel
def is_meeting_place(c, stands, scratch):
    """Return whether a counter is reached from parts of the floor that are not connected."""
    first = NOTHING
    for stand in stands[c]:
        if stand == NOTHING:
            continue
        if first == NOTHING:
            first = stand
        elif not is_same_side(c, first, stand, scratch):
            return True
    return False


@kernel
def send(i, s, rank, cell, scratch):
    """A player goes for a station. Mutates: scratch."""
    scratch.goals[i, Goal.STATION] = s
    scratch.goals[i, Goal.RANK] = rank
    scratch.goals[i, Goal.OPENED] = 0
    if s != NOTHING and scratch.fields[s, cell] >= FAR and scratch.opened[s, cell] < FAR:
        scratch.goals[i, Goal.OPENED] = 1


@kernel
def send_carrier(i, item, cell, stations, stands, cells, scratch):
    """Players carry their things to where they are needed soonest, via a counter if necessary. Mutates: scratch."""
    rank = 1
    if item == SOUP:
        target, rank = best_serving(cell, stations, scratch), 5
    else:
        target = best_pot(item, False, cell, stations, scratch)
        if target != NOTHING:
            rank = 4 if item == DISH else 3
            scratch.needs[target, column_of(item, False)] -= 1
        elif item != DISH:
            target, rank = best_pot(item, True, cell, stations, scratch), 2
            if target != NOTHING:
                scratch.needs[target, column_of(item, True)] -= 1
    if target == NOTHING:
        return
    if travel(target, cell, scratch) >= FAR or scratch.barred[i, target] == 1:
        target = best_counter(i, target, cell, stations, stands, cells, scratch)
        if target != NOTHING:
            scratch.taken[target] = 1
    send(i, target, rank, cell, scratch)
