"""Beam search for good play of one Rush episode.

The states of a layer differ only in what the same seats have done so far; the next layer holds what the next seat can
make of them. A layer keeps the states in which most orders can still be finished by count (see ``bound``), then those
that leave most turns to spare, then those with least work left, then those in which the seats have worked alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import allocate
from collab_overcooked.kernels.jit import kernel, row_at

from .bound import GOODS, Needs, count_possible
from .constants import NO_ACTION, Area, Clock, Dish, EventColumn, Kind, Order, Param, Reason
from .rules import act, end_slot, why_invalid, would_ruin
from .state import State, Tables, sizes_of
from .step import open_kitchen

Array = np.ndarray
WIDTH = 50  # states of a layer
HASH_FACTOR = 0x100000001B3  # of the 64-bit FNV hash


class Layer(NamedTuple):
    """States of the beam, with leading axis W."""

    state: State
    parent: Array  # (W,) int32, row in the layer before
    action: Array  # (W,) int32, action that leads here from the parent
    done: Array  # (W, N) int32, actions of each seat since the start of the search
    possible: Array  # (W,) int32, orders that are or can be finished by count
    work: Array  # (W,) int32, actions that those not yet finished need
    spare: Array  # (W,) float64, turns that they leave to spare by count
    key: Array  # (W,) int64, hash of all that the rest of the episode depends on


@kernel
def skip_to_played(tables, played, env, event):
    """Advance until a played seat is to act; all other seats do nothing. Mutates: env, event."""
    clock = env.clock
    while clock[Clock.OVER] == 0:
        if clock[Clock.SEAT] == played.shape[0]:
            end_slot(tables, env)
        elif played[clock[Clock.SEAT]] == 1:
            return
        else:
            act(tables, env, NO_ACTION, event)


@kernel
def is_worth_trying(tables, env, action):
    """Return whether an action is accepted, ruins nothing, and is not the same as an earlier one."""
    if action == NO_ACTION:
        return True
    orders = env.orders
    e, n_orders = env.clock[Clock.EPISODE], orders.shape[0]
    at, o = (action - 1) // n_orders, (action - 1) % n_orders
    dish = tables.dishes[e, o]
    area = tables.areas[e, at]
    n_ingredients = tables.params[Param.N_INGREDIENTS]
    if would_ruin(orders[o], dish, area):
        return False
    if area[Area.KIND] == Kind.STOVE:
        for other in range(at):
            if tables.areas[e, other, Area.KIND] == Kind.STOVE and env.spaces[other] > 0:
                return False
    need = tables.needs[e, o]
    return why_invalid(orders[o], env.stock[at], env.spaces[at], dish, need, area, n_ingredients) == Reason.OK


@kernel
def hash_state(env):
    """Return a number for all that the rest of the episode depends on, the clock apart."""
    key = 0
    for o in range(env.orders.shape[0]):
        for column in range(Order.RUINED + 1):
            key = (key ^ int(env.orders[o, column])) * HASH_FACTOR
            key ^= key >> 29
    for at in range(env.stock.shape[0]):
        key = (key ^ int(env.spaces[at])) * HASH_FACTOR
        key ^= key >> 29
        for good in range(env.stock.shape[1]):
            key = (key ^ int(env.stock[at, good])) * HASH_FACTOR
            key ^= key >> 29
    return key


@kernel
def copy_state(parents, i, children, count):
    """Copy a state of a layer to a child. Mutates: children."""
    for o in range(parents.orders.shape[1]):
        for column in range(parents.orders.shape[2]):
            children.orders[count, o, column] = parents.orders[i, o, column]
    for at in range(parents.stock.shape[1]):
        children.spaces[count, at] = parents.spaces[i, at]
        for good in range(parents.stock.shape[2]):
            children.stock[count, at, good] = parents.stock[i, at, good]
    for column in range(parents.clock.shape[1]):
        children.clock[count, column] = parents.clock[i, column]


@kernel
def expand(tables, played, layer, children, needs, event):
    """Write what every action worth trying makes of each state of a layer. Mutates: children, needs, event.

    Returns:
        The number of children.
    """
    count, parents = 0, layer.state
    n_actions = 1 + parents.spaces.shape[1] * parents.orders.shape[1]
    for i in range(parents.clock.shape[0]):
        seat = parents.clock[i, Clock.SEAT]
        for action in range(n_actions):
            if not is_worth_trying(tables, row_at(parents, i), action):
                continue
            copy_state(parents, i, children.state, count)
            env = row_at(children.state, count)
            act(tables, env, action, event)
            skip_to_played(tables, played, env, event)
            possible, work, spare = count_possible(tables, played, env, env.clock[Clock.LIMIT], needs)
            children.parent[count], children.action[count] = i, action
            children.possible[count] = env.clock[Clock.FINISHED] + possible
            children.work[count] = work
            children.spare[count] = spare
            children.key[count] = hash_state(env)
            for other in range(played.shape[0]):
                children.done[count, other] = layer.done[i, other]
            if action != NO_ACTION:
                children.done[count, seat] += 1
            count += 1
    return count


@dataclass(frozen=True)
class Solution:
    """Best plan found by a search, and bounds by counting."""

    finished: int  # Orders finished once ``plan`` is played, including those finished before
    at_most: int  # Upper bound of finished orders
    turns: int  # Turns of the episode begun by the end of the plan
    # Lower bound of the turns needed to finish all orders that are not ruined; 0 if the plan does not finish them all
    at_least: int
    plan: tuple[tuple[int, ...], ...]  # Action of each seat, one row per slot from the start

    @property
    def is_proved(self) -> bool:
        """True if no plan finishes more orders, or all of them in fewer turns."""
        return self.finished == self.at_most and self.at_least in (0, self.turns)


class BeamSearch:
    """Plans the play of some seats in an episode in which all other seats idle.

    Args:
        tables: Compiled tables of the scenario.
        episode: Number of the episode.
        played: (N,) whether the search plays a seat; true for at least one.
        width: Maximum number of states in a layer.
    """

    def __init__(self, tables: Tables, episode: int, played: Sequence[bool], width: int = WIDTH) -> None:
        self.tables = tables
        self._played = np.array(played, np.int32)
        self._width = width
        n_orders, n_goods = tables.needs[episode].shape
        n_areas = len(tables.areas[episode])
        self._children = self._allocate(width * (1 + n_orders * n_areas))
        self._event = np.zeros(len(EventColumn), np.int32)
        resources = GOODS + n_goods
        self._needs = Needs(
            demand=np.zeros((n_orders, resources), np.int32),
            supply=np.zeros(resources, np.int32),
            rate=np.zeros(resources, np.int32),
            work=np.zeros(n_orders, np.int32),
        )

    def _allocate(self, width: int) -> Layer:
        return Layer(
            state=allocate(State, sizes_of(self.tables), width),
            parent=np.zeros(width, np.int32),
            action=np.zeros(width, np.int32),
            done=np.zeros((width, len(self._played)), np.int32),
            possible=np.zeros(width, np.int32),
            work=np.zeros(width, np.int32),
            spare=np.zeros(width, np.float64),
            key=np.zeros(width, np.int64),
        )

    def search(self, start: State) -> Solution:
        """Search for a plan that finishes many orders and, if all of them, in few turns.

        Args:
            start: State of one environment in the episode, without the axis B; it is not changed.
        """
        layer = self._root(start)
        root = layer
        at_most = int(layer.possible[0])
        trail = list[Layer]()
        seats = list[tuple[int, int]]()  # slot and seat of each decision
        while layer.work[0] > 0:
            clock = layer.state.clock[0]
            seats.append((int(clock[Clock.T]), int(clock[Clock.SEAT])))
            layer = self._next(layer)
            trail.append(layer)
        finished, turns = int(layer.possible[0]), int(root.state.clock[0, Clock.TURN])
        first, last = int(start.clock[Clock.T]), seats[-1][0] if seats else -1
        rows = np.zeros((max(last + 1 - first, 0), len(self._played)), np.int32)
        child = 0
        for (slot, seat), kept in zip(reversed(seats), reversed(trail), strict=True):
            rows[slot - first, seat] = kept.action[child]
            child = int(kept.parent[child])
        if seats:
            turns = last // int(self.tables.params[Param.WORKERS]) + 1
        at_least = self._fewest_turns(row_at(root.state, 0), finished)
        return Solution(finished, at_most, turns, at_least, tuple(map(tuple, rows.tolist())))

    def _root(self, start: State) -> Layer:
        layer = self._allocate(1)
        root = row_at(layer.state, 0)
        for row, array in zip(root, start, strict=True):
            row[:] = array
        skip_to_played(self.tables, self._played, root, self._event)
        possible, layer.work[0] = self._count(root, int(root.clock[Clock.LIMIT]))
        layer.possible[0] = root.clock[Clock.FINISHED] + possible
        return layer

    def _count(self, env: State, end: int) -> tuple[int, int]:
        possible, work, _ = count_possible(self.tables, self._played, env, end, self._needs)
        return int(possible), int(work)

    def _next(self, layer: Layer) -> Layer:
        """Return the best different children of a layer, best first."""
        children = self._children
        count = expand(self.tables, self._played, layer, children, self._needs, self._event)
        done = children.done[:count, self._played == 1]
        unequal = done.max(axis=1) - done.min(axis=1)
        ranked = np.lexsort((unequal, children.work[:count], -children.spare[:count], -children.possible[:count]))
        _, first = np.unique(children.key[ranked], return_index=True)
        kept = ranked[np.sort(first)[: self._width]]
        state = State(*(array[kept] for array in children.state))
        return Layer(state, *(array[kept] for array in children[1:]))

    def _fewest_turns(self, root: State, finished: int) -> int:
        clock, workers = root.clock, int(self.tables.params[Param.WORKERS])
        exists = self.tables.dishes[clock[Clock.EPISODE], :, Dish.EXISTS]
        wanted = int(exists.sum() - clock[Clock.RUINED])
        if finished < wanted:
            return 0
        turns = int(clock[Clock.TURN])
        while clock[Clock.FINISHED] + self._count(root, min(turns * workers, int(clock[Clock.LIMIT])))[0] < wanted:
            turns += 1
        return turns


def start_of(tables: Tables, episode: int, limit: int | None = None) -> State:
    """Return the state of one environment at the start of an episode, without the axis B.

    Args:
        tables: Compiled tables of the scenario.
        episode: Number of the episode.
        limit: Slots of the episode; those of all its turns if None.
    """
    env: State = allocate(State, sizes_of(tables))
    env.clock[Clock.EPISODE] = episode
    slots = tables.params[Param.MAX_TURNS] * tables.params[Param.WORKERS]
    open_kitchen(tables, env, slots if limit is None else min(slots, limit))
    return env
