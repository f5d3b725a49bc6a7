"""One decision for a whole kitchen: what has to be done, who does it, and each agent's next command.

Orders are served by deadline. Each is traced back through its recipe tree: what is held, cooked or begun already is
claimed, what is missing becomes a job. Jobs go to agents by urgency and distance; commands follow in the order of
turns, so that a teammate may activate a tool in the very step in which its last ingredient is put.

Kernels here are compiled like the rules (see ``_jit``): no allocation, all scratch memory is in ``Desk``.
Shape letters: B environments, N agents, L locations, I items, R recipes, J jobs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked._jit import kernel
from collab_overcooked.games.cuisineworld.constants import (
    NOTHING,
    UNLIMITED,
    Agent,
    Clock,
    EventColumn,
    Menu,
    Param,
    Place,
    Queue,
    Role,
    Row,
    Tool,
)
from collab_overcooked.games.cuisineworld.rules import apply_command, check_activate, check_get, check_put, holds

Array = np.ndarray
MAX_JOBS = 96
ENDLESS = 1000  # remaining time of an order without end, and more than any other's
SHARE = 2  # trust from which a seat gets jobs
HEED = 1  # trust from which what a seat holds counts as on its way


class Knob(IntEnum):
    """What can be tuned: columns of a knob row, followed by a column for each order of the level."""

    RANK = 0  # urgency of a job for each more urgent dish before it
    TAIL = 1  # for each step that remains after the job until its dish is served
    DELAY = 2  # for each step until an agent can begin
    AHEAD = 3  # dishes of each kind that are prepared before anybody orders them
    LATE = 4  # steps by which a dish may seem late and is still begun; many for all orders
    QUICK = 5  # 1 to activate a tool on passing it
    CROWD = 6  # percent of the work in a dish, shared by all agents, that counts for whether it will be late
    BIAS = 7  # first order's: steps added to its remaining time when orders are ranked


class Chain(IntEnum):
    """Kinds of jobs."""

    FETCH = 0
    MOVE = 1
    ACTIVATE = 2


class Job(IntEnum):
    """Columns of ``Desk.jobs`` (J, 9)."""

    KIND = 0
    ITEM = 1
    SOURCE = 2  # where it begins
    TARGET = 3  # where the item goes
    RANK = 4  # number of the dish it is for
    TAIL = 5  # steps from the end of the job until the dish is served
    WAIT = 6  # steps until it can begin
    SEAT = 7  # who does it
    URGENCY = 8


class Use(IntEnum):
    """Columns of ``Desk.uses`` (L, 6): what becomes of a location."""

    RECIPE = 0  # recipe that it is reserved for
    RANK = 1  # for which dish
    SOLD = 2  # dish that its finished product is reserved for
    BLOCKED = 3  # 1 while a finished product is in it
    CLEARED = 4  # 1 if somebody is about to take that
    TAIL = 5  # steps from the activation until the dish is served


class Hand(IntEnum):
    """Columns of ``Desk.hands`` (N, 3): what becomes of what an agent holds, and what it does next."""

    TARGET = 0
    RANK = 1
    JOB = 2


class Facts(NamedTuple):
    """What a dispatcher knows of a level beyond its tables; int32."""

    parts: Array  # (R, most ingredients) items of each recipe, padded with NOTHING
    kinds: Array  # (R,) kind of tool
    busy: Array  # (R,) steps that its tool is blocked, at least 1
    feasible: Array  # (I,) 1 where the kitchen has the tools for the item
    spots: Array  # (2,) storage and serving table to use


class Desk(NamedTuple):
    """Scratch memory for one environment at a time; int32."""

    jobs: Array  # (J, 9) see Job
    stack: Array  # (depth, 3) item, target, tail
    uses: Array  # (L, 6) see Use
    hands: Array  # (N, 3) see Hand
    stock: Array  # (I,) on the tables and not yet counted for an order
    queue: Array  # (Q, 2) key and slot
    sums: Array  # (3,) jobs, and of the dish looked at: work and steps until it is served
    command: Array  # (4,) see constants.Command
    agents: Array  # (N, 4) the kitchen as earlier commands of the step leave it
    tools: Array  # (L, 4 + capacity)
    served: Array  # (T, room) written to, never read


class Sum(IntEnum):
    """Entries of ``Desk.sums``."""

    JOBS = 0
    WORK = 1
    STEPS = 2


# ------------------------------------------------------------------------------------------- looking


@kernel
def is_finished(tool, place, facts, n_base):
    """Return whether a tool holds a product of its own kind, which only needs to be taken."""
    item = tool[Tool.CONTENT]
    if tool[Tool.COUNT] != 1 or place[Place.ROLE] != Role.COOK or item < n_base:
        return False
    return facts.kinds[item - n_base] == place[Place.KIND]


@kernel
def uses_all(tool, parts):
    """Return whether everything in a tool is among a recipe's parts."""
    for k in range(tool[Tool.COUNT]):
        found = False
        for part in parts:
            found = found or part == tool[Tool.CONTENT + k]
        if not found:
            return False
    return True


