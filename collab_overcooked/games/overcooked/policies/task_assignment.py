"""One decision for a whole kitchen: what every player goes for, and how all of them get there without a jam.

Pots say what they need: ingredients now, a dish when the soup is about to be ready, ingredients for the soup after it.
What players hold is counted first, what lies on counters next, and empty hands get the jobs that are left, the pair of
player and job that takes least time first. Things that have to change hands go over counters that both sides reach;
players who carry something through a closed gate ask for a player with empty hands to open it. Moves are then chosen
for all players together, so that whoever carries the most urgent thing gets nearest to its goal.

Kernels here are compiled like the rules (see ``_jit``): no allocation, all scratch memory is in ``Desk``.
Shape letters: K layouts, B environments, N players, S stations (cells that one can face), F floor and gate cells.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked._jit import kernel
from collab_overcooked.core.arrays import copy_numbers
from collab_overcooked.core.grid import OFFSETS
from collab_overcooked.games.overcooked.constants import (
    HAND_END,
    MAX_INGREDIENTS,
    NOTHING,
    Action,
    Frame,
    Item,
    Param,
    Player,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.rules import can_interact, ingredients_in, is_full, is_idle

Array = np.ndarray
FAR = 1 << 12  # no way
HAND_OVER = 4  # steps that a change of hands costs beside the ways
GATE_COST = 6  # steps that a closed gate costs where somebody else may open it
LOCKED_IN = 80  # steps that it costs where nobody may, as whoever carries something could be stuck behind it
AHEAD = 6  # steps by which work for the soup after the next counts as longer
GATE_BONUS = 12  # steps by which opening a gate for somebody counts as shorter
BASE = 1 << 13  # of the joint cost, one digit a player
STAY, INTERACT = int(Action.STAY), int(Action.INTERACT)
ONION, TOMATO, DISH, SOUP = int(Item.ONION), int(Item.TOMATO), int(Item.DISH), int(Item.SOUP)


class Station(IntEnum):
    """Columns of ``Facts.stations`` (K, S, 3)."""

    TERRAIN = 0  # NOTHING in unused rows
    X = 1
    Y = 2


class Trust(IntEnum):
    """Whether a player does what is decided here."""

    IN_THE_WAY = -1  # a stranger that stands still: its cell is like a closed gate
    STRANGER = 0
    KIN = 1


KIN, IN_THE_WAY = int(Trust.KIN), int(Trust.IN_THE_WAY)


class Facts(NamedTuple):
    """What a dispatcher knows of a pool of layouts beyond its tables; int32."""

    stations: Array  # (K, S, 3) see Station, row by row
    stands: Array  # (K, S, 4) cell on which one faces the station by direction, NOTHING where there is no floor
    gates: Array  # (K, F) station of a gate's cell, NOTHING for plain floor
    n_regions: Array  # (K,) parts of the floor, all gates open


class Goal(IntEnum):
    """Columns of ``Desk.goals`` (N, 4)."""

    STATION = 0  # what the player goes for, NOTHING for nothing
    RANK = 1  # urgency
    OPENED = 2  # 1 where the way leads through a gate that is closed
    CHOICE = 3  # move that is looked at


class Need(IntEnum):
    """Columns of ``Desk.needs`` (S, 7), for pots."""

    ONIONS = 0  # missing now
    TOMATOES = 1
    DISH = 2  # 1 where one is needed and nobody brings it
    READY = 3  # steps until the soup is ready
    NEXT_ONIONS = 4  # for the soup after this one
    NEXT_TOMATOES = 5
    START = 6  # 1 where somebody has to start it


NEED_NOW, NEED_LATER, NEED_DISH = int(Need.ONIONS), int(Need.NEXT_ONIONS), int(Need.DISH)


class Desk(NamedTuple):
    """Scratch memory for one environment at a time; int32."""

    fields: Array  # (S, F) steps from a cell to facing a station, gates as they are
    opened: Array  # (S, F) likewise, all gates open
    carries: Array  # (S, F) steps of a thing from a cell to a station, by whatever hands
    gate: Array  # (1,) steps that a closed gate costs
    passable: Array  # (F,)
    queue: Array  # (F,)
    needs: Array  # (S, 7)
    goals: Array  # (N, 4)
    empty: Array  # (4,) a pot with nothing in it; never written
    loose: Array  # (6,) things on counters by Item that are not yet counted for a need
    taken: Array  # (S,) 1 where somebody takes from or puts on a counter already
    order: Array  # (N,) players by urgency
    choices: Array  # (N, 5, 2) cell after a move, and its cost


def make_facts(tables: Any) -> Facts:
    """Look at all layouts of a pool."""
    own = [_layout_facts(terrain, floor) for terrain, floor in zip(tables.terrain, tables.floor, strict=True)]
    n_stations, n_cells = max(len(facts[0]) for facts in own), tables.neighbours.shape[1]
    stations = np.full((len(own), n_stations, len(Station)), NOTHING, np.int32)
    stands = np.full((len(own), n_stations, 4), NOTHING, np.int32)
    n_regions = np.array([_count_regions(neighbours) for neighbours in tables.neighbours], np.int32)
    gates = np.full((len(own), n_cells), NOTHING, np.int32)
    for k, (rows, sides) in enumerate(own):
        stations[k, : len(rows)], stands[k, : len(rows)] = rows, sides
        for s, (terrain, x, y) in enumerate(rows):
            if terrain == Terrain.GATE:
                gates[k, tables.floor[k, y, x]] = s
    return Facts(stations, stands, gates, n_regions)


def _layout_facts(terrain: Array, floor: Array) -> tuple[list[tuple[int, int, int]], list[list[int]]]:
    rows, sides = [], []
    height, width = terrain.shape
    for y, x in np.argwhere((terrain != Terrain.FLOOR) & (terrain != Terrain.WALL)).tolist():
        stands = [NOTHING] * 4
        for direction, (dx, dy) in enumerate(OFFSETS):
            if 0 <= x - dx < width and 0 <= y - dy < height:
                stands[direction] = int(floor[y - dy, x - dx])
        if any(stand != NOTHING for stand in stands):
            rows.append((int(terrain[y, x]), x, y))
            sides.append(stands)
    return rows, sides


def _count_regions(neighbours: Array) -> int:
    """Count the parts of the floor, all gates open; unused rows are none."""
    seen: set[int] = set()
    count = 0
    for start in np.flatnonzero((neighbours != NOTHING).any(axis=1)).tolist():
        count += start not in seen
        ahead = [start]
        while ahead:
            cell = ahead.pop()
            if cell not in seen:
                seen.add(cell)
                ahead += [other for other in neighbours[cell].tolist() if other != NOTHING]
    return count


def make_desk(facts: Facts, n_players: int) -> Desk:
    """Allocate scratch memory."""
    n_stations, n_cells = facts.stations.shape[1], facts.gates.shape[1]
    shapes = {
        "fields": (n_stations, n_cells),
        "opened": (n_stations, n_cells),
        "carries": (n_stations, n_cells),
        "gate": (1,),
        "passable": (n_cells,),
        "queue": (n_cells,),
        "needs": (n_stations, len(Need)),
        "goals": (n_players, len(Goal)),
        "empty": (len(Thing),),
        "loose": (len(Item),),
        "taken": (n_stations,),
        "order": (n_players,),
        "choices": (n_players, 5, 2),
    }
    return Desk(**{name: np.zeros(shape, np.int32) for name, shape in shapes.items()})


# ------------------------------------------------------------------------------------------- ways


@kernel
def fill_field(stands, neighbours, passable, field, queue):
    """Count the steps from every cell to facing a station: the last of them walks in its direction, or turns there.

    Mutates: field, queue.
    """
    for cell in range(field.shape[0]):
        field[cell] = FAR
    head, tail = 0, 0
    for direction in range(4):
        stand = stands[direction]
        if stand == NOTHING or passable[stand] == 0:
            continue
        back = neighbours[stand, direction ^ 1]
        for cell in (stand, back):
            if cell != NOTHING and passable[cell] == 1 and field[cell] == FAR:
                field[cell] = 1
                queue[tail] = cell
                tail += 1
    while head < tail:
        cell = queue[head]
        head += 1
        for direction in range(4):
            other = neighbours[cell, direction]
            if other != NOTHING and passable[other] == 1 and field[other] == FAR:
                field[other] = field[cell] + 1
                queue[tail] = other
                tail += 1


@kernel
def is_shut(cell, stations, gates, cells):
    """Return whether a closed gate stands on a cell of the floor."""
    s = gates[cell]
    return s != NOTHING and cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM] != Item.OPEN


@kernel
def shut(stations, gates, floor, players, cells, trust, passable):
    """Mark the cells that one can walk on: not closed gates, nor where a stranger stands in the way.

    Mutates: passable.

    Returns:
        Whether any is shut.
    """
    closed = False
    for cell in range(passable.shape[0]):
        passable[cell] = not is_shut(cell, stations, gates, cells)
        closed = closed or passable[cell] == 0
    for i in range(players.shape[0]):
        if trust[i] == IN_THE_WAY:
            passable[floor[players[i, Player.Y], players[i, Player.X]]] = 0
            closed = True
    return closed


@kernel
def survey(stations, stands, gates, neighbours, floor, players, cells, trust, desk):
    """Find the ways to all stations, with gates and strangers as they are and with all ways open. Mutates: desk."""
    passable = desk.passable
    closed = shut(stations, gates, floor, players, cells, trust, passable)
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != NOTHING:
            fill_field(stands[s], neighbours, passable, desk.fields[s], desk.queue)
    passable[:] = 1
    for s in range(stations.shape[0]):
        if not closed:
            copy_numbers(desk.fields[s], desk.opened[s])
        elif stations[s, Station.TERRAIN] != NOTHING:
            fill_field(stands[s], neighbours, passable, desk.opened[s], desk.queue)


@kernel
def travel(s, cell, desk):
    """Return the steps of a player to a station; closed gates on the way take longer."""
    return min(desk.fields[s, cell], desk.opened[s, cell] + desk.gate[0])


@kernel
def find_carries(stations, stands, n_regions, desk):
    """Find how long things take to pots and serving cells, handed over on counters where no way leads there.

    Mutates: desk.
    """
    carries = desk.carries
    for s in range(stations.shape[0]):
        terrain = stations[s, Station.TERRAIN]
        if terrain != Terrain.POT and terrain != Terrain.SERVING:
            continue
        for cell in range(carries.shape[1]):
            carries[s, cell] = travel(s, cell, desk)
        changed = n_regions > 1
        while changed:
            changed = False
            for c in range(stations.shape[0]):
                if stations[c, Station.TERRAIN] == Terrain.COUNTER:
                    changed = hand_over(stands[c], carries[s], desk.fields[c]) or changed


@kernel
def hand_over(stands, carry, field):
    """A thing put on a counter goes on from its best side. Mutates: carry.

    Returns:
        Whether any cell is nearer by that.
    """
    best = FAR
    for stand in stands:
        if stand != NOTHING:
            best = min(best, carry[stand])
    changed = False
    for cell in range(carry.shape[0]):
        if field[cell] + HAND_OVER + best < carry[cell] and carry[cell] >= FAR:
            carry[cell] = field[cell] + HAND_OVER + best
            changed = True
    return changed


# ------------------------------------------------------------------------------------------- needs


@kernel
def best_soup(pot, values, auto_start, needs, onions, tomatoes):
    """Of all soups that the content can still become the one that pays most is made; of equal ones the smallest.

    Pots that start by themselves only do so with three ingredients. Where nothing pays any more, onions fill the pot.
    Mutates: needs, at the columns of missing onions and tomatoes.
    """
    most, left = 0, MAX_INGREDIENTS - ingredients_in(pot)
    needs[onions], needs[tomatoes] = left, 0
    for o in range(MAX_INGREDIENTS + 1):
        for t in range(MAX_INGREDIENTS + 1 - o):
            if o < pot[Thing.ONIONS] or t < pot[Thing.TOMATOES] or values[o, t] < most or values[o, t] == 0:
                continue
            missing = o + t - ingredients_in(pot)
            if auto_start == 1 and missing < left:
                continue
            if values[o, t] > most or missing < needs[onions] + needs[tomatoes]:
                most = values[o, t]
                needs[onions], needs[tomatoes] = o - pot[Thing.ONIONS], t - pot[Thing.TOMATOES]


@kernel
def list_needs(stations, cells, values, times, auto_start, desk):
    """Say of every pot what it needs. Mutates: desk."""
    needs = desk.needs
    for s in range(stations.shape[0]):
        needs[s] = 0
        if stations[s, Station.TERRAIN] != Terrain.POT:
            continue
        pot = cells[stations[s, Station.Y], stations[s, Station.X]]
        if not is_full(pot):
            best_soup(pot, values, auto_start, needs[s], Need.ONIONS, Need.TOMATOES)
        complete = needs[s, Need.ONIONS] + needs[s, Need.TOMATOES] == 0
        if not complete:
            continue
        needs[s, Need.START] = is_idle(pot)
        needs[s, Need.DISH] = 1
        time = times[pot[Thing.ONIONS], pot[Thing.TOMATOES]]
        needs[s, Need.READY] = max(time - max(pot[Thing.TICK], 0), 0)
        best_soup(desk.empty, values, auto_start, needs[s], Need.NEXT_ONIONS, Need.NEXT_TOMATOES)


@kernel
def count_loose(stations, cells, claimed, desk):
    """Count what lies on counters and is nobody's. Mutates: desk."""
    desk.loose[:] = 0
    for s in range(stations.shape[0]):
        desk.taken[s] = 0
        if stations[s, Station.TERRAIN] == Terrain.COUNTER:
            item = cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM]
            desk.taken[s] = claimed[s] == 1 and item != Item.NONE
            desk.loose[item] += desk.taken[s] == 0


