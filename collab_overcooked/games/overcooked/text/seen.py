"""Knowledge of a player of Overcooked: everything."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.overcooked.text.text import MENU, awaited
from collab_overcooked.kernels.macro_actions import MEDIUM


class LayoutView(SeatView):
    """Knowledge of one player."""

    public_actions = True

    @cached_property
    def surroundings(self) -> str:
        """Description of the state without the list of directives."""
        return self.text.partition(self._say(MENU))[0].rstrip()

    @cached_property
    def awaited(self) -> Hashable | None:  # type: ignore[override]
        """Hands, pots, counters and gates, and what can be done with them; None for a seat with primitive actions."""
        game = self._game
        return awaited(game.compiled, self._state, 0, self._seat) if game.levels[self._seat] == MEDIUM else None
