"""Policies of Rush: greedy ones, and a beam search that plans jointly for all seats that use it.

Greedy play takes the first useful action for the order with the least work left. It ruins nothing, but takes goods
wherever it finds them first, so that scarce goods may be missing for other orders.

The search runs at the start and whenever the state differs from the planned one, because another policy acted or an
action was refused. It assumes that seats of other policies do nothing from the current state on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, simulator_of
from collab_overcooked.policies.search.simulator import Fork

from ..engine.constants import NO_ACTION, Area, Clock, Dish, Kind, Order
from ..engine.rules import would_ruin
from ..engine.search import BeamSearch

GAMES = ("KitchenRush-v0", "AlienRush-v0")
FIRST = (Kind.PANTRY, Kind.STOVE, Kind.SPICEBAG)  # priority of actions for an order


def check_game(name: str, game: FullGame) -> None:
    """Reject games that are neither Kitchen Rush nor Alien Rush."""
    if game.id not in GAMES:
        raise ValueError(f"policy {name!r} plays {' and '.join(GAMES)} only, not {game.id}")


def useful_action(game: Any, state: Any) -> int:
    """Return a valid action that ruins nothing, for the order with the least work left; NO_ACTION if there is none."""
    tables, episode = game.compiled.tables, int(state.clock[0, Clock.EPISODE])
    dishes = tables.dishes[episode]
    areas = tables.areas[episode]
    orders = state.orders[0]
    work = dishes[:, Dish.COOK_TIME] - orders[:, [Order.INGREDIENTS, Order.SPICES, Order.COOKED]].sum(axis=1)
    useful = []
    for action in game.valid_actions(state, 0):
        if action != NO_ACTION:
            at, order = game.compiled.parts(action)
            is_open = not orders[order, [Order.FINISHED, Order.RUINED]].any()  # mask="paper" allows all orders
            if is_open and not would_ruin(orders[order], dishes[order], areas[at]):
                useful.append((int(work[order]), order, FIRST.index(areas[at, Area.KIND]), action))
    return min(useful)[-1] if useful else NO_ACTION


class GreedyPolicy(PolicyBase):
    """Works on the order with the least work left, after what the seats before it have chosen or will choose.

    It reads their choices where it is told, and simulates the greedy ones among them elsewhere.
    """

    name = "greedy"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        check_game(self.name, info.game)
        self._game: Any = info.game
        self._simulator = simulator_of(info, self.name)
        self._mates = [name == info.team[seat] for name in info.team]
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def act(self, seen: AgentView) -> int:
        """Return a useful action for the state after the earlier seats have acted."""
        fork, chosen = self._simulator.fork(1, 0), dict(seen.earlier)
        for seat in range(self._game.seat_to_act(fork.state, 0), seen.seat):
            if seat in chosen:
                self._actions[0, seat] = self._game.parse(chosen[seat], fork.state)
            else:
                self._actions[0, seat] = useful_action(self._game, fork.state) if self._mates[seat] else NO_ACTION
            fork.act_seat(self._actions)
        return useful_action(self._game, fork.state)


ROOM = 10_000  # states whose actions a planner remembers

Row = tuple[int, ...]


class Planner:
    """Plans jointly for some seats; caches the states along its plans, as each of the seats asks separately.

    The plan that leads to a state decides what follows there, so that an episode has a planner of its own.
    """

    def __init__(self, game: Any, planned: tuple[bool, ...]) -> None:
        self._game, self._planned = game, planned
        self._searches: dict[int, BeamSearch] = {}
        self._known: dict[bytes, Row] = {}
        self._alone: dict[int, Planner] = {}

    def alone(self, seat: int) -> Planner:
        """Return the planner of the same episode for one seat without help."""
        if seat not in self._alone:
            self._alone[seat] = Planner(self._game, tuple(other == seat for other in range(len(self._planned))))
        return self._alone[seat]

    def decide(self, fork: Fork) -> Row:
        """Return the action of each seat; NO_ACTION for seats that are not planned for."""
        key = _key(fork.state)
        if key not in self._known:
            if len(self._known) > ROOM:
                self._known.clear()
            self._plan(fork.repeat([0]))
        return self._known[key]

    def _plan(self, fork: Fork) -> None:
        episode = int(fork.state.clock[0, Clock.EPISODE])
        if episode not in self._searches:
            self._searches[episode] = BeamSearch(self._game.compiled.tables, episode, self._planned)
        nothing = (NO_ACTION,) * len(self._planned)
        for row in self._searches[episode].search(row_at(fork.state, 0)).plan or (nothing,):
            self._known[_key(fork.state)] = row
            fork.step(np.array([row], np.int32))


def _key(state: Any) -> bytes:
    return b"".join(array.tobytes() for array in (state.orders, state.stock, state.spaces, state.clock))


class Episodes:
    """Gives the seats of an episode the same planner; a seat that begins again begins another episode."""

    def __init__(self, game: Any, planned: tuple[bool, ...], env: int) -> None:
        self._game, self._planned = game, planned
        self._begun: set[int] = set()

    def begin(self, seat: int) -> Planner:
        """Return the planner of the episode that a seat begins."""
        if seat in self._begun or not self._begun:
            self._begun = set()
            self._planner = Planner(self._game, self._planned)
        self._begun.add(seat)
        return self._planner


episodes: Callable[[Any, tuple[bool, ...], int], Episodes] = lru_cache(maxsize=8)(Episodes)  # by game, seats and env

Habit = Callable[[Planner, Fork, int], int]  # planner of the episode, fork, seat -> action


def do_nothing(planner: Planner, fork: Fork, seat: int) -> int:
    """Habit: do nothing."""
    return NO_ACTION


def be_useful(planner: Planner, fork: Fork, seat: int) -> int:
    """Habit: take a useful action."""
    return useful_action(fork.game, fork.state)


def work_alone(planner: Planner, fork: Fork, seat: int) -> int:
    """Habit: play the best plan of an agent without help."""
    return planner.alone(seat).decide(fork)[seat]


HABITS: tuple[Habit, ...] = (work_alone, be_useful, do_nothing)  # in the order in which _expect tries them


class PlannerPolicy(PolicyBase):
    """Plays the best joint plan that a beam search finds: many orders and, if all, few turns.

    Seats of other policies that act earlier in the same slot could take the goods that it needs, or cook an order that
    it is about to cook. It predicts them by the habit that best explains their actions in this episode so far (doing
    nothing, useful actions, or the best plan for one agent alone), and takes no action that would ruin an order under
    another of these habits.
    """

    name = "planner"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        check_game(self.name, info.game)
        self._game: Any = info.game
        self._simulator = simulator_of(info, self.name)
        self._planned = self.seats(seat, info.team)
        self._planner = episodes(info.game, self._planned, self._simulator.env).begin(seat)
        self._hits = [0] * len(HABITS)  # slots that each habit of the other seats explains
        self._expected: list[bytes] = []  # key of the state that each habit predicts

    def seats(self, seat: int, team: tuple[str, ...]) -> tuple[bool, ...]:
        """Return which seats of a team are planned for."""
        return tuple(name == team[seat] for name in team)

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:  # a teammate was faster
            return NO_ACTION
        fork = self._simulator.fork(1, 0)  # episodes are deterministic, so any seed works
        if all(self._planned):
            return self._planner.decide(fork)[seen.seat]
        if self._expected:
            key = _key(fork.state)
            self._hits = [n + (key == expected) for n, expected in zip(self._hits, self._expected, strict=True)]
        return self._expect(fork)[seen.seat]

    def _expect(self, fork: Fork) -> list[int]:
        """Return a plan for a slot with other policies, and store the state predicted by each of their models.

        Among habits that explain equally many slots, active ones come first: if a teammate's action was refused because
        this seat did the same, the next state looks as if only this seat had acted.
        """
        for h in sorted(range(len(HABITS)), key=lambda h: -self._hits[h]):
            plan, _ = self._foresee(fork, HABITS[h])
            afters = [self._foresee(fork, habit, plan)[1] for habit in HABITS]
            if all(after.clock[0, Clock.RUINED] == fork.state.clock[0, Clock.RUINED] for after in afters):
                break
        else:
            plan = [NO_ACTION] * len(self._planned)
            afters = [self._foresee(fork, habit, plan)[1] for habit in HABITS]
        self._expected = [_key(after) for after in afters]
        return plan

    def _foresee(self, fork: Fork, habit: Habit, plan: list[int] | None = None) -> tuple[list[int], Any]:
        ahead, actions = fork.repeat([0]), np.zeros((1, len(self._planned)), np.int32)
        for seat in range(self._game.seat_to_act(ahead.state, 0), len(self._planned)):
            if not self._planned[seat]:
                actions[0, seat] = habit(self._planner, ahead, seat)
            else:
                actions[0, seat] = plan[seat] if plan else self._planner.decide(ahead)[seat]
            ahead.act_seat(actions)
        ahead.step(actions)
        return actions[0].tolist(), ahead.state


class SelfishPolicy(PlannerPolicy):
    """The first seat that uses this policy plays the best plan for one agent alone; the others do nothing.

    Source: section 5 of the paper.
    """

    name = "selfish"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._works = self.seats(seat, info.team)[seat]

    def seats(self, seat: int, team: tuple[str, ...]) -> tuple[bool, ...]:
        first = team.index(team[seat])
        return tuple(other == first for other in range(len(team)))

    def act(self, seen: AgentView) -> int:
        return super().act(seen) if self._works else NO_ACTION
