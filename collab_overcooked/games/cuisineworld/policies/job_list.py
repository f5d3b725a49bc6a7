"""List jobs: orders are traced back through their recipe trees, and missing items become jobs.

Shape letters: B environments, N agents, L locations, I items, R recipes, J jobs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import allocate, array_of
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue

from ..engine.constants import NOTHING, UNLIMITED, Agent, Clock, EventColumn, Menu, Param, Place, Role, Tool
from ..engine.rules import holds

Array = np.ndarray
MAX_JOBS = 96
ENDLESS = 1000  # remaining time of an order without end, and more than any other's
SHARE = 2  # trust from which a seat gets jobs
HEED = 1  # trust from which what a seat holds counts as on its way


# Tuned on orders of other seeds than those of the published tables
URGENT = 15  # urgency of a job for each more urgent dish before it
DELAY = 8  # for each step until an agent can begin
AHEAD = 3  # dishes of each kind that are prepared before they are ordered
LATE = 2  # steps by which a dish may seem late and is still begun


class Chain(IntEnum):
    """Kinds of jobs."""

    FETCH = 0
    MOVE = 1
    ACTIVATE = 2


class Job(IntEnum):
    """Columns of ``Scratch.jobs`` (J, 9)."""

    KIND = 0
    ITEM = 1
    SOURCE = 2  # where it begins
    TARGET = 3  # where the item goes
    RANK = 4  # number of the dish it is for
    TAIL = 5  # steps from the end of the job until the dish is served
    WAIT = 6  # steps until it can begin
    SEAT = 7  # seat that does it
    URGENCY = 8


class Use(IntEnum):
    """Columns of ``Scratch.uses`` (L, 6): plans for a location."""

    RECIPE = 0  # recipe that it is reserved for
    RANK = 1  # for which dish
    SOLD = 2  # dish that its finished product is reserved for
    BLOCKED = 3  # 1 while a finished product is in it
    CLEARED = 4  # 1 if an agent is about to take it
    TAIL = 5  # steps from the activation until the dish is served


class Hand(IntEnum):
    """Columns of ``Scratch.hands`` (N, 3): the target of an agent's held item, and its next job."""

    TARGET = 0
    RANK = 1
    JOB = 2


class Lacking(IntEnum):
    """Columns of ``Scratch.stack``: items that a dish still needs."""

    ITEM = 0
    TARGET = 1  # location that needs it
    TAIL = 2  # steps from there until the dish is served


class Urgent(IntEnum):
    """Columns of ``Scratch.queue``: open orders, the most urgent first."""

    KEY = 0  # remaining time
    SLOT = 1  # index in ``State.orders``


class StaticInfo(NamedTuple):
    """Static information on a level beyond its tables; int32."""

    parts: Array  # (R, most ingredients) items of each recipe, padded with NOTHING
    kinds: Array  # (R,) kind of tool
    busy: Array  # (R,) steps that its tool is blocked, at least 1
    feasible: Array  # (I,) 1 where the kitchen has the tools for the item
    spots: Array  # (2,) storage and serving table to use


class Sum(IntEnum):
    """Entries of ``Scratch.sums``."""

    JOBS = 0
    STEPS = 1  # until the dish that is traced is served at the earliest


class Scratch(NamedTuple):
    """Scratch memory for one environment at a time."""

    jobs: Array = array_of(MAX_JOBS, Job)
    stack: Array = array_of("depth", Lacking)
    uses: Array = array_of("L", Use)
    hands: Array = array_of("N", Hand)
    stock: Array = array_of("I")  # on the tables and not yet counted for an order
    queue: Array = array_of("Q", Urgent)
    sums: Array = array_of(Sum)
    command: Array = array_of(EventColumn)
    agents: Array = array_of("N", Agent)  # the kitchen as earlier commands of the step leave it
    tools: Array = array_of("L", "tool")
    served: Array = array_of("T", "room")  # written to, never read


class Need(NamedTuple):
    """An item that a dish needs at a location."""

    item: int
    target: int
    rank: int  # number of the dish
    tail: int  # steps from its arrival until the dish is served


