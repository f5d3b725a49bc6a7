"""Greedy play of Overcooked: each seat executes its part of the assigner's decision for the whole kitchen.

Seats need no messages: all of them see the same state and come to the same decision. Seats of other policies are
watched: things that they hold count as on their way, and no player walks into them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.macro_actions import CONTINUE, MEDIUM, Macro
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, compiled_of, simulator_of
from collab_overcooked.policies.search.subplans import PlanningView, SubPlan, SubplanStudy

from ..engine.constants import AWAY, NOTHING, WAIT, Action, Clock, Frame, Item, Object, Player, Row, Terrain, Verb
from .assignment_arrays import (
    FAR,
    GATE_COST,
    KIN,
    PASSING,
    Array,
    Goal,
    Scratch,
    StaticInfo,
    Station,
    Trust,
    make_scratch,
    make_static_info,
)
from .joint_moves import faces, find_barred
from .task_assignment import assign_env, clear_hands, job_time, take_stock

RELIED = 30  # steps for which a player relies on a stranger after its last action at a pot or serving cell
STILL = 3  # steps without a move after which a stranger is walked around
MIN_PATIENCE = 3  # steps in which neither moves nor handles anything before the player steps aside
ASIDE = (2, 6)  # range of steps spent aside
MAX_PATIENCE = 24  # after repeatedly stepping aside in vain
CLAIM = 10  # steps for which a thing that a stranger took back is left to it
NEAR = 2  # cells at which two can be in each other's way


class TeammateModel:
    """Watches the teammates of one seat: whom a player relies on, whom it walks around, and when it yields.

    Strangers are judged by their actions alone. A thing held by a stranger counts as on its way while the stranger acts
    at pots and serving cells from time to time; a stranger who stands still is walked around like a closed gate; a
    thing that a stranger takes back from where it put it is left to it. If neither moves, the player steps aside for a
    random number of steps, and waits longer before the next time if the stranger does not use the room.

    Args:
        seat: Of the player that watches.
        team: Policy names by seat; seats of the same policy are kin.
        seed: For how long it steps aside, and where to.
    """

    def __init__(self, seat: int, team: tuple[str, ...], seed: int) -> None:
        kin = np.array([name == team[seat] for name in team])
        self._seat, self._strangers = seat, np.flatnonzero(~kin)
        self.trust = kin.astype(np.int32)
        self._rng = np.random.default_rng(seed)
        self._before: Array | None = None
        self._still = np.zeros(len(kin), np.int32)  # steps without a move
        self._idle = np.zeros(len(kin), np.int32)  # steps in which, besides, the hands held the same
        self._useless = np.zeros(len(kin), np.int32)  # steps since something was done at a pot or serving cell
        self._laid: dict[int, int] = {}  # who put something on a counter last
        self._claims: dict[int, int] = {}  # steps for which a counter's content is left to a stranger
        self._patience = MIN_PATIENCE
        self._aside = 0  # steps to go

    def watch(self, players: Array, stations: Array) -> None:
        """Look at what everybody did."""
        if self._before is not None and len(self._strangers):
            moved = (players[:, [Player.X, Player.Y]] != self._before[:, [Player.X, Player.Y]]).any(axis=1)
            handled = players[:, Player.HAND] != self._before[:, Player.HAND]
            self._still = np.where(moved, 0, self._still + 1)
            self._idle = np.where(moved | handled, 0, self._idle + 1)
            self._useless += 1
            self._claims = {s: left - 1 for s, left in self._claims.items() if left > 1}
            for i in np.flatnonzero(handled).tolist():
                self._note(i, players[i], stations)
            if (moved | handled)[self._strangers].any():
                self._patience = MIN_PATIENCE
            stands = np.where(self._still >= STILL, Trust.IN_THE_WAY, Trust.STRANGER)
            self.trust[self._strangers] = stands[self._strangers]
        self._before = players.copy()

    def _note(self, i: int, player: Array, stations: Array) -> None:
        dx, dy = OFFSETS[player[Player.FACING]]
        there = (player[Player.X] + dx, player[Player.Y] + dy)
        matching = np.flatnonzero((stations[:, [Station.X, Station.Y]] == there).all(axis=1))
        if not len(matching):  # between two directives it may have done that and walked on
            return
        s = int(matching[0])
        if stations[s, Station.TERRAIN] in (Terrain.POT, Terrain.SERVING):
            self._useless[i] = 0
        elif player[Player.HAND] == Item.NONE:
            self._laid[s] = i
        elif self._laid.pop(s, self._seat) == i != self._seat:
            self._claims[s] = CLAIM

    def relied_on(self, players: Array) -> Array:
        """Return the players, without the things held by unreliable strangers."""
        seen = players.copy()
        useless = self._strangers[self._useless[self._strangers] >= RELIED]
        seen[useless, Player.HAND :] = Item.NONE
        return seen

    def claimed(self, count: int) -> Array:
        """Return the stations whose contents are left to strangers, int32 (S,)."""
        claimed = np.zeros(count, np.int32)
        claimed[list(self._claims)] = 1
        return claimed

    def yields(self, players: Array, acts: bool) -> bool:
        """Return whether the player steps aside now."""
        if self._aside > 0:
            self._aside -= 1
            return True
        if acts or not len(self._strangers):
            return False
        places = players[:, [Player.X, Player.Y]]
        near = np.abs(places - places[self._seat]).sum(axis=1)[self._strangers] <= NEAR
        waits = np.minimum(self._idle[self._strangers], self._idle[self._seat]) >= self._patience
        if not (near & waits).any():
            return False
        self._aside = int(self._rng.integers(*ASIDE))
        self._patience = min(2 * self._patience, MAX_PATIENCE)
        return True

    def step_aside(self, players: Array, floor: Array, neighbours: Array) -> int:
        """Return a move away from the nearest stranger, onto a free cell; ties are broken at random."""
        places = players[:, [Player.X, Player.Y]]
        taken = {int(floor[y, x]) for x, y in places.tolist()}
        position = places[self._seat]
        best, most = int(Action.STAY), -1.0
        for direction, target in enumerate(neighbours[floor[position[1], position[0]]].tolist()):
            if target == NOTHING or target in taken:
                continue
            away = np.abs(places[self._strangers] - (position + OFFSETS[direction])).sum(axis=1).min()
            value = float(away) + float(self._rng.random())
            if value > most:
                best, most = direction, value
        return best


GAME = "Overcooked-v0"
PATIENCE = 2  # steps that the most urgent player is blocked before the order of moving is reversed
REVERSED = 7  # steps for which it stays so
JAMS = 2  # jams, with the same things in all hands, after which the others make way for the most urgent player
MAX_WAY = 60  # steps in which they do so at most
HALTED = 20  # steps without anything new after which players relieve each other
RELIEF = 20  # steps for which they do


class Assigner:
    """A game's assigner with its scratch memory."""

    def __init__(self, game: FullGame) -> None:
        self.tables: Any = compiled_of(game, GAME).tables
        self.static: StaticInfo = make_static_info(self.tables)
        self.scratch: Scratch = make_scratch(self.static, game.n_agents)

    def assign(self, state: Any, teammates: TeammateModel, turn: int, relief: bool, actions: Array) -> None:
        """Write everybody's primitive action in environment 0, (N,) int32; the goals are left in the scratch memory."""
        k, cells, scratch = self.layout(state), state.cells[0], self.scratch
        players, claimed = teammates.relied_on(state.players[0]), teammates.claimed(len(self.static.stations[k]))
        trust, scratch.relief[0] = teammates.trust, relief
        assign_env(self.tables, self.static, k, players, cells, trust, claimed, turn, scratch, actions)

    def bar(self, state: Any, teammates: TeammateModel) -> Array:
        """Return who never gets to which station, int32 (N, S); players are barred only where two of a kind play."""
        k, static, scratch = self.layout(state), self.static, self.scratch
        neighbours, barred = self.tables.neighbours[k], np.zeros_like(scratch.barred)
        if len(barred) == 2 and (teammates.trust == Trust.KIN).all() and len(scratch.pairs):
            where = static.stations[k], static.stands[k], neighbours, self.tables.floor[k]
            find_barred(*where, state.players[0], barred, scratch)
        return barred

    def directives_at(self, state: Any, s: int, held: int) -> list[int]:
        """Return the directives for what a player does at a station with what it holds."""
        k, catalogue = self.layout(state), self.tables.catalogue
        (terrain, x, y), objects = self.static.stations[k, s].tolist(), self.tables.objects[k]
        slots = np.flatnonzero((objects[:, Object.X] == x) & (objects[:, Object.Y] == y))
        matching = (catalogue[:, Row.VERB] == verb_for(terrain, held)) & np.isin(catalogue[:, Row.SLOT], slots)
        rows: list[int] = np.flatnonzero(matching).tolist()
        return rows

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


