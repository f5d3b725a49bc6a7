"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import (
    FIRST_ID,
    NOTHING,
    Clock,
    Event,
    EventColumn,
    Frame,
    Param,
    Path,
    Player,
    Terrain,
)
from collab_overcooked.games.overcooked.engine.directives import mark_floor, mask_directives
from collab_overcooked.games.overcooked.engine.macro_actions import step_macro_actions
from collab_overcooked.games.overcooked.engine.observe import observe_env
from collab_overcooked.games.overcooked.engine.rules import (
    age_gate,
    choose_primitives,
    cook,
    interact_in_turn,
    is_occupied,
    move_players,
    start_anywhere,
)
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.kernels.rng import draw_below


@kernel
def pay(sparse, shaped, with_shaping, rewards):
    """Every player gets the value of all deliveries, plus its shaped reward if enabled. Mutates: rewards."""
    team = 0.0
    for i in range(sparse.shape[0]):
        team += sparse[i]
    for i in range(rewards.shape[0]):
        rewards[i] = team + shaped[i] if with_shaping == 1 else team


@kernel
def clear_pay(sparse, shaped):
    """Clear the shaped rewards and values of the last step. Mutates: all."""
    for i in range(sparse.shape[0]):
        sparse[i] = 0
        shaped[i] = 0


@kernel
def step_env(tables, players, cells, clock, actions, events, sparse, shaped, moves):
    """In a step, players interact, then move, then pots and gates advance. Mutates: all but tables and actions.

    Where there are directives, ``macro_batch`` has cleared the events and written the primitive actions they come to.
    """
    k, params = clock[Clock.LAYOUT], tables.params
    if params[Param.MACROS] == 0:
        clear_events(events, FIRST_ID)
    clear_pay(sparse, shaped)
    choose_primitives(actions, tables.levels, events)
    interact_in_turn(tables, k, players, cells, events, sparse, shaped)
    move_players(tables.terrain[k], players, cells, events, moves)
    clock[Clock.T] += 1
    for p in range(tables.frames[k, Frame.POTS]):
        x, y = tables.pots[k, p, 0], tables.pots[k, p, 1]
        cook(cells[y, x], tables.times[k], params[Param.AUTO_START])
    for g in range(tables.frames[k, Frame.GATES]):
        x, y = tables.gates[k, g, 0], tables.gates[k, g, 1]
        limit, pause = tables.frames[k, Frame.GATE_LIMIT], params[Param.GATE_PAUSE]
        age_gate(cells[y, x], is_occupied(x, y, players), limit, pause)
    for i in range(players.shape[0]):
        if events[i, EventColumn.CODE] & (1 << Event.SOUP_DELIVERY):
            clock[Clock.SERVED] += 1
            clock[Clock.SCORE] += int(sparse[i])


@kernel
def clear_cells(cells, terrain, reset_gates):
    """Counters and pots start empty; gates start closed unless gate_reset is off. Mutates: cells."""
    for y in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            if reset_gates == 1 or terrain[y, x] != Terrain.GATE:
                cells[y, x] = 0


@kernel
def reset_env(tables, players, cells, clock, rng, forced, limit):
    """An episode has a forced or drawn layout; players face north at their starts, or start at random, hands empty.

    Mutates: all but tables.
    """
    params = tables.params
    k, pool = max(forced, 0), tables.terrain.shape[0]
    if forced == NOTHING and pool > 1:
        k = draw_below(rng, pool)
    clear_cells(cells, tables.terrain[k], params[Param.GATE_RESET])
    clock[Clock.LAYOUT] = k
    clock[Clock.LIMIT] = limit
    for i in range(players.shape[0]):
        players[i, Player.X] = tables.starts[k, i, 0]
        players[i, Player.Y] = tables.starts[k, i, 1]
    for i in range(players.shape[0] if params[Param.RANDOM_START] == 1 else 0):
        start_anywhere(i, tables.regions[k], players, rng)


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch; one that is over does not change and pays nothing. Mutates: state, out."""
    players, cells, clock = state.players, state.cells, state.clock
    events, sparse, shaped, rewards = out.events, out.sparse, out.shaped, out.rewards
    truncated, moves, fresh = out.truncated, out.moves, out.fresh
    for b in range(players.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if not fresh[b]:
            clear_events(events[b], FIRST_ID)
            clear_pay(sparse[b], shaped[b])
            rewards[b] = 0
            continue
        step_env(tables, players[b], cells[b], clock[b], actions[b], events[b], sparse[b], shaped[b], moves[b])
        pay(sparse[b], shaped[b], tables.params[Param.SHAPED], rewards[b])
        truncated[b] = clock[b, Clock.T] >= clock[b, Clock.LIMIT]
        clock[b, Clock.OVER] = 1 if truncated[b] else 0


@kernel
def reset_batch(tables, state, out, which, forced, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state."""
    players, cells, clock, rng = state.players, state.cells, state.clock, state.rng
    for b in range(players.shape[0]):
        if which[b]:
            reset_env(tables, players[b], cells[b], clock[b], rng[b], forced, limit)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments; a separate kernel, for shorter compile times.

    Mutates: out.
    """
    players, cells, clock = state.players, state.cells, state.clock
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(players.shape[0]):
        if fresh[b]:
            observe_env(tables, players[b], cells[b], clock[b], observations[b], masks[b])


@kernel
def macro_batch(tables, state, actions, out):
    """Clear the events, and turn directives into the primitive actions that ``step_batch`` carries out.

    Mutates: state, out.
    """
    players, macros, cells, clock, rng = state.players, state.macro_state, state.cells, state.clock, state.rng
    paths, events = out.paths, out.events
    for b in range(players.shape[0]):
        clear_events(events[b], FIRST_ID)
        if clock[b, Clock.OVER] == 0:
            k = clock[b, Clock.LAYOUT]
            step_macro_actions(tables, k, players[b], macros[b], cells[b], rng[b], actions[b], paths[b], events[b])


@kernel
def mask_batch(tables, state, out):
    """Write the masks of players with directives. Mutates: out."""
    players, cells, clock, macros = state.players, state.cells, state.clock, state.macro_state
    paths, masks, fresh = out.paths, out.masks, out.fresh
    for b in range(players.shape[0]):
        if not fresh[b]:
            continue
        k = clock[b, Clock.LAYOUT]
        objects, catalogue, times, params = tables.objects[k], tables.catalogue, tables.times[k], tables.params
        mark_floor(tables.terrain[k], cells[b], paths[b, Path.FLOOR])
        for i in range(players.shape[1]):
            if tables.levels[i] == Level.MEDIUM:
                mask_directives(
                    i, objects, catalogue, times, players[b], macros[b, i], cells[b], params, paths[b], masks[b, i]
                )
