"""Search for the earliest delivery: joint medium-level plans on the true dynamics of Collab-Overcooked.

The search is breadth-first in time. All nodes of a layer have taken the same number of steps; every idle agent of a
node chooses among its useful accepted actions, a batch of kitchens is stepped by the game's own kernels, equal states
are merged, and the best ``width`` nodes by an estimate of the work left are kept. A delivery that is found before
anything was dropped is proved to be the earliest one, among plans without superfluous objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.core.macro_actions import Macro
from collab_overcooked.core.rng import seed_words
from collab_overcooked.envs.api import Game
from collab_overcooked.errors import whole_number
from collab_overcooked.games.collab_overcooked.constants import (
    DISH,
    NOTHING,
    Access,
    Agent,
    Clock,
    Group,
    Param,
    Reason,
    Row,
    Tile,
    Verb,
)
from collab_overcooked.games.collab_overcooked.env import judge
from collab_overcooked.games.collab_overcooked.policies.greedy import (
    Cookbook,
    GreedyPolicy,
    RecipeFacts,
    cookbook,
    refuse_primitive_seats,
)
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.games.collab_overcooked.spec import load_kitchen
from collab_overcooked.policies.api import EnvInfo, Message, Seen, simulator_of
from collab_overcooked.policies.registry import read_numbers
from collab_overcooked.registry import load_game

Array = np.ndarray

WIDTH = 2000  # nodes kept per layer when an order is new
REPLAN_WIDTH = 60  # and when a teammate left the plan
TABLE_WIDTH = 20000  # and for tables of the best times
TABLE_LIMIT = 200  # steps within which a table looks for a delivery
WORK_WEIGHT = 0.5  # of all work left, beside the longest chain of steps; these four were tuned on all shipped kitchens
RUNNING_RANGE = 6.0  # running actions count as begun when they have fewer steps left than this
RUNNING_WEIGHT = 0.25
CROWDING = 3.0  # steps that a node loses for each better one with the same objects in the same kinds of places
CHUNK = 1 << 14  # kitchens stepped at a time
PLANS_KEPT = 20000  # plans remembered in a process
STAGNATION = 6  # steps in which nothing changed before a teammate is not counted on any more


class JointPlan(NamedTuple):
    """A way to the next delivery.

    Attributes:
        steps: Env steps until the order is delivered, the delivering step included; 0 if none was found.
        actions: int32 (steps, N) action ids.
        proved: Whether no plan without superfluous objects delivers earlier.
        nodes: Different states that were looked at.
    """

    steps: int
    actions: Array
    proved: bool
    nodes: int


# ------------------------------------------------------------------------------------------- what an order takes


@dataclass(frozen=True)
class Columns:
    """A seat's actions that can matter for an order, as columns of a table.

    Attributes:
        actions: Action ids.
        checks: What each needs to be useful, and the item or utensil that this is about; see ``Order.useful``.
    """

    actions: Array
    checks: tuple[tuple[str, int], ...]


class Order:
    """What is worth doing for one order in one kitchen, for many states at a time.

    Args:
        book: The kitchen.
        order: Item wanted.
    """

    def __init__(self, book: Cookbook, order: int) -> None:
        self.book, self.order = book, order
        self.items = self._items()
        self.row = {item: r for r, item in enumerate(self.items)}
        self.recipes = {item: book.recipes[item] for item in self.items if item in book.recipes}
        self.plated = bool(book.needs_dish[order])
        self.counters = [s for s in book.counters if any(book.can(i, s) for i in range(book.n_agents))]
        self.fetched = np.full(len(book.rows), -2, np.int32)
        for item, action in book.fetch.items():
            self.fetched[action] = item
        self.live = {item: self._live_counters(item) for item in [*self.items, DISH]}
        self.columns = [self._columns(seat) for seat in range(book.n_agents)]
        self.estimate = Estimate(self)

    def _items(self) -> list[int]:
        """List the order and all foods below it, products before what goes into them."""
        found: list[int] = []

        def visit(item: int) -> None:
            recipe = self.book.recipes.get(item)
            for part in recipe.inputs if recipe else ():
                visit(part)
            if item not in found:
                found.append(item)

        visit(self.order)
        return found[::-1]

    def consumers(self, item: int) -> list[tuple[str, int]]:
        """Return where an item is used: keys of ``Cookbook.hops``."""
        if item == self.order:
            return [("serve", 0)]
        if item == DISH:
            recipe = self.book.recipes.get(self.order)
            return [("kind", recipe.kind)] if recipe else [("serve", 0)]
        return [("kind", recipe.kind) for recipe in self.recipes.values() if item in recipe.inputs]

    def _live_counters(self, item: int) -> list[int]:
        """List the counters from which an item can still get to where it is used.

        Placing goes to the nearest counter that most can reach, so from such a one an item never moves on.
        """
        live = []
        for s in self.counters:
            seats = [i for i in range(self.book.n_agents) if self.book.can(i, s)]
            moves = any(self.book.access[i][s] != Access.SHARED for i in seats)
            if moves or any(self.uses(i, item) for i in seats):
                live.append(s)
        return live

    def uses(self, seat: int, item: int) -> bool:
        """Return whether a seat can use an item itself."""
        return any(self.book.hops[key][seat] == 0 for key in self.consumers(item))

    def _columns(self, seat: int) -> Columns:
        book = self.book
        found: list[tuple[int, tuple[str, int]]] = [
            (book.wait, ("always", 0)),
            (book.place, ("always", 0)),
        ]
        if book.can_any(seat, book.members[Group.SERVING]):
            found.append((book.serve, ("holds", self.order)))
        for s in book.utensils:
            if book.can(seat, s):
                found.append((book.put[s], ("put", s)))
                found.append((book.operate[s], ("operate", s)))
                if self.plated:
                    found.append((book.fill[s], ("fill", s)))
                found += [(action, ("always", 0)) for (at, _), action in book.take.items() if at == s]
        wanted = [*self.items, DISH] if self.plated else self.items
        for item in wanted:
            check = "always" if self.uses(seat, item) else "move on"
            found.append((book.pick[item], (check, item)))
            group = Group.DISHES if item == DISH else Group.INGREDIENTS
            if item in book.fetch and book.can_any(seat, book.members[group]):
                found.append((book.fetch[item], ("short", item)))
        return Columns(np.array([action for action, _ in found], np.int32), tuple(check for _, check in found))

    # -------------------------------------------------------------------------------- counting

    def shortage(self, agents: Array, macros: Array, tiles: Array) -> tuple[Array, Array]:
        """Count what still has to be made or fetched.

        Args:
            agents: (n, N, 4).
            macros: (n, N, 4).
            tiles: (n, S, 7 + capacity).

        Returns:
            (n, items) how many more of each are needed, and (n,) whether a dish is.
        """
        hands = agents[:, :, Agent.ITEM]
        running = macros[:, :, Macro.ACTION]
        coming = np.where(running == NOTHING, -2, self.fetched[running])
        made = tiles[:, self.book.utensils, Tile.ITEM]
        cooking = tiles[:, self.book.utensils]
        unstarted = cooking[:, :, Tile.TIMER, None] == 0
        inside = np.where(unstarted, cooking[:, :, Tile.CONTENT :], -2)
        inside = inside.reshape(len(tiles), inside.shape[1] * inside.shape[2])
        everything = np.concatenate([hands, coming, made, inside], axis=1)

        def count(item: int) -> Array:
            lying = tiles[:, self.live[item], Tile.ITEM]
            return np.asarray((everything == item).sum(1) + (lying == item).sum(1))

        short = np.zeros((len(agents), len(self.items)), np.int32)
        wanted = np.zeros_like(short)
        wanted[:, 0] = 1
        for r, item in enumerate(self.items):
            short[:, r] = np.maximum(wanted[:, r] - count(item), 0)
            recipe = self.recipes.get(item)
            for part in recipe.inputs if recipe else ():
                wanted[:, self.row[part]] += short[:, r]
        served = (hands == self.order) & (agents[:, :, Agent.PLATED] == 1)
        there = tiles[:, self.live[self.order]]
        laid = (there[:, :, Tile.ITEM] == self.order) & (there[:, :, Tile.PLATED] == 1)
        dishes = count(DISH) + served.sum(1) + laid.sum(1)
        return short, (dishes == 0) & self.plated

    def contents(self, tiles: Array, station: int, recipe: RecipeFacts) -> tuple[dict[int, Array], Array]:
        """Compare a utensil's contents with a recipe.

        Returns:
            By input how many more fit (n,), and (n,) whether nothing else is inside.
        """
        inside = tiles[:, station, Tile.CONTENT :]
        room, known = {}, 0
        for item in set(recipe.inputs):
            count = (inside == item).sum(1)
            known = known + count
            room[item] = recipe.inputs.count(item) - count
        fits = (known == tiles[:, station, Tile.COUNT]) & (tiles[:, station, Tile.TIMER] == 0)
        for count in room.values():
            fits &= count >= 0
        return room, fits

    def useful(self, agents: Array, macros: Array, tiles: Array, masks: list[Array]) -> list[Array]:
        """Return for every seat (n, columns) which of its accepted actions are worth trying."""
        short, dish = self.shortage(agents, macros, tiles)
        puts, starts = self._utensils(tiles, short)
        found = []
        for seat, columns in enumerate(self.columns):
            hand = agents[:, seat, Agent.ITEM]
            good = masks[seat].astype(bool)
            for c, (check, a) in enumerate(columns.checks):
                if check == "put":
                    good[:, c] &= np.take_along_axis(puts[a], np.maximum(hand, 0)[:, None], 1)[:, 0]
                elif check == "operate":
                    good[:, c] &= starts[a]
                elif check == "holds":
                    good[:, c] &= hand == a
                elif check == "fill":
                    good[:, c] &= tiles[:, a, Tile.ITEM] == self.order
                elif check == "short":
                    good[:, c] &= (dish if a == DISH else short[:, self.row[a]] > 0) | self._in_the_way(seat, macros)
                elif check == "move on":
                    good[:, c] &= self._out_of_reach(seat, a, tiles)
            found.append(good)
        return found

    def _in_the_way(self, seat: int, macros: Array) -> Array:
        """Return (n,) whether a teammate on the same floor is on its way: stepping aside may be worth a fetch."""
        return np.asarray((macros[:, self.book.mates[seat], Macro.ACTION] > self.book.longest_wait).any(1))

    def _out_of_reach(self, seat: int, item: int, tiles: Array) -> Array:
        """Return (n,) whether an item lies where a seat can take it and more teammates could elsewhere."""
        own = [s for s in self.counters if self.book.access[seat][s] in (Access.PRIVATE, Access.SOME)]
        return (tiles[:, own, Tile.ITEM] == item).any(1)

    def _utensils(self, tiles: Array, short: Array) -> tuple[dict[int, Array], dict[int, Array]]:
        """Return by utensil (n, items of the kitchen) what may be put in, and (n,) whether it should be started."""
        puts, starts = {}, {}
        n, n_items = len(tiles), len(self.book.needs_dish)
        for s in self.book.utensils:
            accepts = np.zeros((n, n_items), bool)
            complete, fitting = np.zeros(n, bool), np.zeros(n, bool)
            for item, recipe in self.recipes.items():
                if recipe.kind != self.book.kind[s]:
                    continue
                room, fits = self.contents(tiles, s, recipe)
                fits &= short[:, self.row[item]] > 0
                for part, count in room.items():
                    accepts[:, part] |= fits & (count > 0)
                fitting |= fits
                complete |= fits & (tiles[:, s, Tile.COUNT] == len(recipe.inputs))
            puts[s] = accepts
            starts[s] = complete | ~fitting  # what fits no recipe is started to destroy it
        return puts, starts


class Estimate:
    """Estimates the steps left from what is still to be made and where things are; used to rank nodes only."""

    def __init__(self, order: Order) -> None:
        self.order, self.book = order, order.book
        self.reach = self._reach()
        self.hand = {item: self._by_hops(item) for item in [*order.items, DISH]}

    def _reach(self) -> Array:
        """Tabulate (actions, poses) the steps left of a running action; those at counters take their nearest one."""
        book = self.book
        reach = np.zeros((len(book.rows), book.ways.shape[0]), np.float32)
        for action, (verb, _, group) in enumerate(book.rows):
            if verb in (Verb.CONTINUE, Verb.WAIT):
                continue
            goals = [goal for s in book.members[group] for goal in book.goals[s]]
            reach[action] = book.ways[:, goals].min(1) + 1
        return np.minimum(reach, 30)

    def _by_hops(self, item: int) -> Array:
        """Return by seat the steps from holding an item to having it where it is used."""
        hops = np.min([self.book.hops[key] for key in self.order.consumers(item)], axis=0)
        return 3.0 + 6.0 * np.minimum(hops, 5)

    def __call__(self, agents: Array, macros: Array, tiles: Array, short: Array, dish: Array) -> Array:
        """Return (n,) numbers that order states by how near they are to the delivery."""
        ready, work = self._ready(agents, tiles, short)
        path = ready[:, 0]
        if self.order.plated:
            path = np.maximum(path, np.where(dish, 12.0, 0.0))
            work = work + np.where(dish, 12.0, 0.0)
        return path + WORK_WEIGHT * work - self._credit(agents, macros)

    def _credit(self, agents: Array, macros: Array) -> Array:
        """Count running actions as partly done."""
        running = macros[:, :, Macro.ACTION]
        poses = 4 * agents[:, :, Agent.CELL].astype(np.int64) + agents[:, :, Agent.FACING]
        left = self.reach[np.maximum(running, 0), poses]
        credit = RUNNING_WEIGHT * np.maximum(RUNNING_RANGE - left, 0.0)
        return np.asarray(np.where(running > 0, credit, 0.0).sum(1))

    def _ready(self, agents: Array, tiles: Array, short: Array) -> tuple[Array, Array]:
        """Return (n, items) steps until each is where it is used, and (n,) all work left."""
        order = self.order
        n = len(agents)
        ready = np.zeros((n, len(order.items)), np.float32)
        work = np.zeros(n, np.float32)
        for r in range(len(order.items) - 1, -1, -1):
            item = order.items[r]
            there = self._there(item, agents, tiles)
            recipe = order.recipes.get(item)
            best = float(self.hand[item].min())
            if recipe is None:
                fetch = 3.0 + self._fetch_cost(item)
                missing = np.full(n, fetch, np.float32)
                own = fetch
            else:
                inputs = [order.row[part] for part in recipe.inputs]
                missing = ready[:, inputs].max(1) + 1 + recipe.time + 2 + best
                own = 1.0 + 2 + best
            ready[:, r] = np.where(short[:, r] > 0, missing, there.max(1))
            work += short[:, r] * own + there.sum(1)
        return ready, work

    def _fetch_cost(self, item: int) -> float:
        book = self.book
        seats = [i for i in range(book.n_agents) if book.can_any(i, book.members[Group.INGREDIENTS])]
        return float(self.hand[item][seats].min()) if seats else float(self.hand[item].min())

    def _there(self, item: int, agents: Array, tiles: Array) -> Array:
        """Return (n, places) the steps left for every object of a kind, 0 where there is none."""
        book, cost = self.book, self.hand[item]
        parts = [np.where(agents[:, :, Agent.ITEM] == item, cost, 0.0)]
        near = np.array(
            [3.0 + min(cost[i] for i in range(book.n_agents) if book.can(i, s)) for s in self.order.live[item]]
        )
        parts.append(np.where(tiles[:, self.order.live[item], Tile.ITEM] == item, near, 0.0))
        recipe = self.order.recipes.get(item)
        made = book.utensils_of(recipe.kind) if recipe else []
        if made:
            takers = [min(cost[i] for i in range(book.n_agents) if book.can(i, s)) for s in made]
            left = np.maximum(tiles[:, made, Tile.TIME] - tiles[:, made, Tile.TIMER], 0)
            parts.append(np.where(tiles[:, made, Tile.ITEM] == item, left + 2.0 + np.array(takers), 0.0))
        return np.concatenate(parts, axis=1)


# ------------------------------------------------------------------------------------------- telling states apart


def key_columns(order: Order, agents: Array, macros: Array, tiles: Array) -> Array:
    """Return (n, columns) all that decides how a state goes on, the clock and the names of equal objects left out."""
    book = order.book
    running = macros[:, :, Macro.ACTION]
    verbs = np.array([row[Row.VERB] for row in book.rows])
    waits = (running > 0) & (verbs[np.maximum(running, 0)] == Verb.WAIT)
    columns = [
        agents[:, :, Agent.CELL],
        agents[:, :, Agent.FACING],
        agents[:, :, Agent.ITEM],
        agents[:, :, Agent.PLATED],
        running,
        np.where(waits, macros[:, :, Macro.TIMER], 0),
    ]
    if book.tables.params[Param.STUCK] > 0:
        columns.append(np.where(running > 0, macros[:, :, Macro.STILL], 0))
    lying = tiles[:, order.counters]
    items, placed = lying[:, :, Tile.ITEM], lying[:, :, Tile.PLACED]
    same = (items[:, :, None] == items[:, None, :]) & (items[:, :, None] != NOTHING)
    columns += [items, lying[:, :, Tile.PLATED], (same & (placed[:, None, :] < placed[:, :, None])).sum(2)]
    cooking = tiles[:, book.utensils]
    columns += [cooking[:, :, Tile.ITEM], cooking[:, :, Tile.TIMER]]
    inside = np.sort(cooking[:, :, Tile.CONTENT :], axis=2)
    columns.append(inside.reshape(len(tiles), inside.shape[1] * inside.shape[2]))
    return np.concatenate([column.astype(np.int16) for column in columns], axis=1)


def progress(order: Order, agents: Array, tiles: Array) -> Array:
    """Return (n,) hashes of how far the work has come, wherever the agents and on whichever counters things are."""
    cooking = tiles[:, order.book.utensils]
    inside = np.sort(cooking[:, :, Tile.CONTENT :], axis=2)
    columns = [
        agents[:, :, Agent.ITEM],
        np.sort(tiles[:, order.counters, Tile.ITEM], axis=1),
        cooking[:, :, Tile.ITEM],
        inside.reshape(len(tiles), inside.shape[1] * inside.shape[2]),
    ]
    keys = np.concatenate([column.astype(np.int16) for column in columns], axis=1)
    return _hashes(keys, _odd_numbers(keys.shape[1]))


def _crowd(groups: Array, rank: Array) -> Array:
    """Return (n,) how many of the same group rank before each."""
    by_rank = np.lexsort((rank, groups))
    ordered = groups[by_rank]
    places = np.arange(len(groups))
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    crowd = np.empty(len(groups))
    crowd[by_rank] = places - np.maximum.accumulate(np.where(starts, places, 0))
    return crowd


def _odd_numbers(count: int) -> Array:
    """Return (count,) fixed random odd uint64 factors for hashing."""
    draw = np.random.default_rng(20250501)
    return np.asarray(draw.integers(1 << 63, dtype=np.uint64, size=count) * np.uint64(2) + np.uint64(1))


def _hashes(keys: Array, factors: Array) -> Array:
    """Return (n,) 64-bit hashes of key rows: random multilinear, so that two rows agree with probability 2^-60."""
    mixed = keys.astype(np.uint64) * factors
    return mixed.sum(1, dtype=np.uint64)


# ------------------------------------------------------------------------------------------- the search


class Layer(NamedTuple):
    """Nodes after the same number of steps: small copies of the state arrays, and what may be done in them."""

    agents: Array
    macro_state: Array
    tiles: Array
    orders: Array
    clock: Array
    rng: Array
    masks: tuple[Array, ...]  # by seat (n, columns)
    parents: Array
    actions: Array  # (n, N)
    hashes: Array


class Search:
    """A breadth-first search in time from one state.

    Args:
        game: Compiled game.
        state: Batch; its first environment is the root.
        width: Nodes kept per layer.
        frozen: Seats that are assumed to do nothing but finish what they are at and wait.
    """

    def __init__(self, game: Game, state: Any, width: int, frozen: Iterable[int] = ()) -> None:
        self.game, self.width, self.frozen = game, width, tuple(frozen)
        self.book = cookbook(game)
        self.order = order_of(self.book, int(state.orders[0, 0]))
        self.delivered = int(state.clock[0, Clock.DELIVERED])
        self.pruned = False
        self.nodes = 1
        self.seen = np.zeros(0, np.uint64)
        self.root = self._root(state)

    def _root(self, state: Any) -> Layer:
        small, out = self.game.alloc(1)
        for array, given in zip(small, state, strict=True):
            array[:] = given[:1]
        for seat, columns in enumerate(self.order.columns):
            verdicts = [judge(self.book.tables, small, 0, seat, int(action)) for action in columns.actions]
            out.masks[0, seat, columns.actions] = [verdict == Reason.OK for verdict in verdicts]
        keys = key_columns(self.order, small.agents, small.macro_state, small.tiles)
        self.factors = _odd_numbers(keys.shape[1])
        nobody = np.zeros((1, self.book.n_agents), np.int16)
        return self._layer(small, out, np.zeros(1, np.int32), nobody, np.arange(1))

    def _layer(self, state: Any, out: Any, parents: Array, actions: Array, rows: Array) -> Layer:
        """Copy the chosen rows of a stepped batch."""
        arrays = state.agents, state.macro_state, state.tiles
        agents, macros, tiles = (array[rows].astype(np.int16) for array in arrays)
        return Layer(
            agents,
            macros,
            tiles,
            state.orders[rows],
            state.clock[rows],
            state.rng[rows],
            tuple(
                out.masks[rows, seat][:, columns.actions].astype(bool)
                for seat, columns in enumerate(self.order.columns)
            ),
            parents[rows],
            actions[rows],
            _hashes(key_columns(self.order, agents, macros, tiles), self.factors),
        )

    def run(self, limit: int) -> JointPlan:
        """Search for at most ``limit`` steps."""
        layer, trail = self.root, []
        self.seen = np.sort(layer.hashes)
        for _ in range(limit):
            layer, goal = self._expand(layer)
            trail.append((layer.parents, layer.actions))
            if goal is not None:
                return JointPlan(len(trail), _trace(trail, goal), self._proves(), self.nodes)
            if not len(layer.parents):
                break
        return JointPlan(0, np.zeros((0, self.book.n_agents), np.int32), False, self.nodes)

    def _proves(self) -> bool:
        """Return whether the search was complete; where agents can meet, chance decides and nothing is proved."""
        return not self.pruned and not self.frozen and not self.book.can_meet

    def _expand(self, layer: Layer) -> tuple[Layer, int | None]:
        """Step all useful joint actions; return the next layer and the node that delivered, if one did."""
        rows, actions = self._joint_actions(layer)
        parts: list[Layer] = []
        for start in range(0, len(rows), CHUNK):
            part, goal = self._step(layer, rows[start : start + CHUNK], actions[start : start + CHUNK])
            if goal is not None:
                return part, goal
            parts.append(part)
        children = _joined(parts)
        _, first = np.unique(children.hashes, return_index=True)
        children = _select(children, np.sort(first))
        self.nodes += len(children.parents)
        if len(children.parents) > self.width:
            self.pruned = True
            agents, macros, tiles = children.agents, children.macro_state, children.tiles
            short, dish = self.order.shortage(agents, macros, tiles)
            rank = self.order.estimate(agents, macros, tiles, short, dish)
            rank = rank + CROWDING * _crowd(progress(self.order, agents, tiles), rank)
            children = _select(children, np.argsort(rank, kind="stable")[: self.width])
        self.seen = np.sort(np.concatenate([self.seen, children.hashes]))
        return children, None

    def _joint_actions(self, layer: Layer) -> tuple[Array, Array]:
        """Return (m,) node and (m, N) actions: the product of the seats' choices in every node."""
        useful = self.order.useful(layer.agents, layer.macro_state, layer.tiles, list(layer.masks))
        busy = layer.macro_state[:, :, Macro.ACTION] != NOTHING
        choices, counts = [], []
        for seat, columns in enumerate(self.order.columns):
            good = useful[seat]
            if seat in self.frozen:
                good[:, 1:] = False
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
        return rows, actions

    def _step(self, layer: Layer, rows: Array, actions: Array) -> tuple[Layer, int | None]:
        state, out = self.game.alloc(len(rows))
        for name in ("agents", "macro_state", "tiles", "orders", "clock", "rng"):
            getattr(state, name)[:] = getattr(layer, name)[rows]
        self.game.step(state, actions, out)
        small = actions.astype(np.int16)
        done = np.flatnonzero(state.clock[:, Clock.DELIVERED] > self.delivered)
        if len(done):
            return self._layer(state, out, rows.astype(np.int32), small, done[:1]), 0
        keep = np.arange(len(rows))
        hashes = _hashes(key_columns(self.order, state.agents, state.macro_state, state.tiles), self.factors)
        at = np.minimum(np.searchsorted(self.seen, hashes), len(self.seen) - 1)
        new = self.seen[at] != hashes
        _, first = np.unique(hashes, return_index=True)
        new &= np.isin(keep, first)
        over = state.clock[:, Clock.OVER] == 1
        return self._layer(state, out, rows.astype(np.int32), small, np.flatnonzero(new & ~over)), None


