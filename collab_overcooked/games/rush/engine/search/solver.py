"""Solver of Rush episodes: best plans and proved bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from collab_overcooked.kernels.arrays import allocate
from collab_overcooked.kernels.jit import row_at

from ..constants import NO_ACTION, Clock, Dish, EventColumn, Order, Param
from ..state import State, sizes_of
from ..step import open_kitchen
from .depth_first import search
from .problem import BUDGET, FOUND, GAVE_UP, IMPOSSIBLE, ROWS, TRIAL, Array, Problem, Stack, skip_to_played


@dataclass(frozen=True)
class Solution:
    """Best plan found by a search, and proved bounds."""

    finished: int  # Orders finished once ``plan`` is played, including those finished before
    at_most: int  # Proved upper bound of finished orders
    turns: int  # Turns of the episode begun by the end of the plan
    # Proved lower bound of the turns needed to finish all orders that are not ruined; 0 if not all of them can be
    # finished or this is unknown
    at_least: int
    plan: tuple[tuple[int, ...], ...]  # Action of each seat, one row per slot from the start
    states: int  # States visited by the search

    @property
    def is_proved(self) -> bool:
        """True if no plan finishes more orders, or all of them in fewer turns."""
        return self.finished == self.at_most and self.at_least in (0, self.turns)


class Solver:
    """Finds the best play of some seats in an episode in which all other seats idle.

    Args:
        tables: Compiled tables of the scenario.
        episode: Number of the episode.
        played: (N,) whether the search plays a seat; true for at least one.
        budget: Maximum number of states to visit per call of ``solve``.
    """

    def __init__(self, tables: Any, episode: int, played: Sequence[bool], budget: int = BUDGET) -> None:
        needs, n_ingredients = tables.needs[episode], int(tables.params[Param.N_INGREDIENTS])
        self.problem = Problem(
            tables=tables,
            dishes=tables.dishes[episode],
            needs=needs,
            areas=tables.areas[episode],
            params=tables.params,
            played=np.array(played, np.int32),
            kinds=np.stack([_kinds(needs[:, :n_ingredients]), _kinds(needs[:, n_ingredients:])], axis=1),
        )
        self.budget = budget
        width = len(needs) + 2 + tables.stock[episode].size
        self._known, self._slots = np.zeros((ROWS, width), np.int32), np.zeros(ROWS, np.int32)
        self._room, self._spent = np.zeros(1, np.int32), np.zeros(1, np.int64)

    def solve(self, start: State, hurry: bool = True) -> Solution:
        """Find a plan that finishes as many orders as possible and, if all of them, in as few turns as possible.

        Args:
            start: State of one environment in the episode, without the axis B; it is not changed.
            hurry: Whether turns matter; if False, the first plan for all orders is the result.
        """
        self._slots[:], self._room[0], self._spent[0] = 0, ROWS * 3 // 4, 0  # a plan depends on its start alone
        self._begin(start)
        here = self._here.orders
        exists, done = self.problem.dishes[:, Dish.EXISTS] == 1, here[:, Order.FINISHED] == 1
        wanted = np.flatnonzero(exists & ~done & (here[:, Order.RUINED] == 0)).tolist()
        finished = int(np.sum(exists & done))
        verdict, plan = self._search(wanted, int(start.clock[Clock.LIMIT]), self.budget // 2)
        if verdict == FOUND:
            at_least, plan = self._hasten(wanted, plan) if hurry else (0, plan)
            return self._solution(finished + len(wanted), finished + len(wanted), at_least, plan)
        at_most = finished + len(wanted) if verdict == GAVE_UP else 0
        for count in range(len(wanted) - 1, 0, -1):
            verdict, plan = self._some(wanted, count)
            if verdict == GAVE_UP:
                at_most = at_most or finished + count
            if verdict == FOUND:
                return self._solution(finished + count, at_most or finished + count, 0, plan)
        return self._solution(finished, at_most or finished, 0, [])

    def _begin(self, start: State) -> None:
        slots = max(int(start.clock[Clock.LIMIT] - start.clock[Clock.T]), 0)
        depth = slots * int(self.problem.played.sum()) + 2
        self._stack = Stack(
            states=State(*(np.zeros((depth, *array.shape), array.dtype) for array in start)),
            move=np.zeros(depth, np.int32),
            action=np.zeros(depth, np.int32),
            event=np.zeros(len(EventColumn), np.int32),
            spare=np.zeros(start.stock.shape, np.int32),
            placed=np.zeros(len(start.orders), np.int32),
            key=np.zeros(self._known.shape[1], np.int32),
            known=self._known,
            slots=self._slots,
            room=self._room,
        )
        self._here = row_at(self._stack.states, 0)
        for row, array in zip(self._here, start, strict=True):
            row[:] = array
        skip_to_played(self.problem, self._here, self._stack.event)

    def _search(self, wanted: Sequence[int], end: int, budget: int) -> tuple[int, list[int]]:
        targets = np.zeros(len(self.problem.dishes), np.int32)
        targets[list(wanted)] = 1
        verdict, length = search(self.problem, self._stack, targets, end, self._spent[0] + budget, self._spent)
        return verdict, self._stack.action[:length].tolist()

    def _hasten(self, wanted: Sequence[int], plan: list[int]) -> tuple[int, list[int]]:
        clock, workers = self._here.clock.tolist(), int(self.problem.params[Param.WORKERS])
        at_least = 0
        for turns in range(clock[Clock.TURN] + 1, self._turns(plan)):
            end = clock[Clock.T] - clock[Clock.WORKER] + (turns - clock[Clock.TURN]) * workers
            verdict, faster = self._search(wanted, end, max(self.budget - int(self._spent[0]), 0))
            if verdict == FOUND:
                return at_least or turns, faster
            if verdict == GAVE_UP:
                at_least = at_least or turns
        return at_least or self._turns(plan), plan

    def _some(self, wanted: Sequence[int], count: int) -> tuple[int, list[int]]:
        limit, hands, work = int(self._here.clock[Clock.LIMIT]), len(list(self._decisions())), self._work()
        verdict, known, effort = IMPOSSIBLE, set(), 0
        lightest_first = sorted(wanted, key=lambda o: work[o])
        if sum(work[o] for o in lightest_first[:count]) > hands:
            return IMPOSSIBLE, []
        for chosen in combinations(lightest_first, count):
            effort += 1
            if self._spent[0] + effort > self.budget:
                return GAVE_UP, []
            if sum(work[o] for o in chosen) > hands:
                continue
            kinds = tuple(sorted(self._kind(o) for o in chosen))
            if kinds in known:
                continue
            known.add(kinds)
            effort += TRIAL
            result, plan = self._search(chosen, limit, (self.budget - int(self._spent[0])) // 2)
            if result == FOUND:
                return FOUND, plan
            verdict = min(verdict, result)
        return verdict, []

    def _work(self) -> list[int]:
        orders, dishes = self._here.orders, self.problem.dishes
        done = orders[:, [Order.INGREDIENTS, Order.SPICES, Order.COOKED]].sum(axis=1)
        return [int(work) for work in dishes[:, Dish.COOK_TIME] + 2 - done]

    def _kind(self, o: int) -> tuple[int, ...]:
        row = self._here.orders[o]
        needs = self.problem.kinds[o] * (1 - row[[Order.INGREDIENTS, Order.SPICES]])
        return (*row[: Order.FINISHED].tolist(), *needs.tolist(), int(self.problem.dishes[o, Dish.COOK_TIME]))

    def _decisions(self) -> Iterator[tuple[int, int]]:
        clock, seats = self._here.clock.tolist(), np.flatnonzero(self.problem.played).tolist()
        for slot in range(clock[Clock.LIMIT] - clock[Clock.T]):
            yield from ((slot, seat) for seat in seats if slot > 0 or seat >= clock[Clock.SEAT])

    def _turn(self, slot: int) -> int:
        clock = self._here.clock.tolist()
        return int(clock[Clock.TURN] + (clock[Clock.WORKER] + slot) // self.problem.params[Param.WORKERS])

    def _turns(self, plan: Sequence[int]) -> int:
        last = 0
        for (slot, _), _ in zip(self._decisions(), plan, strict=False):
            last = slot
        return self._turn(last) + 1 if plan else int(self._here.clock[Clock.TURN])

    def _solution(self, finished: int, at_most: int, at_least: int, plan: list[int]) -> Solution:
        return Solution(finished, at_most, self._turns(plan), at_least, self._share_out(plan), int(self._spent[0]))

    def _share_out(self, plan: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        length = self._turns(plan)
        turns: dict[int, list[tuple[int, int]]] = {}
        for slot, seat in self._decisions():
            turn = self._turn(slot)
            if turn >= length:
                break
            turns.setdefault(turn, []).append((slot, seat))
        done, rest, rows = (
            np.zeros(len(self.problem.played), int),
            list(plan),
            np.zeros((0, len(self.problem.played)), int),
        )
        for decisions in turns.values():
            actions = [action for action in rest[: len(decisions)] if action != NO_ACTION]
            rest = rest[len(decisions) :]
            rows = np.concatenate([rows, np.zeros((decisions[-1][0] + 1 - len(rows), rows.shape[1]), int)])
            for (slot, seat), action in zip(_fair(decisions, len(actions), done), actions, strict=True):
                rows[slot, seat] = action
        return tuple(tuple(row) for row in rows.tolist())


def _kinds(rows: Array) -> Array:
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32) + 1


def _fair(decisions: Sequence[tuple[int, int]], count: int, done: Array) -> list[tuple[int, int]]:
    chosen: list[tuple[int, int]] = []
    for _ in range(count):
        free = [decision for decision in decisions if decision not in chosen]
        chosen.append(min(free, key=lambda decision: (done[decision[1]], decision)))
        done[chosen[-1][1]] += 1
    return sorted(chosen)


def start_of(tables: Any, episode: int, limit: int | None = None) -> State:
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
