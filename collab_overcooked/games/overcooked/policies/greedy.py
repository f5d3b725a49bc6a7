"""Greedy play of Overcooked: each seat executes its part of the assigner's decision for the whole kitchen.

Seats need no messages: all of them see the same state and come to the same decision. Seats of other policies are
watched: things that they hold count as on their way, and no player walks into them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.overcooked.engine.constants import (
    AWAY,
    NOTHING,
    WAIT,
    Action,
    Clock,
    Item,
    Object,
    Player,
    Row,
    Terrain,
    Verb,
)
from collab_overcooked.games.overcooked.policies.assignment_arrays import (
    PASSING,
    Array,
    Goal,
    Scratch,
    StaticInfo,
    Trust,
    make_scratch,
    make_static_info,
)
from collab_overcooked.games.overcooked.policies.joint_moves import faces, find_barred
from collab_overcooked.games.overcooked.policies.task_assignment import assign_env
from collab_overcooked.games.overcooked.policies.teammate_model import TeammateModel
from collab_overcooked.kernels.macro_actions import CONTINUE, MEDIUM, Macro
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, compiled_of, simulator_of

GAME = "Overcooked-v0"
PATIENCE = 2  # steps that the most urgent player is blocked before the order of moving is reversed
REVERSED = 7  # steps for which it stays so
JAMS = 2  # jams, with the same things in all hands, after which the others make way for the most urgent player
MAX_WAY = 60  # steps in which they do so at most


class Assigner:
    """A game's assigner with its scratch memory."""

    def __init__(self, game: FullGame) -> None:
        self.tables: Any = compiled_of(game, GAME).tables
        self.static: StaticInfo = make_static_info(self.tables)
        self.scratch: Scratch = make_scratch(self.static, game.n_agents)

    def assign(self, state: Any, teammates: TeammateModel, turn: int, actions: Array) -> None:
        """Write everybody's primitive action in environment 0, (N,) int32; the goals are left in the scratch memory."""
        k, cells, scratch = self.layout(state), state.cells[0], self.scratch
        players, claimed = teammates.relied_on(state.players[0]), teammates.claimed(len(self.static.stations[k]))
        trust = teammates.trust
        assign_env(self.tables, self.static, k, players, cells, trust, claimed, turn, scratch, actions)

    def bar(self, state: Any, teammates: TeammateModel) -> Array:
        """Return who never gets to which station, int32 (N, S); players are barred only where two of a kind play."""
        k, static, scratch = self.layout(state), self.static, self.scratch
        neighbours, barred = self.tables.neighbours[k], np.zeros_like(scratch.barred)
        if len(barred) == 2 and (teammates.trust == Trust.KIN).all() and len(scratch.pairs):
            where = static.stations[k], static.stands[k], neighbours, self.tables.floor[k]
            find_barred(*where, state.players[0], barred, scratch)
        return barred

    def layout(self, state: Any) -> int:
        """Return the number of the layout that environment 0 plays."""
        return int(state.clock[0, Clock.LAYOUT])


assigner: Callable[[Any], Assigner] = lru_cache(maxsize=16)(Assigner)  # by game, made once


class Traffic:
    """Notices jams: the most urgent player neither moves nor is where it wants to be."""

    def __init__(self) -> None:
        self.turn = 0  # 1 while the order of moving is reversed, ``PASSING`` + i while all make way for player i
        self._blocked = 0
        self._left = 0  # steps to go with such a turn
        self._jams = 0
        self._hands: Array | None = None

    def watch(self, scratch: Scratch, players: Array, stations: Array, actions: Array) -> None:
        """Look at what was decided in this step, to set ``turn`` for the next."""
        i = int(scratch.order[-1 if self.turn == 1 else 0])
        s = int(scratch.goals[i, Goal.STATION])
        waits = s != NOTHING and actions[i] == Action.STAY and not faces(i, s, players, stations)
        self._blocked = self._blocked + 1 if waits and not self.turn else 0
        hands = players[:, Player.HAND].copy()
        if self._hands is not None and (hands != self._hands).any():
            self._jams = JAMS if self._jams > JAMS else 0
            self._left = 0 if self.turn >= PASSING else self._left
        self._hands, self._left = hands, max(self._left - 1, 0)
        if self._blocked >= PATIENCE:
            self._jams += 1
            passing = self._jams > JAMS
            self._left, self.turn = (MAX_WAY, PASSING + i) if passing else (REVERSED, 1)
        elif self._left == 0:
            self.turn = 0