def _joined(parts: list[Layer]) -> Layer:
    if len(parts) == 1:
        return parts[0]
    joined: list[Any] = []
    for name, values in zip(Layer._fields, zip(*parts, strict=True), strict=True):
        if name == "masks":
            joined.append(tuple(np.concatenate(columns) for columns in zip(*values, strict=True)))
        else:
            joined.append(np.concatenate(values))
    return Layer(*joined)


def _select(layer: Layer, rows: Array) -> Layer:
    arrays = {name: getattr(layer, name)[rows] for name in Layer._fields if name != "masks"}
    return Layer(masks=tuple(mask[rows] for mask in layer.masks), **arrays)


def _trace(trail: list[tuple[Array, Array]], node: int) -> Array:
    actions = []
    for parents, chosen in reversed(trail):
        actions.append(chosen[node])
        node = int(parents[node])
    return np.array(actions[::-1], np.int32)


order_of: Callable[[Cookbook, int], Order] = lru_cache(maxsize=256)(Order)  # by kitchen and item, made once


def best_plan(game: Game, state: Any, width: int = WIDTH, frozen: Iterable[int] = ()) -> JointPlan:
    """Search for the earliest delivery of the first order.

    Args:
        game: Compiled Collab-Overcooked with medium-level actions.
        state: Batch whose first environment is where the search starts; not changed.
        width: Nodes kept per time step.
        frozen: Seats that are not counted on.

    Returns:
        The plan; its ``steps`` are 0 if no delivery was found before the time limit.

    Raises:
        ValueError: If the game is another one, or width is below 1.
    """
    whole_number("width", width, 1)
    left = int(state.clock[0, Clock.LIMIT] - state.clock[0, Clock.T])
    if int(state.orders[0, 0]) == NOTHING or state.clock[0, Clock.OVER]:
        return JointPlan(0, np.zeros((0, game.n_agents), np.int32), True, 0)
    return Search(game, state, width, frozen).run(left)


