"""Search for the earliest delivery: joint medium-level plans of Collab-Overcooked, found by beam search.

Every idle agent of a node chooses among its useful accepted actions; equal states are merged, and the best ``width``
nodes by an estimate of the work left are kept. A delivery that is found before anything was dropped is proved to be
the earliest one, among plans without superfluous objects.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.collab_overcooked.engine.constants import NOTHING, Clock
from collab_overcooked.games.collab_overcooked.policies.cookbook import cookbook
from collab_overcooked.games.collab_overcooked.policies.estimate import estimate_of
from collab_overcooked.games.collab_overcooked.policies.node_keys import hash_rows, key_columns, odd_numbers, progress
from collab_overcooked.games.collab_overcooked.policies.order_work import Array, order_of
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.kernels.macro_actions import Macro
from collab_overcooked.policies.search.beam import Beam, Notes, rank_in_group
from collab_overcooked.policies.search.simulator import Fork

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
        self.book = cookbook(root.game)
        self.order = order_of(self.book, int(root.state.orders[0, 0]))
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
            return JointPlan(0, np.zeros((0, self.book.n_agents), np.int32), False, self.nodes)
        return JointPlan(len(result.trail), result.actions_to(result.goal), self._proves(), self.nodes)

    def _proves(self) -> bool:
        return not self.pruned and not self.book.can_meet

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
        """Step by the actions that were chosen."""
        children.step(notes[0])
        return notes[0], ()

    def goal(self, children: Fork) -> int | None:
        """Return the first child that delivered."""
        done = np.flatnonzero(children.state.clock[:, Clock.DELIVERED] > self.delivered)
        return int(done[0]) if len(done) else None

    def sift(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return the first of equal children that are new, with their hashes, progress and rank."""
        state = children.state
        hashes = hash_rows(key_columns(self.order, state), self.factors)
        at = np.minimum(np.searchsorted(self.seen, hashes), len(self.seen) - 1)
        first = np.zeros(len(hashes), bool)
        first[np.unique(hashes, return_index=True)[1]] = True
        rows = np.flatnonzero(first & (self.seen[at] != hashes) & (state.clock[:, Clock.OVER] == 0))
        fresh = type(state)(*(array[rows] for array in state))
        short, dish = self.order.shortage(fresh)
        return rows, (hashes[rows], progress(self.order, fresh), self.estimate(fresh, short, dish))

    def select(self, merits: Notes) -> Array:
        """Return new children, each of equal ones once; where there are too many the best, not too many alike."""
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
