"""Best play of Rush: the exact search plans for all seats of a kind, and each of them plays its part.

The search runs at the start and whenever the game is not where the plan led, because somebody else acted or an action
was refused. It does not count on seats of another kind; what these have done is in the moment that it starts from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.games.rush.engine.constants import NO_ACTION, Clock
from collab_overcooked.games.rush.engine.search import Solution, Solver
from collab_overcooked.games.rush.policies.greedy import check_game, useful_action
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.search.simulator import Fork

BUDGET = 100_000  # states that a search may look at
ROOM = 10_000  # moments that a planner remembers

Row = tuple[int, ...]
Habit = Callable[[Fork, int], int]  # moment, seat -> action


class Planner:
    """Decides for some seats together; remembers where its plans lead, as each of the seats asks."""

    def __init__(self, game: Any, own: tuple[bool, ...]) -> None:
        self._game, self._own = game, own
        self._solvers: dict[int, Solver] = {}
        self._known: dict[bytes, Row] = {}

    def decide(self, moment: Fork) -> Row:
        """Return the action of each seat; NO_ACTION for those that are not planned for."""
        key = _key(moment.state)
        if key not in self._known:
            if len(self._known) > ROOM:
                self._known.clear()
            self._plan(moment.repeat([0]))
        return self._known[key]

    def _plan(self, moment: Fork) -> None:
        """Search from a moment on, and note what to do there and wherever that leads. Mutates: moment."""
        solution = self._solve(moment.state)
        plan = solution.plan or (self._fallback(moment, solution),)
        for row in plan:
            self._known[_key(moment.state)] = row
            moment.step(np.array([row], np.int32))

    def _solve(self, state: Any) -> Solution:
        episode = int(state.clock[0, Clock.EPISODE])
        if episode not in self._solvers:
            self._solvers[episode] = Solver(self._game.compiled.tables, episode, self._own, BUDGET)
        return self._solvers[episode].solve(state.orders[0], state.stock[0], state.spaces[0], state.clock[0])

    def _fallback(self, moment: Fork, solution: Solution) -> Row:
        """Return what to do without a plan: nothing if nothing can be finished, else what is useful at once."""
        ahead, actions = moment.repeat([0]), np.zeros((1, len(self._own)), np.int32)
        for seat in range(self._game.seat_to_act(ahead.state, 0), len(self._own)):
            if self._own[seat] and not solution.is_proved:
                actions[0, seat] = useful_action(self._game, ahead.state)
            ahead.act_seat(actions)
        return tuple(actions[0].tolist())


def _key(state: Any) -> bytes:
    """Name a moment."""
    return b"".join(array.tobytes() for array in (state.orders, state.stock, state.spaces, state.clock))


planner: Callable[[Any, tuple[bool, ...]], Planner] = lru_cache(maxsize=8)(Planner)  # by game and seats, made once


def do_nothing(moment: Fork, seat: int) -> int:
    """The habit of doing nothing."""
    return NO_ACTION


def be_useful(moment: Fork, seat: int) -> int:
    """The habit of doing what is useful at once."""
    return useful_action(moment.game, moment.state)


def work_alone(moment: Fork, seat: int) -> int:
    """The habit of playing the best plan of an agent whom nobody helps."""
    game = moment.game
    return planner(game, tuple(other == seat for other in range(game.n_agents))).decide(moment)[seat]


HABITS: tuple[Habit, ...] = (work_alone, be_useful, do_nothing)  # the first ones are expected first: see _expect


class PlannerPolicy(Silent):
    """Plays the best plan for all seats of its kind; as many orders as can be, and all of them in the fewest turns.

    Seats of another kind that act before it in the same slot could take away what it is going to use, or make of its
    cooking one too many. It expects of them what agrees best with what they have done in this episode so far: nothing,
    what is useful at once, or the best plan of one who works alone; and it does nothing that would ruin an order if
    they did another of these.
    """

    name = "planner"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Find out for whom to plan.

        Raises:
            ValueError: If the game is not one of Rush.
        """
        check_game(self.name, info.game)
        self._game: Any = info.game
        self._simulator = simulator_of(info, self.name)
        self._own = self.seats(seat, info.team)
        self._planner = planner(info.game, self._own)
        self._hits = [0] * len(HABITS)  # slots in which each habit of the others explains what came of it
        self._expected: list[bytes] = []  # the moments that each habit would have led to

    def seats(self, seat: int, team: tuple[str, ...]) -> tuple[bool, ...]:
        """Return which seats of a team a plan is for."""
        return tuple(name == team[seat] for name in team)

    def act(self, seen: Seen) -> int:
        """Return this seat's part of the plan."""
        if seen.error is not None:  # a teammate was faster
            return NO_ACTION
        moment = self._simulator.fork(1, 0)  # nothing is drawn in an episode, so that any seed will do
        if all(self._own):
            return self._planner.decide(moment)[seen.seat]
        if self._expected:
            key = _key(moment.state)
            self._hits = [n + (key == expected) for n, expected in zip(self._hits, self._expected, strict=True)]
        return self._expect(moment)[seen.seat]

    def _expect(self, moment: Fork) -> list[int]:
        """Return a plan for a slot beside others, and note where each of their habits would lead.

        Of habits that explain equally much, busy ones come first: an action that was refused because somebody else did
        the same looks, from the next moment, as if only oneself had acted.
        """
        for h in sorted(range(len(HABITS)), key=lambda h: -self._hits[h]):
            plan, _ = self._foresee(moment, HABITS[h])
            afters = [self._foresee(moment, habit, plan)[1] for habit in HABITS]
            if all(after.clock[0, Clock.RUINED] == moment.state.clock[0, Clock.RUINED] for after in afters):
                break
        else:
            plan = [NO_ACTION] * len(self._own)
            afters = [self._foresee(moment, habit, plan)[1] for habit in HABITS]
        self._expected = [_key(after) for after in afters]
        return plan

    def _foresee(self, moment: Fork, habit: Habit, plan: list[int] | None = None) -> tuple[list[int], Any]:
        """Return the actions of a slot if others act by a habit, and the state after it.

        Args:
            moment: The moment before.
            habit: Of seats of another kind.
            plan: What the own seats do; planned as they come if None.
        """
        ahead, actions = moment.repeat([0]), np.zeros((1, len(self._own)), np.int32)
        for seat in range(self._game.seat_to_act(ahead.state, 0), len(self._own)):
            if not self._own[seat]:
                actions[0, seat] = habit(ahead, seat)
            else:
                actions[0, seat] = plan[seat] if plan else self._planner.decide(ahead)[seat]
            ahead.act_seat(actions)
        ahead.step(actions)
        return actions[0].tolist(), ahead.state
