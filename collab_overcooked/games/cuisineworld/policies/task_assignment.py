"""Assignment for the whole team: the jobs to do, their agents, and each agent's next command.

Orders are served by deadline. Each is traced back through its recipe tree: what is held, cooked or begun already is
claimed, what is missing becomes a job. Jobs go to agents by urgency and distance; commands follow in the order of
turns, so that a teammate may activate a tool in the very step in which its last ingredient is put.

Kernels here are compiled like the rules (see ``kernels.jit``): no allocation, all scratch memory is in ``Scratch``.
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel, row_at

from ..engine.constants import NOTHING, Agent, EventColumn, Param, Place, Role
from ..engine.rules import apply_command, check_activate, check_get, check_put
from .job_list import (
    DELAY,
    SHARE,
    URGENT,
    Chain,
    Hand,
    Job,
    Sum,
    Use,
    await_mixtures,
    clear_scratch,
    is_finished,
    tidy_up,
    want_ahead,
    want_orders,
)


@kernel
def can_begin(job, tables, scratch):
    """Return whether a job is free, and the tool it leads to is not blocked for long."""
    use, target = scratch.uses[job[Job.TARGET]], job[Job.TARGET]
    if job[Job.SEAT] != NOTHING:
        return False
    if job[Job.KIND] == Chain.ACTIVATE or tables.places[target, Place.ROLE] != Role.COOK:
        return True
    return use[Use.BLOCKED] == 0 or use[Use.CLEARED] == 1


@kernel
def share_jobs(tables, trust, env, scratch):
    """Give the most urgent job to the nearest free agent until there are no more of either. Mutates: scratch."""
    agents = env.agents
    jobs = scratch.jobs
    count = scratch.sums[Sum.JOBS]
    for k in range(count):
        jobs[k, Job.URGENCY] = URGENT * jobs[k, Job.RANK] - jobs[k, Job.TAIL]
    for _ in range(agents.shape[0]):
        best, best_seat, best_value = NOTHING, NOTHING, 0
        for k in range(count):
            if not can_begin(jobs[k], tables, scratch):
                continue
            for seat in range(agents.shape[0]):
                if (
                    trust[seat] < SHARE
                    or agents[seat, Agent.ITEM] != NOTHING
                    or scratch.hands[seat, Hand.JOB] != NOTHING
                ):
                    continue
                away = 1 if agents[seat, Agent.PLACE] != jobs[k, Job.SOURCE] else 0
                value = jobs[k, Job.URGENCY] + DELAY * max(away, jobs[k, Job.WAIT])
                if best == NOTHING or value < best_value:
                    best, best_seat, best_value = k, seat, value
        if best == NOTHING:
            return
        jobs[best, Job.SEAT] = best_seat
        scratch.hands[best_seat, Hand.JOB] = best
        if jobs[best, Job.KIND] == Chain.MOVE:
            scratch.uses[jobs[best, Job.SOURCE], Use.CLEARED] = 1


@kernel
def is_stuck(seat, tables, agents, scratch):
    """Return whether an agent holds an item for a tool that no agent is about to empty."""
    target = scratch.hands[seat, Hand.TARGET]
    if agents[seat, Agent.ITEM] == NOTHING or tables.places[target, Place.ROLE] != Role.COOK:
        return False
    return scratch.uses[target, Use.BLOCKED] == 1 and scratch.uses[target, Use.CLEARED] == 0


@kernel
def free_hands(tables, static, trust, env, scratch):
    """If all agents are stuck with full hands, let the first one discard its item. Mutates: scratch."""
    agents, first = env.agents, NOTHING
    for seat in range(agents.shape[0]):
        if trust[seat] < SHARE:
            continue
        if not is_stuck(seat, tables, agents, scratch):
            return
        if first == NOTHING:
            first = seat
    if first != NOTHING:
        scratch.hands[first, Hand.TARGET] = static.spots[0]


@kernel
def deliver(seat, tables, scratch):
    """Return the command that brings what an agent holds to its target."""
    agent, target = scratch.agents[seat], scratch.hands[seat, Hand.TARGET]
    if agent[Agent.PLACE] != target:
        return 1 + target
    if check_put(target, agent, scratch.tools[target], tables.places[target], tables.uses, tables.sold) != 0:
        return 0
    return tables.places[target, Place.PUT]


@kernel
def help_out(seat, tables, static, scratch):
    """Return the best command at an agent's location, or noop."""
    agent, at = scratch.agents[seat], scratch.agents[seat, Agent.PLACE]
    tool, place = scratch.tools[at], tables.places[at]
    if place[Place.ROLE] != Role.COOK:
        return 0
    if check_activate(at, agent, tool, place, tables.sizes, tables.uses) == 0:
        return place[Place.ACTIVATE]
    if check_get(at, NOTHING, agent, tool, place) != 0:
        return 0
    return place[Place.GET] if is_finished(tool, place, static, tables.params[Param.N_BASE]) else 0


