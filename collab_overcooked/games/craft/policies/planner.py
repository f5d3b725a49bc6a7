"""Policies of CraftKitchen: assignments of commands by weights, the default ones greedily or the best of rollouts.

Each agent in turn takes the command of the highest value for some weights. The value of a command depends on what is
ordered, in progress, or missing; a walk has a share of the value of the best command at its destination. Seats need no
messages: all of them see the same state and compute the same assignment of the team, of which each takes its part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta

from collab_overcooked.io.structs import Count, Positive
from collab_overcooked.kernels.arrays import allocate, array_of, copy_numbers
from collab_overcooked.kernels.jit import kernel, row_at
from collab_overcooked.kernels.orders import Queue
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, compiled_of, simulator_of
from collab_overcooked.policies.parameters import PolicyOptions
from collab_overcooked.policies.search.plan_search import PlanMemory
from collab_overcooked.policies.search.simulator import Simulator, empty_fork

from ..engine.constants import HALF, NOTHING, Agent, Clock, Furnace, Item, Param, Place, Reason, Role, Row, Verb
from ..engine.rules import square_to, target_of, why_refused

GAME = "CraftKitchen-v0"
Array = np.ndarray


class Weight(IntEnum):
    """Weights of commands, and targets of stock."""

    GO = 0  # percentage of a command's value if the agent must walk first
    BATCH = 1  # items that make a walk count in full
    AHEAD = 2  # dishes of each kind to prepare beyond the orders
    SPARE = 3  # fuel to keep beyond what is to be cooked
    URGENT = 4  # added if an order waits for it
    KILL = 5
    MINE = 6
    LOAD = 7
    COOK = 8
    TAKE = 9
    STORE = 10
    BACKWARDS = 11  # 1 if the last agent chooses first


VALUES = {  # the default of each weight, and the values that new ones are drawn from
    Weight.GO: (60, (20, 40, 60, 80, 90)),
    Weight.BATCH: (3, (1, 2, 3, 4, 6, 8, 12)),
    Weight.AHEAD: (2, (0, 1, 2, 3, 5, 8)),
    Weight.SPARE: (1, (0, 1, 2, 4)),
    Weight.URGENT: (30, (0, 10, 30, 60)),
    Weight.KILL: (40, (20, 30, 40, 60)),
    Weight.MINE: (35, (15, 25, 35, 50)),
    Weight.LOAD: (55, (30, 55, 80)),
    Weight.COOK: (60, (40, 60, 80)),
    Weight.TAKE: (60, (30, 60, 80)),
    Weight.STORE: (70, (40, 70, 90)),
    Weight.BACKWARDS: (0, (0, 1)),
}
DEFAULT_WEIGHTS = tuple(VALUES[weight][0] for weight in Weight)
DRAWN_VALUES = tuple(VALUES[weight][1] for weight in Weight)


class Scratch(NamedTuple):
    """Working memory of a decision, and the spots worth going to."""

    spots: Array = array_of("S")  # places
    goto: Array = array_of("P")  # command that leads to each place
    at: Array = array_of(2)  # hypothetical position of an agent
    away: Array = array_of("P")  # nonzero for places whose mob or block is gone or claimed
    emptied: Array = array_of("F")  # 1 if an agent is going to take out
    want: Array = array_of("D")  # dishes of each kind to start
    urgent: Array = array_of("D")  # open orders of each kind without a dish in the chest
    short: Array = array_of(1)  # half items without fuel


@kernel
def count_needs(tables, env, weights, scratch):
    """Count dishes ordered but not in progress, and fuel missing for all items to be cooked. Mutates: scratch."""
    want = scratch.want
    urgent = scratch.urgent
    short = scratch.short
    items = tables.items
    chest = env.chest
    served = env.served
    orders = env.orders
    clock = env.clock
    short[0] = HALF * weights[Weight.SPARE]
    for d in range(want.shape[0]):
        urgent[d] = served[d] - chest[tables.dishes[d]]
    for q in range(clock[Clock.OPEN]):
        urgent[orders[q, Queue.ORDER]] += 1
    for d in range(want.shape[0]):
        want[d] = urgent[d] + weights[Weight.AHEAD]
    for k in range(items.shape[0]):
        count_stock(tables, env, k, scratch)


@kernel
def count_stock(tables, env, k, scratch):
    """Subtract what agents and furnaces already have of an item. Mutates: scratch."""
    bags, furnaces, items = env.bags, env.furnaces, tables.items
    want, short, there = scratch.want, scratch.short, 0
    for i in range(bags.shape[0]):
        there += bags[i, k]
    for f in range(furnaces.shape[0]):
        for slot in (Furnace.FUEL, Furnace.INPUT, Furnace.OUTPUT):
            there += furnaces[f, slot + 1] * (furnaces[f, slot] == k)
    if items[k, Item.FUEL] == 1:
        short[0] -= there * tables.params[Param.HEAT]
    if items[k, Item.DISH] != NOTHING:
        want[items[k, Item.DISH]] -= there
    if dish_of(k, items) != NOTHING:
        short[0] += there * HALF
        want[dish_of(k, items)] -= there


@kernel
def dish_of(item, items):
    """Return the dish that a raw item becomes, or NOTHING."""
    cooked = items[item, Item.COOKED]
    return NOTHING if cooked == NOTHING else items[cooked, Item.DISH]


@kernel
def value_of_taking(tables, furnace, weights, scratch):
    """Taking out is worth more if an order waits, if the output blocks another kind, or if the batch is complete."""
    d = tables.items[furnace[Furnace.OUTPUT], Item.DISH]
    value = weights[Weight.TAKE] + weights[Weight.URGENT] * (scratch.urgent[d] > 0)
    blocked = (
        furnace[Furnace.INPUTS] > 0 and tables.items[furnace[Furnace.INPUT], Item.COOKED] != furnace[Furnace.OUTPUT]
    )
    if scratch.urgent[d] > 0 or blocked or furnace[Furnace.OUTPUTS] >= weights[Weight.BATCH]:
        return value
    return value // 2 if furnace[Furnace.INPUTS] == 0 else value // 8


@kernel
def value_of(tables, row, agent, bag, furnaces, weights, scratch):
    """A command has the value of its weight, or 0 if it is refused or not needed."""
    p = target_of(row, agent, tables.places, scratch.away)
    if why_refused(tables, row, p, agent, bag, furnaces) != Reason.OK:
        return 0
    verb = row[Row.VERB]
    what = row[Row.WHAT]
    items = tables.items
    if verb == Verb.KILL:
        d = dish_of(tables.places[p, Place.GIVES], items)
        needed = d != NOTHING and scratch.want[d] > 0
        return weights[Weight.KILL] + weights[Weight.URGENT] * (scratch.urgent[d] > 0) if needed else 0
    if verb == Verb.MINE:
        return (
            weights[Weight.MINE] if items[tables.places[p, Place.GIVES], Item.FUEL] == 1 and scratch.short[0] > 0 else 0
        )
    f = tables.places[p, Place.FURNACE]
    if verb == Verb.FUEL:
        enough = furnaces[f, Furnace.FUELS] > furnaces[f, Furnace.INPUTS] + weights[Weight.SPARE]
        return weights[Weight.LOAD] // 8 if enough else weights[Weight.LOAD]
    if verb == Verb.INPUT:
        return weights[Weight.COOK] + weights[Weight.URGENT] * (scratch.urgent[dish_of(what, items)] > 0)
    if verb == Verb.TAKE:
        return 0 if scratch.emptied[f] == 1 else value_of_taking(tables, furnaces[f], weights, scratch)
    if verb == Verb.STORE and items[what, Item.DISH] != NOTHING:
        return weights[Weight.STORE] + weights[Weight.URGENT] * (scratch.urgent[items[what, Item.DISH]] > 0)
    return 0


@kernel
def share_of_load(row, bag, value, weights, items, urgent):
    """Walking with few items is worth less, unless an order waits for them."""
    verb, what = row[Row.VERB], row[Row.WHAT]
    if verb == Verb.STORE and urgent[items[what, Item.DISH]] > 0:
        return value
    if verb == Verb.FUEL or verb == Verb.INPUT or verb == Verb.STORE:
        return value * (weights[Weight.BATCH] + min(bag[what], weights[Weight.BATCH])) // (2 * weights[Weight.BATCH])
    return value


@kernel
def best_here(tables, agent, bag, furnaces, weights, scratch, walked):
    """Return the command with the highest value at a spot, and its value in per cent."""
    best, most = 0, 0
    for action in range(tables.catalogue.shape[0]):
        row = tables.catalogue[action]
        if row[Row.VERB] == Verb.GOTO:
            continue
        value = 100 * value_of(tables, row, agent, bag, furnaces, weights, scratch)
        if walked:
            value = share_of_load(row, bag, value * weights[Weight.GO] // 100, weights, tables.items, scratch.urgent)
        if value > most:
            best, most = action, value
    return best, most


@kernel
def claim(tables, row, agent, scratch, count):
    """Mark a command as taken, so that other agents do something else. Mutates: scratch."""
    p = target_of(row, agent, tables.places, scratch.away)
    verb = row[Row.VERB]
    if verb == Verb.KILL:
        scratch.want[dish_of(tables.places[p, Place.GIVES], tables.items)] -= count
        scratch.away[p] = 1
    elif verb == Verb.MINE:
        scratch.short[0] -= count * tables.params[Param.HEAT]
        scratch.away[p] = 1
    elif verb == Verb.TAKE:
        scratch.emptied[tables.places[p, Place.FURNACE]] = 1


@kernel
def choose_command(tables, agent, bag, furnaces, weights, scratch):
    """Choose the best command here, or a walk to a spot with a better one. Mutates: scratch."""
    best, most = best_here(tables, agent, bag, furnaces, weights, scratch, False)
    spot, then = NOTHING, best
    for s in range(scratch.spots.shape[0]):
        place = tables.places[scratch.spots[s]]
        scratch.at[Agent.X], scratch.at[Agent.Z] = place[Place.X], place[Place.Z]
        if square_to(agent, place) == 0:
            continue
        action, value = best_here(tables, scratch.at, bag, furnaces, weights, scratch, True)
        if value > most:
            spot = scratch.spots[s]
            then = action
            most = value
    if spot == NOTHING:
        claim(tables, tables.catalogue[best], agent, scratch, 1)
        return best
    scratch.at[Agent.X] = tables.places[spot, Place.X]
    scratch.at[Agent.Z] = tables.places[spot, Place.Z]
    claim(tables, tables.catalogue[then], scratch.at, scratch, weights[Weight.BATCH])
    return scratch.goto[spot]


@kernel
def assign_batch(tables, state, weight_rows, scratch, actions):
    """Assign commands in every environment, with one row of weights per environment. Mutates: scratch, actions."""
    n_agents = actions.shape[1]
    for b in range(actions.shape[0]):
        env, weights = row_at(state, b), weight_rows[b]
        count_needs(tables, env, weights, scratch)
        copy_numbers(env.gone, scratch.away)
        scratch.emptied[:] = 0
        for k in range(n_agents):
            i = n_agents - 1 - k if weights[Weight.BACKWARDS] == 1 else k
            actions[b, i] = choose_command(tables, env.agents[i], env.bags[i], env.furnaces, weights, scratch)


class Assigner:
    """A game's assignment with its scratch memory."""

    def __init__(self, game: Any) -> None:
        compiled = compiled_of(game, GAME)
        self.tables = compiled.tables
        places, catalogue = self.tables.places, self.tables.catalogue
        goto = np.zeros(len(places), np.int32)
        for action, (verb, what, place) in enumerate(catalogue.tolist()):
            if verb == Verb.GOTO:
                destinations = [place] if place != NOTHING else np.flatnonzero(places[:, Place.KIND] == what).tolist()
                goto[destinations] = action  # commands for single places come later and take precedence
        spots = _spots(self.tables)
        scratch = allocate(Scratch, {**game.sizes, "S": len(spots)})
        self._scratch = scratch._replace(spots=spots, goto=goto)

    def assign(self, state: Any, weights: Array, actions: Array) -> None:
        """Write the commands of every environment, (B, N) int32, for rows of weights (B, weights)."""
        assign_batch(self.tables, state, weights, self._scratch, actions)


