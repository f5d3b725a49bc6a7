"""The order of play: what happens in a step, first things first, and the loop over a batch."""

from __future__ import annotations

from collab_overcooked._jit import kernel
from collab_overcooked.games.cuisineworld.constants import (
    NOTHING,
    Agent,
    Clock,
    Command,
    News,
    Param,
    Place,
    Queue,
    Role,
    Row,
    Tool,
)
from collab_overcooked.games.cuisineworld.observe import observe_env
from collab_overcooked.games.cuisineworld.rewards import team_reward
from collab_overcooked.games.cuisineworld.rules import (
    count_commands,
    expire_orders,
    next_order,
    obey,
    reward_ingredients,
    reward_mixtures,
    reward_products,
    serve_orders,
    take_order,
    tick,
    wear_off,
)


@kernel
def line_up(tables, actions, out):
    """One command an agent, in the order of turns; agents with a negative action are not commanded. Mutates: out."""
    turns, commands, news = tables.turns, out.commands, out.news
    for b in range(actions.shape[0]):
        given = 0
        for k in range(turns.shape[0]):
            seat = turns[k]
            if actions[b, seat] >= 0:
                commands[b, given, Command.AGENT] = seat
                commands[b, given, Command.ROW] = actions[b, seat]
                given += 1
        news[b, News.GIVEN] = given


@kernel
def clear_news(news):
    """Every step starts with a blank page, but for the commands given. Mutates: news."""
    news[News.COMPLETED] = 0
    news[News.EXPIRED] = 0
    news[News.DRAWN] = NOTHING
    news[News.LAST_CALL] = 0


@kernel
def step_env(
    tables, agents, tools, served, orders, clock, wanted, history, forced, stream, rng, commands, refused, done, news
):
    """One timestep: commands in their order, wear, orders lost and completed, the tick, the reward.

    Mutates: all but tables and forced.
    """
    params, places, sizes, uses = tables.params, tables.places, tables.sizes, tables.uses
    catalogue, menu = tables.catalogue, tables.menu
    n_base, n_items = params[Param.N_BASE], params[Param.N_ITEMS]
    clear_news(news)
    for i in range(refused.shape[0]):
        refused[i] = 0
    for c in range(max(news[News.GIVEN], 0)):
        command = commands[c]
        seat, row = command[Command.AGENT], catalogue[command[Command.ROW]]
        at = max(row[Row.PLACE], 0)
        obey(command, row, agents[seat], tools[at], places[at], sizes, uses, tables.sold, served, params)
        refused[seat] = refused[seat] | command[Command.REASONS]
    count_commands(commands, news[News.GIVEN], catalogue, clock)
    wear_off(agents, tools)
    expire_orders(orders, clock, news)
    serve_orders(orders, clock, tools, served, places, menu, history, done, news)
    news[News.LAST_CALL] = 1 if clock[Clock.T] == params[Param.MAX_STEPS] else 0
    clock[Clock.T] += 1
    tick(orders, clock, wanted, forced, stream, rng, news, menu, tables.demand, params)
    shaping = 0.0
    if clock[Clock.OPEN] > 0:
        shaping = reward_ingredients(agents, wanted, n_base)
        shaping = reward_mixtures(shaping, tools, places, sizes, uses, wanted, n_items)
        shaping = reward_products(shaping, tools, places, served, wanted, n_base)
    return team_reward(news, done, commands, shaping)


@kernel
def reset_env(tables, agents, tools, served, orders, clock, wanted, history, forced, stream, rng, limit):
    """Agents stand at the first serving table with empty hands, all tools are empty, the first order is there.

    Mutates: all but tables and forced.
    """
    params, places = tables.params, tables.places
    agents[:] = 0
    for i in range(agents.shape[0]):
        agents[i, Agent.PLACE] = first_table(places)
        agents[i, Agent.ITEM] = NOTHING
    tools[:] = 0
    for at in range(tools.shape[0]):
        tools[at, Tool.CONTENT :] = NOTHING
        tools[at, Tool.READY] = places[at, Place.OPEN]
    served[:] = NOTHING
    history[:] = NOTHING
    wanted[:] = 0
    clock[:] = 0
    orders[:] = 0
    for q in range(orders.shape[0]):
        orders[q, Queue.ORDER] = NOTHING
    clock[Clock.LIMIT] = limit if limit > 0 else params[Param.MAX_STEPS]
    first = next_order(forced, clock, stream, rng, params[Param.N_ORDERS])
    take_order(first, orders, clock, wanted, tables.menu, tables.demand)


@kernel
def first_table(places):
    """The place where everybody starts."""
    at = 0
    while places[at, Place.ROLE] != Role.TABLE:
        at += 1
    return at


@kernel
def step_batch(tables, state, out):
    """Step every environment of a batch by the commands in out; one that is over stays as it is and pays nothing.

    Mutates: state, out.
    """
    agents, tools, served, orders, clock = state.agents, state.tools, state.served, state.orders, state.clock
    wanted, history, forced, stream, rng = state.wanted, state.history, state.forced, state.stream, state.rng
    rewards, truncated, commands, refused = out.rewards, out.truncated, out.commands, out.refused
    done, news, fresh = out.done, out.news, out.fresh
    for b in range(agents.shape[0]):
        fresh[b] = clock[b, Clock.OVER] == 0
        if not fresh[b]:
            rewards[b] = 0
            refused[b] = 0
            news[b, News.GIVEN] = 0
            clear_news(news[b])
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
            forced[b],
            stream[b],
            rng[b],
            commands[b],
            refused[b],
            done[b],
            news[b],
        )
        truncated[b] = clock[b, Clock.T] >= clock[b, Clock.LIMIT]
        clock[b, Clock.OVER] = 1 if truncated[b] else 0


@kernel
def reset_batch(tables, state, out, which, limit):
    """Start new episodes where `which` says so. Mutates: state, out."""
    agents, tools, served, orders, clock = state.agents, state.tools, state.served, state.orders, state.clock
    wanted, history, forced, stream, rng = state.wanted, state.history, state.forced, state.stream, state.rng
    rewards, terminated, truncated, refused = out.rewards, out.terminated, out.truncated, out.refused
    news, fresh = out.news, out.fresh
    for b in range(agents.shape[0]):
        fresh[b] = which[b]
        if not which[b]:
            continue
        reset_env(
            tables,
            agents[b],
            tools[b],
            served[b],
            orders[b],
            clock[b],
            wanted[b],
            history[b],
            forced[b],
            stream[b],
            rng[b],
            limit,
        )
        rewards[b] = 0
        refused[b] = 0
        news[b, News.GIVEN] = 0
        clear_news(news[b])
        terminated[b] = False
        truncated[b] = False


@kernel
def observe_batch(tables, state, out):
    """Show the agents what is new; a kernel of its own, as in every game here, for shorter compile times.

    Mutates: out.
    """
    agents, tools, served, orders, clock = state.agents, state.tools, state.served, state.orders, state.clock
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(agents.shape[0]):
        if fresh[b]:
            observe_env(tables, agents[b], tools[b], served[b], orders[b], clock[b], observations[b], masks[b])