@kernel
def find_holder(item, target, trust, agents, hands):
    """Return the agent nearest to the target that holds an item nobody has claimed."""
    best = NOTHING
    for seat in range(agents.shape[0]):
        if agents[seat, Agent.ITEM] != item or hands[seat, Hand.TARGET] != NOTHING or trust[seat] < HEED:
            continue
        if best == NOTHING or agents[seat, Agent.PLACE] == target:
            best = seat
    return best


@kernel
def find_product(item, tools, uses):
    """Return the tool that first has an unclaimed finished item."""
    best = NOTHING
    for at in range(tools.shape[0]):
        if uses[at, Use.BLOCKED] == 0 or uses[at, Use.SOLD] != NOTHING or tools[at, Tool.CONTENT] != item:
            continue
        if best == NOTHING or tools[at, Tool.BUSY] < tools[best, Tool.BUSY]:
            best = at
    return best


@kernel
def find_tool(r, tools, places, uses, facts):
    """Return the tool to make a recipe in: begun if possible, else empty, else one that is about to be emptied."""
    best, best_value = NOTHING, -ENDLESS
    for at in range(tools.shape[0]):
        if places[at, Place.KIND] != facts.kinds[r] or uses[at, Use.RECIPE] != NOTHING:
            continue
        if uses[at, Use.BLOCKED] == 1:
            value = -1 - tools[at, Tool.BUSY]
        elif uses_all(tools[at], facts.parts[r]):
            value = tools[at, Tool.COUNT]
        else:
            continue
        if value > best_value:
            best, best_value = at, value
    return best


# ------------------------------------------------------------------------------------------- what has to be done


@kernel
def clear_desk(tables, facts, agents, tools, served, desk):
    """Start with no job and no claim, and count what lies on the tables. Mutates: desk."""
    places, n_base = tables.places, tables.params[Param.N_BASE]
    desk.sums[Sum.JOBS] = 0
    for k in range(desk.stock.shape[0]):
        desk.stock[k] = 0
    for at in range(tools.shape[0]):
        use = desk.uses[at]
        use[Use.RECIPE] = NOTHING
        use[Use.RANK] = NOTHING
        use[Use.SOLD] = NOTHING
        use[Use.CLEARED] = 0
        use[Use.BLOCKED] = 1 if is_finished(tools[at], places[at], facts, n_base) else 0
        if places[at, Place.ROLE] == Role.TABLE:
            for k in range(tools[at, Tool.COUNT]):
                desk.stock[served[places[at, Place.TABLE], k]] += 1
    for seat in range(agents.shape[0]):
        desk.hands[seat, Hand.TARGET] = NOTHING
        desk.hands[seat, Hand.RANK] = NOTHING
        desk.hands[seat, Hand.JOB] = NOTHING


