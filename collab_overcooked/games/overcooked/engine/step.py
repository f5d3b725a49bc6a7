"""The order of play within a step, and how episodes start."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.kernels.rng import draw_below

from .constants import FIRST_ID, NOTHING, Change, Clock, Event, EventColumn, Param, Path, Player, Terrain
from .directives import mark_floor, mask_directives
from .macro_actions import step_macro_actions
from .observe import observe_env
from .rules import (
    advance,
    change_kitchen,
    choose_primitives,
    draw_order,
    interact_in_turn,
    is_change_blocked,
    is_change_due,
    move_players,
    renew_order,
    start_anywhere,
)


@kernel
def add_rewards(out, with_shaping):
    """Every player gets the value of all deliveries, plus its shaped reward if enabled. Mutates: out.rewards."""
    sparse = out.sparse
    shaped = out.shaped
    rewards = out.rewards
    team = 0.0
    for i in range(sparse.shape[0]):
        team += sparse[i]
    for i in range(rewards.shape[0]):
        rewards[i] = team + shaped[i] if with_shaping == 1 else team


@kernel
def clear_rewards(out):
    """Clear the shaped rewards and values of the last step. Mutates: out."""
    out.sparse[:] = 0
    out.shaped[:] = 0


@kernel
def end_step(env, out, with_shaping):
    """A step ends with its rewards, and the episode at its limit. Mutates: env, out."""
    add_rewards(out, with_shaping)
    clock = env.clock
    clock[Clock.OVER] = 1 if clock[Clock.T] >= clock[Clock.LIMIT] else 0
    return False, clock[Clock.OVER] != 0


@kernel
def step_directives(tables, env, actions, out):
    """Directives become primitive actions before any is carried out. Mutates: env, out."""
    clear_events(out.events, FIRST_ID)
    step_macro_actions(tables, env, actions, out)
    return step_env(tables, env, actions, out)


@kernel
def step_env(tables, env, actions, out):
    """In a step, players interact and move, pots and gates advance, and the kitchen may change. Mutates: env, out."""
    players = env.players
    clock = env.clock
    events = out.events
    params = tables.params
    k = clock[Clock.LAYOUT]
    if params[Param.MACROS] == 0:
        clear_events(events, FIRST_ID)
    clear_rewards(out)
    choose_primitives(actions, tables.levels, events)
    order_delivered = interact_in_turn(tables, env, out)
    move_players(tables.terrain[k], env, out)
    clock[Clock.T] += 1
    any_delivered = False
    for i in range(players.shape[0]):
        clock[Clock.SCORE] += int(out.sparse[i])
        if events[i, EventColumn.CODE] & (1 << Event.SOUP_DELIVERY):
            clock[Clock.SERVED] += 1
            any_delivered = True
    advance(tables, env, out)
    renew_order(tables, env, order_delivered, out)
    change_in_time(tables, env, any_delivered)
    return end_step(env, out, params[Param.SHAPED])


@kernel
def change_in_time(tables, env, delivered):
    """The kitchen changes when a change is due and no player stands in its way. Mutates: env."""
    if env.changes.shape[0] > 0 and is_change_due(env.changes, tables.params, delivered, env.rng):
        if is_change_blocked(tables.terrain, env):
            env.changes[Change.LEFT] = 1
        else:
            change_kitchen(tables.terrain, env)


@kernel
def choose_layout(tables, env):
    """An episode has a forced or drawn layout. Mutates: env. Returns: its number."""
    k, pool = env.clock[Clock.LAYOUT], tables.terrain.shape[0]
    if k == NOTHING:
        k = draw_below(env.rng, pool) if pool > 1 else 0
    env.clock[Clock.LAYOUT] = k
    if env.changes.shape[0] > 0:
        env.changes[Change.FIRST] = k
    return k


@kernel
def place_players(tables, env, k):
    """Players face north at their starts, or start at random, hands empty. Mutates: env."""
    players = env.players
    for i in range(players.shape[0]):
        players[i, Player.X] = tables.starts[k, i, 0]
        players[i, Player.Y] = tables.starts[k, i, 1]
    for i in range(players.shape[0] if tables.params[Param.RANDOM_START] == 1 else 0):
        start_anywhere(i, tables.regions[k], players, env.rng)


@kernel
def clear_cells(cells, terrain, reset_gates):
    """Counters and pots start empty; gates start closed unless gate_reset is off. Mutates: cells."""
    for y in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            if reset_gates == 1 or terrain[y, x] != Terrain.GATE:
                cells[y, x] = 0


@kernel
def reset_env(tables, env, limit):
    """An episode starts in its layout, with all players in their places and nothing on counters. Mutates: env."""
    k = choose_layout(tables, env)
    clear_cells(env.cells, tables.terrain[k], tables.params[Param.GATE_RESET])
    env.clock[Clock.LIMIT] = limit
    place_players(tables, env, k)
    if env.order.shape[0] > 0:
        draw_order(tables, env)


@kernel
def observe_directives(tables, env, out):
    """Players with directives have masks of directives instead. Mutates: out."""
    observe_env(tables, env, out)
    mark_floor(tables.terrain[env.clock[Clock.LAYOUT]], env.cells, out.paths[Path.FLOOR])
    for i in range(out.masks.shape[0]):
        if tables.levels[i] == Level.MEDIUM:
            mask_directives(tables, env, i, out.paths, out.masks[i])


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
DIRECTIVES = BatchKernels(step_directives, reset_env, observe_directives)
