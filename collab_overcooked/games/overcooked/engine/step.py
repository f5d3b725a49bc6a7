"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel, row_at, unpack
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.kernels.rng import draw_below

from .constants import FIRST_ID, NOTHING, Clock, Event, EventColumn, Frame, Param, Path, Player, Terrain
from .directives import mark_floor, mask_directives
from .macro_actions import step_macro_actions
from .observe import observe_env
from .rules import age_gate, choose_primitives, cook, interact_in_turn, is_occupied, move_players, start_anywhere


@kernel
def pay(out, with_shaping):
    """Every player gets the value of all deliveries, plus its shaped reward if enabled. Mutates: out.rewards."""
    sparse, shaped, rewards, team = out.sparse, out.shaped, out.rewards, 0.0
    for i in range(sparse.shape[0]):
        team += sparse[i]
    for i in range(rewards.shape[0]):
        rewards[i] = team + shaped[i] if with_shaping == 1 else team


@kernel
def clear_pay(out):
    """Clear the shaped rewards and values of the last step. Mutates: out."""
    sparse, shaped = out.sparse, out.shaped
    for i in range(sparse.shape[0]):
        sparse[i] = 0
        shaped[i] = 0


@kernel
def step_env(tables, env, out, actions):
    """In a step, players interact, then move, then pots and gates advance. Mutates: env, out.

    Where there are directives, ``macro_batch`` has cleared the events and written the primitive actions they come to.
    """
    players, cells, clock, events, params = env.players, env.cells, env.clock, out.events, tables.params
    k = clock[Clock.LAYOUT]
    if params[Param.MACROS] == 0:
        clear_events(events, FIRST_ID)
    clear_pay(out)
    choose_primitives(actions, tables.levels, events)
    interact_in_turn(tables, env, out)
    move_players(tables.terrain[k], env, out)
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
            clock[Clock.SCORE] += int(out.sparse[i])


@kernel
def clear_cells(cells, terrain, reset_gates):
    """Counters and pots start empty; gates start closed unless gate_reset is off. Mutates: cells."""
    for y in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            if reset_gates == 1 or terrain[y, x] != Terrain.GATE:
                cells[y, x] = 0


@kernel
def reset_env(tables, env, forced, limit):
    """An episode has a forced or drawn layout; players face north at their starts, or start at random, hands empty.

    Mutates: env.
    """
    players, clock, rng, params = env.players, env.clock, env.rng, tables.params
    k, pool = max(forced, 0), tables.terrain.shape[0]
    if forced == NOTHING and pool > 1:
        k = draw_below(rng, pool)
    clear_cells(env.cells, tables.terrain[k], params[Param.GATE_RESET])
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
def reset_batch(tables, state, out, which, forced, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state."""
    for b in range(which.shape[0]):
        if which[b]:
            reset_env(tables, row_at(state, b), forced, limit)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments; a separate kernel, for shorter compile times.

    Mutates: out.
    """
    observations, masks, fresh = out.observations, out.masks, out.fresh
    state = unpack(state)
    for b in range(fresh.shape[0]):
        if fresh[b]:
            observe_env(tables, row_at(state, b), observations[b], masks[b])


@kernel
def macro_batch(tables, state, actions, out):
    """Clear the events, and turn directives into the primitive actions that ``step_batch`` carries out.

    Mutates: state, out.
    """
    state, out = unpack(state), unpack(out)
    events, clock = out.events, state.clock
    for b in range(events.shape[0]):
        clear_events(events[b], FIRST_ID)
        if clock[b, Clock.OVER] == 0:
            step_macro_actions(tables, row_at(state, b), row_at(out, b), actions[b])


@kernel
def mask_batch(tables, state, out):
    """Write the masks of players with directives. Mutates: out."""
    state, paths, masks, fresh = unpack(state), out.paths, out.masks, out.fresh
    for b in range(fresh.shape[0]):
        if not fresh[b]:
            continue
        env = row_at(state, b)
        mark_floor(tables.terrain[env.clock[Clock.LAYOUT]], env.cells, paths[b, Path.FLOOR])
        for i in range(masks.shape[1]):
            if tables.levels[i] == Level.MEDIUM:
                mask_directives(tables, env, i, paths[b], masks[b, i])