# ------------------------------------------------------------------------------------------- full hands


@kernel
def column_of(item, later):
    """Return the column of ``Need`` for an item, now or for the next soup."""
    if item == DISH:
        return NEED_DISH
    first = NEED_LATER if later else NEED_NOW
    return first + (1 if item == TOMATO else 0)


@kernel
def best_pot(item, later, cell, stations, desk):
    """Find the pot that needs an item and gets it soonest from a cell; waiting for soup counts like walking."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != Terrain.POT or desk.needs[s, column_of(item, later)] <= 0:
            continue
        steps = desk.carries[s, cell]
        if steps < FAR and (item == DISH or later):
            steps = max(steps, desk.needs[s, Need.READY])
        if steps < least:
            best, least = s, steps
    return best


@kernel
def best_serving(cell, stations, desk):
    """Find the serving cell that a soup gets to soonest."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.SERVING and desk.carries[s, cell] < least:
            best, least = s, desk.carries[s, cell]
    return best


@kernel
def best_counter(target, cell, stations, stands, cells, desk):
    """Find the empty counter on which a thing is handed over for a target, or put out of the way without one."""
    best, least = NOTHING, FAR
    for c in range(stations.shape[0]):
        if stations[c, Station.TERRAIN] != Terrain.COUNTER or desk.taken[c] == 1:
            continue
        if cells[stations[c, Station.Y], stations[c, Station.X], Thing.ITEM] != Item.NONE:
            continue
        steps = desk.fields[c, cell]
        if target != NOTHING:
            onward = FAR
            for stand in stands[c]:
                if stand != NOTHING:
                    onward = min(onward, desk.carries[target, stand])
            steps += HAND_OVER + onward
        elif is_meeting_place(c, stands, desk):
            steps += AHEAD  # better left free for handing over
        if steps < least:
            best, least = c, steps
    return best