@kernel
def add_job(kind, item, source, target, rank, tail, wait, desk):
    """Write one more job down; beyond the room for them the least urgent are left out. Mutates: desk."""
    k = desk.sums[Sum.JOBS]
    if k == desk.jobs.shape[0]:
        return
    desk.sums[Sum.JOBS] = k + 1
    job = desk.jobs[k]
    job[Job.KIND] = kind
    job[Job.ITEM] = item
    job[Job.SOURCE] = source
    job[Job.TARGET] = target
    job[Job.RANK] = rank
    job[Job.TAIL] = tail
    job[Job.WAIT] = wait
    job[Job.SEAT] = NOTHING


@kernel
def note(steps, work, desk):
    """Note work in the dish, and when it is served at the earliest. Mutates: desk."""
    desk.sums[Sum.WORK] += work
    desk.sums[Sum.STEPS] = max(desk.sums[Sum.STEPS], steps)


@kernel
def claim_item(item, target, rank, tail, trust, agents, tools, desk):
    """Claim an item that exists already, if one does. Mutates: desk."""
    seat = find_holder(item, target, trust, agents, desk.hands)
    if seat != NOTHING:
        desk.hands[seat, Hand.TARGET] = target
        desk.hands[seat, Hand.RANK] = rank
        steps = 1 if agents[seat, Agent.PLACE] == target else 2
        note(steps + tail, steps, desk)
        return True
    at = find_product(item, tools, desk.uses)
    if at != NOTHING:
        desk.uses[at, Use.SOLD] = rank
        wait = tools[at, Tool.BUSY]
        add_job(Chain.MOVE, item, at, target, rank, tail, wait, desk)
        note(max(wait, 1) + 3 + tail, 4, desk)
        return True
    return False


@kernel
def begin_recipe(r, depth, rank, tail, tools, places, facts, desk):
    """Reserve a tool for a recipe and put what it lacks on the stack. Mutates: desk.

    Returns:
        New depth of the stack; NOTHING if all tools are taken.
    """
    at = find_tool(r, tools, places, desk.uses, facts)
    if at == NOTHING:
        return NOTHING
    use = desk.uses[at]
    use[Use.RECIPE] = r
    use[Use.RANK] = rank
    use[Use.TAIL] = tail + 2 + facts.busy[r]
    note(0, 5, desk)  # activate, and carry the product on
    missing = 0
    for part in facts.parts[r]:
        if part == NOTHING or (use[Use.BLOCKED] == 0 and holds(tools[at], part)):
            continue
        desk.stack[depth, 0] = part
        desk.stack[depth, 1] = at
        desk.stack[depth, 2] = tail + 3 + facts.busy[r]
        depth += 1
        missing += 1
    if missing == 0:
        add_job(Chain.ACTIVATE, NOTHING, at, at, rank, use[Use.TAIL], tools[at, Tool.BUSY], desk)
        note(2 + use[Use.TAIL], 0, desk)
    return depth


@kernel
def want_dish(item, rank, trust, tables, facts, agents, tools, desk):
    """Trace a dish back to what is there and what must be done.

    Mutates: desk.

    Returns:
        Whether there are tools for all of it.
    """
    n_base = tables.params[Param.N_BASE]
    desk.sums[Sum.WORK] = 0
    desk.sums[Sum.STEPS] = 0
    desk.stack[0, 0] = item
    desk.stack[0, 1] = facts.spots[1]
    desk.stack[0, 2] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        part, target, tail = desk.stack[depth, 0], desk.stack[depth, 1], desk.stack[depth, 2]
        if claim_item(part, target, rank, tail, trust, agents, tools, desk):
            continue
        if part < n_base:
            add_job(Chain.FETCH, part, facts.spots[0], target, rank, tail, 0, desk)
            note(4 + tail, 4, desk)
            continue
        depth = begin_recipe(part - n_base, depth, rank, tail, tools, tables.places, facts, desk)
        if depth == NOTHING:
            return False
    return True


