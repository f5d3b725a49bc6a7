"""Search for deliveries in Overcooked: joint plans of errands on the true dynamics.

The search is breadth-first in time: all nodes of a layer have taken the same number of steps. Players without an
errand choose one, a station at which their hands can do something, or none; the moves that errands come to are chosen
together, as by the assigner. A batch of kitchens is then stepped by the game's own kernel, equal nodes are merged,
and those are kept that have earned most, where what is in pots, hands and on counters counts by how far it has come.
Of nodes with the same things in the same places later ones count less, so that the others differ in more.

"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.envs.api import Game, rows
from collab_overcooked.errors import whole_number
from collab_overcooked.games.overcooked.constants import (
    HAND_END,
    NOTHING,
    Action,
    Clock,
    Player,
)
from collab_overcooked.games.overcooked.policies.assignment_arrays import (
    FAR,
    Array,
    Station,
    make_scratch,
)
from collab_overcooked.games.overcooked.policies.distances import fill_field
from collab_overcooked.games.overcooked.policies.errands import (
    ERRANDS,
    JOINT,
    act_on_errands,
    end_errands,
    make_children,
)
from collab_overcooked.games.overcooked.policies.greedy import assigner
from collab_overcooked.games.overcooked.policies.node_values import appraise
from collab_overcooked.games.overcooked.step import step_batch
from collab_overcooked.policies.api import EnvInfo, Message, Seen, simulator_of
from collab_overcooked.policies.registry import read_numbers

WIDTH = 1000  # nodes kept for a whole episode
REPLAN_WIDTH = 60  # nodes kept when a teammate left the plan
REPLAN_STEPS = 40  # steps that such a plan looks ahead
REPLAN_EVERY = 4  # steps between two of them
GROWTH = 6  # children made of a layer, as a multiple of the width
PLANS_KEPT = 256
CROWDING = 6  # less for each better node with the same things in the same places


class Plan(NamedTuple):
    """Joint primitive actions and what they earn.

    Attributes:
        actions: int32 (steps, N).
        expected: Players and cells before each step, to notice when somebody left the plan.
        score: Earned at the end.
    """

    actions: Array
    expected: list[bytes]
    score: int


class Search:
    """Finds joint plans for one game; remembers them, as every seat asks for the same one.

    Args:
        game: Compiled Overcooked with primitive actions.
        width: Nodes kept per layer.
    """

    def __init__(self, game: Game, width: int) -> None:
        self.assigner = assigner(game)
        self.game, self.width = game, width
        static, n = self.assigner.static, game.n_agents
        most = max(GROWTH * width, JOINT)
        self._nodes, _ = game.alloc(width)
        self._state, self._out = game.alloc(most)
        self._parents = np.zeros(most, np.int32)
        self._chosen = np.zeros((most, n), np.int32)
        self._actions = np.zeros((most, n), np.int32)
        self._worth = np.zeros(most, np.int64)
        self._options = np.zeros((n, ERRANDS + 1), np.int32)
        self._scratch = make_scratch(static, n)
        self._trust = np.ones(n, np.int32)
        self._ways = self._all_ways()
        numbers = np.random.default_rng(0).integers(-(2**62), 2**62, 8 * n + self._state.cells[0].size)
        self._salt = numbers | 1
        self._plans: dict[tuple[bytes, int], Plan] = {}

    def _all_ways(self) -> Array:
        """Return the steps to all stations from all cells, all gates open, (K, S, F)."""
        static, tables = self.assigner.static, self.assigner.tables
        ways = np.full((*static.stations.shape[:2], static.gates.shape[1]), FAR, np.int32)
        passable, queue = np.ones(ways.shape[2], np.int32), np.zeros(ways.shape[2], np.int32)
        for k, s in np.argwhere(static.stations[..., Station.TERRAIN] != NOTHING).tolist():
            fill_field(static.stands[k, s], tables.neighbours[k], passable, ways[k, s], queue)
        return ways

    def plan(self, start: Any, steps: int) -> Plan:
        """Return the best joint plan found.

        Args:
            start: State as a batch of one.
            steps: Length of the plan.
        """
        key = moment(start) + start.clock[0].tobytes(), steps
        if key not in self._plans:
            while len(self._plans) >= PLANS_KEPT:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = self._search(start, steps)
        return self._plans[key]

    def _search(self, start: Any, steps: int) -> Plan:
        nodes = rows(self._nodes, 0, 1)
        for array, given in zip(nodes, start, strict=True):
            array[:] = given
        nodes.clock[:, Clock.OVER] = 0
        nodes.clock[:, Clock.LIMIT] = 1 << 30
        goals = np.full((1, self.game.n_agents), NOTHING, np.int32)
        blocked = np.zeros_like(goals)
        trail: list[tuple[Array, Array]] = []
        for _ in range(steps):
            children, goals, blocked, parents, actions = self._grow(nodes, goals, blocked)
            kept = self._keep(children, goals)
            trail.append((parents[kept], actions[kept]))
            goals, blocked = goals[kept], blocked[kept]
            nodes = rows(self._nodes, 0, len(kept))
            for array, grown in zip(nodes, children, strict=True):
                array[:] = grown[kept]
        best = int(np.argmax(nodes.clock[:, Clock.SCORE]))  # nodes are sorted by worth: the first of equal ones
        score, actions_back = int(nodes.clock[best, Clock.SCORE]), []
        for parents, actions in reversed(trail):
            actions_back.append(actions[best])
            best = int(parents[best])
        joint = np.array(actions_back[::-1], np.int32)
        return Plan(joint, self._replay(start, joint), score)

    def _grow(self, nodes: Any, goals: Array, blocked: Array) -> tuple[Any, Array, Array, Array, Array]:
        """Step all children of a layer."""
        tables, static = self.assigner.tables, self.assigner.static
        count = make_children(
            tables,
            static,
            self._ways,
            nodes.players,
            nodes.cells,
            nodes.clock,
            goals,
            self._options,
            self._parents,
            self._chosen,
        )
        children, out = rows(self._state, 0, count), rows(self._out, 0, count)
        parents, chosen, actions = self._parents[:count], self._chosen[:count], self._actions[:count]
        for array, source in zip(children, nodes, strict=True):
            array[:] = source[parents]
        own_blocked = blocked[parents]
        act_on_errands(
            tables,
            static,
            children.players,
            children.cells,
            children.clock,
            chosen,
            own_blocked,
            self._trust,
            self._scratch,
            actions,
        )
        before = children.players.copy()
        step_batch(tables, children, actions, out)
        end_errands(
            tables, static, children.players, before, children.cells, children.clock, actions, chosen, own_blocked
        )
        return children, chosen, own_blocked, parents, actions

    def _keep(self, children: Any, goals: Array) -> Array:
        """Return the children to go on with, best first: each of equal ones once, and not too many alike."""
        worth = self._worth[: len(goals)]
        appraise(
            self.assigner.tables,
            self.assigner.static,
            self._ways,
            children.players,
            children.cells,
            children.clock,
            goals,
            worth,
        )
        hands = children.players[:, :, Player.HAND : HAND_END].reshape(len(goals), -1)
        places = children.players[:, :, : Player.HAND].reshape(len(goals), -1)
        things = np.concatenate([children.cells.reshape(len(goals), -1), hands], axis=1).astype(np.int64)
        rest = np.concatenate([places, goals], axis=1).astype(np.int64)
        alike = (things + 2) @ self._salt[: things.shape[1]]
        whole = alike + (rest + 2) @ self._salt[-rest.shape[1] :]
        order = np.argsort(-worth, kind="stable")
        order = order[np.sort(np.unique(whole[order], return_index=True)[1])]
        worth = worth[order] - CROWDING * _rank_among_equals(alike[order])
        return order[np.argsort(-worth, kind="stable")[: self.width]]

    def _replay(self, start: Any, actions: Array) -> list[bytes]:
        """Return the moments before each step of a plan."""
        state, out = self.game.alloc(1)
        for array, given in zip(state, start, strict=True):
            array[:] = given
        moments = []
        for joint in actions:
            moments.append(moment(state))
            step_batch(self.assigner.tables, state, joint[None], out)
        return moments


def moment(state: Any) -> bytes:
    """Return players and cells of environment 0, which tell whether a plan is being followed."""
    return state.players[0].tobytes() + state.cells[0].tobytes()


def _rank_among_equals(keys: Array) -> Array:
    """Return for each key how many equal ones come before it."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    first = np.flatnonzero(np.r_[True, sorted_keys[1:] != sorted_keys[:-1]])
    starts = np.repeat(first, np.diff(np.r_[first, len(keys)]))
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys)) - starts
    return ranks


