"""Directives: distances, and which of them are possible.

Two sets of rules are offered. ``original`` is the feasible set of LLM-Co's public code (paper section 4, appendix A;
verified on its recorded decisions). ``strict`` leaves out what cannot work: full pots, and soups that are not ready by
the time of arrival.

Shape letters: N players, H W grid, M objects, A actions. ``env`` is a row of ``State``, ``paths`` (4, H, W) scratch
as in ``constants.Path``.
"""

from __future__ import annotations

from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import CONTINUE, is_running

from .constants import (
    AWAY,
    BLOCKED,
    FIRST_INGREDIENT,
    FIRST_ROWS,
    FREE,
    NOTHING,
    SIDES,
    TAKEN,
    WAIT,
    Clock,
    Item,
    Kind,
    Object,
    Param,
    Path,
    Player,
    Reason,
    Row,
    Rules,
    Thing,
    Verb,
)
from .rules import can_enter, is_full, is_idle

# ------------------------------------------------------------------------------------------- distances


@kernel
def mark_floor(terrain, cells, floor):
    """Mark walkable cells. Mutates: floor (H, W)."""
    for y in range(terrain.shape[0]):
        for x in range(terrain.shape[1]):
            floor[y, x] = FREE if can_enter(x, y, terrain, cells) else 0


