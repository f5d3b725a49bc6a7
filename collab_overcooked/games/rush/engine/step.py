"""The order of play within a slot, and the loops over a batch.

A turn has one slot per worker; in a slot every agent acts with that worker, in seat order. A step is one slot, or the
rest of it if ``act_batch`` has already let some seats act.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.rng import Rng

from .constants import Clock, EventColumn, Param, Reward
from .observe import observe_env
from .rules import act, begin_event, end_slot, is_decided, next_episode, open_orders, refill_spaces

TENTHS = 10  # per point


@kernel
def team_reward(events, reward):
    """A finished order pays 1, a ruined one costs 1; the shaped reward adds a tenth for each step towards an order."""
    tenths = 0
    for i in range(events.shape[0]):
        tenths += TENTHS * (events[i, EventColumn.FINISHED] - events[i, EventColumn.RUINED])
        if reward == Reward.SHAPED:
            tenths += events[i, EventColumn.TENTHS]
    return np.float32(tenths / TENTHS)


@kernel
def step_env(tables, env, actions, events):
    """In a slot, agents act in seat order, each on the state that the agents before it leave; then the slot ends.

    Mutates: env, events.
    """
    for seat in range(env.clock[Clock.SEAT], events.shape[0]):
        act(tables, env, actions[seat], events[seat])
    end_slot(tables, env)


@kernel
def reset_env(tables, env, limit):
    """An episode starts with untouched orders, full stock and all action spaces free. Mutates: env."""
    params, clock, stock, rng = tables.params, env.clock, env.stock, env.rng
    e = next_episode(rng[Rng.COUNT], clock[Clock.EPISODE], params)
    rng[Rng.COUNT] = (e + 1) % params[Param.N_EPISODES]
    open_orders(env.orders, tables.needs[e], params[Param.N_INGREDIENTS])
    initial = tables.stock[e]
    for at in range(stock.shape[0]):
        for k in range(stock.shape[1]):
            stock[at, k] = initial[at, k]
    refill_spaces(env.spaces, tables.areas[e])
    clock[Clock.EPISODE], clock[Clock.LIMIT] = e, limit


@kernel
def pay(tables, clock, events, rewards):
    """All agents get the same reward; the episode ends when it is decided or truncated. Mutates: rewards."""
    rewards[:] = team_reward(events, tables.params[Param.REWARD])
    decided = is_decided(clock, tables.dishes[clock[Clock.EPISODE]])
    return decided, clock[Clock.OVER] == 1 and not decided


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch by one slot; environments that are over do not change and pay nothing.

    Mutates: state, out.
    """
    events, rewards, terminated, truncated, fresh = out.events, out.rewards, out.terminated, out.truncated, out.fresh
    for b in range(fresh.shape[0]):
        env = row_at(state, b)
        clock = env.clock
        fresh[b] = clock[Clock.OVER] == 0
        if not fresh[b]:
            rest(clock, events[b], rewards[b])
            continue
        step_env(tables, env, actions[b], events[b])
        terminated[b], truncated[b] = pay(tables, clock, events[b], rewards[b])


@kernel
def rest(clock, events, rewards):
    """Write empty events and zero rewards. Mutates: events, rewards."""
    for seat in range(events.shape[0]):
        begin_event(events[seat], clock)
    rewards[:] = 0


@kernel
def act_batch(tables, state, actions, out):
    """Let the seat whose turn it is act in every environment that is not over, without ending the slot.

    Mutates: state, out.
    """
    events, fresh = out.events, out.fresh
    for b in range(fresh.shape[0]):
        env = row_at(state, b)
        clock = env.clock
        fresh[b] = clock[Clock.OVER] == 0
        if fresh[b]:
            seat = clock[Clock.SEAT]
            act(tables, env, actions[b, seat], events[b, seat])


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state, out."""
    for b in range(which.shape[0]):
        if which[b]:
            env = row_at(state, b)
            reset_env(tables, env, limit)
            rest(env.clock, out.events[b], out.rewards[b])


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments; a separate kernel, for shorter compile times.

    Mutates: out.
    """
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(fresh.shape[0]):
        if fresh[b]:
            observe_env(tables, row_at(state, b), observations[b], masks[b])
