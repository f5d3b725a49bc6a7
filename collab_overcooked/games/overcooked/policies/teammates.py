"""Models of teammates from earlier steps: reliability, jams, and players who wait for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.kernels.grid import OFFSETS

from ..engine.constants import HAND_END, NOTHING, Action, Clock, Item, Player, Terrain
from ..engine.state import State
from .joint_moves import PASSING
from .kitchen import Array, Goal, Station, TeamView, Trust, faces

RELIED = 30  # steps for which a player relies on another one after its last action at a pot or serving cell
STILL = 3  # steps without a move after which another player is walked around
MIN_PATIENCE = 3  # steps in which neither moves nor handles anything before the player steps aside
ASIDE = (2, 6)  # range of steps spent aside
MAX_PATIENCE = 24  # after repeatedly stepping aside in vain
CLAIM = 10  # steps for which a thing that another player took back is left to it
NEAR = 2  # cells at which two can be in each other's way


class TeammateModel:
    """Models the teammates of one seat: which ones are reliable, which ones to walk around, and when to yield.

    Players of other policies are judged by their actions alone. A thing held by one counts as on its way while it acts
    at pots and serving cells from time to time; one that stands still is walked around like a closed gate; a thing
    that one takes back from where it put it is left to it. If neither moves, the player steps aside for a random
    number of steps, and waits longer before the next time if the other one does not use the room.

    Args:
        seat: Of the player that watches.
        names: Policy names by seat; seats of equal names are trusted.
        team: Its trust and claims are kept up to date.
        seed: For how long it steps aside, and where to.
    """

    def __init__(self, seat: int, names: tuple[str, ...], team: TeamView, seed: int) -> None:
        same_policy = np.array([name == names[seat] for name in names])
        self._seat = seat
        self._others = np.flatnonzero(~same_policy)
        self._team = team
        team.trust[:] = same_policy
        self._rng = np.random.default_rng(seed)
        self._before: Array | None = None
        self._still = np.zeros(len(same_policy), np.int32)  # steps without a move
        self._idle = np.zeros(len(same_policy), np.int32)  # steps in which, besides, the hands held the same
        self._useless = np.zeros(len(same_policy), np.int32)  # steps since something was done at a pot or serving cell
        self._laid: dict[int, int] = {}  # who put something on a counter last
        self._patience = MIN_PATIENCE
        self._aside = 0  # steps to go

    def forget_stations(self) -> None:
        """Drop what is known of single stations, as a kitchen that has changed numbers them anew."""
        self._laid.clear()
        self._team.claimed[:] = 0

    def watch(self, players: Array, stations: Array) -> None:
        """Update the model from the last actions of all players."""
        if self._before is not None and len(self._others):
            moved = (players[:, [Player.X, Player.Y]] != self._before[:, [Player.X, Player.Y]]).any(axis=1)
            handled = players[:, Player.HAND] != self._before[:, Player.HAND]
            self._still = np.where(moved, 0, self._still + 1)
            self._idle = np.where(moved | handled, 0, self._idle + 1)
            self._useless += 1
            np.maximum(self._team.claimed - 1, 0, out=self._team.claimed)
            for i in np.flatnonzero(handled).tolist():
                self._note(i, players[i], stations)
            if (moved | handled)[self._others].any():
                self._patience = MIN_PATIENCE
            stands = np.where(self._still >= STILL, Trust.IN_THE_WAY, Trust.OTHER_POLICY)
            self._team.trust[self._others] = stands[self._others]
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
            self._team.claimed[s] = CLAIM

    def relied_on(self, env: State) -> State:
        """Return the environment without things held by unreliable players of other policies."""
        useless = self._others[self._useless[self._others] >= RELIED]
        if not len(useless):
            return env
        players = env.players.copy()
        players[useless, Player.HAND : HAND_END] = Item.NONE
        return env._replace(players=players)

    def yields(self, players: Array, acts: bool) -> bool:
        """Return whether the player steps aside now."""
        if self._aside > 0:
            self._aside -= 1
            return True
        if acts or not len(self._others):
            return False
        places = players[:, [Player.X, Player.Y]]
        near = np.abs(places - places[self._seat]).sum(axis=1)[self._others] <= NEAR
        waits = np.minimum(self._idle[self._others], self._idle[self._seat]) >= self._patience
        if not (near & waits).any():
            return False
        self._aside = int(self._rng.integers(*ASIDE))
        self._patience = min(2 * self._patience, MAX_PATIENCE)
        return True

    def step_aside(self, players: Array, floor: Array, neighbours: Array) -> int:
        """Return a move away from the nearest player of another policy, onto a free cell; ties are broken at random."""
        places = players[:, [Player.X, Player.Y]]
        taken = {int(floor[y, x]) for x, y in places.tolist()}
        position = places[self._seat]
        best, most = int(Action.STAY), -1.0
        for direction, target in enumerate(neighbours[floor[position[1], position[0]]].tolist()):
            if target == NOTHING or target in taken:
                continue
            away = np.abs(places[self._others] - (position + OFFSETS[direction])).sum(axis=1).min()
            value = float(away) + float(self._rng.random())
            if value > most:
                best, most = direction, value
        return best


PATIENCE = 2  # steps that the most urgent player is blocked before the order of moving is reversed
REVERSED = 7  # steps for which it stays so
JAMS = 2  # jams, with the same things in all hands, after which the others make way for the most urgent player
MAX_WAY = 60  # steps in which they do so at most
STILL_STEPS = 20  # steps without anything new after which players only finish what has begun
STANDSTILL_STEPS = 20  # steps for which they do


class Traffic:
    """Notices jams: the most urgent player neither moves nor is where it wants to be."""

    def __init__(self) -> None:
        self.turn = 0  # see TeamView
        self._blocked = 0
        self._left = 0  # steps to go with such a turn
        self._jams = 0
        self._hands: Array | None = None

    def watch(self, goals: Array, order: Array, players: Array, stations: Array, actions: Array) -> None:
        """Set ``turn`` for the next step from this step's decisions."""
        i = int(order[-1 if self.turn == 1 else 0])
        s = int(goals[i, Goal.STATION])
        waits = s != NOTHING and actions[i] == Action.STAY and not faces(players[i], stations[s])
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


class StandstillDetector:
    """Detects standstill in hands and cells: players wait for each other, or repeatedly undo each other's work."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._still = 0  # steps without anything new
        self._left = 0  # steps for which players only finish what has begun

    def watch(self, state: Any) -> bool:
        """Update the detector, and return whether players shall finish what has begun instead of working ahead."""
        hands, score = state.players[0, :, Player.HAND :], state.clock[0, Clock.SCORE]
        now = hash((hands.tobytes(), state.cells[0].tobytes(), int(score)))
        self._left = max(self._left - 1, 0)
        self._still = self._still + 1 if now in self._known and not self._left else 0
        self._known.add(now)
        if self._still >= STILL_STEPS:
            self._still, self._left = 0, STANDSTILL_STEPS
        return self._left > 0