def make_static_info(compiled: Any) -> StaticInfo:
    """Return the static information on a level."""
    tables = compiled.tables
    places, n_base = tables.places, int(tables.params[Param.N_BASE])
    recipes = [compiled.level.recipes[name] for name in compiled.level.products]
    items, kinds = compiled.level.items, list(compiled.level.tools)
    parts = np.full((len(recipes), max(len(recipe.ingredients) for recipe in recipes)), NOTHING, np.int32)
    for row, recipe in zip(parts, recipes, strict=True):
        row[: len(recipe.ingredients)] = [items.index(name) for name in recipe.ingredients]
    here = set(compiled.level.kitchen)
    feasible = [
        k < n_base or all(recipe.tool in here for recipe in compiled.level.steps_of(name))
        for k, name in enumerate(items)
    ]
    roles = places[:, Place.ROLE].tolist()
    static = StaticInfo(
        parts=parts,
        kinds=np.array([kinds.index(recipe.tool) for recipe in recipes], np.int32),
        busy=np.array([max(compiled.level.tools[recipe.tool].busy, 1) for recipe in recipes], np.int32),
        feasible=np.array(feasible, np.int32),
        spots=np.array([roles.index(Role.STORAGE), roles.index(Role.TABLE)], np.int32),
    )
    for array in static:
        array.setflags(write=False)
    return static


def make_scratch(tables: Any, static: StaticInfo, state: Any) -> Scratch:
    """Return scratch memory that fits a batch's environments."""
    n_places, tool = state.tools.shape[1:]
    n_tables, room = state.served.shape[1:]
    depth = n_places * static.parts.shape[1] + 1  # a dish reserves each tool at most once
    sizes = {"L": n_places, "N": state.agents.shape[1], "I": len(tables.sold), "Q": state.orders.shape[1]}
    return allocate(Scratch, sizes | {"depth": depth, "tool": tool, "T": n_tables, "room": room})


@kernel
def is_finished(tool, place, static, n_base):
    """Return whether a tool holds a product of its own kind, which only needs to be taken."""
    item = tool[Tool.CONTENT]
    if tool[Tool.COUNT] != 1 or place[Place.ROLE] != Role.COOK or item < n_base:
        return False
    return static.kinds[item - n_base] == place[Place.KIND]


@kernel
def uses_all(tool, parts):
    """Return whether everything in a tool is among a recipe's parts."""
    for k in range(tool[Tool.COUNT]):
        is_part = False
        for part in parts:
            is_part = is_part or part == tool[Tool.CONTENT + k]
        if not is_part:
            return False
    return True


@kernel
def find_holder(item, target, trust, agents, hands):
    """Return the agent nearest to the target that holds an unclaimed item."""
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
def find_tool(r, tools, places, uses, static):
    """Return the tool to make a recipe in: begun if possible, else empty, else one that is about to be emptied."""
    best, best_value = NOTHING, -ENDLESS
    for at in range(tools.shape[0]):
        if places[at, Place.KIND] != static.kinds[r] or uses[at, Use.RECIPE] != NOTHING:
            continue
        if uses[at, Use.BLOCKED] == 1:
            value = -1 - tools[at, Tool.BUSY]
        elif uses_all(tools[at], static.parts[r]):
            value = tools[at, Tool.COUNT]
        else:
            continue
        if value > best_value:
            best, best_value = at, value
    return best


@kernel
def clear_scratch(tables, static, env, scratch):
    """Start with no job and no claim, and count what lies on the tables. Mutates: scratch."""
    tools, served = env.tools, env.served
    places, n_base = tables.places, tables.params[Param.N_BASE]
    scratch.sums[Sum.JOBS] = 0
    for k in range(scratch.stock.shape[0]):
        scratch.stock[k] = 0
    for at in range(tools.shape[0]):
        use = scratch.uses[at]
        use[Use.RECIPE] = NOTHING
        use[Use.RANK] = NOTHING
        use[Use.SOLD] = NOTHING
        use[Use.CLEARED] = 0
        use[Use.BLOCKED] = 1 if is_finished(tools[at], places[at], static, n_base) else 0
        if places[at, Place.ROLE] == Role.TABLE:
            for k in range(tools[at, Tool.COUNT]):
                scratch.stock[served[places[at, Place.TABLE], k]] += 1
    for seat in range(scratch.hands.shape[0]):
        scratch.hands[seat, Hand.TARGET] = NOTHING
        scratch.hands[seat, Hand.RANK] = NOTHING
        scratch.hands[seat, Hand.JOB] = NOTHING


@kernel
def add_job(kind, need, source, wait, scratch):
    """Write one more job down; beyond the room for them the least urgent are left out. Mutates: scratch."""
    k = scratch.sums[Sum.JOBS]
    if k == scratch.jobs.shape[0]:
        return
    scratch.sums[Sum.JOBS] = k + 1
    job = scratch.jobs[k]
    job[Job.KIND] = kind
    job[Job.ITEM] = need.item
    job[Job.SOURCE] = source
    job[Job.TARGET] = need.target
    job[Job.RANK] = need.rank
    job[Job.TAIL] = need.tail
    job[Job.WAIT] = wait
    job[Job.SEAT] = NOTHING


