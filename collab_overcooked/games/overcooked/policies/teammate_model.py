"""Model of teammates who play another policy: whom a player relies on, whom it walks around, and when it yields.

Strangers are judged by their actions alone. A thing held by a stranger counts as on its way while the stranger acts at
pots and serving cells from time to time; a stranger who stands still is walked around like a closed gate; a thing that
a stranger takes back from where it put it is left to it. If neither moves, the player steps aside for a random number
of steps, and waits longer before the next time if the stranger does not use the room.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import NOTHING, Action, Item, Player, Terrain
from collab_overcooked.games.overcooked.policies.assignment_arrays import Array, Station, Trust
from collab_overcooked.kernels.grid import OFFSETS

RELIED = 30  # steps for which a player relies on a stranger after its last action at a pot or serving cell
STILL = 3  # steps without a move after which a stranger is walked around
PATIENCE = 3  # steps in which neither moves nor handles anything before the player steps aside
ASIDE = (2, 6)  # range of steps spent aside
MAX_PATIENCE = 24  # after repeatedly stepping aside in vain
CLAIM = 10  # steps for which a thing that a stranger took back is left to it
NEAR = 2  # cells at which two can be in each other's way


class TeammateModel:
    """Watches the teammates of one seat.

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
        self._patience = PATIENCE
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
                self._patience = PATIENCE
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
