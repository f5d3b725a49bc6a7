"""The order of play: what happens in a slot, first things first, and the loops over a batch.

A turn has one slot for each worker; in a slot every agent acts with that worker, one after the other by seat. A step is
a whole slot, or what is left of it where ``act_batch`` has let some seats act before.
"""

from __future__ import annotations

from collab_overcooked.games.rush.engine.constants import Clock, Param
from collab_overcooked.games.rush.engine.observe import observe_env
from collab_overcooked.games.rush.engine.rewards import team_reward
from collab_overcooked.games.rush.engine.rules import (
    act,
    begin_event,
    end_slot,
    is_decided,
    next_episode,
    open_orders,
    refill_spaces,
)
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import Rng


@kernel
def step_env(actions, orders, stock, spaces, clock, dishes, needs, areas, params, events):
    """One slot: each agent that has not yet acted does so in turn, after what those before it have done; then it ends.

    Mutates: orders, stock, spaces, clock, events.
    """
    for seat in range(clock[Clock.SEAT], events.shape[0]):
        act(actions[seat], orders, stock, spaces, clock, dishes, needs, areas, params, events[seat])
    end_slot(spaces, clock, dishes, areas, params)


@kernel
def reset_env(tables, orders, stock, spaces, clock, rng, episode, limit):
    """An episode starts with untouched orders, its own stock and all action spaces free.

    Mutates: orders, stock, spaces, clock, rng.
    """
    params = tables.params
    e = next_episode(rng[Rng.COUNT], episode, params)
    rng[Rng.COUNT] = (e + 1) % params[Param.N_EPISODES]
    open_orders(orders, tables.needs[e], params[Param.N_INGREDIENTS])
    initial = tables.stock[e]
    for at in range(stock.shape[0]):
        for k in range(stock.shape[1]):
            stock[at, k] = initial[at, k]
    refill_spaces(spaces, tables.areas[e])
    clock[:] = 0
    clock[Clock.EPISODE] = e
    clock[Clock.LIMIT] = limit if limit > 0 else params[Param.MAX_TURNS] * params[Param.WORKERS]


@kernel
def pay(clock, dishes, params, events, rewards):
    """Every agent is paid alike, and the episode ends if it is decided or cut off. Mutates: rewards."""
    rewards[:] = team_reward(events, params[Param.REWARD])
    decided = is_decided(clock, dishes)
    return decided, clock[Clock.OVER] == 1 and not decided


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch by one slot; one that is over stays as it is and pays nothing.

    Mutates: state, out.
    """
    params, dishes, needs, areas = tables.params, tables.dishes, tables.needs, tables.areas
    orders, stock, spaces, clock = state.orders, state.stock, state.spaces, state.clock
    events, rewards, terminated, truncated, fresh = out.events, out.rewards, out.terminated, out.truncated, out.fresh
    for b in range(orders.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if not fresh[b]:
            rest(clock[b], events[b], rewards[b])
            continue
        e = clock[b, Clock.EPISODE]
        step_env(actions[b], orders[b], stock[b], spaces[b], clock[b], dishes[e], needs[e], areas[e], params, events[b])
        terminated[b], truncated[b] = pay(clock[b], dishes[e], params, events[b], rewards[b])


@kernel
def rest(clock, events, rewards):
    """In a slot in which nothing happens nobody does anything or is paid. Mutates: events, rewards."""
    for seat in range(events.shape[0]):
        begin_event(events[seat], clock)
    rewards[:] = 0


@kernel
def act_batch(tables, state, actions, out):
    """The seat whose turn it is acts in every environment of a batch that is not over; the slot goes on.

    Mutates: state, out.
    """
    params, dishes, needs, areas = tables.params, tables.dishes, tables.needs, tables.areas
    orders, stock, spaces, clock = state.orders, state.stock, state.spaces, state.clock
    events, fresh = out.events, out.fresh
    for b in range(orders.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if fresh[b]:
            e, seat = clock[b, Clock.EPISODE], clock[b, Clock.SEAT]
            act(
                actions[b, seat],
                orders[b],
                stock[b],
                spaces[b],
                clock[b],
                dishes[e],
                needs[e],
                areas[e],
                params,
                events[b, seat],
            )


@kernel
def reset_batch(tables, state, out, which, episode, limit):
    """Start new episodes where `which` says so. Mutates: state, out."""
    orders, stock, spaces, clock, rng = state.orders, state.stock, state.spaces, state.clock, state.rng
    events, rewards, terminated, truncated, fresh = out.events, out.rewards, out.terminated, out.truncated, out.fresh
    for b in range(orders.shape[0]):
        fresh[b] = which[b]
        if not which[b]:
            continue
        reset_env(tables, orders[b], stock[b], spaces[b], clock[b], rng[b], episode, limit)
        rest(clock[b], events[b], rewards[b])
        terminated[b] = False
        truncated[b] = False


@kernel
def observe_batch(tables, state, out):
    """Show the agents what is new; a kernel of its own, as in every game here, for shorter compile times.

    Mutates: out.
    """
    params, dishes, needs, areas = tables.params, tables.dishes, tables.needs, tables.areas
    orders, stock, spaces, clock = state.orders, state.stock, state.spaces, state.clock
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(orders.shape[0]):
        if fresh[b]:
            e = clock[b, Clock.EPISODE]
            observe_env(
                orders[b],
                stock[b],
                spaces[b],
                clock[b],
                dishes[e],
                needs[e],
                areas[e],
                params,
                observations[b],
                masks[b],
            )
