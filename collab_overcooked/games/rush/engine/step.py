"""The order of play within a slot, and how episodes start.

A turn has one slot per worker; in a slot every agent acts with that worker, in seat order. A step is one slot, or the
rest of it if ``act_batch`` has already let some seats act.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.batch_kernels import BatchKernels
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
def write_no_events(env, out):
    """No agent has acted and nothing is paid: at the start, and after the end. Mutates: out."""
    for seat in range(out.events.shape[0]):
        begin_event(out.events[seat], env.clock)
    out.rewards[:] = 0


@kernel
def step_env(tables, env, actions, out):
    """In a slot, agents act in seat order, each on the state that the agents before it leave; all are paid the same.

    Mutates: env, out.
    """
    clock, events = env.clock, out.events
    for seat in range(clock[Clock.SEAT], events.shape[0]):
        act(tables, env, actions[seat], events[seat])
    end_slot(tables, env)
    out.rewards[:] = team_reward(events, tables.params[Param.REWARD])
    decided = is_decided(clock, tables.dishes[clock[Clock.EPISODE]])
    return decided, clock[Clock.OVER] == 1 and not decided


@kernel
def open_kitchen(tables, env, limit):
    """An episode starts with untouched orders, full stock and all action spaces free. Mutates: env."""
    params = tables.params
    clock = env.clock
    stock = env.stock
    rng = env.rng
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
def reset_env(tables, env, out, limit):
    """Start an episode in which nothing has happened yet. Mutates: env, out."""
    open_kitchen(tables, env, limit)
    write_no_events(env, out)


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env, write_after_end=write_no_events)
