"""Search for deliveries in Overcooked: joint plans of errands, found by beam search.

Players without an errand choose one, a station at which their hands can do something, or none; the moves that errands
come to are chosen together, as in ``task_assignment``. Equal nodes are merged, and those are kept that have earned
most, where what is in pots, hands and on counters counts by how far it has come. Of nodes with the same things in the
same places later ones count less, so that the others differ in more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.overcooked.engine.constants import HAND_END, NOTHING, Action, Clock, Player
from collab_overcooked.games.overcooked.policies.assignment_arrays import FAR, Array, Station, make_scratch
from collab_overcooked.games.overcooked.policies.distances import fill_field
from collab_overcooked.games.overcooked.policies.errands import (
    ERRANDS,
    JOINT,
    act_on_errands,
    appraise,
    end_errands,
    make_children,
)
from collab_overcooked.games.overcooked.policies.greedy import assigner
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.kernels.macro_actions import PRIMITIVE
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.search.beam import Beam, Notes, rank_in_group
from collab_overcooked.policies.search.plan_search import Plan, PlanMemory, name_states
from collab_overcooked.policies.search.simulator import Fork, Simulator

WIDTH = 1000  # nodes kept for a whole episode
REPLAN_WIDTH = 60  # nodes kept when a teammate left the plan
REPLAN_STEPS = 40  # steps that such a plan looks ahead
REPLAN_EVERY = 4  # steps between two of them
GROWTH = 6  # children made of a layer, as a multiple of the width
PLANS_KEPT = 256
CROWDING = 6  # less for each better node with the same things in the same places


class Search:
    """Finds joint plans for one game; remembers them, as every seat asks for the same one."""

    def __init__(self, game: FullGame, width: int) -> None:
        self.assigner, self.width, self.n = assigner(game), width, game.n_agents
        most = max(GROWTH * width, JOINT)
        self._beam = Beam(game, width, most)
        self._parents = np.zeros(most, np.int32)
        self._chosen = np.zeros((most, self.n), np.int32)
        self._options = np.zeros((self.n, ERRANDS + 1), np.int32)
        self._scratch = make_scratch(self.assigner.static, self.n)
        self._trust = np.ones(self.n, np.int32)
        self._ways = self._all_ways()
        cells = game.alloc(1)[0].cells[0].size
        self._salt = np.random.default_rng(0).integers(-(2**62), 2**62, 8 * self.n + cells) | 1
        self._plans = PlanMemory(PLANS_KEPT)

    def _all_ways(self) -> Array:
        static, tables = self.assigner.static, self.assigner.tables
        ways = np.full((*static.stations.shape[:2], static.gates.shape[1]), FAR, np.int32)
        passable, queue = np.ones(ways.shape[2], np.int32), np.zeros(ways.shape[2], np.int32)
        for k, s in np.argwhere(static.stations[..., Station.TERRAIN] != NOTHING).tolist():
            fill_field(static.stands[k, s], tables.neighbours[k], passable, ways[k, s], queue)
        return ways

    def plan(self, root: Fork, steps: int) -> Plan:
        """Return the best joint plan found."""
        key = state_key(root.state) + root.state.clock[0].tobytes(), steps
        plan: Plan = self._plans.recall(key, lambda: self._search(root, steps))
        return plan

    def _search(self, root: Fork, steps: int) -> Plan:
        start = root.repeat([0])
        start.state.clock[:, Clock.OVER] = 0
        start.state.clock[:, Clock.LIMIT] = 1 << 30
        goals = np.full((1, self.n), NOTHING, np.int32)
        result = self._beam.search(self, start, (goals, np.zeros_like(goals)), steps)
        scores = result.nodes.state.clock[:, Clock.SCORE]
        best = int(np.argmax(scores))  # nodes are sorted by worth: the first of equal ones
        actions = result.actions_to(best)
        return Plan(actions, name_states(root, actions, state_key), int(scores[best]))

    def expand(self, nodes: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Players without an errand choose one; notes are the errands and for how long players have been blocked."""
        goals, blocked = notes
        state = nodes.state
        count = make_children(
            self.assigner.tables,
            self.assigner.static,
            self._ways,
            state.players,
            state.cells,
            state.clock,
            goals,
            self._options,
            self._parents,
            self._chosen,
        )
        parents = self._parents[:count]
        return parents, (self._chosen[:count], blocked[parents])

    def advance(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Step towards the errands, and end those that are done."""
        tables, static, state = self.assigner.tables, self.assigner.static, children.state
        goals, blocked = notes
        actions, before = np.zeros_like(goals), state.players.copy()
        trust, scratch = self._trust, self._scratch
        act_on_errands(tables, static, before, state.cells, state.clock, goals, blocked, trust, scratch, actions)
        children.advance(actions)
        end_errands(tables, static, state.players, before, state.cells, state.clock, actions, goals, blocked)
        return actions, notes

    def goal(self, children: Fork) -> int | None:
        """Return no goal: search up to the last step."""
        return None

    def sift(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return all children with their worth, and hashes of the things and of the full state."""
        goals, state = notes[0], children.state
        worth = np.zeros(len(goals), np.int64)
        static = self.assigner.static
        appraise(self.assigner.tables, static, self._ways, state.players, state.cells, state.clock, goals, worth)
        hands = state.players[:, :, Player.HAND : HAND_END].reshape(len(goals), -1)
        places = state.players[:, :, : Player.HAND].reshape(len(goals), -1)
        things = np.concatenate([state.cells.reshape(len(goals), -1), hands], axis=1).astype(np.int64)
        rest = np.concatenate([places, goals], axis=1).astype(np.int64)
        alike = (things + 2) @ self._salt[: things.shape[1]]
        full = alike + (rest + 2) @ self._salt[-rest.shape[1] :]
        return np.arange(len(goals)), (worth, alike, full)

    def select(self, merits: Notes) -> Array:
        """Return the best nodes first, without duplicates and with a penalty for similar ones."""
        worth, alike, full = merits
        order = np.argsort(-worth, kind="stable")
        order = order[np.sort(np.unique(full[order], return_index=True)[1])]
        worth = worth[order] - CROWDING * rank_in_group(alike[order], -worth[order])
        return order[np.argsort(-worth, kind="stable")[: self.width]]


def state_key(state: Any) -> bytes:
    """Return players and cells of environment 0 as bytes, which show whether a plan is being followed."""
    return state.players[0].tobytes() + state.cells[0].tobytes()


search: Callable[[Any, int], Search] = lru_cache(maxsize=8)(Search)  # by game and width


def _primitive_game(game: Any) -> Any:
    if game.n_actions == len(Action):
        return game
    return registry.load_game(game.id, **{**game.kwargs, "action_level": PRIMITIVE})


primitive_game: Callable[[Any], Any] = lru_cache(maxsize=8)(_primitive_game)  # by game, made once


class PlannerPolicy(Silent):
    """Plans the whole episode for all seats and plays its own part, counting on teammates who do the same.

    Where a teammate does something else, a short plan is made from there, and again every few steps.

    Args:
        width: Nodes kept per step of the plan for an episode.
        replan: Nodes kept when a plan was left.
    """

    name = "planner"
    parameters = ("width", "replan")
    needs_simulator = True

    def __init__(self, width: int = WIDTH, replan: int = REPLAN_WIDTH) -> None:
        self.width, self.replan = parse_integer("width", width, 1), parse_integer("replan", replan, 1)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last plan."""
        assigner(info.game)  # refuses other games
        if info.game.levels[seat] != PRIMITIVE:  # type: ignore[attr-defined]
            raise ValueError("policy 'planner' plays Overcooked with primitive actions only (action_level)")
        game: Any = info.game
        self._game, self._simulator = primitive_game(game), simulator_of(info, self.name)
        self._plan: Plan | None = None
        self._start = 0

    def act(self, seen: Seen) -> int:
        """Return the plan's action for this seat."""
        if seen.error is not None:  # a teammate did something else; nothing can be done about it in this step
            return seen.idle_action
        now_only = Simulator(self._game, self._simulator.state, seen.seat)
        root = now_only.fork(1, 0)  # with primitive actions nothing is drawn, so that any seed will do
        left, now = int(root.state.clock[0, Clock.LIMIT] - root.state.clock[0, Clock.T]), state_key(root.state)
        if self._plan is None:
            self._plan, self._start = search(self._game, self.width).plan(root, left), seen.timestep
        at = seen.timestep - self._start
        if not self._plan.is_followed(at, now) and (at >= len(self._plan.actions) or at % REPLAN_EVERY == 0):
            short = search(self._game, self.replan)
            self._plan, self._start, at = short.plan(root, min(REPLAN_STEPS, left)), seen.timestep, 0
        return int(self._plan.actions[at, seen.seat])
