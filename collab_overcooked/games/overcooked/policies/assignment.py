"""Joint decision for a kitchen: goals of all players, and moves towards them that do not block each other.

Pots need ingredients now, a dish when the soup is almost ready, and ingredients for the next soup. Things in hands are
counted first, then things on counters; empty hands get the remaining jobs, the fastest pair of player and job first.
Hand-overs go via counters that both sides reach; players who carry something through a closed gate need a player with
empty hands to open it. Moves are then chosen for all players jointly, with priority for the most urgent thing.

Kernels of these modules take the kitchen, the state of one environment, how a seat sees its team, then the arrays that
they write: ``Distances``, ``Jobs`` and ``Moves``. They do not allocate (see ``kernels.jit``).
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel

from ..engine.constants import FIRST_INGREDIENT, HAND_END, NOTHING, Item, Player, Terrain, Thing
from ..engine.rules import is_prepared, needed_work
from .distances import FAR, HAND_OVER, is_meeting_place, is_same_side, measure_delivery, survey, travel
from .joint_moves import move_together, send, yield_to
from .kitchen import (
    DISH,
    INTERACT,
    SAME_POLICY,
    SOUP,
    STAY,
    Goal,
    Station,
    can_act,
    is_unprepared,
    item_at,
    item_on,
    stores,
)
from .needs import Need, best_target, column_of, count_kinds, count_loose, lacks_ingredients, list_needs, total_need

GATE_COST = 6  # steps that a closed gate costs if another player may open it
LOCKED_IN = 80  # steps that it costs if no other player may: one who carries a thing could be stuck behind it
AHEAD = 6  # steps by which work for the soup after the next counts as longer
LAST_RESORT = 100  # steps by which a counter between rooms counts as further when it must be left free
GATE_BONUS = 12  # steps by which opening a gate for another player counts as shorter


@kernel
def is_shared(barred, i, c, target):
    """Return whether a player other than one gets to a counter and to a target."""
    for j in range(barred.shape[0]):
        if j != i and barred[j, c] == 0 and barred[j, target] == 0:
            return True
    return False


@kernel
def hand_over_time(kitchen, team, distances, i, c, target):
    """Return the steps of a thing from a counter to a target in other hands, FAR if no other player gets to both.

    Steps count twice where the player itself only lacks a way past a teammate: it goes as near as possible.
    """
    if not is_shared(team.barred, i, kitchen.ends[c], target):
        return FAR
    cell, steps = distances.here[i], FAR
    for stand in kitchen.stands[kitchen.ends[c]]:
        if stand != NOTHING:
            steps = min(steps, distances.delivery[target, stand])
    if travel(distances, target, cell) < FAR:
        return HAND_OVER + 2 * steps
    return FAR if steps >= distances.delivery[target, cell] else HAND_OVER + steps  # FAR: it would lie no nearer there


@kernel
def best_counter(kitchen, cells, team, distances, taken, i, target):
    """Find the empty counter on which a thing is handed over for a target, or put out of the way without one."""
    best, least = NOTHING, FAR
    for c in range(taken.shape[0]):
        if kitchen.stations[c, Station.TERRAIN] != Terrain.COUNTER or taken[c] == 1 or team.barred[i, c] == 1:
            continue
        if item_on(kitchen, cells, c) != Item.NONE:
            continue
        steps = distances.fields[c, distances.here[i]]
        if target != NOTHING:
            steps += hand_over_time(kitchen, team, distances, i, c, target)
        elif is_meeting_place(kitchen, distances, c):
            steps += AHEAD if team.standstill[0] == 0 else LAST_RESORT  # better left free for handing over
        if steps < least:
            best, least = c, steps
    return best


@kernel
def has_room(kitchen, cells, team, distances, jobs, i, item):
    """To hand something over takes an empty counter, and one more where a dish is still to come."""
    free, dishes = 0, 0
    for s in range(jobs.taken.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] == Terrain.POT:
            dishes += jobs.needs[s, Need.DISH]
        if kitchen.stations[s, Station.TERRAIN] != Terrain.COUNTER or jobs.taken[s] == 1:
            continue
        if distances.fields[s, distances.here[i]] < FAR and item_on(kitchen, cells, s) == Item.NONE:
            free += is_meeting_place(kitchen, distances, s)
    needed_soon = (item != DISH and dishes > jobs.loose[DISH]) or (team.standstill[0] == 1 and jobs.soups[0] > 0)
    return free > (1 if needed_soon and item != SOUP else 0)


@kernel
def best_station(kitchen, cells, distances, taken, item, cell):
    """Find the free station that prepares an ingredient and to which it gets soonest from a cell; NOTHING for none."""
    best, least = NOTHING, FAR
    for s in range(taken.shape[0]):
        is_own = kitchen.stations[s, Station.TERRAIN] == kitchen.prepare[item - FIRST_INGREDIENT]
        if not is_own or taken[s] == 1 or item_on(kitchen, cells, s) != Item.NONE:
            continue
        if distances.delivery[s, cell] < least:
            best, least = s, distances.delivery[s, cell]
    return best


@kernel
def send_carrier(kitchen, env, team, distances, jobs, i, item):
    """Players carry their things to where they are needed soonest, via a counter if necessary, or first to a station.

    Mutates: jobs.goals, jobs.needs, jobs.taken.
    """
    cells = env.cells
    needs = jobs.needs
    cell = distances.here[i]
    later = False
    rank = 5 if item == SOUP else 4 if item == DISH else 3
    target = best_target(kitchen, distances, needs, item, False, cell)
    if target == NOTHING and item >= FIRST_INGREDIENT:
        later, rank = True, 2
        target = best_target(kitchen, distances, needs, item, True, cell)
    if target == NOTHING:
        return
    if item != SOUP:
        needs[target, column_of(needs, item, later)] -= 1
    if not is_prepared(env.players[i, Player.HAND : HAND_END], kitchen.prepare):
        target = best_station(kitchen, cells, distances, jobs.taken, item, cell)
        if target == NOTHING:
            return
        jobs.taken[target] = 1
    if travel(distances, target, cell) >= FAR or team.barred[i, target] == 1:
        target = best_counter(kitchen, cells, team, distances, jobs.taken, i, target)
        if target != NOTHING:
            jobs.taken[target] = 1
    send(distances, jobs.goals, i, target, rank)


@kernel
def keep_clear(kitchen, cells, team, distances, jobs, i, item):
    """In a standstill the last free counter between rooms is kept for soup that is still to come.

    Mutates: jobs.goals, jobs.taken.
    """
    s = jobs.goals[i, Goal.STATION]
    if item == SOUP or s == NOTHING or kitchen.stations[s, Station.TERRAIN] != Terrain.COUNTER:
        return
    jobs.taken[s] = 0
    if has_room(kitchen, cells, team, distances, jobs, i, item):
        jobs.taken[s] = 1
    else:
        jobs.goals[i, Goal.STATION] = NOTHING


@kernel
def can_walk(kitchen, team, distances, jobs, i, item):
    """Return whether a player walks to where its thing is needed now."""
    target = best_target(kitchen, distances, jobs.needs, item, False, distances.here[i])
    return target != NOTHING and travel(distances, target, distances.here[i]) < FAR and team.barred[i, target] == 0


@kernel
def update_needs(kitchen, env, team, distances, jobs):
    """Find distances and needs, and send full hands to where their things go. Mutates: distances, jobs."""
    goals, standstill = jobs.goals, team.standstill[0] == 1
    survey(kitchen, env, team.trust, distances)
    measure_delivery(kitchen, distances)
    list_needs(kitchen, env.cells, team.standstill, distances, jobs.needs)
    count_loose(kitchen, env, team.claimed, jobs)
    goals[:] = 0
    goals[:, Goal.STATION] = NOTHING
    for order in range(2 + count_kinds(jobs.needs)):  # soup, dishes, and ingredients by kind
        item = SOUP if order == 0 else DISH + order - 1
        for later in (False, True):  # in a standstill those come first who walk to where their things are needed
            for i in range(goals.shape[0]):
                if env.players[i, Player.HAND] != item or goals[i, Goal.RANK] > 0:
                    continue
                if later or not standstill or item == SOUP or can_walk(kitchen, team, distances, jobs, i, item):
                    send_carrier(kitchen, env, team, distances, jobs, i, item)
                    if standstill:
                        keep_clear(kitchen, env.cells, team, distances, jobs, i, item)


@kernel
def onward(kitchen, distances, s, target, cell):
    """Return the steps of a thing from a station to a target, taken by a player who comes from a cell.

    A thing is not taken back from a counter on which it lies for a player nearer to the target.
    """
    same_side, any_side = FAR, FAR
    for stand in kitchen.stands[s]:
        if stand == NOTHING:
            continue
        any_side = min(any_side, distances.delivery[target, stand])
        if is_same_side(distances, s, stand, cell):
            same_side = min(same_side, distances.delivery[target, stand])
    for end in kitchen.stands[kitchen.ends[s]]:
        if end != NOTHING:
            any_side = min(any_side, distances.delivery[target, end])
    return same_side if same_side <= any_side else FAR


@kernel
def way_from_station(kitchen, distances, place, target):
    """Return the fewest steps of a thing from the station that prepares it to a target."""
    steps = FAR
    for stand in kitchen.stands[place]:
        if stand != NOTHING:
            steps = min(steps, distances.delivery[target, stand])
    return steps


@kernel
def find_use(kitchen, cells, team, distances, jobs, i, s):
    """Find where an item from a station is needed soonest, for a player who reaches the station.

    An ingredient that still has to be prepared goes to a free station for it first.

    Returns:
        Steps until it is there, plus penalties of less urgent jobs, the target, and where it goes first; FAR if nothing
        needs it, or no station is free.
    """
    least = FAR
    best = NOTHING
    place = NOTHING
    cell = distances.here[i]
    item = item_at(kitchen, cells, s)
    needs = jobs.needs
    barred = team.barred
    if is_raw(kitchen, cells, s, item):
        place = best_station(kitchen, cells, distances, jobs.taken, item, cell)
        if place == NOTHING:
            return FAR, NOTHING, NOTHING
    for target in range(needs.shape[0]):
        if kitchen.stations[target, Station.TERRAIN] != (Terrain.SERVING if item == SOUP else Terrain.POT):
            continue
        later = item != SOUP and needs[target, column_of(needs, item, False)] <= 0
        if later and (item == DISH or needs[target, column_of(needs, item, True)] <= 0):
            continue
        goal = target if place == NOTHING else place
        steps = onward(kitchen, distances, s, goal, cell)
        is_left = kitchen.stations[s, Station.TERRAIN] == Terrain.COUNTER and is_shared(
            barred, i, kitchen.ends[s], goal
        )
        if place != NOTHING:
            steps += way_from_station(kitchen, distances, place, target)
        if steps >= FAR or (barred[i, goal] == 1 and is_left):
            continue
        steps += travel(distances, s, cell) + 1
        if item == DISH or later:
            steps = max(steps, needs[target, Need.READY] + 1)
        steps += AHEAD if later else 0
        if steps < least:
            least, best = steps, target
    return least, best, best if place == NOTHING else place


@kernel
def is_raw(kitchen, cells, s, item):
    """Return whether a thing from a station is an ingredient that still has to be prepared."""
    from_counter = kitchen.stations[s, Station.TERRAIN] == Terrain.COUNTER and is_unprepared(kitchen, cells, s)
    return from_counter or (not stores(kitchen.stations[s, Station.TERRAIN]) and needed_work(item, kitchen.prepare) > 0)


@kernel
def fetch_time(kitchen, cells, team, distances, jobs, i, s):
    """Return how long it takes to fetch a station's item to where it is needed, and where that is.

    Nothing is fetched from a dispenser while enough of it lies about, handed over where there is no room, or prepared
    where no station is free; no dish where the soup would never be served.

    Returns:
        Steps and target; FAR if there is no use for it.
    """
    item = item_at(kitchen, cells, s)
    needs = jobs.needs
    cell = distances.here[i]
    if item == Item.NONE or travel(distances, s, cell) >= FAR:
        return FAR, NOTHING
    is_loose = not stores(kitchen.stations[s, Station.TERRAIN]) and jobs.loose[item] > 0
    if is_loose and jobs.loose[item] >= total_need(kitchen, needs, item):
        return FAR, NOTHING
    least, best, goal = find_use(kitchen, cells, team, distances, jobs, i, s)
    if best == NOTHING:
        return FAR, NOTHING
    if travel(distances, goal, cell) < FAR:
        refused = item == DISH and best_target(kitchen, distances, needs, SOUP, False, cell) == NOTHING
    else:
        refused = not has_room(kitchen, cells, team, distances, jobs, i, item)
    return (FAR, NOTHING) if refused else (least, best)


@kernel
def gate_time(kitchen, env, distances, goals, j, g):
    """Return the steps until a player with empty hands opens a gate for a teammate on its way through it.

    Returns:
        Steps, FAR if no teammate needs it, or not yet.
    """
    if item_on(kitchen, env.cells, g) == Item.OPEN:
        return FAR
    gate_cell = kitchen.floor[kitchen.stations[g, Station.Y], kitchen.stations[g, Station.X]]
    fields = distances.fields
    opened = distances.opened
    steps = distances.fields[g, distances.here[j]]
    for i in range(goals.shape[0]):
        s, cell = goals[i, Goal.STATION], distances.here[i]
        if i == j or s == NOTHING or goals[i, Goal.OPENED] == 0 or env.players[i, Player.HAND] == Item.NONE:
            continue
        detour = fields[g, cell] + 1 + opened[s, gate_cell] - opened[s, cell]
        if detour <= 2 and fields[g, cell] - steps < kitchen.gate_limit[0] - 1:
            return steps
    return FAR


@kernel
def can_work(kitchen, cells, s):
    """Return whether empty hands can prepare what lies on a station: work at a board, or start a blender."""
    terrain = kitchen.stations[s, Station.TERRAIN]
    x = kitchen.stations[s, Station.X]
    y = kitchen.stations[s, Station.Y]
    return terrain == Terrain.BOARD or (terrain == Terrain.BLENDER and cells[y, x, Thing.TICK] == 0)


@kernel
def job_time(kitchen, env, team, distances, jobs, i, s):
    """Return how long a job at a station takes a player with empty hands: fetching, starting or opening.

    Returns:
        Steps, FAR for none, and the target of what is fetched.
    """
    terrain = kitchen.stations[s, Station.TERRAIN]
    if terrain == NOTHING or jobs.taken[s] == 1 or team.barred[i, s] == 1:
        return FAR, NOTHING
    if terrain == Terrain.POT:
        return travel(distances, s, distances.here[i]) if jobs.needs[s, Need.START] == 1 else FAR, NOTHING
    if terrain != Terrain.COUNTER and stores(terrain) and is_unprepared(kitchen, env.cells, s):
        works = can_work(kitchen, env.cells, s)
        return travel(distances, s, distances.here[i]) if works else FAR, NOTHING
    if terrain == Terrain.GATE:
        steps = gate_time(kitchen, env, distances, jobs.goals, i, s)
        return steps - GATE_BONUS if steps < FAR else FAR, NOTHING
    return fetch_time(kitchen, env.cells, team, distances, jobs, i, s)


@kernel
def mark_as_assigned(kitchen, cells, jobs, s, target):
    """Remove what a player goes to do or to fetch from the needs. Mutates: jobs.needs, jobs.loose, jobs.taken."""
    item = item_at(kitchen, cells, s)
    needs = jobs.needs
    terrain = kitchen.stations[s, Station.TERRAIN]
    if terrain == Terrain.POT:
        needs[s, Need.START] = 0
    if stores(terrain):
        jobs.taken[s] = 1
    if target == NOTHING:
        return
    if stores(terrain):
        jobs.loose[item] -= 1
    if item != SOUP:
        now = column_of(needs, item, False)
        needs[target, now if needs[target, now] > 0 or item == DISH else column_of(needs, item, True)] -= 1


@kernel
def open_for_oneself(gates, distances, goals, i):
    """Empty hands open the gate that their way leads through. Mutates: goals."""
    s, best, least = goals[i, Goal.STATION], NOTHING, FAR
    for gate_cell in range(gates.shape[0]):
        g = gates[gate_cell]
        if g == NOTHING:
            continue
        steps = distances.fields[g, distances.here[i]] + distances.opened[s, gate_cell]
        if distances.fields[g, distances.here[i]] < FAR and steps < least:
            best, least = g, steps
    if best != NOTHING:
        send(distances, goals, i, best, goals[i, Goal.RANK])


@kernel
def give_jobs(kitchen, env, team, distances, jobs):
    """Give jobs to empty hands, the pair of player and job that takes the least time first. Mutates: jobs."""
    goals = jobs.goals
    for _ in range(goals.shape[0]):
        least = FAR
        who = NOTHING
        what = NOTHING
        where = NOTHING
        for i in range(goals.shape[0]):
            is_busy = env.players[i, Player.HAND] != Item.NONE or goals[i, Goal.STATION] != NOTHING
            if is_busy or team.trust[i] != SAME_POLICY:
                continue
            for s in range(jobs.taken.shape[0]):
                steps, target = job_time(kitchen, env, team, distances, jobs, i, s)
                if steps < least:
                    least = steps
                    who = i
                    what = s
                    where = target
        if who == NOTHING:
            return
        terrain = kitchen.stations[what, Station.TERRAIN]
        send(distances, goals, who, what, 4 if terrain == Terrain.GATE else 2)
        mark_as_assigned(kitchen, env.cells, jobs, what, where)
        if goals[who, Goal.OPENED] == 1:
            open_for_oneself(kitchen.gates, distances, goals, who)


@kernel
def clear_hands(kitchen, env, team, distances, jobs):
    """Put down unneeded things if a dish or soup waits for empty hands. Mutates: jobs.goals, jobs.taken."""
    needs, waiting = jobs.needs, jobs.loose[SOUP] > 0
    for s in range(needs.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] == Terrain.POT:
            waits = needs[s, Need.DISH] > 0 or needs[s, Need.START] > 0 or lacks_ingredients(needs[s])
            waiting = waiting or waits
    for i in range(env.players.shape[0]):
        if not waiting or team.trust[i] != SAME_POLICY or env.players[i, Player.HAND] == Item.NONE:
            continue
        if jobs.goals[i, Goal.RANK] > 2:
            continue
        c = best_counter(kitchen, env.cells, team, distances, jobs.taken, i, NOTHING)
        if c != NOTHING:
            jobs.taken[c] = 1
            send(distances, jobs.goals, i, c, 2)
            return


@kernel
def nearest_crowded(kitchen, cells, team, distances, taken, i):
    """Find the counter between rooms on which something else than soup lies that no player is going to take."""
    best, least = NOTHING, FAR
    for s in range(taken.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] != Terrain.COUNTER or taken[s] == 1 or team.barred[i, s] == 1:
            continue
        item, steps = item_at(kitchen, cells, s), distances.fields[s, distances.here[i]]
        if item != Item.NONE and item != SOUP and steps < least and is_meeting_place(kitchen, distances, s):
            best, least = s, steps
    return best


@kernel
def clear_shared_counters(kitchen, env, team, distances, jobs):
    """Players without a goal clear counters between rooms, or put down what can go nowhere.

    Mutates: jobs.goals, jobs.taken.
    """
    for i in range(env.players.shape[0]):
        if team.trust[i] != SAME_POLICY or jobs.goals[i, Goal.STATION] != NOTHING:
            continue
        c = best_counter(kitchen, env.cells, team, distances, jobs.taken, i, NOTHING)
        if c != NOTHING and env.players[i, Player.HAND] == Item.NONE:
            is_between = is_meeting_place(kitchen, distances, c)
            c = NOTHING if is_between else nearest_crowded(kitchen, env.cells, team, distances, jobs.taken, i)
        if c != NOTHING:
            jobs.taken[c] = 1
            send(distances, jobs.goals, i, c, 1)


@kernel
def assign(kitchen, env, team, distances, jobs, moves, actions):
    """Decide for one kitchen. Mutates: distances, jobs, moves, actions (N,)."""
    goals, helpers = jobs.goals, 0
    for trust in team.trust:
        helpers += trust == SAME_POLICY
    distances.gate[0] = GATE_COST if helpers > 1 else LOCKED_IN
    update_needs(kitchen, env, team, distances, jobs)
    give_jobs(kitchen, env, team, distances, jobs)
    clear_hands(kitchen, env, team, distances, jobs)
    if team.standstill[0] == 1:
        clear_shared_counters(kitchen, env, team, distances, jobs)
    for i in range(actions.shape[0]):
        s = goals[i, Goal.STATION]
        acts = s != NOTHING and team.trust[i] == SAME_POLICY and can_act(kitchen, env, i, s)
        actions[i] = INTERACT if acts else STAY
    yield_to(kitchen, env, team, distances, goals, moves)
    move_together(kitchen, env, team, distances, goals, moves, actions)