class GreedyPolicy(Silent):
    """Assigns the most urgent jobs to the nearest players, with hand-overs if no player can do a job alone."""

    name = "greedy"
    needs_simulator = True
    batched = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode."""
        self._assigner = assigner(info.game)
        self._game, self._simulator = info.game, simulator_of(info, self.name)
        self._teammates = TeammateModel(seat, info.team, seed)
        self._has_directives = info.game.levels[seat] == MEDIUM  # type: ignore[attr-defined]
        self._traffic = Traffic()
        self._barred: Array | None = None
        self._actions = np.zeros(info.game.n_agents, np.int32)

    def act(self, seen: Seen) -> int:
        """Return this seat's part of the decision."""
        if seen.error is not None:  # a teammate acted differently; nothing can be changed in this step
            return seen.idle_action
        state = self._simulator.state
        kitchen_assigner, players, k = self._assigner, state.players[0], self._assigner.layout(state)
        stations, tables = kitchen_assigner.static.stations[k], kitchen_assigner.tables
        self._teammates.watch(players, stations)
        if self._barred is None:
            self._barred = kitchen_assigner.bar(state, self._teammates)
        kitchen_assigner.scratch.barred[:] = self._barred
        kitchen_assigner.assign(state, self._teammates, self._traffic.turn, self._actions)
        self._traffic.watch(kitchen_assigner.scratch, players, stations, self._actions)
        action = int(self._actions[seen.seat])
        if self._has_directives:  # directives find their ways around others
            return directive_for(seen, state, kitchen_assigner)
        if self._teammates.yields(players, action == Action.INTERACT):
            return self._teammates.step_aside(players, tables.floor[k], tables.neighbours[k])
        return action


def directive_for(seen: Seen, state: Any, kitchen_assigner: Assigner) -> int:
    """Return the directive for a goal; if it is impossible now, wait or make room for the others.

    Players make room before closed gates and for players with more urgent goals.
    """
    if state.macro_state[0, seen.seat, Macro.ACTION] != NOTHING:
        return CONTINUE
    s = int(kitchen_assigner.scratch.goals[seen.seat, Goal.STATION])
    if s == NOTHING:
        return AWAY if kitchen_assigner.scratch.goals[:, Goal.STATION].max() != NOTHING else WAIT
    k, catalogue = kitchen_assigner.layout(state), kitchen_assigner.tables.catalogue
    terrain, x, y = kitchen_assigner.static.stations[k, s].tolist()
    verb = verb_for(terrain, int(state.players[0, seen.seat, Player.HAND]))
    objects = kitchen_assigner.tables.objects[k]
    slots = np.flatnonzero((objects[:, Object.X] == x) & (objects[:, Object.Y] == y))
    rows = np.flatnonzero((catalogue[:, Row.VERB] == verb) & np.isin(catalogue[:, Row.SLOT], slots) & (seen.mask == 1))
    if len(rows):
        return int(rows[0])
    goals = kitchen_assigner.scratch.goals
    yields = goals[seen.seat, Goal.OPENED] == 1 or goals[seen.seat, Goal.RANK] < goals[:, Goal.RANK].max()
    return AWAY if yields and seen.timestep % 3 == 0 else WAIT  # not always, lest two keep making room for each other


def verb_for(terrain: int, held: int) -> Verb:
    """Return what a player does at a station with what it holds."""
    fixed = {Terrain.SERVING: Verb.DELIVER, Terrain.GATE: Verb.OPEN}
    if terrain in fixed:
        return fixed[Terrain(terrain)]
    if terrain == Terrain.POT:
        return Verb.LOAD if held == Item.DISH else Verb.START if held == Item.NONE else Verb.PUT
    return Verb.TAKE if held == Item.NONE else Verb.PUT
