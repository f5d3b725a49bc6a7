"""Greedy play of Overcooked: the dispatcher's decision for the whole kitchen, of which each seat takes its part.

Seats need no messages: all of them see the same state and come to the same decision. Seats of other policies are
watched: what they hold counts as on its way, and nobody walks into them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.core.macro_actions import CONTINUE, MEDIUM, Macro
from collab_overcooked.envs.api import Game
from collab_overcooked.games.overcooked.constants import (
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
from collab_overcooked.games.overcooked.policies.task_assignment import (
    Array,
    Desk,
    Facts,
    Goal,
    dispatch_env,
    faces,
    make_desk,
    make_facts,
)
from collab_overcooked.games.overcooked.policies.teammate_model import Company
from collab_overcooked.policies.api import EnvInfo, Message, View, compiled_of

GAME = "Overcooked-v0"
PATIENCE = 2  # steps that the most urgent player is blocked before the order of moving is reversed
REVERSED = 7  # steps for which it stays so


class Office:
    """A game's dispatcher with its scratch memory.

    Args:
        game: Compiled game.

    Raises:
        ValueError: If the game is no Overcooked.
    """

    def __init__(self, game: Game) -> None:
        self.tables: Any = compiled_of(game, GAME).tables
        self.facts: Facts = make_facts(self.tables)
        self.desk: Desk = make_desk(self.facts, game.n_agents)

    def dispatch(self, state: Any, company: Company, turn: int, actions: Array) -> None:
        """Write everybody's primitive action in environment 0, (N,) int32; the goals are left on the desk."""
        k, cells, desk = self.layout(state), state.cells[0], self.desk
        players, claimed = company.relied_on(state.players[0]), company.claimed(len(self.facts.stations[k]))
        trust = company.trust
        dispatch_env(self.tables, self.facts, k, players, cells, trust, claimed, turn, desk, actions)

    def layout(self, state: Any) -> int:
        """Return the number of the layout that environment 0 plays."""
        return int(state.clock[0, Clock.LAYOUT])


office: Callable[[Any], Office] = lru_cache(maxsize=16)(Office)  # by game, made once


class Traffic:
    """Notices jams: the most urgent player neither moves nor is where it wants to be."""

    def __init__(self) -> None:
        self.turn = 0  # 1 while the order of moving is reversed
        self._blocked = 0
        self._reversed = 0

    def watch(self, desk: Desk, players: Array, stations: Array, actions: Array) -> None:
        """Look at what was decided in this step, to set ``turn`` for the next."""
        i = int(desk.order[-1 if self.turn else 0])
        s = int(desk.goals[i, Goal.STATION])
        waits = s != NOTHING and actions[i] == Action.STAY and not faces(i, s, players, stations)
        self._blocked = self._blocked + 1 if waits and not self.turn else 0
        self._reversed = REVERSED if self._blocked >= PATIENCE else max(self._reversed - 1, 0)
        self.turn = int(self._reversed > 0)


class GreedyPolicy:
    """What is needed soonest, by whoever is nearest; hands over where nobody can do it alone."""

    name = "greedy"

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode.

        Raises:
            ValueError: If the game is no Overcooked.
        """
        self._office = office(info.game)
        self._company = Company(seat, info.team, seed)
        self._has_directives = info.game.levels[seat] == MEDIUM  # type: ignore[attr-defined]
        self._traffic = Traffic()
        self._actions = np.zeros(info.game.n_agents, np.int32)

    def act(self, view: View) -> int:
        """Return this seat's part of the decision."""
        if view.error is not None:  # a teammate did something else; nothing can be done about it in this step
            return view.game.idle_action(view.seat)
        own, players, k = self._office, view.state.players[0], self._office.layout(view.state)
        stations, tables = own.facts.stations[k], own.tables
        self._company.watch(players, stations)
        own.dispatch(view.state, self._company, self._traffic.turn, self._actions)
        self._traffic.watch(own.desk, players, stations, self._actions)
        action = int(self._actions[view.seat])
        if self._has_directives:  # they find their ways around others
            return directive_for(view, own)
        if self._company.yields(players, action == Action.INTERACT):
            return self._company.step_aside(players, tables.floor[k], tables.neighbours[k])
        return action

    def reply(self, view: View) -> Message | None:
        """Have nothing to say."""
        return None


def directive_for(view: View, own: Office) -> int:
    """Return the directive that a goal comes to; while it is not possible, one waits, or makes room for the others.

    Room is made before closed gates, and for whoever has more urgent things to do.
    """
    if view.state.macro_state[0, view.seat, Macro.ACTION] != NOTHING:
        return CONTINUE
    s = int(own.desk.goals[view.seat, Goal.STATION])
    if s == NOTHING:
        return AWAY if own.desk.goals[:, Goal.STATION].max() != NOTHING else WAIT
    k, catalogue = own.layout(view.state), own.tables.catalogue
    terrain, x, y = own.facts.stations[k, s].tolist()
    verb = verb_for(terrain, int(view.state.players[0, view.seat, Player.HAND]))
    objects = own.tables.objects[k]
    slots = np.flatnonzero((objects[:, Object.X] == x) & (objects[:, Object.Y] == y))
    rows = np.flatnonzero((catalogue[:, Row.VERB] == verb) & np.isin(catalogue[:, Row.SLOT], slots) & (view.mask == 1))
    if len(rows):
        return int(rows[0])
    goals = own.desk.goals
    yields = goals[view.seat, Goal.OPENED] == 1 or goals[view.seat, Goal.RANK] < goals[:, Goal.RANK].max()
    return AWAY if yields and view.timestep % 3 == 0 else WAIT  # not always, lest two keep making room for each other


def verb_for(terrain: int, held: int) -> Verb:
    """Return what a player does at a station with what it holds."""
    fixed = {Terrain.SERVING: Verb.DELIVER, Terrain.GATE: Verb.OPEN}
    if terrain in fixed:
        return fixed[Terrain(terrain)]
    if terrain == Terrain.POT:
        return Verb.LOAD if held == Item.DISH else Verb.START if held == Item.NONE else Verb.PUT
    return Verb.TAKE if held == Item.NONE else Verb.PUT
