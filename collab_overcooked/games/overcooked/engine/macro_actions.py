"""Execution of directives: a directive becomes one primitive action per step until it ends.

With ``original`` rules this is the action manager of LLM-Co's public code (paper section 4, appendix A; verified on its
recorded decisions). With ``strict`` ones players walk to the nearest side of an object instead of the first one, every
directive ends, and either player gives way. The original's paper lets a stuck player choose again, its code does not.
"""

from __future__ import annotations

from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import (
    CONTINUE,
    Level,
    Macro,
    Outcome,
    end_macro,
    is_running,
    start_macro,
    tick_macro,
)
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    AWAY,
    AWAY_ORDER,
    BLOCKED,
    EAST,
    FIRST_ROWS,
    FREE,
    INTERACT,
    MACRO_COLUMNS,
    NORTH,
    NOTHING,
    PATIENCE,
    SIDES,
    SOUTH,
    STAY,
    TAKEN,
    WAIT,
    WEST,
    Action,
    Clock,
    DirectiveHistory,
    EventColumn,
    Item,
    Kind,
    Object,
    Param,
    Path,
    Player,
    Reason,
    Row,
    Rules,
    Stalemate,
    Thing,
    Verb,
)
from .directives import had_effect, judge_directive, mark_floor, measure_moves, nearest_counter, side_of
from .rules import is_ready

# ------------------------------------------------------------------------------------------- carrying out


@kernel
def step_macro_actions(tables, env, actions, out):
    """Execute every player's directive for a step; all decide from the same state.

    Mutates: env, out.
    """
    paths, strict = out.paths, tables.params[Param.RULES] == Rules.STRICT
    mark_floor(tables.terrain[env.clock[Clock.LAYOUT]], env.cells, paths[Path.FLOOR])
    for seat in range(actions.shape[0]):
        if tables.levels[seat] != Level.MEDIUM:
            continue
        event = out.events[seat]
        measure_moves(seat, env.players, paths)
        event[EventColumn.REASON] = start_directive(tables, env, seat, actions[seat], paths)
        if strict:
            event[EventColumn.ENDED] = drop_directive(tables, env, seat, paths)
        event[EventColumn.PRIMITIVE] = step_macro_action(tables, env, seat, paths, event)


@kernel
def step_macro_action(tables, env, seat, paths, event):
    """A directive becomes a primitive action, unless its player is stuck and gives way. Mutates: env, event."""
    players = env.players
    macro = env.macro_state[seat]
    floor = paths[Path.FLOOR]
    row = macro[Macro.ACTION] if is_running(macro) else WAIT
    move = next_move(tables, env, seat, row, paths, event)
    stuck = is_stuck(seat, row, move, players, macro)
    if tables.params[Param.RULES] == Rules.ORIGINAL:
        move = resolve_standoff(seat, row, move, players, macro, floor)
        if tables.params[Param.STALEMATE] == Stalemate.PAPER:
            ask_again(stuck, macro, floor, event)
    elif stuck:
        move = step_aside(seat, env.rng, players, move, floor)
    record_step(seat, players, macro, row, move)
    return move


@kernel
def start_directive(tables, env, seat, action, paths):
    """A running directive continues regardless of the action; otherwise a valid directive starts, or the player waits.

    Mutates: env.

    Returns:
        ``Reason``.
    """
    macro, objects = env.macro_state[seat], tables.objects[env.clock[Clock.LAYOUT]]
    reason = judge_action(tables, env, seat, action, paths)
    if reason == Reason.OK and not is_running(macro):
        last = tables.catalogue[macro[DirectiveHistory.LAST]]
        macro[DirectiveHistory.FAILED] = not had_effect(last, objects, env.players[seat], env.cells)
        for column in range(MACRO_COLUMNS - 1, DirectiveHistory.LAST, -1):
            macro[column] = macro[column - 1]
        macro[DirectiveHistory.LAST] = action
        macro[DirectiveHistory.FAILED] = 0
        start_macro(macro, action, paths.shape[1] * paths.shape[2])
    return reason


