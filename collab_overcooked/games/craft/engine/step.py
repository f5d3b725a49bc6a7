"""The order of play within a step, and how episodes start."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import seat_in_turn

from .constants import FIRST_ID, Agent, Clock, EventColumn, OrderEvent, Reason
from .observe import observe_env
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
    agents = env.agents
    bags = env.bags
    gone = env.gone
    furnaces = env.furnaces
    turns = env.turns
    clear_events(events, FIRST_ID)
    for i in range(agents.shape[0]):
        row = tables.catalogue[actions[i]]
        p = target_of(row, agents[i], tables.places, gone)
        events[i, EventColumn.REASON] = why_refused(tables, row, p, agents[i], bags[i], furnaces)
    for k in range(agents.shape[0]):
        i = seat_in_turn(turns, k, k)
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
def step_env(tables, env, actions, out):
    """A step has the commands, then time passes; every completed order pays all agents 1. Mutates: env, out."""
    clock = env.clock
    command_agents(tables, env, actions, out.events, out.shaped)
    pass_time(tables, env, out.order_events)
    out.rewards[:] = out.order_events[OrderEvent.COMPLETED]
    clock[Clock.OVER] = clock[Clock.T] >= clock[Clock.LIMIT]
    return False, clock[Clock.OVER] != 0


@kernel
def reset_env(tables, env, limit):
    """An episode starts with agents at their starts, and a first order. Mutates: env."""
    agents, clock = env.agents, env.clock
    for i in range(agents.shape[0]):
        agents[i, Agent.X], agents[i, Agent.Z] = tables.starts[i, Agent.X], tables.starts[i, Agent.Z]
    clock[Clock.LIMIT] = limit
    take_order(env.orders, clock, env.forced, env.stream, env.rng, tables.params)


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