@kernel
def note(steps, scratch):
    """Note steps after which the dish is served at the earliest. Mutates: scratch."""
    scratch.sums[Sum.STEPS] = max(scratch.sums[Sum.STEPS], steps)


@kernel
def claim_item(trust, env, need, scratch):
    """Claim an item that exists already, if one does. Mutates: scratch."""
    seat = find_holder(need.item, need.target, trust, env.agents, scratch.hands)
    if seat != NOTHING:
        scratch.hands[seat, Hand.TARGET] = need.target
        scratch.hands[seat, Hand.RANK] = need.rank
        steps = 1 if env.agents[seat, Agent.PLACE] == need.target else 2
        note(steps + need.tail, scratch)
        return True
    at = find_product(need.item, env.tools, scratch.uses)
    if at != NOTHING:
        scratch.uses[at, Use.SOLD] = need.rank
        wait = env.tools[at, Tool.BUSY]
        add_job(Chain.MOVE, need, at, wait, scratch)
        note(max(wait, 1) + 3 + need.tail, scratch)
        return True
    return False


@kernel
def begin_recipe(tables, static, tools, need, depth, scratch):
    """Reserve a tool for the recipe of an item and put what it lacks on the stack. Mutates: scratch.

    Returns:
        New depth of the stack; NOTHING if all tools are taken.
    """
    r = need.item - tables.params[Param.N_BASE]
    at = find_tool(r, tools, tables.places, scratch.uses, static)
    if at == NOTHING:
        return NOTHING
    use = scratch.uses[at]
    use[Use.RECIPE] = r
    use[Use.RANK] = need.rank
    use[Use.TAIL] = need.tail + 2 + static.busy[r]
    missing = 0
    for part in static.parts[r]:
        if part == NOTHING or (use[Use.BLOCKED] == 0 and holds(tools[at], part)):
            continue
        scratch.stack[depth, Lacking.ITEM] = part
        scratch.stack[depth, Lacking.TARGET] = at
        scratch.stack[depth, Lacking.TAIL] = need.tail + 3 + static.busy[r]
        depth += 1
        missing += 1
    if missing == 0:
        add_job(Chain.ACTIVATE, Need(NOTHING, at, use[Use.RANK], use[Use.TAIL]), at, tools[at, Tool.BUSY], scratch)
        note(2 + use[Use.TAIL], scratch)
    return depth


@kernel
def want_dish(tables, static, trust, env, item, rank, scratch):
    """Trace a dish back to what is there and what must be done.

    Mutates: scratch.

    Returns:
        Whether there are tools for all of it.
    """
    n_base = tables.params[Param.N_BASE]
    scratch.sums[Sum.STEPS] = 0
    scratch.stack[0, Lacking.ITEM] = item
    scratch.stack[0, Lacking.TARGET] = static.spots[1]
    scratch.stack[0, Lacking.TAIL] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        need = Need(
            scratch.stack[depth, Lacking.ITEM],
            scratch.stack[depth, Lacking.TARGET],
            rank,
            scratch.stack[depth, Lacking.TAIL],
        )
        if claim_item(trust, env, need, scratch):
            continue
        if need.item < n_base:
            add_job(Chain.FETCH, need, static.spots[0], 0, scratch)
            note(4 + need.tail, scratch)
            continue
        depth = begin_recipe(tables, static, env.tools, need, depth, scratch)
        if depth == NOTHING:
            return False
    return True


@kernel
def give_up(rank, n_jobs, scratch):
    """Forget the claims and jobs of a dish. Mutates: scratch."""
    scratch.sums[Sum.JOBS] = n_jobs
    for use in scratch.uses:
        if use[Use.RANK] == rank:
            use[Use.RECIPE] = NOTHING
            use[Use.RANK] = NOTHING
        if use[Use.SOLD] == rank:
            use[Use.SOLD] = NOTHING
    for hand in scratch.hands:
        if hand[Hand.RANK] == rank:
            hand[Hand.TARGET] = NOTHING
            hand[Hand.RANK] = NOTHING


