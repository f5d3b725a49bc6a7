"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import FIRST_ID
from collab_overcooked.games.overcooked.engine.rules import choose_primitives, move_players, start_anywhere
from collab_overcooked.games.overcooked.engine.step import clear_pay, pay
from collab_overcooked.games.overcooked.v2.engine.constants import Clock, Param, Player, Terrain
from collab_overcooked.games.overcooked.v2.engine.observe import observe_env
from collab_overcooked.games.overcooked.v2.engine.rules import (
    draw_recipe,
    draw_thing,
    fill_pot,
    interact_in_turn,
    learn_recipe,
    permute_channels,
    tick_cell,
)
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel


@kernel
def step_env(tables, players, cells, clock, rng, actions, events, sparse, shaped, moves):
    """In a step, players move, then interact, then pots and buttons advance, and a delivered recipe is drawn anew.

    Mutates: all but tables and actions.
    """
    params, terrain, holders = tables.params, tables.terrain, tables.holders
    clear_events(events, FIRST_ID)
    clear_pay(sparse, shaped)
    choose_primitives(actions, tables.levels, events)
    move_players(terrain, players, cells, events, moves)
    delivered = interact_in_turn(tables, players, cells, clock, events, sparse, shaped)
    for h in range(holders.shape[0]):
        tick_cell(cells[holders[h, 1], holders[h, 0]], terrain[holders[h, 1], holders[h, 0]])
    clock[Clock.T] += 1
    clock[Clock.DELIVERED] = delivered
    for i in range(players.shape[0]):
        clock[Clock.SCORE] += int(sparse[i])
        clock[Clock.SERVED] += sparse[i] > 0
    if delivered and params[Param.REDRAW] == 1:
        clock[Clock.RECIPE] = draw_recipe(tables.recipes, rng)
        players[:, Player.KNOWS] = 0
    learn_recipe(players, cells, terrain, holders, params[Param.RADIUS], tables.recipes.shape[0])


@kernel
def scatter_things(tables, players, cells, rng):
    """A random state has things in hands, pots and on all counters. Mutates: players, cells, rng."""
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
def reset_env(tables, players, cells, clock, channels, rng, limit):
    """An episode has a drawn recipe; players face north at their starts, or start at random, hands empty.

    Mutates: all but tables.
    """
    params = tables.params
    clock[Clock.LIMIT] = limit
    clock[Clock.RECIPE] = draw_recipe(tables.recipes, rng)
    for i in range(players.shape[0]):
        players[i, Player.X] = tables.starts[i, 0]
        players[i, Player.Y] = tables.starts[i, 1]
    for i in range(players.shape[0] if params[Param.RANDOM_START] == 1 else 0):
        start_anywhere(i, tables.regions, players, rng)
    if params[Param.RANDOM_STATE] == 1:
        scatter_things(tables, players, cells, rng)
    permute_channels(channels, tables.permuted, rng)
    learn_recipe(players, cells, tables.terrain, tables.holders, params[Param.RADIUS], tables.recipes.shape[0])


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch; one that is over does not change and pays nothing. Mutates: state, out."""
    players, cells, clock, rng = state.players, state.cells, state.clock, state.rng
    events, sparse, shaped, rewards = out.events, out.sparse, out.shaped, out.rewards
    truncated, moves, fresh = out.truncated, out.moves, out.fresh
    for b in range(players.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if not fresh[b]:
            clear_events(events[b], FIRST_ID)
            clear_pay(sparse[b], shaped[b])
            rewards[b] = 0
            continue
        step_env(tables, players[b], cells[b], clock[b], rng[b], actions[b], events[b], sparse[b], shaped[b], moves[b])
        pay(sparse[b], shaped[b], tables.params[Param.SHAPED], rewards[b])
        truncated[b] = clock[b, Clock.T] >= clock[b, Clock.LIMIT]
        clock[b, Clock.OVER] = 1 if truncated[b] else 0


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state."""
    players, cells, clock, channels, rng = state.players, state.cells, state.clock, state.channels, state.rng
    for b in range(players.shape[0]):
        if which[b]:
            reset_env(tables, players[b], cells[b], clock[b], channels[b], rng[b], limit)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments. Mutates: out."""
    players, cells, clock, channels = state.players, state.cells, state.clock, state.channels
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(players.shape[0]):
        if fresh[b]:
            observe_env(tables, players[b], cells[b], clock[b], channels[b], observations[b], masks[b])


@kernel
def learn_batch(tables, state):
    """Find out who knows the recipe by what is in view, in all environments. Mutates: state."""
    players, cells = state.players, state.cells
    for b in range(players.shape[0]):
        radius, n_recipes = tables.params[Param.RADIUS], tables.recipes.shape[0]
        learn_recipe(players[b], cells[b], tables.terrain, tables.holders, radius, n_recipes)
