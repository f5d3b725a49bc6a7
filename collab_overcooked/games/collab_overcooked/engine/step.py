"""The order of play within a step, and how episodes start."""

from __future__ import annotations

from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import clear_events
from collab_overcooked.kernels.jit import kernel

from .constants import FIRST_ID, NOTHING, Agent, Clock, EventColumn, Param, Task
from .macro_actions import end_macro_actions, start_macro_actions, step_macro_actions
from .observe import observe_env
from .rules import (
    choose_primitives,
    draw_task,
    interact_in_turn,
    move_agents,
    refill_orders,
    refuse_idle_interacts,
    tick_utensils,
)

TEAM = 0  # row of the reward table that every agent receives
OWN = 1  # row that only the acting agent receives


@kernel
def add_rewards(events, table, rewards):
    """A paid event rewards every agent, and its shaped reward goes to the acting agent. Mutates: rewards."""
    rewards[:] = 0
    for i in range(events.shape[0]):
        code = events[i, EventColumn.CODE]
        rewards[i] += table[OWN, code]
        for j in range(events.shape[0]):
            rewards[j] += table[TEAM, code]


@kernel
def step_env(tables, env, actions, out):
    """In a step, agents choose, act and move; utensils cook, orders are served, and events pay. Mutates: env, out."""
    events, clock = out.events, env.clock
    clear_events(events, FIRST_ID)
    start_macro_actions(tables, env, actions, events)
    step_macro_actions(tables, env, events, out.scratch)
    choose_primitives(tables, actions, events)
    interact_in_turn(tables, env, events)
    move_agents(tables, env, events)
    tick_utensils(tables, env, events)
    refill_orders(tables, env)
    end_macro_actions(tables, env, events)
    refuse_idle_interacts(tables, env, events)
    clock[Clock.T] += 1
    add_rewards(events, tables.rewards, out.rewards)
    terminated = env.orders[0] == NOTHING
    truncated = not terminated and clock[Clock.T] >= clock[Clock.LIMIT]
    clock[Clock.OVER] = 1 if terminated or truncated else 0
    return terminated, truncated


@kernel
def reset_env(tables, env, limit):
    """An episode starts with agents at their starts, and forced or drawn orders; limit 0 is that of the task.

    Mutates: env.
    """
    agents, orders = env.agents, env.orders
    for i in range(agents.shape[0]):
        agents[i, Agent.CELL] = tables.starts[i, Agent.CELL]
        agents[i, Agent.FACING] = tables.starts[i, Agent.FACING]
        agents[i, Agent.ITEM] = NOTHING
    if orders[0] == NOTHING and tables.params[Param.REFILL] == 0:
        orders[0] = tables.tasks[draw_task(env.rng, tables.tasks), Task.ITEM]
    refill_orders(tables, env)
    env.clock[Clock.LIMIT] = limit if limit > 0 else time_limit(orders[0], tables.tasks)


@kernel
def time_limit(order, tasks):
    """An episode has the time limit of its first order's task; other orders have that of the first task."""
    for k in range(tasks.shape[0]):
        if tasks[k, Task.ITEM] == order:
            return tasks[k, Task.LIMIT]
    return tasks[0, Task.LIMIT]


BATCH_KERNELS = BatchKernels(step_env, reset_env, observe_env)