@kernel
def rank_orders(orders, clock, queue):
    """Sort open orders by remaining time. Mutates: queue."""
    for q in range(clock[Clock.OPEN]):
        remaining = orders[q, Queue.REMAINING]
        if remaining == UNLIMITED:
            remaining = ENDLESS
        k = q
        while k > 0 and queue[k - 1, Urgent.KEY] > remaining:
            queue[k, Urgent.KEY] = queue[k - 1, Urgent.KEY]
            queue[k, Urgent.SLOT] = queue[k - 1, Urgent.SLOT]
            k -= 1
        queue[k, Urgent.KEY] = remaining
        queue[k, Urgent.SLOT] = q


@kernel
def seems_late(remaining, scratch):
    """Return whether a dish just traced is not worth beginning for an order."""
    return remaining != UNLIMITED and scratch.sums[Sum.STEPS] > remaining + LATE


@kernel
def want_orders(tables, static, trust, env, scratch):
    """List jobs for the open orders, the most urgent first; leave out those that will be late. Mutates: scratch."""
    orders, clock = env.orders, env.clock
    rank_orders(orders, clock, scratch.queue)
    rank = 0
    for k in range(clock[Clock.OPEN]):
        q = scratch.queue[k, Urgent.SLOT]
        dish, remaining = tables.menu[orders[q, Queue.ORDER]], orders[q, Queue.REMAINING]
        for c in range(dish[Menu.COUNT]):
            item = dish[Menu.ITEM + c]
            if remaining != 0 and scratch.stock[item] > 0:
                scratch.stock[item] -= 1
            elif remaining != 0 and static.feasible[item] == 1:
                n_jobs = scratch.sums[Sum.JOBS]
                done = want_dish(tables, static, trust, env, item, rank, scratch)
                if not done or seems_late(remaining, scratch):
                    give_up(rank, n_jobs, scratch)
                rank += 1
    return rank


@kernel
def want_ahead(tables, static, trust, env, rank, scratch):
    """List jobs for dishes without an order yet, those missing most first. Mutates: scratch."""
    for _ in range(AHEAD):
        for dish in tables.menu:
            for c in range(dish[Menu.COUNT]):
                item = dish[Menu.ITEM + c]
                if scratch.stock[item] > 0:
                    scratch.stock[item] -= 1
                elif static.feasible[item] == 1:
                    n_jobs = scratch.sums[Sum.JOBS]
                    if not want_dish(tables, static, trust, env, item, rank, scratch):
                        give_up(rank, n_jobs, scratch)
                    rank += 1
    return rank


@kernel
def tidy_up(tables, static, trust, env, rank, scratch):
    """List jobs for unneeded items: dishes go to the table, other products and held items are cleared away.

    Mutates: scratch.
    """
    agents, tools = env.agents, env.tools
    storage, table = static.spots[0], static.spots[1]
    for at in range(tools.shape[0]):
        use = scratch.uses[at]
        if use[Use.BLOCKED] == 1 and use[Use.SOLD] == NOTHING:
            item = tools[at, Tool.CONTENT]
            sold = tables.sold[item] == 1
            if sold or use[Use.RECIPE] != NOTHING:
                use[Use.SOLD] = rank
                need = Need(item, table if sold else storage, rank, 0)
                add_job(Chain.MOVE, need, at, tools[at, Tool.BUSY], scratch)
    for seat in range(agents.shape[0]):
        item, hand = agents[seat, Agent.ITEM], scratch.hands[seat]
        if trust[seat] >= SHARE and item != NOTHING and hand[Hand.TARGET] == NOTHING:
            hand[Hand.TARGET] = table if tables.sold[item] == 1 else storage


@kernel
def await_mixtures(static, env, scratch):
    """List activations of tools whose last ingredients are on their way, for agents with nothing better to do.

    Mutates: scratch.
    """
    agents, tools = env.agents, env.tools
    for at in range(tools.shape[0]):
        use = scratch.uses[at]
        r = use[Use.RECIPE]
        if r == NOTHING or use[Use.BLOCKED] == 1:
            continue
        missing, coming, wait = 0, 0, 0
        for part in static.parts[r]:
            if part != NOTHING and not holds(tools[at], part):
                missing += 1
        for seat in range(agents.shape[0]):
            if agents[seat, Agent.ITEM] != NOTHING and scratch.hands[seat, Hand.TARGET] == at:
                coming += 1
                if agents[seat, Agent.PLACE] != at:
                    wait = 1
        if 0 < missing <= coming:
            add_job(Chain.ACTIVATE, Need(NOTHING, at, use[Use.RANK], use[Use.TAIL]), at, wait + 1, scratch)