@kernel
def give_up(rank, n_jobs, desk):
    """Forget the claims and jobs of a dish. Mutates: desk."""
    desk.sums[Sum.JOBS] = n_jobs
    for use in desk.uses:
        if use[Use.RANK] == rank:
            use[Use.RECIPE] = NOTHING
            use[Use.RANK] = NOTHING
        if use[Use.SOLD] == rank:
            use[Use.SOLD] = NOTHING
    for hand in desk.hands:
        if hand[Hand.RANK] == rank:
            hand[Hand.TARGET] = NOTHING
            hand[Hand.RANK] = NOTHING


@kernel
def rank_orders(orders, clock, knobs, queue):
    """Sort open orders by remaining time and bias. Mutates: queue."""
    for q in range(clock[Clock.OPEN]):
        remaining = orders[q, Queue.REMAINING]
        if remaining == UNLIMITED:
            remaining = ENDLESS
        key, k = remaining + knobs[Knob.BIAS + orders[q, Queue.ORDER]], q
        while k > 0 and queue[k - 1, 0] > key:
            queue[k, 0] = queue[k - 1, 0]
            queue[k, 1] = queue[k - 1, 1]
            k -= 1
        queue[k, 0] = key
        queue[k, 1] = q


@kernel
def seems_late(remaining, n_seats, knobs, desk):
    """Return whether a dish just traced is not worth beginning for an order."""
    if remaining == UNLIMITED:
        return False
    work = desk.sums[Sum.WORK] * knobs[Knob.CROWD] // (100 * n_seats)
    return max(desk.sums[Sum.STEPS], work) > remaining + knobs[Knob.LATE]


@kernel
def want_orders(tables, facts, knobs, trust, n_seats, agents, tools, orders, clock, desk):
    """List jobs for the open orders, the most urgent first; leave out those that will be late. Mutates: desk."""
    rank_orders(orders, clock, knobs, desk.queue)
    rank = 0
    for k in range(clock[Clock.OPEN]):
        q = desk.queue[k, 1]
        dish, remaining = tables.menu[orders[q, Queue.ORDER]], orders[q, Queue.REMAINING]
        for c in range(dish[Menu.COUNT]):
            item = dish[Menu.ITEM + c]
            if remaining != 0 and desk.stock[item] > 0:
                desk.stock[item] -= 1
            elif remaining != 0 and facts.feasible[item] == 1:
                n_jobs = desk.sums[Sum.JOBS]
                done = want_dish(item, rank, trust, tables, facts, agents, tools, desk)
                if not done or seems_late(remaining, n_seats, knobs, desk):
                    give_up(rank, n_jobs, desk)
                rank += 1
    return rank


@kernel
def want_ahead(rank, tables, facts, knobs, trust, agents, tools, desk):
    """List jobs for dishes that nobody has ordered yet, those missing most first. Mutates: desk."""
    for _ in range(knobs[Knob.AHEAD]):
        for dish in tables.menu:
            for c in range(dish[Menu.COUNT]):
                item = dish[Menu.ITEM + c]
                if desk.stock[item] > 0:
                    desk.stock[item] -= 1
                elif facts.feasible[item] == 1:
                    n_jobs = desk.sums[Sum.JOBS]
                    if not want_dish(item, rank, trust, tables, facts, agents, tools, desk):
                        give_up(rank, n_jobs, desk)
                    rank += 1
    return rank


@kernel
def tidy_up(rank, tables, facts, trust, agents, tools, desk):
    """List jobs for what nobody wants: dishes go to the table, other products make room, full hands are emptied.

    Mutates: desk.
    """
    storage, table = facts.spots[0], facts.spots[1]
    for at in range(tools.shape[0]):
        use = desk.uses[at]
        if use[Use.BLOCKED] == 1 and use[Use.SOLD] == NOTHING:
            item = tools[at, Tool.CONTENT]
            sold = tables.sold[item] == 1
            if sold or use[Use.RECIPE] != NOTHING:
                use[Use.SOLD] = rank
                target = table if sold else storage
                add_job(Chain.MOVE, item, at, target, rank, 0, tools[at, Tool.BUSY], desk)
    for seat in range(agents.shape[0]):
        item, hand = agents[seat, Agent.ITEM], desk.hands[seat]
        if trust[seat] >= SHARE and item != NOTHING and hand[Hand.TARGET] == NOTHING:
            hand[Hand.TARGET] = table if tables.sold[item] == 1 else storage


