"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel, row_at, unpack

from ...engine.constants import FIRST_ID
from ...engine.rules import choose_primitives, move_players, start_anywhere
from ...engine.step import clear_pay, pay
from .constants import Clock, Param, Player, Terrain
from .observe import observe_env
from .rules import draw_recipe, draw_thing, fill_pot, interact_in_turn, learn_recipe, permute_channels, tick_cell


@kernel
def step_env(tables, env, out, actions):
    """In a step, players move, then interact, then pots and buttons advance, and a delivered recipe is drawn anew.

    Mutates: env, out.
    """
    cells, clock, sparse = env.cells, env.clock, out.sparse
    terrain, holders = tables.terrain, tables.holders
    clear_events(out.events, FIRST_ID)
    clear_pay(out)
    choose_primitives(actions, tables.levels, out.events)
    move_players(terrain, env, out)
    delivered = interact_in_turn(tables, env, out)
    for h in range(holders.shape[0]):
        tick_cell(cells[holders[h, 1], holders[h, 0]], terrain[holders[h, 1], holders[h, 0]])
    clock[Clock.T] += 1
    clock[Clock.DELIVERED] = delivered
    for i in range(sparse.shape[0]):
        clock[Clock.SCORE] += int(sparse[i])
        clock[Clock.SERVED] += sparse[i] > 0
    if delivered and tables.params[Param.REDRAW] == 1:
        clock[Clock.RECIPE] = draw_recipe(tables.recipes, env.rng)
        env.players[:, Player.KNOWS] = 0
    learn_recipe(tables, env)


@kernel
def scatter_things(tables, env):
    """A random state has things in hands, pots and on all counters. Mutates: env."""
    players, cells, rng = env.players, env.cells, env.rng
    recipes, kinds = tables.recipes, tables.params[Param.KINDS]
    for i in range(players.shape[0]):
        players[i, Player.HAND] = draw_thing(2, 5, 3, recipes, kinds, rng)
    for h in range(tables.holders.shape[0]):
        x, y = tables.holders[h, 0], tables.holders[h, 1]
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
def step_batch(tables, state, actions, out):
    """Step every environment of a batch; one that is over does not change and pays nothing. Mutates: state, out."""
    state, out = unpack(state), unpack(out)
    rewards, truncated, fresh, clock = out.rewards, out.truncated, out.fresh, state.clock
    for b in range(fresh.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        row = row_at(out, b)
        if not fresh[b]:
            clear_events(row.events, FIRST_ID)
            clear_pay(row)
            rewards[b] = 0
            continue
        step_env(tables, row_at(state, b), row, actions[b])
        pay(row, tables.params[Param.SHAPED])
        truncated[b] = clock[b, Clock.T] >= clock[b, Clock.LIMIT]
        clock[b, Clock.OVER] = 1 if truncated[b] else 0


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state."""
    for b in range(which.shape[0]):
        if which[b]:
            reset_env(tables, row_at(state, b), limit)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments. Mutates: out."""
    state, observations, masks, fresh = unpack(state), out.observations, out.masks, out.fresh
    for b in range(fresh.shape[0]):
        if fresh[b]:
            observe_env(tables, row_at(state, b), observations[b], masks[b])


@kernel
def learn_batch(tables, state):
    """Find out who knows the recipe by what is in view, in all environments. Mutates: state."""
    for b in range(state.players.shape[0]):
        learn_recipe(tables, row_at(state, b))