@kernel
def is_meeting_place(c, stands, desk):
    """Return whether a counter is reached from parts of the floor that are not connected."""
    first = NOTHING
    for stand in stands[c]:
        if stand == NOTHING:
            continue
        if first == NOTHING:
            first = stand
        elif not is_same_side(c, first, stand, desk):
            return True
    return False


@kernel
def send(i, s, rank, cell, desk):
    """A player goes for a station. Mutates: desk."""
    desk.goals[i, Goal.STATION] = s
    desk.goals[i, Goal.RANK] = rank
    desk.goals[i, Goal.OPENED] = 0
    if s != NOTHING and desk.fields[s, cell] >= FAR and desk.opened[s, cell] < FAR:
        desk.goals[i, Goal.OPENED] = 1


@kernel
def send_carrier(i, item, cell, stations, stands, cells, desk):
    """What a player holds goes where it is needed soonest, over a counter if need be. Mutates: desk."""
    rank = 1
    if item == SOUP:
        target, rank = best_serving(cell, stations, desk), 5
    else:
        target = best_pot(item, False, cell, stations, desk)
        if target != NOTHING:
            rank = 4 if item == DISH else 3
            desk.needs[target, column_of(item, False)] -= 1
        elif item != DISH:
            target, rank = best_pot(item, True, cell, stations, desk), 2
            if target != NOTHING:
                desk.needs[target, column_of(item, True)] -= 1
    if target == NOTHING:
        return
    if travel(target, cell, desk) >= FAR:
        target = best_counter(target, cell, stations, stands, cells, desk)
        if target != NOTHING:
            desk.taken[target] = 1
    send(i, target, rank, cell, desk)


