"""Exact joint search: fewest steps of a team to a goal, by each player's first use of its hands.

Breadth-first over the game's kernels, with primitive actions of both players. A state is pruned only if a lower bound
shows that the goal cannot be reached from it in time; solutions within the limit are optimal, and others take longer.
The bound assumes ideal hands: players stand wherever a thing is put down, and all gates are open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import (
    COUNT_MASK,
    HAND_END,
    MAX_INGREDIENTS,
    NOT_COOKING,
    Action,
    Clock,
    Item,
    Player,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.engine.observation_layout import measure_poses
from collab_overcooked.games.overcooked.engine.spec import number_of
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.policies.search.simulator import empty_fork

Array = np.ndarray
FAR = 1 << 12
CHUNK = 1 << 13  # children stepped at a time
MAX_STATES = 2_500  # of one search; larger ones raise TooLarge
DISPENSERS = {Item.ONION: Terrain.ONIONS, Item.DISH: Terrain.DISHES}
IN_USE = (Terrain.COUNTER, *DISPENSERS.values(), Terrain.POT, Terrain.SERVING, Terrain.GATE)


class First(IntEnum):
    """First use of a player's hands since the start; ``CELL`` + n: used the cell with number n."""

    STILL = 0  # nothing, neither moved nor turned
    MOVED = 1  # nothing
    WAITED = 2  # nothing until the other player's first use of its hands, neither moved nor turned
    CELL = 3


class Goal(IntEnum):
    """Goal of a team."""

    DELIVER = 0
    START = 1  # a pot begins to cook


class TooLarge(Exception):
    """A search has more states than ``MAX_STATES``."""


@dataclass(frozen=True)
class Solution:
    """Solution of a search."""

    best: int  # Fewest steps to the goal
    limit: int  # Steps up to which the search is complete
    times: dict[tuple[int, int], int]  # Fewest steps by the first uses of both players' hands, within the limit

    def of_seat(self, seat: int) -> dict[int, int]:
        """Return the fewest steps by the first use of a player's hands; missing ones take more than the limit."""
        times: dict[int, int] = {}
        for firsts, time in self.times.items():
            times[firsts[seat]] = min(time, times.get(firsts[seat], time))
        return times


class Layer(NamedTuple):
    """States after the same number of steps."""

    state: Any  # States, a batch of n
    firsts: Array  # See ``First``, (n, 2)

    def take(self, rows: Array) -> Layer:
        """Return copies of selected rows."""
        return Layer(type(self.state)(*(array[rows] for array in self.state)), self.firsts[rows])