@kernel
def await_mixtures(facts, agents, tools, desk):
    """List activations of tools whose last ingredients are on their way, for agents with nothing better to do.

    Mutates: desk.
    """
    for at in range(tools.shape[0]):
        use = desk.uses[at]
        r = use[Use.RECIPE]
        if r == NOTHING or use[Use.BLOCKED] == 1:
            continue
        missing, coming, wait = 0, 0, 0
        for part in facts.parts[r]:
            if part != NOTHING and not holds(tools[at], part):
                missing += 1
        for seat in range(agents.shape[0]):
            if agents[seat, Agent.ITEM] != NOTHING and desk.hands[seat, Hand.TARGET] == at:
                coming += 1
                if agents[seat, Agent.PLACE] != at:
                    wait = 1
        if 0 < missing <= coming:
            add_job(Chain.ACTIVATE, NOTHING, at, at, use[Use.RANK], use[Use.TAIL], wait + 1, desk)


# ------------------------------------------------------------------------------------------- who does it


@kernel
def can_begin(job, tables, desk):
    """Return whether a job is free, and the tool it leads to is not blocked for long."""
    use, target = desk.uses[job[Job.TARGET]], job[Job.TARGET]
    if job[Job.SEAT] != NOTHING:
        return False
    if job[Job.KIND] == Chain.ACTIVATE or tables.places[target, Place.ROLE] != Role.COOK:
        return True
    return use[Use.BLOCKED] == 0 or use[Use.CLEARED] == 1


@kernel
def share_jobs(tables, knobs, trust, agents, desk):
    """Give the most urgent job to the nearest free agent until there are no more of either. Mutates: desk."""
    jobs, count = desk.jobs, desk.sums[Sum.JOBS]
    for k in range(count):
        jobs[k, Job.URGENCY] = knobs[Knob.RANK] * jobs[k, Job.RANK] - knobs[Knob.TAIL] * jobs[k, Job.TAIL]
    for _ in range(agents.shape[0]):
        best, best_seat, best_value = NOTHING, NOTHING, 0
        for k in range(count):
            if not can_begin(jobs[k], tables, desk):
                continue
            for seat in range(agents.shape[0]):
                if trust[seat] < SHARE or agents[seat, Agent.ITEM] != NOTHING or desk.hands[seat, Hand.JOB] != NOTHING:
                    continue
                away = 1 if agents[seat, Agent.PLACE] != jobs[k, Job.SOURCE] else 0
                value = jobs[k, Job.URGENCY] + knobs[Knob.DELAY] * max(away, jobs[k, Job.WAIT])
                if best == NOTHING or value < best_value:
                    best, best_seat, best_value = k, seat, value
        if best == NOTHING:
            return
        jobs[best, Job.SEAT] = best_seat
        desk.hands[best_seat, Hand.JOB] = best
        if jobs[best, Job.KIND] == Chain.MOVE:
            desk.uses[jobs[best, Job.SOURCE], Use.CLEARED] = 1


@kernel
def is_stuck(seat, tables, agents, desk):
    """Return whether an agent holds something for a tool that nobody is about to empty."""
    target = desk.hands[seat, Hand.TARGET]
    if agents[seat, Agent.ITEM] == NOTHING or tables.places[target, Place.ROLE] != Role.COOK:
        return False
    return desk.uses[target, Use.BLOCKED] == 1 and desk.uses[target, Use.CLEARED] == 0