# ------------------------------------------------------------------------------------------- empty hands


@kernel
def item_at(s, stations, cells):
    """Return what empty hands get at a station, Item.NONE for nothing."""
    terrain = stations[s, Station.TERRAIN]
    if terrain == Terrain.COUNTER:
        return cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM]
    if terrain == Terrain.ONIONS:
        return ONION
    if terrain == Terrain.TOMATOES:
        return TOMATO
    return DISH if terrain == Terrain.DISHES else 0


@kernel
def onward(s, target, cell, stands, desk):
    """Return the steps of a thing from a station to a target, taken by a player who comes from a cell.

    A thing is not taken back from a counter on which it lies for somebody nearer to the target.
    """
    own, any_side = FAR, FAR
    for stand in stands[s]:
        if stand == NOTHING:
            continue
        any_side = min(any_side, desk.carries[target, stand])
        if is_same_side(s, stand, cell, desk):
            own = min(own, desk.carries[target, stand])
    return own if own <= any_side else FAR


@kernel
def is_same_side(s, stand, cell, desk):
    """Return whether a player gets to a side of a station, gates opened: both cells lead to the same stations."""
    for other in range(desk.opened.shape[0]):
        if (desk.opened[other, stand] < FAR) != (desk.opened[other, cell] < FAR):
            return False
    return desk.opened[s, cell] < FAR