# ------------------------------------------------------------------------------------------- the policy


class Route(NamedTuple):
    """A plan with the states that it passes, by which a seat knows whether the team is still on it."""

    plan: JointPlan
    keys: tuple[bytes, ...]


PLANS: dict[tuple[Any, ...], tuple[Game, Route]] = {}


def state_key(order: Order, state: Any) -> bytes:
    """Return what tells the first state of a batch from others, without its clock."""
    return key_columns(order, state.agents[:1], state.macro_state[:1], state.tiles[:1]).tobytes()


def route(game: Game, state: Any, width: int) -> Route:
    """Plan from a state, or recall the plan; the same state and width always give the same plan."""
    book = cookbook(game)
    item = int(state.orders[0, 0])
    key = state_key(order_of(book, item), state)
    chance = state.rng[0].tobytes() if book.can_meet else b""
    left = int(state.clock[0, Clock.LIMIT] - state.clock[0, Clock.T])
    name = (id(game), item, width, left, key, chance)
    held = PLANS.get(name)
    if held is None or held[0] is not game:
        if len(PLANS) >= PLANS_KEPT:
            PLANS.clear()
        plan = best_plan(game, state, width)
        held = PLANS[name] = (game, Route(plan, tuple(_passed(game, state, plan))))
    return held[1]


