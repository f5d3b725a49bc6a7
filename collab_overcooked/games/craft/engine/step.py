"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel, row_at

from .constants import FIRST_ID, NOTHING, Agent, Clock, EventColumn, OrderEvent, Reason
from .rules import (
    age_orders,
    apply_command,
    come_back,
    cook,
    count_order_events,
    serve_orders,
    shaped_reward,
    take_order,
    target_of,
    why_refused,
)


@kernel
def command_agents(tables, env, actions, events, shaped):
    """Commands are checked against the same state; if several agents want the same thing, the first in turn gets it.

    Turns are by index unless others are set for this step. Mutates: env, events, shaped.
    """
    agents, bags, gone, furnaces, turns = env.agents, env.bags, env.gone, env.furnaces, env.turns
    clear_events(events, FIRST_ID)
    for i in range(agents.shape[0]):
        row = tables.catalogue[actions[i]]
        p = target_of(row, agents[i], tables.places, gone)
        events[i, EventColumn.REASON] = why_refused(tables, row, p, agents[i], bags[i], furnaces)
    for k in range(agents.shape[0]):
        i = k if turns[k] == NOTHING else turns[k]
        turns[k] = NOTHING
        shaped[i] = 0
        if events[i, EventColumn.REASON] != Reason.OK:
            continue
        row = tables.catalogue[actions[i]]
        p = target_of(row, agents[i], tables.places, gone)
        if why_refused(tables, row, p, agents[i], bags[i], furnaces) != Reason.OK:
            events[i, EventColumn.REASON] = Reason.F_TAKEN
            continue
        apply_command(tables, env, i, row, events[i])
        shaped[i] = shaped_reward(events[i], furnaces, tables.places, tables.items)


@kernel
def pass_time(tables, env, order_events):
    """After the commands: cooking, respawning, serving orders, ageing orders, and possibly a new order.

    Mutates: env, order_events.
    """
    furnaces, cooked = env.furnaces, 0
    for f in range(furnaces.shape[0]):
        cooked += cook(furnaces[f], tables.items, tables.params)
    come_back(env.gone)
    completed = serve_orders(tables, env)
    expired = age_orders(env.orders, env.clock)
    env.clock[Clock.T] += 1
    take_order(env.orders, env.clock, env.forced, env.stream, env.rng, tables.params)
    count_order_events(order_events, completed, expired, cooked)


@kernel
def step_batch(tables, state, actions, out):
    """Step every environment of a batch; one that is over does not change and pays nothing. Mutates: state, out."""
    rewards, shaped, truncated = out.rewards, out.shaped, out.truncated
    events, order_events, fresh = out.events, out.order_events, out.fresh
    for b in range(fresh.shape[0]):
        env = row_at(state, b)
        clock = env.clock
        fresh[b] = clock[Clock.OVER] == 0
        if not fresh[b]:
            rewards[b], shaped[b] = 0, 0
            order_events[b] = 0
            clear_events(events[b], FIRST_ID)
            continue
        command_agents(tables, env, actions[b], events[b], shaped[b])
        pass_time(tables, env, order_events[b])
        rewards[b] = order_events[b, OrderEvent.COMPLETED]
        truncated[b] = clock[Clock.T] >= clock[Clock.LIMIT]
        clock[Clock.OVER] = truncated[b]


@kernel
def reset_batch(tables, state, out, which, limit):
    """An episode starts with agents at their starts, and a first order. Mutates: state."""
    agents, orders, clock = state.agents, state.orders, state.clock
    forced, stream, rng = state.forced, state.stream, state.rng
    for b in range(agents.shape[0]):
        if which[b]:
            for i in range(agents.shape[1]):
                agents[b, i, Agent.X], agents[b, i, Agent.Z] = tables.starts[i, Agent.X], tables.starts[i, Agent.Z]
            clock[b, Clock.LIMIT] = limit
            take_order(orders[b], clock[b], forced[b], stream[b], rng[b], tables.params)