@kernel
def find_use(s, item, way, cell, stations, stands, desk):
    """Find where an item from a station is needed soonest, by a player who gets to the station in some steps.

    Returns:
        Steps until it is there, with what makes the job less urgent added, and the target; FAR if nothing needs it.
    """
    least, best = FAR, NOTHING
    for target in range(stations.shape[0]):
        terrain = stations[target, Station.TERRAIN]
        if terrain != (Terrain.SERVING if item == SOUP else Terrain.POT):
            continue
        later = item != SOUP and desk.needs[target, column_of(item, False)] <= 0
        if later and (item == DISH or desk.needs[target, column_of(item, True)] <= 0):
            continue
        steps = onward(s, target, cell, stands, desk)
        if steps >= FAR:
            continue
        steps += way + 1
        if item == DISH or later:
            steps = max(steps, desk.needs[target, Need.READY] + 1)
        steps += AHEAD if later else 0
        if steps < least:
            least, best = steps, target
    return least, best


@kernel
def fetch_time(s, item, cell, stations, stands, cells, desk):
    """Say how long it takes to fetch an item from a station to where it is needed, and where that is.

    Nothing is fetched from a dispenser while enough of it lies about, or handed over where there is no room.

    Returns:
        Steps and target; FAR if there is no use for it.
    """
    way = travel(s, cell, desk)
    if way >= FAR:
        return FAR, NOTHING
    if stations[s, Station.TERRAIN] != Terrain.COUNTER and 0 < desk.loose[item] >= total_need(item, stations, desk):
        return FAR, NOTHING
    least, best = find_use(s, item, way, cell, stations, stands, desk)
    if best != NOTHING and travel(best, cell, desk) >= FAR and not has_room(item, cell, stations, stands, cells, desk):
        return FAR, NOTHING
    return least, best


