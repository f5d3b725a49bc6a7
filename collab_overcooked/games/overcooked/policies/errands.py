"""Errands of players, stations to which they walk and interact: which are worth trying, and the moves they come to."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import (
    HAND_END,
    MAX_INGREDIENTS,
    NOTHING,
    Clock,
    Item,
    Player,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.engine.rules import ingredients_in, is_idle, is_ready
from collab_overcooked.games.overcooked.policies.assignment_arrays import DISH, FAR, INTERACT, SOUP, STAY, Goal, Station
from collab_overcooked.games.overcooked.policies.distances import fill_field, shut
from collab_overcooked.games.overcooked.policies.full_hands import send
from collab_overcooked.games.overcooked.policies.joint_moves import can_act, faces, move_together, station_answers
from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.jit import kernel

# What things are worth, in thousandths of a soup delivered.
SERVED = 1000
POTTED = 110
COOKING = 420
COOKED = 260  # more when it is ready, in equal parts for each step
LOADED = 800
CARRIED = 45  # an ingredient or dish in hand, as long as it can be of use
LYING = 30  # the same on a counter
PER_STEP = 4  # less for each step to the next station
MAX_STEPS = 60  # steps, at most, that count
UNDECIDED = 5  # steps for which having no errand counts


@kernel
def appraise(tables, static, ways, players, cells, clock, goals, worth):
    """Say what every node is worth, in thousandths of the best soup. Mutates: worth (C,)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, values, times, best = static.stations[k], tables.values[k], tables.times[k], tables.best[k]
        top = max(best[0, 0], 1)
        total = SERVED * clock[c, Clock.SCORE] // top
        ingredients, dishes = 0, 0  # of which more can be of use
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.POT:
                pot = cells[c, stations[s, Station.Y], stations[s, Station.X]]
                total += worth_of_pot(pot, values, times, best, top)
                ingredients += 2 * MAX_INGREDIENTS - ingredients_in(pot)
                dishes += ingredients_in(pot) > 1
        for i in range(players.shape[1]):
            hand = players[c, i, Player.HAND : HAND_END]
            cell = tables.floor[k, players[c, i, Player.Y], players[c, i, Player.X]]
            steps = min(ways[k, goals[c, i], cell], MAX_STEPS) if goals[c, i] != NOTHING else UNDECIDED
            total += worth_of_thing(hand, 0, ingredients, dishes, values, top) - PER_STEP * steps
            dishes -= hand[Thing.ITEM] == DISH
            ingredients -= hand[Thing.ITEM] == Item.ONION or hand[Thing.ITEM] == Item.TOMATO
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.COUNTER:
                thing = cells[c, stations[s, Station.Y], stations[s, Station.X]]
                total += worth_of_thing(thing, CARRIED - LYING, ingredients, dishes, values, top)
                dishes -= thing[Thing.ITEM] == DISH
                ingredients -= thing[Thing.ITEM] == Item.ONION or thing[Thing.ITEM] == Item.TOMATO
        worth[c] = total


@kernel
def worth_of_thing(thing, less, ingredients, dishes, values, top):
    """Say what a thing in a hand is worth, or for less on a counter; what is not needed any more is worth nothing."""
    if thing[Thing.ITEM] == SOUP:
        return (LOADED - 6 * less) * values[thing[Thing.ONIONS], thing[Thing.TOMATOES]] // top
    if thing[Thing.ITEM] == Item.NONE or (dishes if thing[Thing.ITEM] == DISH else ingredients) <= 0:
        return 0
    return CARRIED - less


@kernel
def worth_of_pot(pot, values, times, best, top):
    """Say what a pot is worth: by its ingredients until it cooks, then more and more until it is ready."""
    if pot[Thing.ITEM] == Item.NONE:
        return 0
    onions, tomatoes = pot[Thing.ONIONS], pot[Thing.TOMATOES]
    if is_idle(pot):
        return POTTED * (onions + tomatoes) * best[onions, tomatoes] // top
    if is_ready(pot, times):
        return (COOKING + COOKED) * values[onions, tomatoes] // top
    time = max(times[onions, tomatoes], 1)
    return (COOKING + COOKED * pot[Thing.TICK] // time) * values[onions, tomatoes] // top


ERRANDS = 16  # maximum number that a player chooses from
COUNTERS = 4  # of these, nearest empty counters
JOINT = 48  # joint errands tried from one node
PATIENCE = 3  # steps that a player is blocked before it chooses anew


@kernel
def can_use(s, hand, stations, cells, times, params):
    """Return whether hands can do something at a station now, or as soon as its soup is ready."""
    terrain = stations[s, Station.TERRAIN]
    if terrain == NOTHING:
        return False
    if terrain == Terrain.POT and hand[Thing.ITEM] == Item.DISH:
        pot = cells[stations[s, Station.Y], stations[s, Station.X]]
        return pot[Thing.ITEM] == Item.SOUP and not is_idle(pot)
    return station_answers(s, hand, stations, cells, times, params)


@kernel
def list_errands(cell, hand, stations, cells, times, params, ways, options):
    """List where a player can do something: none first, then all stations, but of empty counters only the nearest.

    Mutates: options, with the number of errands in the last place.
    """
    count, counters = 1, 0
    options[0] = NOTHING
    for s in range(stations.shape[0]):
        putting_down = stations[s, Station.TERRAIN] == Terrain.COUNTER and hand[Thing.ITEM] != Item.NONE
        if putting_down or count >= ERRANDS - COUNTERS or ways[s, cell] >= FAR:
            continue
        if can_use(s, hand, stations, cells, times, params):
            options[count] = s
            count += 1
    reach = 1
    while hand[Thing.ITEM] != Item.NONE and reach < FAR:
        following = FAR
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] != Terrain.COUNTER or ways[s, cell] < reach:
                continue
            if not can_use(s, hand, stations, cells, times, params):
                continue
            if ways[s, cell] > reach:
                following = min(following, ways[s, cell])
            elif counters < COUNTERS:
                options[count] = s
                count += 1
                counters += 1
        reach = following if counters < COUNTERS else FAR
    options[options.shape[0] - 1] = count


