"""The order of play within a step, how episodes start, and a loop that finds out who knows the recipe."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel, row_at

from ...engine.constants import FIRST_ID
from ...engine.rules import choose_primitives, move_players, start_anywhere
from ...engine.step import clear_rewards, end_step
from .constants import Clock, Param, Player, Terrain
from .observe import observe_env
from .rules import draw_recipe, draw_thing, fill_pot, interact_in_turn, learn_recipe, permute_channels, tick_cell


@kernel
def step_env(tables, env, actions, out):
    """In a step, players move, then interact, then pots and buttons advance, and a delivered recipe is drawn anew.

    Mutates: env, out.
    """
    cells, clock, sparse = env.cells, env.clock, out.sparse
    terrain, object_cells = tables.terrain, tables.object_cells
    clear_events(out.events, FIRST_ID)
    clear_rewards(out)
    choose_primitives(actions, tables.levels, out.events)
    move_players(terrain, env, out)
    delivered = interact_in_turn(tables, env, out)
    for h in range(object_cells.shape[0]):
        tick_cell(cells[object_cells[h, 1], object_cells[h, 0]], terrain[object_cells[h, 1], object_cells[h, 0]])
    clock[Clock.T] += 1
    clock[Clock.DELIVERED] = delivered
    for i in range(sparse.shape[0]):
        clock[Clock.SCORE] += int(sparse[i])
        clock[Clock.SERVED] += sparse[i] > 0
    if delivered and tables.params[Param.REDRAW] == 1:
        clock[Clock.RECIPE] = draw_recipe(tables.recipes, env.rng)
        env.players[:, Player.KNOWS] = 0
    learn_recipe(tables, env)
    return end_step(env, out, tables.params[Param.SHAPED])


@kernel
def scatter_things(tables, env):
    """A random state has things in hands, pots and on all counters. Mutates: env."""
    players, cells, rng = env.players, env.cells, env.rng
    recipes, kinds = tables.recipes, tables.params[Param.KINDS]
    for i in range(players.shape[0]):
        players[i, Player.HAND] = draw_thing(2, 5, 3, recipes, kinds, rng)
    for h in range(tables.object_cells.shape[0]):
        x, y = tables.object_cells[h, 0], tables.object_cells[h, 1]
        if tables.terrain[y, x] == Terrain.POT:
            fill_pot(cells[y, x], kinds, rng)
        elif tables.terrain[y, x] == Terrain.COUNTER:
            cells[y, x, 0] = draw_thing(2, 6, 2, recipes, kinds, rng)


@kernel
def reset_env(tables, env, limit):
    """An episode has a drawn recipe; players face north at their starts, or start at random, hands empty.

    Mutates: env.
    """
    players, clock, rng, params = env.players, env.clock, env.rng, tables.params
    clock[Clock.LIMIT] = limit
    clock[Clock.RECIPE] = draw_recipe(tables.recipes, rng)
    for i in range(players.shape[0]):
        players[i, Player.X] = tables.starts[i, 0]
        players[i, Player.Y] = tables.starts[i, 1]
    for i in range(players.shape[0] if params[Param.RANDOM_START] == 1 else 0):
        start_anywhere(i, tables.regions, players, rng)
    if params[Param.RANDOM_STATE] == 1:
        scatter_things(tables, env)
    permute_channels(env.channels, tables.permuted, rng)
    learn_recipe(tables, env)


@kernel
def learn_batch(tables, state):
    """Find out who knows the recipe by what is in view, in all environments. Mutates: state."""
    for b in range(state.players.shape[0]):
        learn_recipe(tables, row_at(state, b))


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
