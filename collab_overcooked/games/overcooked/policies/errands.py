"""Errands of players, stations to which they walk and interact: which are worth trying, and the moves they come to."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import HAND_END, NOTHING, Clock, Item, Player, Terrain, Thing
from collab_overcooked.games.overcooked.engine.rules import is_idle
from collab_overcooked.games.overcooked.policies.assignment_arrays import FAR, INTERACT, STAY, Goal, Station
from collab_overcooked.games.overcooked.policies.distances import fill_field, shut
from collab_overcooked.games.overcooked.policies.full_hands import send
from collab_overcooked.games.overcooked.policies.joint_moves import can_act, faces, move_together, station_answers
from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.jit import kernel

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