search: Callable[[Any, int], Search] = lru_cache(maxsize=8)(Search)  # by game and width


class PlannerPolicy:
    """Plans the whole episode for all seats and plays its own part, counting on teammates who do the same.

    Where a teammate does something else, a short plan is made from there, and again every few steps.

    Args:
        width: Nodes kept per step of the plan for an episode.
        replan: Nodes kept when a plan was left.

    Raises:
        ValueError: If a width is below 1.
    """

    needs_simulator = True

    def __init__(self, width: int = WIDTH, replan: int = REPLAN_WIDTH) -> None:
        self.name = "planner"
        self.width, self.replan = whole_number("width", width, 1), whole_number("replan", replan, 1)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last plan.

        Raises:
            ValueError: If the game is no Overcooked with primitive actions.
        """
        assigner(info.game)  # refuses other games
        if info.game.n_actions != len(Action):
            raise ValueError("policy 'planner' plays Overcooked with action_level='primitive' only")
        self._game, self._simulator = info.game, simulator_of(info, self.name)
        self._plan: Plan | None = None
        self._start = 0

    def act(self, seen: Seen) -> int:
        """Return the plan's action for this seat."""
        if seen.error is not None:  # a teammate did something else; nothing can be done about it in this step
            return seen.idle_action
        state = self._simulator.state
        left = int(state.clock[0, Clock.LIMIT] - state.clock[0, Clock.T])
        if self._plan is None:
            self._plan, self._start = search(self._game, self.width).plan(state, left), seen.timestep
        at = seen.timestep - self._start
        followed = at < len(self._plan.actions) and self._plan.expected[at] == moment(state)
        if not followed and (at >= len(self._plan.actions) or at % REPLAN_EVERY == 0):
            mind = search(self._game, self.replan)
            self._plan, self._start, at = mind.plan(state, min(REPLAN_STEPS, left)), seen.timestep, 0
        return int(self._plan.actions[at, seen.seat])

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say."""
        return None


def from_text(text: str) -> PlannerPolicy:
    """Make the policy of a spec such as ``"planner:width=500,replan=50"``; the text is what follows the colon.

    Raises:
        ValueError: For an unknown parameter or a value that is no whole number above 0.
    """
    return PlannerPolicy(**read_numbers("planner", text, ("width", "replan")))