@kernel
def judge_action(tables, env, seat, action, paths):
    """Decide whether a player can choose an action; its surroundings must be known to ``paths``."""
    catalogue, objects = tables.catalogue, tables.objects[env.clock[Clock.LAYOUT]]
    if is_running(env.macro_state[seat]):
        return Reason.OK if action == CONTINUE else Reason.RUNNING
    if action >= catalogue.shape[0]:
        return Reason.NO_SUCH_ACTION
    if action < len(FIRST_ROWS):
        return Reason.NOT_RUNNING if action == CONTINUE else Reason.OK
    verb, slot = catalogue[action, Row.VERB], catalogue[action, Row.SLOT]
    is_nearest = objects[slot, Object.KIND] == Kind.COUNTER and slot == nearest_counter(objects, env.cells, paths)
    return judge_directive(tables, env, seat, verb, objects[slot], is_nearest, paths)


@kernel
def drop_directive(tables, env, seat, paths):
    """Under strict rules, a directive ends if it becomes impossible, lasts too long, or its player is stuck too long.

    A player that walks never needs more steps than the map has cells. Mutates: env.

    Returns:
        ``Outcome``.
    """
    macro = env.macro_state[seat]
    row = macro[Macro.ACTION]
    if row < len(FIRST_ROWS):
        return Outcome.RUNNING
    tick_macro(macro, not (has_stood(env.players[seat], macro) and macro[DirectiveHistory.DIRECTIVE] == row))
    verb, slot = tables.catalogue[row, Row.VERB], tables.catalogue[row, Row.SLOT]
    place = tables.objects[env.clock[Clock.LAYOUT], slot]
    if judge_directive(tables, env, seat, verb, place, True, paths) != Reason.OK:
        end_macro(macro)
        return Outcome.FAILED
    if macro[Macro.STILL] > PATIENCE or macro[Macro.TIMER] < 0:
        end_macro(macro)
        return Outcome.INTERRUPTED
    return Outcome.RUNNING