@kernel
def total_need(item, stations, desk):
    """Count how many of an item all pots need, now and for their next soups."""
    total = 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            total += desk.needs[s, column_of(item, False)]
            if item != DISH:
                total += desk.needs[s, column_of(item, True)]
    return total


@kernel
def has_room(item, cell, stations, stands, cells, desk):
    """To hand something over takes an empty counter, and one more where a dish is still to come."""
    free, dishes = 0, 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            dishes += desk.needs[s, Need.DISH]
        if stations[s, Station.TERRAIN] != Terrain.COUNTER or desk.taken[s] == 1 or desk.fields[s, cell] >= FAR:
            continue
        if cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM] == Item.NONE:
            free += is_meeting_place(s, stands, desk)
    return free > (1 if item != DISH and dishes > desk.loose[DISH] else 0)


@kernel
def gate_time(g, j, stations, players, cells, floor, limit, desk):
    """Say how soon a player with empty hands opens a gate for somebody who is to go through it.

    Returns:
        Steps, FAR if nobody needs it, or not yet.
    """
    x, y = stations[g, Station.X], stations[g, Station.Y]
    if cells[y, x, Thing.ITEM] == Item.OPEN:
        return FAR
    gate_cell = floor[y, x]
    own = desk.fields[g, floor[players[j, Player.Y], players[j, Player.X]]]
    for i in range(players.shape[0]):
        s = desk.goals[i, Goal.STATION]
        if i == j or s == NOTHING or desk.goals[i, Goal.OPENED] == 0 or players[i, Player.HAND] == Item.NONE:
            continue
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        detour = desk.fields[g, cell] + 1 + desk.opened[s, gate_cell] - desk.opened[s, cell]
        if detour <= 2 and desk.fields[g, cell] - own < limit - 1:
            return own
    return FAR


@kernel
def open_for_oneself(i, cell, gates, desk):
    """Empty hands open the gate that their way leads through. Mutates: desk."""
    s = desk.goals[i, Goal.STATION]
    best, least = NOTHING, FAR
    for gate_cell in range(gates.shape[0]):
        g = gates[gate_cell]
        if g == NOTHING:
            continue
        steps = desk.fields[g, cell] + desk.opened[s, gate_cell]
        if desk.fields[g, cell] < FAR and steps < least:
            best, least = g, steps
    if best != NOTHING:
        send(i, best, desk.goals[i, Goal.RANK], cell, desk)


@kernel
def assign(limit, stations, stands, gates, floor, players, cells, trust, desk):
    """Give jobs to empty hands, the pair of player and job that takes least time first. Mutates: desk."""
    for _ in range(players.shape[0]):
        least, who, what, where = FAR, NOTHING, NOTHING, NOTHING
        for i in range(players.shape[0]):
            if players[i, Player.HAND] != Item.NONE or desk.goals[i, Goal.STATION] != NOTHING or trust[i] != KIN:
                continue
            cell = floor[players[i, Player.Y], players[i, Player.X]]
            for s in range(stations.shape[0]):
                steps, target = job_time(s, i, cell, limit, stations, stands, floor, players, cells, desk)
                if steps < least:
                    least, who, what, where = steps, i, s, target
        if who == NOTHING:
            return
        cell = floor[players[who, Player.Y], players[who, Player.X]]
        send(who, what, 2, cell, desk)
        terrain = stations[what, Station.TERRAIN]
        if terrain == Terrain.POT:
            desk.needs[what, Need.START] = 0
        elif terrain != Terrain.GATE:
            settle(what, where, stations, cells, desk)
        else:
            desk.goals[who, Goal.RANK] = 4
        if desk.goals[who, Goal.OPENED] == 1:
            open_for_oneself(who, cell, gates, desk)


