"""Medium-level actions: objects by number, distances, which directives are possible, and how they are carried out.

A directive such as "put on k4" takes several steps; in each of them it becomes one primitive action, and its player
can do nothing but continue until it ends. Two sets of rules are offered. ``original`` is the feasible set and action
manager of LLM-Co's public code (paper section 4, appendix A; verified on its recorded decisions). ``strict`` leaves
out what cannot work (full pots, soups that are not ready by the time of arrival), walks to the nearest side of an
object instead of the first one, ends every directive, and lets either player give way.

Shape letters: K layouts, N players, H W grid, M objects, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from collab_overcooked._jit import kernel
from collab_overcooked.core.grid import OFFSETS
from collab_overcooked.core.rng import draw_below
from collab_overcooked.games.overcooked.constants import (
    NOTHING,
    Action,
    Clock,
    Item,
    Param,
    Player,
    Reason,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.rules import can_enter, is_full, is_idle, is_ready
from collab_overcooked.games.overcooked.spec import Layout

Array = np.ndarray


class Rules(IntEnum):
    """How directives are judged and carried out."""

    STRICT = 0
    ORIGINAL = 1


class Kind(IntEnum):
    """Kinds of numbered objects, in the order of the action list."""

    ONIONS = 0
    TOMATOES = 1
    DISHES = 2
    POT = 3
    SERVING = 4
    GATE = 5
    SHARED = 6  # counter that a layout names for handing over
    COUNTER = 7


LETTERS = "otpcdgsk"  # of Kind, in order
TERRAINS = (
    Terrain.ONIONS,
    Terrain.TOMATOES,
    Terrain.DISHES,
    Terrain.POT,
    Terrain.SERVING,
    Terrain.GATE,
    Terrain.COUNTER,
    Terrain.COUNTER,
)


class Object(IntEnum):
    """Columns of ``Tables.objects`` (K, M, 5); x and y are NOTHING where a layout lacks the object."""

    KIND = 0
    NUMBER = 1
    X = 2
    Y = 3
    SOUP = 4  # 1 where the original's rules let soup be put on a shared counter


class Verb(IntEnum):
    """What a directive does."""

    CONTINUE = 0
    WAIT = 1
    AWAY = 2
    TAKE = 3
    PUT = 4
    LOAD = 5
    DELIVER = 6
    OPEN = 7
    START = 8


class Row(IntEnum):
    """Columns of ``Tables.catalogue`` (A, 2)."""

    VERB = 0
    SLOT = 1  # row of the object, NOTHING for none


FIRST_ROWS = ((Verb.CONTINUE, NOTHING), (Verb.WAIT, NOTHING), (Verb.AWAY, NOTHING))
CONTINUE, WAIT, AWAY = range(3)
VERBS = {
    Kind.ONIONS: (Verb.TAKE,),
    Kind.TOMATOES: (Verb.TAKE,),
    Kind.DISHES: (Verb.TAKE,),
    Kind.POT: (Verb.PUT, Verb.LOAD),
    Kind.SERVING: (Verb.DELIVER,),
    Kind.GATE: (Verb.OPEN,),
    Kind.SHARED: (Verb.TAKE, Verb.PUT),
    Kind.COUNTER: (Verb.TAKE, Verb.PUT),
}


class Duty(IntEnum):
    """Columns of ``State.duties`` (B, N, DUTY_COLUMNS): what a player is carrying out, and what it did one step ago."""

    ROW = 0  # running directive, 0 for none
    AGE = 1  # steps since it was chosen
    STILL = 2  # steps since its player last moved or turned
    BEFORE = 3  # directive of the step before; GAVE_WAY where the player gave way instead
    MOVE = 4  # primitive action of the step before
    X = 5  # pose one step ago
    Y = 6
    FACING = 7
    LAST = 8  # directives chosen last, the latest first, 0 for none; then MEMORY - 1 more


MEMORY = 5  # directives that a player remembers
DUTY_COLUMNS = int(Duty.LAST) + MEMORY
GAVE_WAY = -2
PATIENCE = 5  # steps without a move or turn after which a strict directive ends


class Path(IntEnum):
    """Layers of the scratch memory ``Out.paths`` (B, 4, H, W)."""

    FLOOR = 0  # 0 no floor, FREE, or TAKEN by another player
    DISTANCE = 1  # moves from the player, NOTHING where there is no way
    FIRST = 2  # direction of the first move
    QUEUE = 3


FREE = 1
TAKEN = 2
BLOCKED = 1 << 12  # added to the distance of an object whose only reachable side is another player's cell


# Plain ints: numba cannot unify an enum member with a computed direction.
NORTH, SOUTH, EAST, WEST, STAY, INTERACT = (int(action) for action in Action)
SIDES = (NORTH, SOUTH, WEST, EAST)
AWAY_ORDER = (WEST, NORTH, SOUTH, EAST)


# ------------------------------------------------------------------------------------------- numbering


def number_objects(layouts: Sequence[Layout], grids: Array) -> Array:
    """Number the objects of each layout, row by row and from 0 on for every kind.

    Args:
        layouts: They tell which counters are shared.
        grids: Their terrain (K, H, W).

    Returns:
        int32 (K, M, 5), see ``Object``; the same row names the same kind and number in every layout.
    """
    found = [_cells_by_kind(grid, set(own.shared_counters)) for own, grid in zip(layouts, grids, strict=True)]
    counts = [max(len(own[kind]) for own in found) for kind in Kind]
    objects = np.full((len(found), sum(counts), len(Object)), NOTHING, np.int32)
    for layout, own, rows in zip(layouts, found, objects, strict=True):
        slot = 0
        for kind in Kind:
            for number in range(counts[kind]):
                cell = own[kind][number] if number < len(own[kind]) else (NOTHING, NOTHING)
                rows[slot] = (kind, number, *cell, layout.share_soup)
                slot += 1
    return objects


def _cells_by_kind(grid: Array, shared: set[tuple[int, int]]) -> dict[Kind, list[tuple[int, int]]]:
    cells: dict[Kind, list[tuple[int, int]]] = {kind: [] for kind in Kind}
    for y, x in np.argwhere(np.isin(grid, TERRAINS)).tolist():
        kind = Kind(TERRAINS.index(grid[y, x]))
        cells[Kind.COUNTER if kind == Kind.SHARED and (x, y) not in shared else kind].append((x, y))
    return cells


def list_directives(objects: Array, auto_start: bool) -> Array:
    """Return the action list, int32 (A, 2), see ``Row``.

    Args:
        objects: See ``number_objects``.
        auto_start: Whether pots start by themselves; otherwise there are directives that start them.
    """
    rows: list[tuple[int, int]] = [*FIRST_ROWS]
    for slot, kind in enumerate(objects[0, :, Object.KIND].tolist()):
        rows += [(verb, slot) for verb in VERBS[Kind(kind)]]
        if kind == Kind.POT and not auto_start:
            rows.append((Verb.START, slot))
    return np.array(rows, np.int32)


# ------------------------------------------------------------------------------------------- distances


@kernel
def paint_floor(terrain, cells, floor):
    """Mark what can be walked on. Mutates: floor (H, W)."""
    for y in range(terrain.shape[0]):
        for x in range(terrain.shape[1]):
            floor[y, x] = FREE if can_enter(x, y, terrain, cells) else 0


@kernel
def look_around(seat, players, paths):
    """Find the fewest moves to every cell; another player's cell can be a goal but nobody walks through it.

    Directions are tried in the order north, south, east, west, which settles ties. Mutates: paths, whose floor must
    be painted.
    """
    floor, distance, first, queue = paths[Path.FLOOR], paths[Path.DISTANCE], paths[Path.FIRST], paths[Path.QUEUE]
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
def side_of(thing, direction, floor):
    """Return the cell on a side of an object as one number, NOTHING where there is no floor."""
    y, x = thing[Object.Y] + OFFSETS[direction][1], thing[Object.X] + OFFSETS[direction][0]
    if y < 0 or x < 0 or y >= floor.shape[0] or x >= floor.shape[1] or floor[y, x] == 0:
        return NOTHING
    return y * floor.shape[1] + x


@kernel
def distance_to(thing, paths):
    """Count moves to the nearest side of an object, ``BLOCKED`` more where only another player's cell can be reached.

    Returns:
        Moves; NOTHING where the object is inaccessible.
    """
    floor, distance = paths[Path.FLOOR], paths[Path.DISTANCE]
    width = floor.shape[1]
    nearest, free = NOTHING, NOTHING
    for direction in SIDES:
        cell = side_of(thing, direction, floor)
        if cell == NOTHING or distance[cell // width, cell % width] == NOTHING:
            continue
        moves = distance[cell // width, cell % width]
        if nearest == NOTHING or moves < nearest:
            nearest = moves
        if floor[cell // width, cell % width] == FREE and (free == NOTHING or moves < free):
            free = moves
    return free if free != NOTHING or nearest == NOTHING else BLOCKED + nearest


@kernel
def nearest_counter(objects, cells, paths):
    """Find the nearest empty counter, the shared ones aside, that can be reached and is not blocked."""
    best, best_moves = NOTHING, BLOCKED
    for slot in range(objects.shape[0]):
        thing = objects[slot]
        if thing[Object.KIND] != Kind.COUNTER or thing[Object.X] == NOTHING:
            continue
        if cells[thing[Object.Y], thing[Object.X], Thing.ITEM] != Item.NONE:
            continue
        moves = distance_to(thing, paths)
        if moves != NOTHING and moves < best_moves:
            best, best_moves = slot, moves
    return best


# ------------------------------------------------------------------------------------------- what is possible


@kernel
def judge_directive(row, objects, times, player, cells, is_nearest, params, paths):
    """Decide whether a directive is possible for a player whose surroundings are known.

    Args:
        row: Of the action list, with an object; see ``Row``.
        objects: Of the layout.
        times: Steps of cooking by onions and tomatoes.
        player: See ``Player``.
        cells: See ``Thing``.
        is_nearest: Whether an ordinary counter is the one on which things are put down.
        params: See ``constants.Param``.
        paths: The player's surroundings, see ``look_around``.

    Returns:
        ``Reason``.
    """
    verb, thing = row[Row.VERB], objects[row[Row.SLOT]]
    if thing[Object.X] == NOTHING:
        return Reason.ABSENT
    here, hand, moves = cells[thing[Object.Y], thing[Object.X]], player[Player.HAND :], distance_to(thing, paths)
    if moves == NOTHING:
        return Reason.INACCESSIBLE
    if verb == Verb.TAKE or verb == Verb.OPEN or verb == Verb.START:
        return judge_empty_hand(verb, thing, here, hand, params)
    if hand[Thing.ITEM] == Item.NONE:
        return Reason.HANDS_EMPTY
    if verb == Verb.DELIVER:
        return Reason.OK if hand[Thing.ITEM] == Item.SOUP else Reason.WRONG_ITEM
    if verb == Verb.LOAD:
        return judge_load(here, hand, moves, times, params)
    if thing[Object.KIND] == Kind.POT:
        return judge_potting(here, hand, params)
    return judge_putting_down(thing, here, hand, is_nearest, params)


@kernel
def judge_empty_hand(verb, thing, here, hand, params):
    """Taking, opening and starting need an empty hand, and something to take, a closed gate or a soup to start.

    Where anyone may open gates, hands can be full for that.
    """
    if hand[Thing.ITEM] != Item.NONE and (verb != Verb.OPEN or params[Param.GATE_ANYONE] == 0):
        return Reason.HANDS_FULL
    if verb == Verb.OPEN:
        return Reason.OPEN if here[Thing.ITEM] == Item.OPEN else Reason.OK
    on_counter = thing[Object.KIND] == Kind.COUNTER or thing[Object.KIND] == Kind.SHARED
    if verb == Verb.TAKE:
        return Reason.EMPTY if on_counter and here[Thing.ITEM] == Item.NONE else Reason.OK
    if here[Thing.ITEM] == Item.NONE:
        return Reason.EMPTY
    return Reason.OK if is_idle(here) else Reason.REFUSES


@kernel
def judge_load(here, hand, moves, times, params):
    """Soup needs a dish; strictly, it must be ready by the time its player arrives."""
    if hand[Thing.ITEM] != Item.DISH:
        return Reason.WRONG_ITEM
    if params[Param.RULES] == Rules.ORIGINAL:
        return Reason.OK
    if here[Thing.ITEM] != Item.SOUP or is_idle(here):
        return Reason.NOT_READY
    walk = moves - BLOCKED if moves >= BLOCKED else moves
    left = times[here[Thing.ONIONS], here[Thing.TOMATOES]] - here[Thing.TICK]
    return Reason.OK if left <= walk else Reason.NOT_READY


@kernel
def judge_potting(here, hand, params):
    """Pots take ingredients (the original knows onions only); strictly, they must have room and not be cooking."""
    if hand[Thing.ITEM] != Item.ONION and hand[Thing.ITEM] != Item.TOMATO:
        return Reason.WRONG_ITEM
    if params[Param.RULES] == Rules.ORIGINAL or not is_full(here):
        return Reason.OK
    return Reason.REFUSES


@kernel
def judge_putting_down(thing, here, hand, is_nearest, params):
    """Things are put on empty shared counters, or on the nearest empty one of the others.

    The original lists soup for shared counters on one layout only.
    """
    if here[Thing.ITEM] != Item.NONE:
        return Reason.TAKEN
    original = params[Param.RULES] == Rules.ORIGINAL
    if original and thing[Object.KIND] == Kind.SHARED and hand[Thing.ITEM] == Item.SOUP and thing[Object.SOUP] == 0:
        return Reason.WRONG_ITEM
    if thing[Object.KIND] == Kind.COUNTER:
        return Reason.OK if is_nearest else Reason.FARTHER
    return Reason.OK


@kernel
def mask_directives(seat, objects, catalogue, times, players, duties, cells, params, paths, mask):
    """A running directive leaves nothing but to continue; otherwise all possible ones can be chosen.

    Mutates: paths, mask (A,).
    """
    mask[:] = 0
    if duties[seat, Duty.ROW] != 0:
        mask[CONTINUE] = 1
        return
    mask[WAIT] = 1
    mask[AWAY] = 1
    look_around(seat, players, paths)
    nearest = nearest_counter(objects, cells, paths)
    for action in range(len(FIRST_ROWS), mask.shape[0]):
        row = catalogue[action]
        is_nearest = row[Row.SLOT] == nearest
        reason = judge_directive(row, objects, times, players[seat], cells, is_nearest, params, paths)
        mask[action] = 1 if reason == Reason.OK else 0


# ------------------------------------------------------------------------------------------- carrying out


@kernel
def carry_out(objects, catalogue, terrain, times, players, duties, cells, rng, actions, params, paths, moves, refused):
    """Every player follows its directive for a step; all of them decide from the same moment.

    Mutates: duties, rng, paths, moves (primitive actions, (N,)), refused (reasons, (N,)).
    """
    paint_floor(terrain, cells, paths[Path.FLOOR])
    for seat in range(players.shape[0]):
        duty = duties[seat]
        look_around(seat, players, paths)
        refused[seat] = take_on(seat, actions[seat], objects, catalogue, times, players, duty, cells, params, paths)
        if params[Param.RULES] == Rules.STRICT:
            drop_vain(seat, objects, catalogue, times, players, duty, cells, params, paths)
        row = duty[Duty.ROW] if duty[Duty.ROW] != 0 else WAIT
        move = next_move(seat, objects, catalogue[row], times, players, duty, cells, params, paths)
        before = row
        if is_stuck(seat, row, move, players, duty, params):
            if params[Param.RULES] == Rules.STRICT:
                move = step_aside(seat, rng, players, move, paths[Path.FLOOR])
            elif seat > 0:
                excluded = duty[Duty.MOVE] if duty[Duty.BEFORE] == GAVE_WAY else NOTHING
                move = move_away(seat, players, excluded, paths[Path.FLOOR])
                before = GAVE_WAY
        moves[seat] = move
        remember(seat, players, duty, before, move)


@kernel
def take_on(seat, action, objects, catalogue, times, players, duty, cells, params, paths):
    """A running directive goes on whatever is asked for; otherwise a possible one begins, and else nothing is done.

    Mutates: duty.

    Returns:
        ``Reason``.
    """
    if duty[Duty.ROW] != 0:
        return Reason.OK if action == CONTINUE else Reason.RUNNING
    if action == CONTINUE:
        return Reason.NOT_RUNNING
    reason = judge_action(seat, action, objects, catalogue, times, players, cells, params, paths)
    if reason == Reason.OK:
        for column in range(DUTY_COLUMNS - 1, Duty.LAST, -1):
            duty[column] = duty[column - 1]
        duty[Duty.LAST] = action
        duty[Duty.ROW] = action
        duty[Duty.AGE] = 0
        duty[Duty.STILL] = 0
    return reason


@kernel
def judge_action(seat, action, objects, catalogue, times, players, cells, params, paths):
    """Decide whether an idle player can choose an action; its surroundings must be known to ``paths``."""
    if action < len(FIRST_ROWS):
        return Reason.NOT_RUNNING if action == CONTINUE else Reason.OK
    slot = catalogue[action, Row.SLOT]
    is_nearest = objects[slot, Object.KIND] == Kind.COUNTER and slot == nearest_counter(objects, cells, paths)
    return judge_directive(catalogue[action], objects, times, players[seat], cells, is_nearest, params, paths)


@kernel
def drop_vain(seat, objects, catalogue, times, players, duty, cells, params, paths):
    """A strict directive ends when it has become impossible, lasts too long, or its player stands still too long.

    A player that walks never needs more steps than the map has cells. Mutates: duty.
    """
    row = duty[Duty.ROW]
    if row < len(FIRST_ROWS):
        return
    floor = paths[Path.FLOOR]
    duty[Duty.AGE] += 1
    duty[Duty.STILL] = duty[Duty.STILL] + 1 if has_stood(players[seat], duty) and duty[Duty.BEFORE] == row else 0
    reason = judge_directive(catalogue[row], objects, times, players[seat], cells, True, params, paths)
    if reason != Reason.OK or duty[Duty.STILL] > PATIENCE or duty[Duty.AGE] > floor.shape[0] * floor.shape[1]:
        duty[Duty.ROW] = 0


@kernel
def next_move(seat, objects, row, times, players, duty, cells, params, paths):
    """Turn a directive into this step's primitive action; one that is done ends. Mutates: duty."""
    if row[Row.VERB] == Verb.WAIT:
        duty[Duty.ROW] = 0
        return STAY
    if row[Row.VERB] == Verb.AWAY:
        duty[Duty.ROW] = 0
        return move_away(seat, players, NOTHING, paths[Path.FLOOR])
    thing = objects[row[Row.SLOT]]
    side = choose_side(thing, params, paths)
    if side == NOTHING:
        if params[Param.RULES] == Rules.ORIGINAL and not has_free_side(thing, paths[Path.FLOOR]):
            duty[Duty.ROW] = 0
        return STAY
    width = paths.shape[2]
    cell = side_of(thing, side, paths[Path.FLOOR])
    if paths[Path.DISTANCE, cell // width, cell % width] > 0:
        return paths[Path.FIRST, cell // width, cell % width]
    if players[seat, Player.FACING] != side ^ 1:  # north of it one faces south
        return side ^ 1
    return act_on(row[Row.VERB], cells[thing[Object.Y], thing[Object.X]], players[seat, Player.HAND :], times, duty)


@kernel
def has_free_side(thing, floor):
    """Return whether an object has a side on which no other player stands."""
    for direction in SIDES:
        cell = side_of(thing, direction, floor)
        if cell != NOTHING and floor[cell // floor.shape[1], cell % floor.shape[1]] == FREE:
            return True
    return False


@kernel
def choose_side(thing, params, paths):
    """One goes to the side one stands at, else to the nearest free side; in the original to the first, N, S, W, E.

    Returns:
        Direction from the object, NOTHING where no free side can be reached.
    """
    floor, distance = paths[Path.FLOOR], paths[Path.DISTANCE]
    width = floor.shape[1]
    best, fewest = NOTHING, BLOCKED
    for direction in SIDES:
        cell = side_of(thing, direction, floor)
        if cell == NOTHING or floor[cell // width, cell % width] == TAKEN:
            continue
        moves = distance[cell // width, cell % width]
        if moves == NOTHING:
            continue
        if moves == 0:
            return direction
        if best == NOTHING or (params[Param.RULES] == Rules.STRICT and moves < fewest):
            best, fewest = direction, moves
    return best


@kernel
def act_on(verb, here, hand, times, duty):
    """In place, one interacts and the directive ends, whatever comes of it.

    With wrongly filled hands nobody interacts: the original then never ends but for loading, the strict rules have
    ended it before. Mutates: duty.
    """
    if verb == Verb.LOAD:
        duty[Duty.ROW] = 0
        return INTERACT if hand[Thing.ITEM] == Item.DISH and is_ready(here, times) else STAY
    if verb != Verb.OPEN and (hand[Thing.ITEM] != Item.NONE) != (verb == Verb.PUT or verb == Verb.DELIVER):
        return STAY
    duty[Duty.ROW] = 0
    return INTERACT


# ------------------------------------------------------------------------------------------- giving way


@kernel
def has_stood(player, duty):
    """Return whether a player stands as it stood one step ago, neither moved nor turned."""
    return (
        player[Player.X] == duty[Duty.X]
        and player[Player.Y] == duty[Duty.Y]
        and player[Player.FACING] == duty[Duty.FACING]
    )


@kernel
def is_stuck(seat, row, move, players, duty, params):
    """A player is stuck if its directive runs on, it did not wait, and it neither moved, turned nor interacts."""
    if duty[Duty.ROW] == 0 or move == Action.INTERACT or duty[Duty.MOVE] == Action.INTERACT:
        return False
    if row == WAIT or duty[Duty.BEFORE] == WAIT or not has_stood(players[seat], duty):
        return False
    return params[Param.RULES] == Rules.ORIGINAL or duty[Duty.BEFORE] == row


@kernel
def step_aside(seat, rng, players, move, floor):
    """Strictly, each player that is stuck gives way on the toss of a coin, to a free neighbour cell drawn evenly.

    Mutates: rng.
    """
    if draw_below(rng, 2) == 0:
        return move
    free = 0
    for direction in range(4):
        free += is_free(players[seat], direction, floor)
    if free == 0:
        return move
    chosen = draw_below(rng, free)
    for direction in range(4):
        if is_free(players[seat], direction, floor):
            if chosen == 0:
                return direction
            chosen -= 1
    return move


@kernel
def is_free(player, direction, floor):
    """Return whether the cell next to a player is floor on which nobody stands."""
    y, x = player[Player.Y] + OFFSETS[direction][1], player[Player.X] + OFFSETS[direction][0]
    return floor[y, x] == FREE


@kernel
def move_away(seat, players, excluded, floor):
    """One moves away from the nearest other player: first along x, then along y, then west, north, south or east.

    Args:
        seat: Who moves.
        players: See ``Player``.
        excluded: Direction that is not tried, NOTHING for none.
        floor: See ``Path``.

    Returns:
        Primitive action; staying where no neighbour cell is free.
    """
    me, other = players[seat], nearest_player(seat, players)
    if other != NOTHING:
        dx, dy = me[Player.X] - players[other, Player.X], me[Player.Y] - players[other, Player.Y]
        along_x = EAST if dx > 0 else WEST
        if dx != 0 and along_x != excluded and is_free(me, along_x, floor):
            return along_x
        along_y = SOUTH if dy > 0 else NORTH
        if dy != 0 and along_y != excluded and is_free(me, along_y, floor):
            return along_y
    for direction in AWAY_ORDER:
        if direction != excluded and is_free(me, direction, floor):
            return direction
    return STAY


@kernel
def nearest_player(seat, players):
    """Return the other player that fewest rows and columns lie between, the first of several; NOTHING if alone."""
    best, fewest = NOTHING, BLOCKED
    for j in range(players.shape[0]):
        apart = abs(players[j, Player.X] - players[seat, Player.X]) + abs(
            players[j, Player.Y] - players[seat, Player.Y]
        )
        if j != seat and apart < fewest:
            best, fewest = j, apart
    return best


@kernel
def remember(seat, players, duty, before, move):
    """The next step knows this step's directive, primitive action and pose. Mutates: duty."""
    duty[Duty.BEFORE] = before
    duty[Duty.MOVE] = move
    duty[Duty.X] = players[seat, Player.X]
    duty[Duty.Y] = players[seat, Player.Y]
    duty[Duty.FACING] = players[seat, Player.FACING]


@kernel
def clear_duties(duties):
    """Nobody begins an episode with a directive or a past. Mutates: duties."""
    duties[:, :] = 0
    duties[:, Duty.BEFORE] = WAIT
    duties[:, Duty.X : Duty.FACING + 1] = NOTHING


# ------------------------------------------------------------------------------------------- over a batch


@kernel
def obey_batch(tables, state, actions, out):
    """Turn everybody's directives into primitive actions, and note what was refused. Mutates: state, out."""
    players, cells, clock, rng, duties = state.players, state.cells, state.clock, state.rng, state.duties
    paths, primitives, declined = out.paths, out.primitives, out.declined
    for b in range(players.shape[0]):
        if clock[b, Clock.OVER] == 1:
            declined[b] = 0
            continue
        k = clock[b, Clock.LAYOUT]
        carry_out(
            tables.objects[k],
            tables.catalogue,
            tables.terrain[k],
            tables.times[k],
            players[b],
            duties[b],
            cells[b],
            rng[b],
            actions[b],
            tables.params,
            paths[b],
            primitives[b],
            declined[b],
        )


@kernel
def mask_batch(tables, state, out):
    """Show everybody which directives are possible; this replaces the masks of primitive actions. Mutates: out."""
    players, cells, clock, duties = state.players, state.cells, state.clock, state.duties
    paths, masks, fresh = out.paths, out.masks, out.fresh
    for b in range(players.shape[0]):
        if not fresh[b]:
            continue
        k = clock[b, Clock.LAYOUT]
        objects, times, params = tables.objects[k], tables.times[k], tables.params
        paint_floor(tables.terrain[k], cells[b], paths[b, Path.FLOOR])
        for i in range(players.shape[1]):
            mask_directives(
                i, objects, tables.catalogue, times, players[b], duties[b], cells[b], params, paths[b], masks[b, i]
            )