@kernel
def next_move(tables, env, seat, row, paths, event):
    """Turn a directive into this step's primitive action; one that is done ends. Mutates: env, event."""
    k = env.clock[Clock.LAYOUT]
    params = tables.params
    players = env.players
    macro = env.macro_state[seat]
    verb = tables.catalogue[row, Row.VERB]
    if verb == Verb.WAIT:
        end_directive(macro, event)
        return STAY
    if verb == Verb.AWAY:
        end_directive(macro, event)
        return move_away(seat, players, NOTHING, paths[Path.FLOOR])
    place = tables.objects[k, tables.catalogue[row, Row.SLOT]]
    side = choose_side(place, params, paths)
    if side == NOTHING:
        if params[Param.RULES] == Rules.ORIGINAL and not has_free_side(place, paths[Path.FLOOR]):
            end_directive(macro, event)
        return STAY
    width = paths.shape[2]
    cell = side_of(place, side, paths[Path.FLOOR])
    if paths[Path.DISTANCE, cell // width, cell % width] > 0:
        return paths[Path.FIRST, cell // width, cell % width]
    if players[seat, Player.FACING] != side ^ 1:  # north of it one faces south
        return side ^ 1
    here, hand = env.cells[place[Object.Y], place[Object.X]], players[seat, Player.HAND :]
    return act_in_place(verb, here, hand, tables.times[k], macro, event)


@kernel
def has_free_side(place, floor):
    """Return whether an object has a side without another player."""
    for direction in SIDES:
        cell = side_of(place, direction, floor)
        if cell != NOTHING and floor[cell // floor.shape[1], cell % floor.shape[1]] == FREE:
            return True
    return False


@kernel
def choose_side(place, params, paths):
    """Walk to the player's current side of the object, else to the nearest free side (original: N, S, W, E).

    Returns:
        Direction from the object, NOTHING where no free side can be reached.
    """
    floor, distance = paths[Path.FLOOR], paths[Path.DISTANCE]
    width = floor.shape[1]
    best, fewest = NOTHING, BLOCKED
    for direction in SIDES:
        cell = side_of(place, direction, floor)
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
def act_in_place(verb, here, hand, times, macro, event):
    """At the object, interact and end the directive, regardless of the outcome.

    Players whose hands do not fit the directive do not interact: in the original it never ends except for loading, by
    the strict rules it has ended before. Mutates: macro, event.
    """
    if verb == Verb.LOAD:
        end_directive(macro, event)
        return INTERACT if hand[Thing.ITEM] == Item.DISH and is_ready(here, times) else STAY
    if verb != Verb.OPEN and (hand[Thing.ITEM] != Item.NONE) != (verb == Verb.PUT or verb == Verb.DELIVER):
        return STAY
    end_directive(macro, event)
    return INTERACT


@kernel
def end_directive(macro, event):
    """A directive ends once its last primitive action is chosen. Mutates: macro, event."""
    if is_running(macro):
        end_macro(macro)
        event[EventColumn.ENDED] = Outcome.DONE


# ------------------------------------------------------------------------------------------- giving way


@kernel
def has_stood(player, macro):
    """Return whether a player neither moved nor turned in the last step."""
    return (
        player[Player.X] == macro[DirectiveHistory.X]
        and player[Player.Y] == macro[DirectiveHistory.Y]
        and player[Player.FACING] == macro[DirectiveHistory.FACING]
    )


@kernel
def is_stuck(seat, row, move, players, macro):
    """A player is stuck if its directive is running and it did not wait, move, turn or interact."""
    if not is_running(macro) or move == Action.INTERACT or macro[DirectiveHistory.MOVE] == Action.INTERACT:
        return False
    return row != WAIT and macro[DirectiveHistory.DIRECTIVE] == row and has_stood(players[seat], macro)


@kernel
def ask_again(stuck, macro, floor, event):
    """In the original's paper, a stuck player chooses again, as does one that others have kept turning back.

    It has been turned back if it has walked for more steps than there are cells to walk on. Mutates: macro, event.
    """
    if not is_running(macro):
        return
    macro[Macro.TIMER] -= 1
    cells = 0
    for y in range(floor.shape[0]):
        for x in range(floor.shape[1]):
            cells += floor[y, x] != 0
    if stuck or floor.shape[0] * floor.shape[1] - macro[Macro.TIMER] > cells:
        end_macro(macro)
        event[EventColumn.ENDED] = Outcome.INTERRUPTED


@kernel
def resolve_standoff(seat, row, move, players, macro, floor):
    """In the original, stuck players except the first move away, but not twice in the same direction.

    A mark tells that the player has moved away, by itself or as its directive: it lasts until a wait or an interaction,
    and a directive to move away right after one of these leaves none. Mutates: macro.

    Returns:
        Primitive action.
    """
    waited = macro[DirectiveHistory.DIRECTIVE] == WAIT and macro[DirectiveHistory.AWAY] == 0
    if waited or row == WAIT or move == Action.INTERACT or macro[DirectiveHistory.MOVE] == Action.INTERACT:
        macro[DirectiveHistory.AWAY] = 0
    elif row == AWAY:
        macro[DirectiveHistory.AWAY] = 1
    elif seat > 0 and is_running(macro) and has_stood(players[seat], macro):
        move = move_away(
            seat, players, macro[DirectiveHistory.MOVE] if macro[DirectiveHistory.AWAY] else NOTHING, floor
        )
        macro[DirectiveHistory.AWAY] = 1
    return move


@kernel
def step_aside(seat, rng, players, move, floor):
    """Under strict rules, each stuck player gives way with probability 1/2, to a uniformly drawn free cell.

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
    """Return whether the cell next to a player is free floor."""
    y, x = player[Player.Y] + OFFSETS[direction][1], player[Player.X] + OFFSETS[direction][0]
    return floor[y, x] == FREE


@kernel
def move_away(seat, players, excluded, floor):
    """Move away from the nearest other player: first along x, then along y, then west, north, south or east.

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
    """Return the nearest other player by Manhattan distance (ties: the first), or NOTHING if alone."""
    best, fewest = NOTHING, BLOCKED
    for j in range(players.shape[0]):
        apart = abs(players[j, Player.X] - players[seat, Player.X]) + abs(
            players[j, Player.Y] - players[seat, Player.Y]
        )
        if j != seat and apart < fewest:
            best, fewest = j, apart
    return best


@kernel
def record_step(seat, players, macro, before, move):
    """Store this step's directive, primitive action and pose for the next step. Mutates: macro."""
    macro[DirectiveHistory.DIRECTIVE] = before
    macro[DirectiveHistory.MOVE] = move
    macro[DirectiveHistory.X] = players[seat, Player.X]
    macro[DirectiveHistory.Y] = players[seat, Player.Y]
    macro[DirectiveHistory.FACING] = players[seat, Player.FACING]