@kernel
def measure_moves(seat, players, paths):
    """Find the fewest moves to every cell; another player's cell can be a goal, but paths do not lead through it.

    Directions are tried in the order north, south, east, west, which settles ties. Mutates: paths, whose floor must
    be marked.
    """
    floor = paths[Path.FLOOR]
    distance = paths[Path.DISTANCE]
    first = paths[Path.FIRST]
    queue = paths[Path.QUEUE]
    width = floor.shape[1]
    for j in range(players.shape[0]):
        floor[players[j, Player.Y], players[j, Player.X]] = TAKEN
    x, y = players[seat, Player.X], players[seat, Player.Y]
    floor[y, x] = FREE
    distance[:, :] = NOTHING
    distance[y, x] = 0
    queue[0, 0] = y * width + x
    head, tail = 0, 1
    while head < tail:
        cell = queue[head // width, head % width]
        head += 1
        y, x = cell // width, cell % width
        for direction in range(4):
            next_y, next_x = y + OFFSETS[direction][1], x + OFFSETS[direction][0]
            if floor[next_y, next_x] == 0 or distance[next_y, next_x] != NOTHING:
                continue
            distance[next_y, next_x] = distance[y, x] + 1
            first[next_y, next_x] = direction if distance[y, x] == 0 else first[y, x]
            if floor[next_y, next_x] == FREE:
                queue[tail // width, tail % width] = next_y * width + next_x
                tail += 1
    for j in range(players.shape[0]):
        if j != seat:
            floor[players[j, Player.Y], players[j, Player.X]] = TAKEN


@kernel
def side_of(place, direction, floor):
    """Return the index of the cell on a side of an object, or NOTHING if it is not floor."""
    y, x = place[Object.Y] + OFFSETS[direction][1], place[Object.X] + OFFSETS[direction][0]
    if y < 0 or x < 0 or y >= floor.shape[0] or x >= floor.shape[1] or floor[y, x] == 0:
        return NOTHING
    return y * floor.shape[1] + x


@kernel
def distance_to(place, paths):
    """Count moves to the nearest side of an object, ``BLOCKED`` more where only another player's cell can be reached.

    Returns:
        Moves; NOTHING where the object is inaccessible.
    """
    floor, distance = paths[Path.FLOOR], paths[Path.DISTANCE]
    width = floor.shape[1]
    nearest, free = NOTHING, NOTHING
    for direction in SIDES:
        cell = side_of(place, direction, floor)
        if cell == NOTHING or distance[cell // width, cell % width] == NOTHING:
            continue
        moves = distance[cell // width, cell % width]
        if nearest == NOTHING or moves < nearest:
            nearest = moves
        if floor[cell // width, cell % width] == FREE and (free == NOTHING or moves < free):
            free = moves
    return free if free != NOTHING or nearest == NOTHING else BLOCKED + nearest


@kernel
def measure_objects(objects, paths, moves):
    """Count the moves to every object, see ``distance_to``. Mutates: moves (M,)."""
    for slot in range(objects.shape[0]):
        moves[slot] = NOTHING if objects[slot, Object.X] == NOTHING else distance_to(objects[slot], paths)


@kernel
def nearest_counter(objects, cells, paths):
    """Find the nearest empty counter, the shared ones aside, that can be reached and is not blocked."""
    best, best_moves = NOTHING, BLOCKED
    for slot in range(objects.shape[0]):
        place = objects[slot]
        if place[Object.KIND] != Kind.COUNTER or place[Object.X] == NOTHING:
            continue
        if cells[place[Object.Y], place[Object.X], Thing.ITEM] != Item.NONE:
            continue
        moves = distance_to(place, paths)
        if moves != NOTHING and moves < best_moves:
            best, best_moves = slot, moves
    return best


# ------------------------------------------------------------------------------------------- what is possible


@kernel
def judge_directive(tables, env, seat, verb, place, is_nearest, paths):
    """Decide whether a directive is possible for a player whose surroundings are known."""
    params = tables.params
    if place[Object.X] == NOTHING:
        return Reason.ABSENT
    here, hand = env.cells[place[Object.Y], place[Object.X]], env.players[seat, Player.HAND :]
    moves = distance_to(place, paths)
    if moves == NOTHING:
        return Reason.INACCESSIBLE
    if verb == Verb.TAKE or verb == Verb.OPEN or verb == Verb.START:
        return judge_empty_hand(verb, place, here, hand, params)
    if hand[Thing.ITEM] == Item.NONE:
        return Reason.HANDS_EMPTY
    if verb == Verb.DELIVER:
        return Reason.OK if hand[Thing.ITEM] == Item.SOUP else Reason.WRONG_ITEM
    if verb == Verb.LOAD:
        return judge_load(here, hand, moves, tables.times[env.clock[Clock.LAYOUT]], params)
    if place[Object.KIND] == Kind.POT:
        return judge_potting(here, hand, params)
    return judge_putting_down(place, here, hand, is_nearest, params)


@kernel
def judge_empty_hand(verb, place, here, hand, params):
    """Taking, opening and starting need an empty hand, and something to take, a closed gate or a soup to start.

    Where anyone may open gates, hands can be full for that.
    """
    if hand[Thing.ITEM] != Item.NONE and (verb != Verb.OPEN or params[Param.GATE_ANYONE] == 0):
        return Reason.HANDS_FULL
    if verb == Verb.OPEN:
        return Reason.OPEN if here[Thing.ITEM] == Item.OPEN else Reason.OK
    on_counter = place[Object.KIND] == Kind.COUNTER or place[Object.KIND] == Kind.SHARED
    if verb == Verb.TAKE:
        return Reason.EMPTY if on_counter and here[Thing.ITEM] == Item.NONE else Reason.OK
    if here[Thing.ITEM] == Item.NONE:
        return Reason.EMPTY
    return Reason.OK if is_idle(here) else Reason.REFUSES


@kernel
def judge_load(here, hand, moves, times, params):
    """Loading soup needs a dish; under strict rules the soup must be ready when the player arrives."""
    if hand[Thing.ITEM] != Item.DISH:
        return Reason.WRONG_ITEM
    if params[Param.RULES] == Rules.ORIGINAL:
        return Reason.OK
    if here[Thing.ITEM] != Item.SOUP or is_idle(here):
        return Reason.NOT_READY
    walk = moves - BLOCKED if moves >= BLOCKED else moves
    left = times[here[Thing.SOUP]] - here[Thing.TICK]
    return Reason.OK if left <= walk else Reason.NOT_READY


@kernel
def judge_potting(here, hand, params):
    """Pots take ingredients (in the original only onions); under strict rules only if idle and not full."""
    if hand[Thing.ITEM] < FIRST_INGREDIENT:
        return Reason.WRONG_ITEM
    if params[Param.RULES] == Rules.ORIGINAL or not is_full(here):
        return Reason.OK
    return Reason.REFUSES


@kernel
def judge_putting_down(place, here, hand, is_nearest, params):
    """Objects can be put on any empty shared counter, or on the nearest empty other counter.

    The original lists soup for shared counters on one layout only.
    """
    if here[Thing.ITEM] != Item.NONE:
        return Reason.TAKEN
    original = params[Param.RULES] == Rules.ORIGINAL
    if original and place[Object.KIND] == Kind.SHARED and hand[Thing.ITEM] == Item.SOUP and place[Object.SOUP] == 0:
        return Reason.WRONG_ITEM
    if place[Object.KIND] == Kind.COUNTER:
        return Reason.OK if is_nearest else Reason.FARTHER
    return Reason.OK


@kernel
def had_effect(row, objects, player, cells):
    """A directive that has just ended had its effect if the hand, or the cell of its gate or pot, shows it."""
    verb, hand = row[Row.VERB], player[Player.HAND]
    if row[Row.SLOT] == NOTHING:
        return True
    place = objects[row[Row.SLOT]]
    if verb == Verb.TAKE:
        return hand != Item.NONE
    if verb == Verb.LOAD:
        return hand == Item.SOUP
    if verb in (Verb.OPEN, Verb.START) and place[Object.X] == NOTHING:
        return False  # the kitchen changed, and has no such object any more
    if verb == Verb.OPEN:
        return cells[place[Object.Y], place[Object.X], Thing.ITEM] == Item.OPEN
    if verb == Verb.START:
        return not is_idle(cells[place[Object.Y], place[Object.X]])
    return hand == Item.NONE


@kernel
def mask_directives(tables, env, seat, paths, mask):
    """While a directive is running, only continue is valid; otherwise all possible directives are.

    Mutates: paths, mask (A,).
    """
    catalogue, objects = tables.catalogue, tables.objects[env.clock[Clock.LAYOUT]]
    mask[:] = 0
    if is_running(env.macro_state[seat]):
        mask[CONTINUE] = 1
        return
    mask[WAIT] = 1
    mask[AWAY] = 1
    measure_moves(seat, env.players, paths)
    nearest = nearest_counter(objects, env.cells, paths)
    for action in range(len(FIRST_ROWS), catalogue.shape[0]):
        verb, slot = catalogue[action, Row.VERB], catalogue[action, Row.SLOT]
        reason = judge_directive(tables, env, seat, verb, objects[slot], slot == nearest, paths)
        mask[action] = 1 if reason == Reason.OK else 0