@kernel
def make_children(tables, static, ways, players, cells, clock, goals, options, parents, chosen):
    """Players without an errand try all of theirs, jointly with the others; where these are too many, some of them.

    Returns:
        Number of children.
    """
    n, count = players.shape[1], 0
    for w in range(players.shape[0]):
        k, total = clock[w, Clock.LAYOUT], 1
        floor, stations, times = tables.floor[k], static.stations[k], tables.times[k]
        for i in range(n):
            if goals[w, i] != NOTHING:
                options[i, 0] = goals[w, i]
                options[i, ERRANDS] = 1
            else:
                cell = floor[players[w, i, Player.Y], players[w, i, Player.X]]
                hand = players[w, i, Player.HAND : HAND_END]
                list_errands(cell, hand, stations, cells[w], times, tables.params, ways[k], options[i])
            total *= options[i, ERRANDS]
        stride = 1 + (total - 1) // JOINT
        for code in range((clock[w, Clock.T] + 7 * w) % stride, total, stride):
            if count == parents.shape[0]:
                return count
            rest = code
            for i in range(n):
                chosen[count, i] = options[i, rest % options[i, ERRANDS]]
                rest //= options[i, ERRANDS]
            parents[count] = w
            count += 1
    return count


@kernel
def act_on_errands(tables, static, players, cells, clock, goals, blocked, trust, scratch, actions):
    """Turn the errands of all nodes into joint primitive actions. Mutates: scratch, actions (C, N)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, gates, neighbours, floor = static.stations[k], static.gates[k], tables.neighbours[k], tables.floor[k]
        times, turn = tables.times[k], 0
        for i in range(players.shape[1]):
            s = goals[c, i]
            scratch.goals[i] = 0
            scratch.goals[i, Goal.STATION] = s
            actions[c, i] = STAY
            turn = 1 if blocked[c, i] > 0 and c % 2 == 1 else turn
            if s == NOTHING:
                continue
            find_way(s, static.stands[k], stations, gates, neighbours, players[c], cells[c], floor, trust, scratch)
            cell = floor[players[c, i, Player.Y], players[c, i, Player.X]]
            send(i, s, players[c, i, Player.HAND] + 1, cell, scratch)
            if can_act(i, s, players[c], stations, cells[c], times, tables.params):
                actions[c, i] = INTERACT
        move_together(players[c], neighbours, stations, gates, floor, cells[c], turn, trust, scratch, actions[c])


@kernel
def find_way(s, stands, stations, gates, neighbours, players, cells, floor, trust, scratch):
    """Find the ways to one station, with gates as they are and with all of them open. Mutates: scratch."""
    closed = shut(stations, gates, floor, players, cells, trust, scratch.passable)
    fill_field(stands[s], neighbours, scratch.passable, scratch.fields[s], scratch.queue)
    if closed:
        scratch.passable[:] = 1
        fill_field(stands[s], neighbours, scratch.passable, scratch.opened[s], scratch.queue)
    else:
        copy_numbers(scratch.fields[s], scratch.opened[s])


@kernel
def end_errands(tables, static, players, before, cells, clock, actions, goals, blocked):
    """An errand ends when its player has acted, can do nothing there any more, or has been in a jam too long.

    Mutates: goals, blocked.
    """
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, times = static.stations[k], tables.times[k]
        for i in range(players.shape[1]):
            s = goals[c, i]
            if s == NOTHING:
                continue
            hand = players[c, i, Player.HAND : HAND_END]
            moved = (
                players[c, i, Player.X] != before[c, i, Player.X] or players[c, i, Player.Y] != before[c, i, Player.Y]
            )
            waits = not moved and actions[c, i] != INTERACT and not faces(i, s, players[c], stations)
            blocked[c, i] = blocked[c, i] + 1 if waits else 0
            useful = can_use(s, hand, stations, cells[c], times, tables.params)
            if actions[c, i] == INTERACT or blocked[c, i] > PATIENCE or not useful:
                goals[c, i] = NOTHING
                blocked[c, i] = 0