class JointSearch:
    """Searches in one layout of two players.

    Args:
        game: Compiled game with primitive actions and one layout.
    """

    def __init__(self, game: Any) -> None:
        self.game, tables = game, game.compiled.tables
        self.terrain = tables.terrain[0]
        self.floor = tables.floor[0]
        self.times = tables.times[0]
        self.width = self.terrain.shape[1]
        flat = self.terrain.ravel()
        self.pots = np.flatnonzero(flat == Terrain.POT)
        self.servings = np.flatnonzero(flat == Terrain.SERVING)
        self.counters = np.flatnonzero(flat == Terrain.COUNTER)
        self.sources = {item: np.flatnonzero(flat == terrain) for item, terrain in DISPENSERS.items()}
        ways = measure_poses(self.floor, tables.neighbours[0])
        self.ways: Array = np.where(ways < 0, FAR, ways)
        self.faced, self.useful = self._poses()
        self.carry = self._carry()
        self.after = np.full((flat.size, flat.size), FAR)  # from having taken a thing at a cell to having used it
        np.minimum.at(self.after, self.faced, self.carry)
        self._fork = empty_fork(game, CHUNK)
        numbers = 2 * len(Player) + flat.size * len(Thing) + 2
        self.salt = np.random.default_rng(0).integers(-(2**62), 2**62, numbers) | 1

    def _poses(self) -> tuple[Array, Array]:
        count = 4 * (int(self.floor.max()) + 1)
        faced, useful = np.zeros(count, np.int64), np.ones((count, len(Action)), bool)
        for y, x in np.argwhere(self.floor >= 0).tolist():
            for facing, (dx, dy) in enumerate(OFFSETS):
                pose = 4 * self.floor[y, x] + facing
                row = y + dy
                column = x + dx
                faced[pose] = row * self.width + column
                useful[pose, facing] = self.floor[row, column] >= 0
                useful[pose, Action.INTERACT] = self.terrain[row, column] in IN_USE
        return faced, useful

    def _carry(self) -> Array:
        carry: Array = np.full(self.ways.shape, FAR)
        for target in range(carry.shape[1]):
            steps = self.ways[:, target] + 1
            while True:  # a step hands a thing on to whoever faces the same counter
                nearest = np.full(carry.shape[1], FAR)
                np.minimum.at(nearest, self.faced, steps)
                nearest[np.setdiff1d(np.arange(len(nearest)), self.counters)] = FAR
                shorter = np.minimum(steps, (self.ways + 1 + nearest).min(axis=1))
                if (shorter == steps).all():
                    break
                steps = shorter
            carry[:, target] = steps
        return carry

    def solve(self, scene: Any, goal: Goal, margin: int, longest: int) -> Solution | None:
        """Return the fewest steps to a goal, in total and by the players' first uses, up to ``margin - 1`` steps more.

        Args:
            scene: As ``Overcooked.scene`` returns it.
            goal: Goal of the team.
            margin: First uses missing from the solution take at least this many steps more than the best.
            longest: Maximum depth of the search.

        Returns:
            None if the goal is farther away.
        """
        root, out = self.game.alloc(1)
        self.game.reset(root, out, np.ones(1, np.bool_), {"state": scene})
        root.clock[:, Clock.LIMIT] = 1 << 30
        limit = int(self._bound(root, goal)[0])
        while limit <= longest:
            times = self._search(root, goal, limit)
            if times:
                best = min(times.values())
                return Solution(best, best + margin - 1, self._search(root, goal, best + margin - 1))
            limit += 1
        return None

    def _search(self, root: Any, goal: Goal, limit: int) -> dict[tuple[int, int], int]:
        layer = Layer(root, np.zeros((1, 2), np.int64))
        seen: Array = self._names(layer)
        times: dict[tuple[int, int], int] = {}
        for step in range(1, limit + 1):
            parts = list(self._children(layer, goal, step, limit, times))
            states = (np.concatenate(columns) for columns in zip(*(part.state for part in parts), strict=True))
            layer = Layer(type(root)(*states), np.concatenate([part.firsts for part in parts]))
            if not len(layer.firsts):
                break
            names = self._names(layer)
            fresh = np.unique(names, return_index=True)[1]
            fresh = fresh[~np.isin(names[fresh], seen)]
            seen = np.concatenate([seen, names[fresh]])
            if not len(fresh):
                break
            if len(seen) > MAX_STATES:
                raise TooLarge
            layer = layer.take(fresh)
        return times

    def _children(
        self, layer: Layer, goal: Goal, step: int, limit: int, times: dict[tuple[int, int], int]
    ) -> Iterator[Layer]:
        useful = self.useful[self._pose(layer.state.players)]
        which, *actions = np.nonzero(useful[:, 0, :, None] & useful[:, 1, None, :])
        chosen = np.stack(actions, axis=1).astype(np.int32)
        for start in range(0, len(which), CHUNK):
            before, joint = layer.take(which[start : start + CHUNK]), chosen[start : start + CHUNK]
            fork = self._fork.first(len(joint))
            for target, source in zip(fork.state, before.state, strict=True):
                target[:] = source
            fork.advance(joint)
            firsts = self._firsts(before, fork.state, joint)
            reached = self._reached(goal, before.state, fork.state)
            for pair in np.unique(firsts[reached], axis=0).tolist():
                times.setdefault((pair[0], pair[1]), step)
            in_time = self._bound(fork.state, goal) <= limit - step
            yield Layer(fork.state, firsts).take(np.flatnonzero(~reached & in_time))

    def _firsts(self, before: Layer, state: Any, chosen: Array) -> Array:
        players, cells, firsts = before.state.players, before.state.cells, before.firsts
        faced = self.faced[self._pose(players)]
        hands = slice(Player.HAND, HAND_END)
        used = (players[..., hands] != state.players[..., hands]).any(axis=2)
        rows = np.arange(len(players))[:, None]
        flat = (len(players), -1, len(Thing))
        items = cells.reshape(flat)[rows, faced, Thing.ITEM], state.cells.reshape(flat)[rows, faced, Thing.ITEM]
        empty = players[..., Player.HAND] == Item.NONE
        used |= empty & (items[0] != Item.OPEN) & (items[1] == Item.OPEN)
        used &= chosen == Action.INTERACT
        begins = used & (firsts <= First.MOVED)
        moved = (players[..., : Player.HAND] != state.players[..., : Player.HAND]).any(axis=2)
        later = np.where(moved & (firsts == First.STILL), First.MOVED, firsts)
        later = np.where(begins, First.CELL + faced, later)
        return np.where((later == First.STILL) & begins[:, ::-1], First.WAITED, later)

    def _reached(self, goal: Goal, before: Any, state: Any) -> Array:
        if goal == Goal.DELIVER:
            return np.asarray(state.clock[:, Clock.SCORE] > before.clock[:, Clock.SCORE])
        ticks = [batch.cells.reshape(len(batch.cells), -1, len(Thing))[:, self.pots] for batch in (before, state)]
        idle = (ticks[0][..., Thing.ITEM] == Item.NONE) | (ticks[0][..., Thing.TICK] == NOT_COOKING)
        begun = (ticks[1][..., Thing.ITEM] == Item.SOUP) & (ticks[1][..., Thing.TICK] > NOT_COOKING)
        return np.asarray((idle & begun).any(axis=1))

    def _pose(self, players: Array) -> Array:
        return 4 * self.floor[players[..., Player.Y], players[..., Player.X]] + players[..., Player.FACING]

    def _names(self, layer: Layer) -> Array:
        state, count = layer.state, len(layer.firsts)
        parts = [state.players.reshape(count, -1), state.cells.reshape(count, -1), layer.firsts]
        return np.asarray((np.concatenate(parts, axis=1).astype(np.int64) + 3) @ self.salt)

    def _bound(self, state: Any, goal: Goal) -> Array:
        pose = self._pose(state.players)
        cells = state.cells.reshape(len(state.cells), -1, len(Thing))
        hands = state.players[..., Player.HAND]
        bound = self._to_start if goal == Goal.START else self._to_deliver
        return bound(pose, hands, cells)

    def _arrivals(self, item: int, target: Any, pose: Array, hands: Array, cells: Array) -> tuple[Array, Array]:
        steps = [np.where(hands[:, seat] == item, self.carry[pose[:, seat], target], FAR) for seat in (0, 1)]
        for cell in self.counters:
            lies = cells[:, cell, Thing.ITEM] == item
            if lies.any():
                steps.append(np.where(lies, self.ways[pose, cell].min(axis=1) + 1 + self.after[cell, target], FAR))
        fresh = np.full(len(pose), FAR)
        for cell in self.sources.get(Item(item), ()):
            free = (self.ways[pose, cell] + (hands != Item.NONE)).min(axis=1)
            fresh = np.minimum(fresh, free + 1 + self.after[cell, target])
        return np.stack(steps), fresh

    def _to_start(self, pose: Array, hands: Array, cells: Array) -> Array:
        best = np.full(len(pose), FAR)
        for pot in self.pots:
            things = cells[:, pot]
            filled = np.where(things[:, Thing.SOUP] > 0, (things[:, Thing.SOUP] - 1) % COUNT_MASK + 1, 0)
            open_for = (things[:, Thing.ITEM] == Item.NONE) | (things[:, Thing.TICK] == NOT_COOKING)
            there, fresh = self._arrivals(Item.ONION, pot, pose, hands, cells)
            steps = np.sort(np.stack([*there, *([fresh] * MAX_INGREDIENTS)]), axis=0)
            needed = np.clip(MAX_INGREDIENTS - filled, 1, MAX_INGREDIENTS)
            best = np.minimum(best, np.where(open_for, steps[needed - 1, np.arange(len(pose))], FAR))
        return best

    def _to_deliver(self, pose: Array, hands: Array, cells: Array) -> Array:
        best = np.full(len(pose), FAR)
        for serving in self.servings:
            best = np.minimum(best, self._arrivals(Item.SOUP, serving, pose, hands, cells)[0].min(axis=0))
        for pot in self.pots:
            things = cells[:, pot]
            time = self.times[things[:, Thing.SOUP]]
            full = self.times[number_of([MAX_INGREDIENTS])]
            left = np.where(things[:, Thing.TICK] == NOT_COOKING, full, time - things[:, Thing.TICK])
            left = np.where(things[:, Thing.ITEM] == Item.SOUP, left, full)
            there, fresh = self._arrivals(Item.DISH, pot, pose, hands, cells)
            dish = np.minimum(there.min(axis=0), fresh)
            best = np.minimum(best, np.maximum(left + 1, dish) + self.after[pot, self.servings].min())
        return best