def _spots(tables: Any) -> Array:
    places = tables.places.astype(np.int64)
    chosen = [p for p, place in enumerate(places) if place[Place.ROLE] in (Role.CHEST, Role.FURNACE)]
    hearths = places[places[:, Place.ROLE] == Role.FURNACE][:, [Place.X, Place.Z]]
    for kind in dict.fromkeys(places[:, Place.KIND].tolist()):
        members = np.flatnonzero(places[:, Place.KIND] == kind)
        gives = places[members[0], Place.GIVES]
        if gives != NOTHING and (tables.items[gives, Item.FUEL] == 1 or tables.items[gives, Item.COOKED] != NOTHING):
            way = [((hearths - places[p, [Place.X, Place.Z]]) ** 2).sum(axis=1).min() for p in members]
            chosen.append(int(members[int(np.argmin(way))]))
    return np.array(chosen, np.int32)


assigner: Callable[[Any], Assigner] = lru_cache(maxsize=16)(Assigner)  # cached by game


@dataclass(frozen=True)
class GreedyOptions(PolicyOptions):
    """Options of the greedy policy."""

    # Dishes of each kind to prepare beyond the orders; 0 to start none before its order
    ahead: Annotated[int, Meta(ge=0, le=1000)] = DEFAULT_WEIGHTS[Weight.AHEAD]


