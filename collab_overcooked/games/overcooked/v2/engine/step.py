"""The order of play within a step, how episodes start, and a loop that finds out who knows the recipe."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel, row_at

from ...engine.constants import FIRST_ID, HAND_END, Clock, LayoutSize, Param, Player, Terrain
from ...engine.rules import advance, choose_primitives, draw_order, is_counter, move_players, renew_order
from ...engine.step import change_in_time, choose_layout, clear_cells, clear_rewards, end_step, place_players
from .observe import observe_env
from .rules import fill_pot, interact_in_turn, learn_recipe, permute_channels, random_thing


@kernel
def step_env(tables, env, actions, out):
    """In a step, players move, then interact, then pots and buttons advance, and a delivered recipe is drawn anew.

    Mutates: env, out.
    """
    clock, sparse = env.clock, out.sparse
    k = clock[Clock.LAYOUT]
    clear_events(out.events, FIRST_ID)
    clear_rewards(out)
    choose_primitives(actions, tables.levels, out.events)
    move_players(tables.terrain[k], env, out)
    delivered = interact_in_turn(tables, env, out)
    clock[Clock.T] += 1
    clock[Clock.DELIVERED] = delivered
    for i in range(sparse.shape[0]):
        clock[Clock.SCORE] += int(sparse[i])
        clock[Clock.SERVED] += sparse[i] > 0
    advance(tables, env, out)
    renew_order(tables, env, delivered, out)
    change_in_time(tables, env, delivered)
    learn_recipe(tables, env)
    return end_step(env, out, tables.params[Param.SHAPED])


@kernel
def scatter_things(tables, env, k):
    """A random state has things in hands, pots and on all counters. Mutates: env."""
    players = env.players
    cells = env.cells
    rng = env.rng
    frame = tables.frames[k]
    for i in range(players.shape[0]):
        random_thing(players[i, Player.HAND : HAND_END], 2, 5, 3, tables, k, rng)
    for h in range(frame[LayoutSize.OBJECT_CELLS]):
        x, y = tables.object_cells[k, h, 0], tables.object_cells[k, h, 1]
        if tables.terrain[k, y, x] == Terrain.POT:
            fill_pot(cells[y, x], frame[LayoutSize.KINDS], tables.times[k], rng)
        elif is_counter(tables.terrain[k, y, x]):
            random_thing(cells[y, x], 2, 6, 2, tables, k, rng)


@kernel
def reset_env(tables, env, limit):
    """An episode starts in its layout with a drawn recipe, and all players in their places. Mutates: env."""
    k = choose_layout(tables, env)
    clear_cells(env.cells, tables.terrain[k], 1)
    env.clock[Clock.LIMIT] = limit
    draw_order(tables, env)
    place_players(tables, env, k)
    if tables.params[Param.RANDOM_STATE] == 1:
        scatter_things(tables, env, k)
    permute_channels(env.channels, tables.permuted, env.rng)
    learn_recipe(tables, env)


@kernel
def learn_batch(tables, state):
    """Find out who knows the recipe by what is in view, in all environments. Mutates: state."""
    for b in range(state.players.shape[0]):
        learn_recipe(tables, row_at(state, b))


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