class Halt:
    """Notices that nothing new happens in hands and cells: players wait for each other, or do and undo the same."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._still = 0  # steps without anything new
        self._left = 0  # steps of relief to go

    def watch(self, state: Any) -> bool:
        """Look at the state of this step, and return whether players relieve each other instead of working ahead."""
        hands, score = state.players[0, :, Player.HAND :], state.clock[0, Clock.SCORE]
        now = hash((hands.tobytes(), state.cells[0].tobytes(), int(score)))
        self._left = max(self._left - 1, 0)
        self._still = self._still + 1 if now in self._known and not self._left else 0
        self._known.add(now)
        if self._still >= HALTED:
            self._still, self._left = 0, RELIEF
        return self._left > 0


class GreedyPolicy(Silent):
    """Assigns the most urgent jobs to the nearest players, with hand-overs if no player can do a job alone."""

    name = "greedy"
    needs_simulator = True
    batched = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._assigner = assigner(info.game)
        self._game, self._simulator = info.game, simulator_of(info, self.name)
        self._teammates = TeammateModel(seat, info.team, seed)
        self._has_directives = info.game.levels[seat] == MEDIUM  # type: ignore[attr-defined]
        self._traffic, self._halt = Traffic(), Halt()
        self._barred: Array | None = None
        self._actions = np.zeros(info.game.n_agents, np.int32)

    def act(self, seen: Seen) -> int:
        if seen.error is not None:  # a teammate acted differently; nothing can be changed in this step
            return seen.idle_action
        state = self._simulator.state
        kitchen_assigner, players, k = self._assigner, state.players[0], self._assigner.layout(state)
        stations, tables = kitchen_assigner.static.stations[k], kitchen_assigner.tables
        self._teammates.watch(players, stations)
        if self._barred is None:
            self._barred = kitchen_assigner.bar(state, self._teammates)
        kitchen_assigner.scratch.barred[:] = self._barred
        kitchen_assigner.assign(state, self._teammates, self._traffic.turn, self._halt.watch(state), self._actions)
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
    rows = kitchen_assigner.directives_at(state, s, int(state.players[0, seen.seat, Player.HAND]))
    if rows := [row for row in rows if seen.mask[row]]:
        return rows[0]
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


STEPS = 3
TOP = 10.0  # worth of jobs


class SoupLook:
    """Sub-plans of players: directives for the jobs of the assigner."""

    study: ClassVar[Mapping[str, SubplanStudy]] = {
        "Overcooked-v0": SubplanStudy(
            tuple(
                (layout, {"layout": layout, "action_level": "medium", "random_start": True})
                for layout in ("cramped_room", "asymmetric_advantages", "coordination_ring")
            ),
            "score",
            "higher",
            "score in 400 steps",
            bound={"action_level": "primitive"},
        )
    }

    def __init__(self, game: Any) -> None:
        self.game = game
        if any(level != MEDIUM for level in game.levels):
            raise ValueError("policy 'cots' plays by directives; all seats need action_level=medium")
        self.assigner = assigner(game)
        n = game.n_agents
        self.trust = np.full(n, KIN, np.int32)
        self.rows: dict[tuple[int, int, int], list[int]] = {}  # by layout, station and hand: directives
        self.claimed = np.zeros(self.assigner.static.stations.shape[1], np.int32)

    def __call__(self, seen: Seen) -> PlanningView:
        """Return the jobs of all players."""
        state = self.game.state_of(seen.scene)
        self._survey(state)
        players = state.players[0]
        options = {seat: list(self._jobs(state, seat, seen)) for seat in range(len(players))}
        return PlanningView(
            options=options,
            places={seat: (int(row[Player.X]), int(row[Player.Y])) for seat, row in enumerate(players)},
            held={seat: int(row[Player.HAND] != Item.NONE) for seat, row in enumerate(players)},
            steps=STEPS,
            facts=frozenset({f"{seen.scene['served']} served"}),
            describe=lambda: seen.text,
            idle=self._yielding(seen),
        )

    def _yielding(self, seen: Seen) -> int:
        return AWAY if seen.timestep % 3 == 0 and seen.mask[AWAY] else WAIT

    def _survey(self, state: Any) -> None:
        kitchen_assigner, k = self.assigner, self.assigner.layout(state)
        tables, static, scratch = kitchen_assigner.tables, kitchen_assigner.static, kitchen_assigner.scratch
        players, cells = state.players[0], state.cells[0]
        scratch.gate[0], scratch.relief[0], scratch.barred[:] = GATE_COST, 0, 0
        take_stock(tables, static, k, players, cells, self.trust, self.claimed, scratch)
        if np.all(players[:, Player.HAND] != Item.NONE):  # no player could fetch a dish
            stations, stands, floor = static.stations[k], static.stands[k], tables.floor[k]
            clear_hands(stations, stands, floor, players, cells, self.trust, scratch)

    def _jobs(self, state: Any, seat: int, seen: Seen) -> Iterator[SubPlan]:
        kitchen_assigner, k = self.assigner, self.assigner.layout(state)
        tables, static, scratch = kitchen_assigner.tables, kitchen_assigner.static, kitchen_assigner.scratch
        players, cells, stations = state.players[0], state.cells[0], static.stations[k]
        floor = tables.floor[k]
        cell, hand = floor[players[seat, Player.Y], players[seat, Player.X]], int(players[seat, Player.HAND])
        if hand != Item.NONE:
            s = int(scratch.goals[seat, Goal.STATION])
            if s != NOTHING:
                yield self._job(state, s, hand, float(scratch.fields[s, cell]), seat, seen)
        limit = int(tables.frames[k, Frame.GATE_LIMIT])
        for s in range(len(stations)):
            steps, _ = job_time(s, seat, cell, limit, stations, static.stands[k], floor, players, cells, scratch)
            if steps < FAR:
                job = self._job(state, s, Item.NONE, max(float(steps), 0.0), seat, seen)
                yield job if hand == Item.NONE else replace(job, action=None)

    def _job(self, state: Any, s: int, hand: int, steps: float, seat: int, seen: Seen) -> SubPlan:
        k = self.assigner.layout(state)
        _, x, y = self.assigner.static.stations[k, s].tolist()
        rows = self.rows.get((k, s, hand))
        if rows is None:
            rows = self.rows[k, s, hand] = self.assigner.directives_at(state, s, hand)
        legal = [row for row in rows if seen.mask[row]]
        text = seen.view.action_texts[legal[0] if legal else rows[0]] if rows else f"wait for {x} {y}"
        action = legal[0] if legal else self._yielding(seen)
        uses = frozenset({f"{x} {y}"} if hand == Item.NONE else ())  # full hands share stations, one after the other
        load, hands = (0, 1) if hand == Item.NONE else (-1, 0)
        return SubPlan(text, action if seat == seen.seat else None, steps, TOP, uses, load=load, hands=hands)
