"""The order of play within a step, and how episodes start."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import next_order, seat_in_turn

from .constants import NOTHING, Agent, Clock, Completion, EventColumn, OrderEvent, Param, Place, Reason, Role, Tool
from .observe import observe_env
from .rules import (
    apply_command,
    count_commands,
    expire_orders,
    reward_ingredients,
    reward_mixtures,
    reward_products,
    serve_orders,
    take_order,
    tick,
    tick_busy,
)

STEP_COST = -0.05
COMPLETION = 50  # plus 1 for every step left, minus 1 if the order has no limit (``UNLIMITED``)
ALL_ACCEPTED = 0.02
LISTED = -2  # action of agent 0 if ``Out.events`` already has the commands, for lists with two for an agent


@kernel
def team_reward(order_events, completions, events, shaping):
    """A step costs 0.05, pays 0.02 without refusals, and 50 plus the steps left (-1: no limit) per completed order."""
    reward = STEP_COST
    for k in range(order_events[OrderEvent.COMPLETED]):
        reward += COMPLETION + completions[k, Completion.REMAINING]
    if all_accepted(order_events, events):
        reward += ALL_ACCEPTED
    return reward + shaping


@kernel
def all_accepted(order_events, events):
    """All commands are accepted if there is at least one and none is refused or voided."""
    if order_events[OrderEvent.GIVEN] <= 0:
        return False
    for c in range(order_events[OrderEvent.GIVEN]):
        if events[c, EventColumn.REASON] != Reason.OK:
            return False
    return True


@kernel
def queue_commands(tables, env, actions, out):
    """Queue one command per agent in turn order; negative actions mean no command. Mutates: env, out."""
    n_commands = 0
    for k in range(env.turns.shape[0]):
        seat = seat_in_turn(env.turns, k, tables.turns[k])
        if actions[seat] >= 0:
            out.events[n_commands, EventColumn.AGENT] = seat
            out.events[n_commands, EventColumn.CODE] = actions[seat]
            n_commands += 1
    out.order_events[OrderEvent.GIVEN] = n_commands


@kernel
def clear_order_events(order_events):
    """Clear the events of orders, but not the number of commands. Mutates: order_events."""
    order_events[OrderEvent.COMPLETED] = 0
    order_events[OrderEvent.EXPIRED] = 0
    order_events[OrderEvent.DRAWN] = NOTHING
    order_events[OrderEvent.LAST_CALL] = 0


@kernel
def step_env(tables, env, actions, out):
    """A step: commands in turn order, busy times, expired and completed orders, ageing and new orders, the reward.

    Mutates: env, out.
    """
    clock = env.clock
    events = out.events
    order_events = out.order_events
    completions = out.completions
    if actions[0] != LISTED:
        queue_commands(tables, env, actions, out)
    clear_order_events(order_events)
    for c in range(max(order_events[OrderEvent.GIVEN], 0)):
        apply_command(tables, env, events[c])
    count_commands(events, order_events[OrderEvent.GIVEN], tables.catalogue, clock)
    tick_busy(env.agents, env.tools)
    expire_orders(env.orders, clock, order_events)
    serve_orders(tables, env, completions, order_events)
    order_events[OrderEvent.LAST_CALL] = 1 if clock[Clock.T] == tables.params[Param.MAX_STEPS] else 0
    clock[Clock.T] += 1
    tick(tables, env, order_events)
    shaping = 0.0
    if clock[Clock.OPEN] > 0:
        shaping = reward_ingredients(tables, env)
        shaping = reward_mixtures(tables, env, shaping)
        shaping = reward_products(tables, env, shaping)
    out.rewards[:] = team_reward(order_events, completions, events, shaping)
    collect_refusals(events, order_events[OrderEvent.GIVEN], out.refused)
    clock[Clock.OVER] = 1 if clock[Clock.T] >= clock[Clock.LIMIT] else 0
    return False, clock[Clock.OVER] != 0


@kernel
def collect_refusals(events, n_commands, refused):
    """Each agent gets the reason of its first refused command. Mutates: refused (N,)."""
    refused[:] = Reason.OK
    for c in range(max(n_commands, 0)):
        agent = events[c, EventColumn.AGENT]
        if refused[agent] == Reason.OK:
            refused[agent] = events[c, EventColumn.REASON]


@kernel
def first_table(places):
    """Agents start at the first serving table."""
    at = 0
    while places[at, Place.ROLE] != Role.TABLE:
        at += 1
    return at


@kernel
def reset_env(tables, env, limit):
    """An episode starts with agents at the first serving table, and a first order. Mutates: env."""
    tools, clock, places = env.tools, env.clock, tables.places
    env.agents[:, Agent.PLACE] = first_table(places)
    for at in range(places.shape[0]):
        tools[at, Tool.READY] = places[at, Place.OPEN]
    clock[Clock.LIMIT] = limit
    first = next_order(env.forced, clock, Clock.FORCED, env.stream, env.rng, tables.params[Param.N_ORDERS])
    take_order(tables, env, first)


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
