"""Arrays of the task assignment: static information on a level, and scratch memory.

Shape letters: B environments, N agents, L locations, I items, R recipes, J jobs.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.cuisineworld.engine.constants import NOTHING, Agent, EventColumn, Param, Place, Role
from collab_overcooked.kernels.arrays import allocate, array_of

Array = np.ndarray
MAX_JOBS = 96
ENDLESS = 1000  # remaining time of an order without end, and more than any other's
SHARE = 2  # trust from which a seat gets jobs
HEED = 1  # trust from which what a seat holds counts as on its way


class Knob(IntEnum):
    """Tunable weights: columns of a knob row, followed by a column for each order of the level."""

    RANK = 0  # urgency of a job for each more urgent dish before it
    TAIL = 1  # for each step that remains after the job until its dish is served
    DELAY = 2  # for each step until an agent can begin
    AHEAD = 3  # dishes of each kind that are prepared before they are ordered
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
    WORK = 1
    STEPS = 2


class Scratch(NamedTuple):
    """Scratch memory for one environment at a time."""

    jobs: Array = array_of(MAX_JOBS, Job)
    stack: Array = array_of("depth", 3)  # item, target, tail
    uses: Array = array_of("L", Use)
    hands: Array = array_of("N", Hand)
    stock: Array = array_of("I")  # on the tables and not yet counted for an order
    queue: Array = array_of("Q", 2)  # key and slot
    sums: Array = array_of(Sum)
    command: Array = array_of(EventColumn)
    agents: Array = array_of("N", Agent)  # the kitchen as earlier commands of the step leave it
    tools: Array = array_of("L", "tool")
    served: Array = array_of("T", "room")  # written to, never read


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
