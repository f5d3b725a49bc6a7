"""Greedy play of Overcooked: each seat executes its part of the assigner's decision for the whole kitchen.

Seats need no messages: all of them see the same state and come to the same decision. Seats of other policies are
watched: things that they hold count as on their way, and no player walks into them.

Read ``kitchen``, ``distances``, ``needs``, ``joint_moves`` and ``assignment`` in this order for the decision,
``teammates`` for what a seat concludes about its team, and ``planner`` for plans of whole episodes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.kernels.arrays import allocate
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.macro_actions import CONTINUE, MEDIUM, Macro
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, compiled_of, simulator_of

from ..engine.compile import best_of
from ..engine.constants import (
    AWAY,
    FIRST_INGREDIENT,
    NOTHING,
    WAIT,
    Action,
    Clock,
    Item,
    Object,
    Param,
    Player,
    Row,
    Terrain,
    Verb,
)
from .assignment import assign
from .distances import Distances
from .joint_moves import MAX_PAIRED, Moves, find_barred
from .kitchen import SAME_POLICY, Goal, Kitchen, TeamView, make_kitchens
from .needs import MISSING, Jobs
from .teammates import StandstillDetector, TeammateModel, Traffic

GAMES = ("Overcooked-v0", "OvercookedV2-v0")
Arrays = TypeVar("Arrays")  # a NamedTuple of arrays


class Assigner:
    """A game's assigner with its scratch memory."""

    def __init__(self, game: FullGame) -> None:
        self.tables: Any = compiled_of(game, *GAMES).tables
        self.kitchens = make_kitchens(self.tables)
        self._ordering: dict[int, Kitchen] = {}  # kitchens in which one soup pays, by its number
        stations, cells = self.kitchens.stations.shape[1], self.kitchens.gates.shape[1]
        pairs = cells**2 if cells <= MAX_PAIRED else 0
        kinds = (self.kitchens.values.shape[1].bit_length() - 1) // 2
        sizes = {"needs": MISSING + 2 * kinds, "items": FIRST_INGREDIENT + kinds}
        self._sizes = {"S": stations, "F": cells, "N": game.n_agents, "pairs": pairs, **sizes}
        self.distances, self.jobs, self.moves = self.allocate(Distances), self.allocate(Jobs), self.allocate(Moves)

    def allocate(self, kind: type[Arrays]) -> Arrays:
        """Allocate arrays for one environment of the game."""
        return allocate(kind, self._sizes)

    def kitchens_for(self, state: Any) -> Kitchen:
        """Return the kitchens of the pool, in which only the order of environment 0 pays where one stands at a time."""
        if self.tables.params[Param.ORDER_TIME] == NOTHING:
            return self.kitchens
        soup = int(state.clock[0, Clock.RECIPE])
        if soup not in self._ordering:
            values = np.zeros_like(self.kitchens.values)
            values[:, soup] = self.kitchens.values[:, soup]
            best = np.stack([best_of(pays) for pays in values])
            self._ordering[soup] = self.kitchens._replace(values=values, best=best)
        return self._ordering[soup]

    def kitchen(self, state: Any) -> Kitchen:
        """Return the kitchen that environment 0 plays, see ``kitchens_for``."""
        return row_at(self.kitchens_for(state), int(state.clock[0, Clock.LAYOUT]))

    def directives_at(self, state: Any, s: int, held: int) -> list[int]:
        """Return the directives for a player's action at a station with its held item."""
        catalogue = self.tables.catalogue
        objects = self.tables.objects[state.clock[0, Clock.LAYOUT]]
        terrain, x, y = self.kitchen(state).stations[s].tolist()
        slots = np.flatnonzero((objects[:, Object.X] == x) & (objects[:, Object.Y] == y))
        matching = (catalogue[:, Row.VERB] == verb_for(terrain, held)) & np.isin(catalogue[:, Row.SLOT], slots)
        rows: list[int] = np.flatnonzero(matching).tolist()
        return rows


assigner: Callable[[Any], Assigner] = lru_cache(maxsize=16)(Assigner)  # by game, made once


class GreedyPolicy(PolicyBase):
    """Assigns the most urgent jobs to the nearest players, with hand-overs if no player can do a job alone.

    Its ``intent`` is the number of the station that its job leads it to.
    """

    name = "greedy"
    intent: int | None = None
    needs_simulator = True
    batched = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._assigner, self._simulator = assigner(info.game), simulator_of(info, self.name)
        self._team = self._assigner.allocate(TeamView)
        self._teammates = TeammateModel(seat, info.team, self._team, seed)
        self._has_directives = info.game.levels[seat] == MEDIUM  # type: ignore[attr-defined]
        self._traffic, self._detector = Traffic(), StandstillDetector()
        self._layout = NOTHING
        self._actions = np.zeros(info.game.n_agents, np.int32)

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:  # a teammate acted differently; nothing can be changed in this step
            return seen.idle_action
        state, team = self._simulator.state, self._team
        env, kitchen = row_at(state, 0), self._assigner.kitchen(state)
        distances = self._assigner.distances
        jobs = self._assigner.jobs
        moves = self._assigner.moves
        layout = int(state.clock[0, Clock.LAYOUT])
        if layout != self._layout:  # the first one, or one that numbers stations anew
            self._layout = layout
            self._teammates.forget_stations()
            team.barred[:] = 0
            if len(team.trust) == 2 and (team.trust == SAME_POLICY).all() and len(moves.pairs):
                find_barred(kitchen, env.players, distances, moves, team.barred)
        self._teammates.watch(env.players, kitchen.stations)
        team.turn[0], team.standstill[0] = self._traffic.turn, self._detector.watch(state)
        assign(kitchen, self._teammates.relied_on(env), team, distances, jobs, moves, self._actions)
        station = int(jobs.goals[seen.seat, Goal.STATION])
        self.intent = None if station == NOTHING else station
        self._traffic.watch(jobs.goals, moves.order, env.players, kitchen.stations, self._actions)
        if self._has_directives:  # directives find their ways around others
            return self._directive(seen, state)
        action = int(self._actions[seen.seat])
        if self._teammates.yields(env.players, action == Action.INTERACT):
            return self._teammates.step_aside(env.players, kitchen.floor, kitchen.neighbours)
        return action

    def _directive(self, seen: AgentView, state: Any) -> int:
        """Return the directive for the seat's goal; if it is impossible now, wait or make room for teammates.

        Players make room before closed gates and for players with more urgent goals.
        """
        if state.macro_state[0, seen.seat, Macro.ACTION] != NOTHING:
            return CONTINUE
        goals = self._assigner.jobs.goals
        s = int(goals[seen.seat, Goal.STATION])
        if s == NOTHING:
            return AWAY if goals[:, Goal.STATION].max() != NOTHING else WAIT
        for row in self._assigner.directives_at(state, s, int(state.players[0, seen.seat, Player.HAND])):
            if seen.mask[row]:
                return row
        yields = goals[seen.seat, Goal.OPENED] == 1 or goals[seen.seat, Goal.RANK] < goals[:, Goal.RANK].max()
        return AWAY if yields and seen.timestep % 3 == 0 else WAIT  # not always, lest two keep making room


def verb_for(terrain: int, held: int) -> Verb:
    """Return the verb of a player at a station with its held item."""
    if terrain in (Terrain.SERVING, Terrain.GATE):
        return Verb.DELIVER if terrain == Terrain.SERVING else Verb.OPEN
    if terrain == Terrain.POT:
        return Verb.LOAD if held == Item.DISH else Verb.START if held == Item.NONE else Verb.PUT
    return Verb.TAKE if held == Item.NONE else Verb.PUT