@kernel
def pursue(seat, tables, static, scratch):
    """Return the next command of an agent's job."""
    agent, k = scratch.agents[seat], scratch.hands[seat, Hand.JOB]
    if k == NOTHING:
        return help_out(seat, tables, static, scratch)
    job = scratch.jobs[k]
    at = job[Job.SOURCE]
    tool, place = scratch.tools[at], tables.places[at]
    if agent[Agent.PLACE] != at:
        return 1 + at
    if job[Job.KIND] == Chain.FETCH:
        return place[Place.GET] + job[Job.ITEM]
    if job[Job.KIND] == Chain.MOVE and check_get(at, NOTHING, agent, tool, place) == 0:
        return place[Place.GET]
    return help_out(seat, tables, static, scratch)


@kernel
def copy_kitchen(env, scratch):
    """Copy what commands look at and change, to carry them out one after the other. Mutates: scratch."""
    agents, tools = env.agents, env.tools
    for seat in range(agents.shape[0]):
        for k in range(agents.shape[1]):
            scratch.agents[seat, k] = agents[seat, k]
    for at in range(tools.shape[0]):
        for k in range(tools.shape[1]):
            scratch.tools[at, k] = tools[at, k]


@kernel
def carry_out(seat, action, tables, scratch):
    """Carry a command out on the copied kitchen. Mutates: scratch."""
    scratch.command[EventColumn.AGENT] = seat
    scratch.command[EventColumn.CODE] = action
    apply_command(tables, scratch, scratch.command)


@kernel
def give_commands(tables, static, trust, env, scratch, actions):
    """Write each agent's command, in the order of turns and seeing what earlier ones did. Mutates: scratch, actions."""
    agents = env.agents
    copy_kitchen(env, scratch)
    for seat in tables.turns:
        actions[seat] = 0
        if trust[seat] < SHARE or agents[seat, Agent.BUSY] > 0:
            continue
        if agents[seat, Agent.ITEM] != NOTHING:
            actions[seat] = deliver(seat, tables, scratch)
        else:
            actions[seat] = pursue(seat, tables, static, scratch)
        if actions[seat] != 0:
            carry_out(seat, actions[seat], tables, scratch)


@kernel
def assign_batch(tables, static, trust, state, scratch, actions):
    """Decide for every environment of a batch. Mutates: scratch, actions."""
    for b in range(actions.shape[0]):
        env = row_at(state, b)
        clear_scratch(tables, static, env, scratch)
        rank = want_orders(tables, static, trust, env, scratch)
        rank = want_ahead(tables, static, trust, env, rank, scratch)
        tidy_up(tables, static, trust, env, rank, scratch)
        await_mixtures(static, env, scratch)
        share_jobs(tables, trust, env, scratch)
        free_hands(tables, static, trust, env, scratch)
        give_commands(tables, static, trust, env, scratch, actions[b])
