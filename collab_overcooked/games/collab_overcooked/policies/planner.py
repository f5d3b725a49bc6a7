"""A planner of Collab-Overcooked: all seats follow the plan of the earliest delivery that search finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.structs import Positive
from collab_overcooked.kernels.macro_actions import Macro
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, simulator_of
from collab_overcooked.policies.parameters import PolicyOptions
from collab_overcooked.policies.search.beam import Beam, Notes, rank_in_group
from collab_overcooked.policies.search.plan_search import Plan, PlanMemory, name_states
from collab_overcooked.policies.search.simulator import Fork

from ..engine.constants import DISH, NOTHING, Agent, Clock, Param, Tile
from .greedy import GreedyPolicy
from .order_work import HANDLING, Array, Order, order_of
from .scene import refuse_primitive_seats, tables_of

WORK_WEIGHT = 0.5  # of all work left, beside the longest chain of steps; these four were tuned on all built-in kitchens
RUNNING_RANGE = 6.0  # running actions count as begun when they have fewer steps left than this
RUNNING_WEIGHT = 0.25


class Estimate:
    """Estimates the remaining steps from missing products and positions of items; used to rank nodes only."""

    def __init__(self, order: Order) -> None:
        self.order, kitchen = order, order.kitchen
        self.reach = np.stack([self._steps_to(group) for _, _, group in kitchen.rows])  # (actions, poses)
        items = order.items
        self.cost = {item: self._carrying(item) for item in [*items, DISH]}
        self.urgency = np.array([order.urgency[item] for item in items], np.float32)
        self.work = np.array([HANDLING if order.inputs[item] else 3.0 + self._fetching(item) for item in items])
        self.fetch = np.where([not order.inputs[item] for item in items], self.work, 0.0)

    def _steps_to(self, group: int) -> Array:
        kitchen = self.order.kitchen
        if group == NOTHING:
            return np.zeros(len(kitchen.distances), np.float32)
        reach = kitchen.distances[:, kitchen.goals(kitchen.members[group])].min(1) + 1
        return np.minimum(reach, 30).astype(np.float32)

    def _carrying(self, item: int) -> Array:
        hops = np.min([self.order.kitchen.hops[kind] for kind in self.order.consumers(item)], axis=0)
        return np.asarray(3.0 + HANDLING * np.minimum(hops, 5))

    def _fetching(self, item: int) -> float:
        kitchen = self.order.kitchen
        seats = [i for i in range(kitchen.n_agents) if kitchen.can_any(i, kitchen.dispensers(item))]
        return float(self.cost[item][seats or slice(None)].min())

    def __call__(self, state: Any) -> Array:
        """Return (n,) numbers that order states by how near they are to the delivery."""
        needed, short, dish = self.order.shortage(state)
        there = [self._there(item, state) for item in self.order.items]
        left = np.where(short > 0, self.fetch, np.stack([steps.max(1) for steps in there], axis=1))
        path = np.where(needed > 0, left + self.urgency, 0.0).max(1)
        work = short @ self.work + np.sum([steps.sum(1) for steps in there], axis=0)
        if self.order.plated:
            path = np.maximum(path, np.where(dish, 12.0, 0.0))
            work = work + np.where(dish, 12.0, 0.0)
        return np.asarray(path + WORK_WEIGHT * work - self._credit(state))

    def _credit(self, state: Any) -> Array:
        running = state.macro_state[:, :, Macro.ACTION]
        poses = 4 * state.agents[:, :, Agent.CELL].astype(np.int64) + state.agents[:, :, Agent.FACING]
        left = self.reach[np.maximum(running, 0), poses]
        credit = RUNNING_WEIGHT * np.maximum(RUNNING_RANGE - left, 0.0)
        return np.asarray(np.where(running > 0, credit, 0.0).sum(1))

    def _there(self, item: int, state: Any) -> Array:
        """Return (n, places) the steps that each of the items that are there is from its use."""
        kitchen, cost = self.order.kitchen, self.cost[item]
        parts = [np.where(state.agents[:, :, Agent.ITEM] == item, cost, 0.0)]
        counters = self.order.live[item]
        near = np.array([3.0 + cost[kitchen.users(s)].min() for s in counters])
        parts.append(np.where(state.tiles[:, counters, Tile.ITEM] == item, near, 0.0))
        utensils = kitchen.utensils_of(kitchen.maker(item))
        if utensils:
            takers = np.array([2.0 + cost[kitchen.users(s)].min() for s in utensils])
            left = np.maximum(state.tiles[:, utensils, Tile.TIME] - state.tiles[:, utensils, Tile.TIMER], 0)
            parts.append(np.where(state.tiles[:, utensils, Tile.ITEM] == item, left + takers, 0.0))
        return np.concatenate(parts, axis=1)


estimate_of: Callable[[Order], Estimate] = lru_cache(maxsize=256)(Estimate)  # made once


def key_columns(order: Order, state: Any) -> Array:
    """Return (n, columns) all that decides how a state goes on, the clock and the names of equal objects left out."""
    kitchen = order.kitchen
    running = state.macro_state[:, :, Macro.ACTION]
    waits = (running > 0) & (running < kitchen.place)
    columns = [
        state.agents[:, :, Agent.CELL],
        state.agents[:, :, Agent.FACING],
        state.agents[:, :, Agent.ITEM],
        state.agents[:, :, Agent.PLATED],
        running,
        np.where(waits, state.macro_state[:, :, Macro.TIMER], 0),
    ]
    if kitchen.tables.params[Param.STUCK] > 0:
        columns.append(np.where(running > 0, state.macro_state[:, :, Macro.STILL], 0))
    lying = state.tiles[:, order.counters]
    items, placed = lying[:, :, Tile.ITEM], lying[:, :, Tile.PLACED]
    same = (items[:, :, None] == items[:, None, :]) & (items[:, :, None] != NOTHING)
    columns += [items, lying[:, :, Tile.PLATED], (same & (placed[:, None, :] < placed[:, :, None])).sum(2)]
    cooking = state.tiles[:, kitchen.utensils]
    columns += [cooking[:, :, Tile.ITEM], cooking[:, :, Tile.TIMER]]
    inside = np.sort(cooking[:, :, Tile.CONTENT :], axis=2)
    columns.append(inside.reshape(len(state.tiles), inside.shape[1] * inside.shape[2]))
    return np.concatenate([column.astype(np.int16) for column in columns], axis=1)


def progress(order: Order, state: Any) -> Array:
    """Return (n,) hashes of how far the work has come, wherever the agents and on whichever counters things are."""
    cooking = state.tiles[:, order.kitchen.utensils]
    inside = np.sort(cooking[:, :, Tile.CONTENT :], axis=2)
    columns = [
        state.agents[:, :, Agent.ITEM],
        np.sort(state.tiles[:, order.counters, Tile.ITEM], axis=1),
        cooking[:, :, Tile.ITEM],
        inside.reshape(len(state.tiles), inside.shape[1] * inside.shape[2]),
    ]
    keys = np.concatenate([column.astype(np.int16) for column in columns], axis=1)
    return hash_rows(keys, odd_numbers(keys.shape[1]))


def odd_numbers(count: int) -> Array:
    """Return (count,) fixed random odd uint64 factors for hashing."""
    draw = np.random.default_rng(20250501)
    return np.asarray(draw.integers(1 << 63, dtype=np.uint64, size=count) * np.uint64(2) + np.uint64(1))


def hash_rows(keys: Array, factors: Array) -> Array:
    """Return (n,) 64-bit hashes of key rows: random multilinear, so that two rows agree with probability 2^-60."""
    mixed = keys.astype(np.uint64) * factors
    return mixed.sum(1, dtype=np.uint64)


WIDTH = 2000  # nodes kept per layer when an order is new
CROWDING = 3.0  # steps that a node loses for each better one with the same objects in the same kinds of places


class JointPlan(NamedTuple):
    """A way to the next delivery."""

    steps: int  # Env steps until the order is delivered, the delivering step included; 0 if none was found
    actions: Array  # int32 (steps, N) action ids
    proved: bool  # Whether no plan without superfluous objects delivers earlier
    nodes: int  # Different states that were looked at


class Search:
    """Game-specific part of a beam search from a state to the next delivery."""

    def __init__(self, root: Fork, width: int) -> None:
        self.root, self.width = root, width
        self.kitchen = tables_of(root.game)
        self.order = order_of(self.kitchen, int(root.state.orders[0, 0]))
        self.estimate = estimate_of(self.order)
        self.delivered = int(root.state.clock[0, Clock.DELIVERED])
        self.pruned = False
        self.nodes = 1
        keys = key_columns(self.order, root.state)
        self.factors = odd_numbers(keys.shape[1])
        self.seen = hash_rows(keys, self.factors)

    def run(self, limit: int) -> JointPlan:
        """Search for at most ``limit`` steps."""
        result = beam_of(self.root.game, self.width).search(self, self.root, (), limit)
        if result.goal is None:
            return JointPlan(0, np.zeros((0, self.kitchen.n_agents), np.int32), False, self.nodes)
        return JointPlan(len(result.trail), result.actions_to(result.goal), self._proves(), self.nodes)

    def _proves(self) -> bool:
        return not self.pruned and not self.kitchen.can_meet

    def expand(self, nodes: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return the node (C,) and actions (C, N) of each child: the product of the seats' choices in every node."""
        masks = [nodes.masks[:, seat][:, columns.actions] for seat, columns in enumerate(self.order.columns)]
        useful = self.order.useful(nodes.state, masks)
        busy = nodes.state.macro_state[:, :, Macro.ACTION] != NOTHING
        choices, counts = [], []
        for seat, columns in enumerate(self.order.columns):
            good = useful[seat]
            good[busy[:, seat], :] = False
            good[busy[:, seat], 0] = True
            node, column = np.nonzero(good)
            chosen = np.where(busy[node, seat], 0, columns.actions[column])
            count = good.sum(1)
            choices.append((chosen, np.cumsum(count) - count))
            counts.append(count)
        total = np.prod(counts, axis=0)
        rows = np.repeat(np.arange(len(total)), total)
        digit = np.arange(len(rows)) - np.repeat(np.cumsum(total) - total, total)
        actions = np.empty((len(rows), len(choices)), np.int32)
        for seat, (chosen, start) in enumerate(choices):
            count = counts[seat][rows]
            actions[:, seat] = chosen[start[rows] + digit % count]
            digit = digit // count
        return rows, (actions,)

    def advance(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Step the children by their chosen actions."""
        children.step(notes[0])
        return notes[0], ()

    def goal(self, children: Fork) -> int | None:
        """Return the first child that delivered."""
        done = np.flatnonzero(children.state.clock[:, Clock.DELIVERED] > self.delivered)
        return int(done[0]) if len(done) else None

    def score_children(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return the first of equal children that are new, with their hashes, progress and rank."""
        state = children.state
        hashes = hash_rows(key_columns(self.order, state), self.factors)
        at = np.minimum(np.searchsorted(self.seen, hashes), len(self.seen) - 1)
        first = np.zeros(len(hashes), bool)
        first[np.unique(hashes, return_index=True)[1]] = True
        rows = np.flatnonzero(first & (self.seen[at] != hashes) & (state.clock[:, Clock.OVER] == 0))
        fresh = type(state)(*(array[rows] for array in state))
        return rows, (hashes[rows], progress(self.order, fresh), self.estimate(fresh))

    def select(self, merits: Notes) -> Array:
        """Return the children without duplicates; if there are too many, the best ones with a limit on similar ones."""
        kept = np.sort(np.unique(merits[0], return_index=True)[1])
        self.nodes += len(kept)
        if len(kept) > self.width:
            self.pruned = True
            groups, rank = merits[1][kept], merits[2][kept]
            kept = kept[np.argsort(rank + CROWDING * rank_in_group(groups, rank), kind="stable")[: self.width]]
        self.seen = np.sort(np.concatenate([self.seen, merits[0][kept]]))
        return kept


beam_of: Callable[[Any, int], Beam] = lru_cache(maxsize=2)(Beam)  # by game and width; some megabytes


def best_plan(root: Fork, width: int = WIDTH) -> JointPlan:
    """Search for the earliest delivery of the first order.

    Returns:
        The plan; its ``steps`` are 0 if no delivery was found before the time limit.
    """
    parse_integer("width", width, 1)
    clock = root.state.clock[0]
    if int(root.state.orders[0, 0]) == NOTHING or clock[Clock.OVER]:
        return JointPlan(0, np.zeros((0, root.game.n_agents), np.int32), True, 0)
    return Search(root, width).run(int(clock[Clock.LIMIT] - clock[Clock.T]))


REPLAN_WIDTH = 60  # nodes kept per layer when a teammate left the plan
PLANS_KEPT = 20000  # plans remembered in a process
STAGNATION = 6  # steps in which nothing changed before a teammate is not counted on any more


PLANS = PlanMemory(PLANS_KEPT)


def state_key(order: Order, state: Any) -> bytes:
    """Return a key of the first state of a batch, without its clock."""
    return key_columns(order, state)[:1].tobytes()


def plan_from(root: Fork, width: int) -> Plan:
    """Plan from a state, or recall the plan; the same state and width always give the same plan."""
    order = order_of(tables_of(root.game), int(root.state.orders[0, 0]))
    left = int(root.state.clock[0, Clock.LIMIT] - root.state.clock[0, Clock.T])

    def name(state: Any) -> bytes:
        return state_key(order, state)

    def make() -> Plan:
        actions = best_plan(root, width).actions
        return Plan(actions, name_states(root, actions, name), int(len(actions) > 0))

    plan: Plan = PLANS.recall((root.game, order.order, width, left, name(root.state)), make)
    return plan


@dataclass(frozen=True)
class PlannerOptions(PolicyOptions):
    """Widths of the searches."""

    width: Positive = WIDTH  # Nodes kept per step of the plan for an order
    replan: Positive = REPLAN_WIDTH  # Nodes kept when a plan was left


class PlannerPolicy(PolicyBase):
    """Plans for all seats and plays its own part, assuming that teammates do the same.

    All planners of a team find the same plan. When the state is not the planned one, because a teammate did something
    else, the seat plans anew from there when it next has a choice. Where no plan is found it plays greedily.
    """

    name = "planner"
    options_class = PlannerOptions
    needs_simulator = True

    def __init__(self, options: PlannerOptions | None = None) -> None:
        self.options = options or PlannerOptions()
        self._greedy = GreedyPolicy()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._kitchen = tables_of(info.game)
        refuse_primitive_seats(info.game, range(info.game.n_agents))
        self._simulator = simulator_of(info, self.name)
        self._greedy.reset(seat, info, seed)
        self._plan: Plan | None = None
        self._start = 0
        self._delivered = -1
        self._last = (b"", 0)  # state at the last decision, and how often in a row it has been the same

    def act(self, seen: AgentView) -> int:
        root = self._simulator.fork(1, seen.timestep, cheat=True)  # the same for all planners of the team
        if int(root.state.orders[0, 0]) == NOTHING:
            return self._kitchen.wait
        key = state_key(order_of(self._kitchen, int(root.state.orders[0, 0])), root.state)
        same = self._last[1] + 1 if key == self._last[0] else 0
        self._last = (key, same)
        plan = self._follow(root, seen.timestep, key)
        at = seen.timestep - self._start
        if at >= len(plan.state_names) or same >= STAGNATION:
            return self._greedy.act(seen)
        return int(plan.actions[at, seen.seat])

    def _follow(self, root: Fork, timestep: int, key: bytes) -> Plan:
        """Keep the plan while the game is on it; plan anew otherwise."""
        delivered = int(root.state.clock[0, Clock.DELIVERED])
        new_order = delivered != self._delivered
        if self._plan is None or new_order or not self._plan.is_followed(timestep - self._start, key):
            self._delivered, self._start = delivered, timestep
            self._plan = plan_from(root, self.options.width if new_order else self.options.replan)
        return self._plan