@kernel
def free_hands(tables, facts, trust, agents, desk):
    """Where all agents are stuck with full hands, the first one throws its item away. Mutates: desk."""
    first = NOTHING
    for seat in range(agents.shape[0]):
        if trust[seat] < SHARE:
            continue
        if not is_stuck(seat, tables, agents, desk):
            return
        if first == NOTHING:
            first = seat
    if first != NOTHING:
        desk.hands[first, Hand.TARGET] = facts.spots[0]


# ------------------------------------------------------------------------------------------- commands


@kernel
def deliver(seat, tables, desk):
    """Return the command that brings what an agent holds to its target."""
    agent, target = desk.agents[seat], desk.hands[seat, Hand.TARGET]
    if agent[Agent.PLACE] != target:
        return 1 + target
    if check_put(target, agent, desk.tools[target], tables.places[target], tables.uses, tables.sold) != 0:
        return 0
    return tables.places[target, Place.PUT]


@kernel
def help_out(seat, tables, facts, take, desk):
    """Return the command that does at once what can be done where an agent stands; noop if there is nothing.

    Args:
        seat: The agent, with free hands.
        tables: Of the game.
        facts: Of the level.
        take: Whether to take finished products too.
        desk: The kitchen.
    """
    agent, at = desk.agents[seat], desk.agents[seat, Agent.PLACE]
    tool, place = desk.tools[at], tables.places[at]
    if place[Place.ROLE] != Role.COOK:
        return 0
    if check_activate(at, agent, tool, place, tables.sizes, tables.uses) == 0:
        return place[Place.ACTIVATE]
    if not take or check_get(at, NOTHING, agent, tool, place) != 0:
        return 0
    return place[Place.GET] if is_finished(tool, place, facts, tables.params[Param.N_BASE]) else 0


@kernel
def pursue(seat, tables, facts, knobs, desk):
    """Return the next command of an agent's job."""
    agent, k = desk.agents[seat], desk.hands[seat, Hand.JOB]
    if k == NOTHING:
        return help_out(seat, tables, facts, True, desk)
    job = desk.jobs[k]
    at = job[Job.SOURCE]
    tool, place = desk.tools[at], tables.places[at]
    if agent[Agent.PLACE] != at:
        command = help_out(seat, tables, facts, False, desk) if knobs[Knob.QUICK] == 1 else 0
        return command if command != 0 else 1 + at
    if job[Job.KIND] == Chain.FETCH:
        return place[Place.GET] + job[Job.ITEM]
    if job[Job.KIND] == Chain.MOVE and check_get(at, NOTHING, agent, tool, place) == 0:
        return place[Place.GET]
    return help_out(seat, tables, facts, True, desk)


@kernel
def copy_kitchen(agents, tools, desk):
    """Copy what commands look at and change, to carry them out one after the other. Mutates: desk."""
    for seat in range(agents.shape[0]):
        for k in range(agents.shape[1]):
            desk.agents[seat, k] = agents[seat, k]
    for at in range(tools.shape[0]):
        for k in range(tools.shape[1]):
            desk.tools[at, k] = tools[at, k]


@kernel
def carry_out(seat, action, tables, desk):
    """Carry a command out on the copied kitchen. Mutates: desk."""
    row = tables.catalogue[action]
    at = max(row[Row.PLACE], 0)
    desk.command[EventColumn.AGENT] = seat
    desk.command[EventColumn.CODE] = action
    apply_command(
        desk.command,
        row,
        desk.agents[seat],
        desk.tools[at],
        tables.places[at],
        tables.sizes,
        tables.uses,
        tables.sold,
        desk.served,
        tables.params,
    )


@kernel
def give_commands(tables, facts, knobs, trust, agents, tools, desk, actions):
    """Write each agent's command, in the order of turns and seeing what earlier ones did. Mutates: desk, actions."""
    copy_kitchen(agents, tools, desk)
    for seat in tables.turns:
        actions[seat] = 0
        if trust[seat] < SHARE or agents[seat, Agent.BUSY] > 0:
            continue
        if agents[seat, Agent.ITEM] != NOTHING:
            actions[seat] = deliver(seat, tables, desk)
        else:
            actions[seat] = pursue(seat, tables, facts, knobs, desk)
        if actions[seat] != 0:
            carry_out(seat, actions[seat], tables, desk)


