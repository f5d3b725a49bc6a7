"""The order of play within a step, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked.games.cuisineworld.engine.constants import (
    NOTHING,
    Agent,
    Clock,
    Completion,
    EventColumn,
    OrderEvent,
    Param,
    Place,
    Role,
    Row,
    Tool,
)
from collab_overcooked.games.cuisineworld.engine.observe import observe_env
from collab_overcooked.games.cuisineworld.engine.rules import (
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
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import next_order

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
def step_env(tables, agents, tools, served, orders, clock, wanted, history, draws, events, completions, order_events):
    """A step: commands in turn order, busy times, expired and completed orders, ageing and new orders, the reward.

    ``draws`` are the environment's forced orders, its stream and its rng. Mutates: all but tables and forced orders.
    """
    forced, stream, rng = draws
    params, places, sizes, uses = tables.params, tables.places, tables.sizes, tables.uses
    catalogue, menu = tables.catalogue, tables.menu
    n_base, n_items = params[Param.N_BASE], params[Param.N_ITEMS]
    clear_order_events(order_events)
    for c in range(max(order_events[OrderEvent.GIVEN], 0)):
        event = events[c]
        seat, row = event[EventColumn.AGENT], catalogue[event[EventColumn.CODE]]
        at = max(row[Row.PLACE], 0)
        apply_command(event, row, agents[seat], tools[at], places[at], sizes, uses, tables.sold, served, params)
    count_commands(events, order_events[OrderEvent.GIVEN], catalogue, clock)
    tick_busy(agents, tools)
    expire_orders(orders, clock, order_events)
    serve_orders(orders, clock, tools, served, places, menu, history, completions, order_events)
    order_events[OrderEvent.LAST_CALL] = 1 if clock[Clock.T] == params[Param.MAX_STEPS] else 0
    clock[Clock.T] += 1
    tick(orders, clock, wanted, forced, stream, rng, order_events, menu, tables.demand, params)
    shaping = 0.0
    if clock[Clock.OPEN] > 0:
        shaping = reward_ingredients(agents, wanted, n_base)
        shaping = reward_mixtures(shaping, tools, places, sizes, uses, wanted, n_items)
        shaping = reward_products(shaping, tools, places, served, wanted, n_base)
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
    agents, tools, served, orders, clock = state.agents, state.tools, state.served, state.orders, state.clock
    wanted, history, forced, stream, rng = state.wanted, state.history, state.forced, state.stream, state.rng
    rewards, truncated, events, refused = out.rewards, out.truncated, out.events, out.refused
    completions, order_events, fresh = out.completions, out.order_events, out.fresh
    for b in range(agents.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if not fresh[b]:
            rewards[b] = 0
            refused[b] = 0
            order_events[b, OrderEvent.GIVEN] = 0
            clear_order_events(order_events[b])
            continue
        rewards[b] = step_env(
            tables,
            agents[b],
            tools[b],
            served[b],
            orders[b],
            clock[b],
            wanted[b],
            history[b],
            (forced[b], stream[b], rng[b]),
            events[b],
            completions[b],
            order_events[b],
        )
        collect_refusals(events[b], order_events[b, OrderEvent.GIVEN], refused[b])
        truncated[b] = clock[b, Clock.T] >= clock[b, Clock.LIMIT]
        clock[b, Clock.OVER] = 1 if truncated[b] else 0


@kernel
def reset_batch(tables, state, out, which, limit):
    """An episode starts with agents at the first serving table, and a first order. Mutates: state."""
    agents, tools, orders, clock, wanted = state.agents, state.tools, state.orders, state.clock, state.wanted
    forced, stream, rng, places = state.forced, state.stream, state.rng, tables.places
    for b in range(agents.shape[0]):
        if which[b]:
            agents[b, :, Agent.PLACE] = first_table(places)
            for at in range(places.shape[0]):
                tools[b, at, Tool.READY] = places[at, Place.OPEN]
            clock[b, Clock.LIMIT] = limit
            first = next_order(forced[b], clock[b], Clock.FORCED, stream[b], rng[b], tables.params[Param.N_ORDERS])
            take_order(first, orders[b], clock[b], wanted[b], tables.menu, tables.demand)


@kernel
def observe_batch(tables, state, out):
    """Write observations and masks of changed environments; a separate kernel, for shorter compile times.

    Mutates: out.
    """
    agents, tools, served, orders, clock = state.agents, state.tools, state.served, state.orders, state.clock
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(agents.shape[0]):
        if fresh[b]:
            observe_env(tables, agents[b], tools[b], served[b], orders[b], clock[b], observations[b], masks[b])