def _passed(game: Game, state: Any, plan: JointPlan) -> Iterator[bytes]:
    """Yield the keys of the states in which a plan's actions are taken."""
    order = order_of(cookbook(game), int(state.orders[0, 0]))
    copy, out = game.alloc(1)
    for array, given in zip(copy, state, strict=True):
        array[:] = given[:1]
    for actions in plan.actions:
        yield state_key(order, copy)
        game.step(copy, actions[None].copy(), out)


class PlannerPolicy:
    """Plans for all seats and plays its own part, counting on teammates who do the same.

    All planners of a team find the same plan. When the state is not the planned one, because a teammate did something
    else, the seat plans anew from there when it next has a choice. Where no plan is found it plays greedily.

    Args:
        width: Nodes kept per time step when an order is new.
        replan: Nodes kept when a plan was left.

    Raises:
        ValueError: If a width is below 1.
    """

    needs_simulator = True

    def __init__(self, width: int = WIDTH, replan: int = REPLAN_WIDTH) -> None:
        self.name = "planner"
        self.width, self.replan = whole_number("width", width, 1), whole_number("replan", replan, 1)
        self._greedy = GreedyPolicy()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last plan.

        Raises:
            ValueError: If the game is no Collab-Overcooked with medium-level actions.
        """
        self._book = cookbook(info.game)
        refuse_primitive_seats(info.game, range(info.game.n_agents))
        self._game, self._simulator = info.game, simulator_of(info, self.name)
        self._greedy.reset(seat, info, seed)
        self._route: Route | None = None
        self._start = 0
        self._delivered = -1
        self._last = (b"", 0)  # state at the last decision, and how often in a row it has been the same

    def act(self, seen: Seen) -> int:
        """Return the plan's action for this seat."""
        self._state = self._simulator.state
        if int(self._state.orders[0, 0]) == NOTHING:
            return self._book.wait
        key = state_key(order_of(self._book, int(self._state.orders[0, 0])), self._state)
        same = self._last[1] + 1 if key == self._last[0] else 0
        self._last = (key, same)
        self._follow(seen, key)
        assert self._route is not None
        at = seen.timestep - self._start
        if at >= len(self._route.keys) or same >= STAGNATION:
            return self._greedy.act(seen)
        return int(self._route.plan.actions[at, seen.seat])

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say."""
        return None

    def _follow(self, seen: Seen, key: bytes) -> None:
        """Keep the plan while the game is on it; plan anew otherwise."""
        at = seen.timestep - self._start
        delivered = int(self._state.clock[0, Clock.DELIVERED])
        new_order = delivered != self._delivered
        if not new_order and self._route and at < len(self._route.keys) and self._route.keys[at] == key:
            return
        self._delivered = delivered
        self._start = seen.timestep
        self._route = route(self._game, self._state, self.width if new_order else self.replan)


# ------------------------------------------------------------------------------------------- how fast it can be done


class TableRow(NamedTuple):
    """Best times of a task, in env steps until the delivery.

    Attributes:
        level: Level of the task.
        task: Its name.
        best: Earliest delivery found by the planner; None if none was found.
        proved: Whether nothing earlier exists (see :class:`JointPlan`).
        reference_time: The kitchen's reference time T* plus one, which is what the first reference takes.
        references: Env steps of each reference trajectory; None where it does not lead to a delivery.
    """

    level: int
    task: str
    best: int | None
    proved: bool
    reference_time: int
    references: tuple[int | None, ...]


def planner_table(kitchen: str | Path = "paper", width: int = TABLE_WIDTH) -> list[TableRow]:
    """Find the best time of every task of a kitchen, from its usual start and without its time limit.

    Args:
        kitchen: Shipped kitchen or path of a YAML file.
        width: Nodes kept per time step; the default proves all tasks of the paper's kitchen in some 20 s.
    """
    rows = []
    for task in load_kitchen(kitchen).tasks.values():
        game = load_game("CollabOvercooked-v0", kitchen=kitchen, task=task.name)
        state = start_of(game)
        plan = best_plan(game, state, width)
        steps = tuple(reference_steps(game, number) for number in range(1, len(task.references) + 1))
        best = plan.steps or None
        rows.append(TableRow(task.level, task.name, best, plan.proved, task.reference_time + 1, steps))
    return rows


def start_of(game: Game, seed: int = 0, limit: int = TABLE_LIMIT) -> Any:
    """Return the state at the start of an episode with ``limit`` steps, as a batch of one."""
    state, out = game.alloc(1)
    state.rng[:] = seed_words([seed])
    game.reset(state, out, np.ones(1, np.bool_), None, limit)
    return state


def from_text(text: str) -> PlannerPolicy:
    """Make the policy of a spec such as ``"planner:width=500,replan=50"``; the text is what follows the colon.

    Raises:
        ValueError: For an unknown parameter or a value that is no whole number above 0.
    """
    return PlannerPolicy(**read_numbers("planner", text, ("width", "replan")))