class GreedyPolicy(PolicyBase):
    """Takes the command with the highest value now; works ahead if no order needs it."""

    name = "greedy"
    needs_simulator = True
    options_class: type[Any] = GreedyOptions
    batched = True

    def __init__(self, options: Any = None) -> None:
        self._options: Any = options or self.options_class()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._assigner = assigner(info.game)
        self._simulator = simulator_of(info, self.name)
        self._weights = np.array([DEFAULT_WEIGHTS], np.int32)
        self._weights[0, Weight.AHEAD] = self._options.ahead
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:  # a teammate interfered; a new command would be refused, too
            return seen.idle_action
        return int(self._decide()[seen.seat])

    def _decide(self) -> Array:
        self._assigner.assign(self._simulator.state, self._weights, self._actions)
        team: Array = self._actions[0]
        return team


FUTURES = 4  # order sequences per row of weights
MIN_CANDIDATES = 8  # with fewer, each is tried on fewer sequences
ELITES = 6  # rows that are tried again in the next step
ROOM = 8  # decisions that are remembered, as each seat asks for the same one
DIGITS = 6  # of a worth; rows that differ by less are equal
PROGRESS = 0.05  # weight of shaped rewards relative to served orders


@dataclass(frozen=True)
class PlannerOptions(PolicyOptions):
    """Options of the planner."""

    rollouts: Positive = 128  # Number of rollouts per decision
    horizon: Positive = 24  # Length of a rollout in steps
    # Maximum number of dishes of each kind to prepare beyond the orders; 0 to start none before its order
    ahead: Count = 8