@kernel
def job_time(s, i, cell, limit, stations, stands, floor, players, cells, desk):
    """Say how long a job at a station takes a player with empty hands: fetching, starting or opening.

    Returns:
        Steps, FAR for none, and the target of what is fetched.
    """
    terrain = stations[s, Station.TERRAIN]
    if terrain == NOTHING or desk.taken[s] == 1:
        return FAR, NOTHING
    if terrain == Terrain.POT:
        return travel(s, cell, desk) if desk.needs[s, Need.START] == 1 else FAR, NOTHING
    if terrain == Terrain.GATE:
        steps = gate_time(s, i, stations, players, cells, floor, limit, desk)
        return steps - GATE_BONUS if steps < FAR else FAR, NOTHING
    item = item_at(s, stations, cells)
    if item == 0:
        return FAR, NOTHING
    return fetch_time(s, item, cell, stations, stands, cells, desk)


@kernel
def settle(s, target, stations, cells, desk):
    """What somebody goes to fetch is not needed a second time. Mutates: desk."""
    item = item_at(s, stations, cells)
    if stations[s, Station.TERRAIN] == Terrain.COUNTER:
        desk.taken[s] = 1
        desk.loose[item] -= 1
    if item == SOUP:
        return
    now = column_of(item, False)
    desk.needs[target, now if desk.needs[target, now] > 0 or item == DISH else column_of(item, True)] -= 1


@kernel
def clear_hands(stations, stands, floor, players, cells, trust, desk):
    """What nobody needs is put out of the way if a dish or soup waits for empty hands. Mutates: desk."""
    waiting = desk.loose[SOUP] > 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            wants = desk.needs[s, Need.DISH] > 0 or desk.needs[s, Need.START] > 0
            waiting = waiting or wants or desk.needs[s, Need.ONIONS] + desk.needs[s, Need.TOMATOES] > 0
    for i in range(players.shape[0]):
        if not waiting or trust[i] != KIN or players[i, Player.HAND] == Item.NONE:
            continue
        if desk.goals[i, Goal.RANK] > 2:
            continue
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        c = best_counter(NOTHING, cell, stations, stands, cells, desk)
        if c != NOTHING:
            desk.taken[c] = 1
            send(i, c, 2, cell, desk)
            return


# ------------------------------------------------------------------------------------------- moving together


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
def list_choices(i, stations, neighbours, gates, floor, players, cells, desk):
    """List where each move of a player leads, and how many steps are left after it. Mutates: desk.

    The fifth choice is to stay. Without a goal all cells are alike, but staying is least trouble.
    """
    cell, s = floor[players[i, Player.Y], players[i, Player.X]], desk.goals[i, Goal.STATION]
    choices = desk.choices[i]
    choices[4, 0] = cell
    choices[4, 1] = 0 if s == NOTHING or faces(i, s, players, stations) else 2 * way(i, s, cell, desk)
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
        choices[direction, 1] = 1 if arrived else 2 * way(i, s, choices[direction, 0], desk) + 1


@kernel
def way(i, s, cell, desk):
    """Return the steps from a cell to facing a player's goal, through closed gates if there is no other way."""
    return desk.opened[s, cell] if desk.goals[i, Goal.OPENED] == 1 else desk.fields[s, cell]


@kernel
def rank_players(players, floor, turn, desk):
    """Order players by urgency, then by nearness; a turn of 1 reverses the order, to break a jam. Mutates: desk."""
    n = players.shape[0]
    for i in range(n):
        desk.order[i] = i
    for a in range(n):
        for b in range(a + 1, n):
            first, second = urgency(desk.order[a], players, floor, desk), urgency(desk.order[b], players, floor, desk)
            if (second > first) != (turn == 1):
                desk.order[a], desk.order[b] = desk.order[b], desk.order[a]


@kernel
def urgency(i, players, floor, desk):
    """Return how urgent a player's errand is; no two are equally urgent."""
    s, cell = desk.goals[i, Goal.STATION], floor[players[i, Player.Y], players[i, Player.X]]
    left = FAR if s == NOTHING else min(way(i, s, cell, desk), FAR)
    return (desk.goals[i, Goal.RANK] * (FAR + 1) + FAR - left) * 8 - i


