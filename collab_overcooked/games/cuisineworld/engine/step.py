"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.orders import next_order

from .constants import NOTHING, Agent, Clock, Completion, EventColumn, OrderEvent, Param, Place, Role, Tool
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
COMPLETION = 50  # plus 1 for every step left
ALL_ACCEPTED = 0.02


@kernel
def team_reward(order_events, completions, events, shaping):
    """A step costs 0.05; completed orders pay 50 plus their steps left; a step without refusals pays 0.02."""
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
        if events[c, EventColumn.REASON] != 0:
            return False
    return True


@kernel
def queue_commands(tables, state, actions, out):
    """Queue one command per agent in turn order; negative actions mean no command. Mutates: state, out."""
    turns, events, order_events = state.turns, out.events, out.order_events
    for b in range(actions.shape[0]):
        n_commands = 0
        for k in range(turns.shape[1]):
            seat = tables.turns[k] if turns[b, k] == NOTHING else turns[b, k]
            turns[b, k] = NOTHING
            if actions[b, seat] >= 0:
                events[b, n_commands, EventColumn.AGENT] = seat
                events[b, n_commands, EventColumn.CODE] = actions[b, seat]
                n_commands += 1
        order_events[b, OrderEvent.GIVEN] = n_commands


@kernel
def clear_order_events(order_events):
    """Clear the events of orders, but not the number of commands. Mutates: order_events."""
    order_events[OrderEvent.COMPLETED] = 0
    order_events[OrderEvent.EXPIRED] = 0
    order_events[OrderEvent.DRAWN] = NOTHING
    order_events[OrderEvent.LAST_CALL] = 0


@kernel
def step_env(tables, env, out):
    """A step: commands in turn order, busy times, expired and completed orders, ageing and new orders, the reward.

    Mutates: env, out, which are rows of State and Out.
    """
    clock, events, order_events, completions = env.clock, out.events, out.order_events, out.completions
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
    return team_reward(order_events, completions, events, shaping)


@kernel
def collect_refusals(events, n_commands, refused):
    """The reasons of all refused commands of an agent are combined. Mutates: refused (N,)."""
    for i in range(refused.shape[0]):
        refused[i] = 0
    for c in range(max(n_commands, 0)):
        refused[events[c, EventColumn.AGENT]] |= events[c, EventColumn.REASON]


@kernel
def first_table(places):
    """Agents start at the first serving table."""
    at = 0
    while places[at, Place.ROLE] != Role.TABLE:
        at += 1
    return at


@kernel
def step_batch(tables, state, out):
    """Step every environment of a batch with the commands in ``out``; one that is over does not change or pay.

    Mutates: state, out.
    """
    rewards, truncated, events, refused = out.rewards, out.truncated, out.events, out.refused
    order_events, fresh, clock = out.order_events, out.fresh, state.clock
    for b in range(fresh.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if not fresh[b]:
            rewards[b] = 0
            refused[b] = 0
            order_events[b, OrderEvent.GIVEN] = 0
            clear_order_events(order_events[b])
            continue
        rewards[b] = step_env(tables, row_at(state, b), row_at(out, b))
        collect_refusals(events[b], order_events[b, OrderEvent.GIVEN], refused[b])
        truncated[b] = clock[b, Clock.T] >= clock[b, Clock.LIMIT]
        clock[b, Clock.OVER] = 1 if truncated[b] else 0


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


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes in the environments selected by ``which``. Mutates: state."""
    for b in range(which.shape[0]):
        if which[b]:
            reset_env(tables, row_at(state, b), limit)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments; a separate kernel, for shorter compile times.

    Mutates: out.
    """
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(fresh.shape[0]):
        if fresh[b]:
            observe_env(tables, row_at(state, b), observations[b], masks[b])