class Lookahead:
    """Rolls out assignments with many rows of weights, of which the first step of the best is played.

    Tried are the default row, those that were best a step ago, and new ones, half of which are drawn near good ones.
    Future orders are unknown: copies draw their own orders, the same ones for all rows.
    """

    def __init__(self, game: Any, options: PlannerOptions) -> None:
        self._assigner = assigner(game)
        self._ahead = options.ahead
        self._horizon = options.horizon
        self._default = self._limited(np.array([DEFAULT_WEIGHTS], np.int32))
        self._futures = min(FUTURES, max(options.rollouts // MIN_CANDIDATES, 1))
        self._candidates = max(options.rollouts // self._futures, 1)
        self._memory = empty_fork(game, self._candidates * self._futures)
        self._known = PlanMemory(ROOM)
        self.no_elites = self._default[:0]

    def decide(self, key: bytes, simulator: Simulator, elites: Array) -> tuple[Array, Array]:
        """Return the actions in a state, (N,), and the rows to try in the next one; equal keys get the same."""
        choice: tuple[Array, Array] = self._known.recall(key, lambda: self._search(key, simulator, elites))
        return choice

    def _search(self, key: bytes, simulator: Simulator, elites: Array) -> tuple[Array, Array]:
        rng = np.random.default_rng(list(key))
        futures = simulator.fork(self._futures, int(rng.integers(2**31)))
        tried = np.concatenate([self._default, elites])[: self._candidates]
        tried = np.concatenate([tried, self._draw(rng, self._candidates - len(tried), elites)])
        copies = self._memory.take(futures, np.tile(np.arange(len(futures)), len(tried)))
        weights, worth = np.repeat(tried, len(futures), axis=0), np.zeros(len(copies))
        planned = np.zeros((self._horizon, len(copies), simulator.game.n_agents), np.int32)
        for actions in planned:
            self._assigner.assign(copies.state, weights, actions)
            copies.advance(actions)
            worth += copies.rewards[:, 0] + PROGRESS * copies.out.shaped.sum(axis=1)
        worth -= copies.state.clock[:, Clock.EXPIRED] - futures.state.clock[0, Clock.EXPIRED]
        means = worth.reshape(-1, len(futures)).mean(axis=1)
        ranking = np.argsort(-np.round(means, DIGITS), kind="stable")  # stable: ties keep the earlier row
        return planned[0, ranking[0] * len(futures)].copy(), tried[ranking[:ELITES]]

    def _draw(self, rng: np.random.Generator, count: int, elites: Array) -> Array:
        good = np.concatenate([np.array([DEFAULT_WEIGHTS], np.int32), elites])
        drawn = np.stack([rng.choice(values, count) for values in DRAWN_VALUES], axis=1)
        kept = (rng.random(drawn.shape) < 0.7) & (np.arange(count)[:, None] % 2 == 0)
        return self._limited(np.where(kept, good[rng.integers(len(good), size=count)], drawn).astype(np.int32))

    def _limited(self, weights: Array) -> Array:
        weights[..., Weight.AHEAD] = np.minimum(weights[..., Weight.AHEAD], self._ahead)
        return weights


lookahead: Callable[[Any, PlannerOptions], Lookahead] = lru_cache(maxsize=4)(Lookahead)  # small, as copies take memory


class PlannerPolicy(GreedyPolicy):
    """Plans for all seats and plays its own; all planners compute the same plan."""

    name = "planner"
    options_class = PlannerOptions
    batched = False

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._lookahead = lookahead(info.game, self._options)
        self._simulator = simulator_of(info, self.name)
        self._elites = self._lookahead.no_elites

    def _decide(self) -> Array:
        state = self._simulator.state
        arrays = (state.agents, state.bags, state.gone, state.furnaces, state.chest, state.served, state.orders)
        key = b"".join(array.tobytes() for array in (*arrays, state.clock, self._elites))
        actions, self._elites = self._lookahead.decide(key, self._simulator, self._elites)
        return actions
