"""Knowledge of an agent of CraftKitchen: everything except future orders; all agents see all refusals."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.craft.engine.constants import Verb


class CraftView(SeatView):
    """Knowledge of one agent: the whole state, so that it also knows the valid actions of the others."""

    public_refusals = True

    @cached_property
    def walks(self) -> frozenset[int]:
        verbs = self._game.compiled.tables.catalogue[:, 0]
        return frozenset(np.flatnonzero(verbs == Verb.GOTO).tolist())

    @property
    def aim(self) -> str:
        steps = self._game.compiled.lifetime
        return self._say(f"Every order that is served within {steps} step{'s' * (steps != 1)} counts 1.")

    def commands(self, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat now."""
        game = self._game
        legal = (a for a in range(game.n_actions) if game.check(self._state, 0, seat, a)[0] == "OK")
        return [game.command_text(seat, action) for action in legal]