@kernel
def move_together(players, neighbours, stations, gates, floor, cells, turn, trust, desk, actions):
    """Of all joint moves without a collision the one is made that is best for the most urgent, then for the next.

    Whoever can interact at its goal does so. Mutates: desk, actions.
    """
    n = players.shape[0]
    rank_players(players, floor, turn, desk)
    for i in range(n):
        list_choices(i, stations, neighbours, gates, floor, players, cells, desk)
    total = 1
    for _ in range(n):
        total *= 5
    best, least = 0, np.int64(1) << 62
    for code in range(total):
        cost, rest = np.int64(0), code
        for rank in range(n):
            i = desk.order[rank]
            choice = 4 - rest % 5
            rest //= 5
            if (actions[i] == INTERACT or trust[i] != KIN) and choice != 4:
                cost = np.int64(1) << 62
                break
            desk.goals[i, Goal.CHOICE] = choice
            cost = cost * BASE + desk.choices[i, choice, 1]
        if cost < least and not collides(players, floor, desk):
            best, least = code, cost
    for rank in range(n):
        i = desk.order[rank]
        if actions[i] != INTERACT:
            actions[i] = 4 - best % 5
        best //= 5


@kernel
def collides(players, floor, desk):
    """Return whether the choices of two players end on one cell, or swap theirs."""
    n = players.shape[0]
    for i in range(n):
        own = floor[players[i, Player.Y], players[i, Player.X]]
        target = desk.choices[i, desk.goals[i, Goal.CHOICE], 0]
        for j in range(i + 1, n):
            other = floor[players[j, Player.Y], players[j, Player.X]]
            aim = desk.choices[j, desk.goals[j, Goal.CHOICE], 0]
            if target == aim or (target == other and aim == own):
                return True
    return False


# ------------------------------------------------------------------------------------------- everything


@kernel
def dispatch_env(tables, facts, k, players, cells, trust, claimed, turn, desk, actions):
    """Decide for one kitchen. Mutates: desk, actions (N,).

    Args:
        tables: The game's.
        facts: See ``make_facts``.
        k: Layout.
        players: See ``Player``.
        cells: See ``Thing``.
        trust: (N,) see ``Trust``.
        claimed: (S,) 1 where what lies on a counter is left to a stranger.
        turn: 1 to let the least urgent go first.
        desk: Scratch.
        actions: Written: primitive actions.
    """
    stations, stands, gates = facts.stations[k], facts.stands[k], facts.gates[k]
    neighbours, floor, times = tables.neighbours[k], tables.floor[k], tables.times[k]
    params, goals, n = tables.params, desk.goals, players.shape[0]
    helpers = 0
    for i in range(n):
        helpers += trust[i] == KIN
    desk.gate[0] = GATE_COST if helpers > 1 else LOCKED_IN
    survey(stations, stands, gates, neighbours, floor, players, cells, trust, desk)
    find_carries(stations, stands, facts.n_regions[k], desk)
    list_needs(stations, cells, tables.values[k], times, params[Param.AUTO_START], desk)
    count_loose(stations, cells, claimed, desk)
    for i in range(n):
        goals[i] = 0
        goals[i, Goal.STATION] = NOTHING
    for item in (SOUP, DISH, ONION, TOMATO):
        for i in range(n):
            if players[i, Player.HAND] == item:
                cell = floor[players[i, Player.Y], players[i, Player.X]]
                send_carrier(i, item, cell, stations, stands, cells, desk)
    assign(tables.frames[k, Frame.GATE_LIMIT], stations, stands, gates, floor, players, cells, trust, desk)
    clear_hands(stations, stands, floor, players, cells, trust, desk)
    for i in range(n):
        s = goals[i, Goal.STATION]
        acts = s != NOTHING and trust[i] == KIN and can_act(i, s, players, stations, cells, times, params)
        actions[i] = INTERACT if acts else STAY
    move_together(players, neighbours, stations, gates, floor, cells, turn, trust, desk, actions)