@kernel
def dispatch_batch(tables, facts, knobs, trust, state, desk, actions):
    """Decide for every environment of a batch.

    Args:
        tables: Of the game.
        facts: Of the level.
        knobs: (B, knobs), see Knob.
        trust: (N,), see SHARE and HEED.
        state: Batch.
        desk: Scratch memory.
        actions: (B, N), written; noop for seats that are not commanded.
    """
    n_seats = 0
    for seat in range(trust.shape[0]):
        n_seats += trust[seat] >= SHARE
    for b in range(actions.shape[0]):
        agents, tools, served = state.agents[b], state.tools[b], state.served[b]
        orders, clock, own = state.orders[b], state.clock[b], knobs[b]
        clear_desk(tables, facts, agents, tools, served, desk)
        rank = want_orders(tables, facts, own, trust, max(n_seats, 1), agents, tools, orders, clock, desk)
        rank = want_ahead(rank, tables, facts, own, trust, agents, tools, desk)
        tidy_up(rank, tables, facts, trust, agents, tools, desk)
        await_mixtures(facts, agents, tools, desk)
        share_jobs(tables, own, trust, agents, desk)
        free_hands(tables, facts, trust, agents, desk)
        give_commands(tables, facts, own, trust, agents, tools, desk, actions[b])


# ------------------------------------------------------------------------------------------- arrays


def make_facts(compiled: Any) -> Facts:
    """Return what a dispatcher needs to know of a level.

    Args:
        compiled: ``compile.Compiled`` of the game.
    """
    tables = compiled.tables
    places, n_base = tables.places, int(tables.params[Param.N_BASE])
    recipes = [compiled.level.recipes[name] for name in compiled.names.products]
    items, kinds = compiled.names.items, list(compiled.level.tools)
    parts = np.full((len(recipes), max(len(recipe.ingredients) for recipe in recipes)), NOTHING, np.int32)
    for row, recipe in zip(parts, recipes, strict=True):
        row[: len(recipe.ingredients)] = [items.index(name) for name in recipe.ingredients]
    here = set(compiled.level.kitchen)
    feasible = [
        k < n_base or all(recipe.tool in here for recipe in compiled.level.steps_of(name))
        for k, name in enumerate(items)
    ]
    roles = places[:, Place.ROLE].tolist()
    facts = Facts(
        parts=parts,
        kinds=np.array([kinds.index(recipe.tool) for recipe in recipes], np.int32),
        busy=np.array([max(compiled.level.tools[recipe.tool].busy, 1) for recipe in recipes], np.int32),
        feasible=np.array(feasible, np.int32),
        spots=np.array([roles.index(Role.STORAGE), roles.index(Role.TABLE)], np.int32),
    )
    for array in facts:
        array.setflags(write=False)
    return facts


def make_desk(tables: Any, facts: Facts, state: Any) -> Desk:
    """Return scratch memory that fits a batch's environments."""
    n_agents, n_places = state.agents.shape[1], state.tools.shape[1]
    depth = n_places * facts.parts.shape[1] + 1  # a dish reserves each tool at most once
    return Desk(
        jobs=np.zeros((MAX_JOBS, len(Job)), np.int32),
        stack=np.zeros((depth, 3), np.int32),
        uses=np.zeros((n_places, len(Use)), np.int32),
        hands=np.zeros((n_agents, len(Hand)), np.int32),
        stock=np.zeros(tables.sold.shape[0], np.int32),
        queue=np.zeros((state.orders.shape[1], 2), np.int32),
        sums=np.zeros(len(Sum), np.int32),
        command=np.zeros(len(EventColumn), np.int32),
        agents=np.zeros_like(state.agents[0]),
        tools=np.zeros_like(state.tools[0]),
        served=np.zeros_like(state.served[0]),
    )
