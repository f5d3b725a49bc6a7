"""Knowledge of a player of Overcooked: everything."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

import numpy as np

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.overcooked.engine.constants import Clock, Thing
from collab_overcooked.games.overcooked.engine.rules import is_ready
from collab_overcooked.games.overcooked.text.manual import orders_text
from collab_overcooked.games.overcooked.text.text import MENU
from collab_overcooked.kernels.macro_actions import MEDIUM


class LayoutView(SeatView):
    """Knowledge of one player."""

    public_actions = True

    @property
    def aim(self) -> str:
        return self._say(orders_text(self._game.layouts[self._state.clock[0, Clock.LAYOUT]]))

    @cached_property
    def surroundings(self) -> str:
        return self.text.partition(self._say(MENU))[0].rstrip()

    @cached_property
    def awaited(self) -> Hashable | None:  # type: ignore[override]
        """Hands, pots, counters and gates, and what can be done with them; None for a seat with primitive actions."""
        if self._game.levels[self._seat] != MEDIUM:
            return None
        seen = self._game.look(self._state, 0, self._seat)
        times = self._game.compiled.tables.times[self._state.clock[0, Clock.LAYOUT]]
        things = seen["objects"].items()
        cells = ((name, *thing[: Thing.TICK], bool(is_ready(np.array(thing), times))) for name, thing in things)
        possible = (text for text in seen["feasible"] if not text.startswith("put on k"))  # the nearest counter changes
        return tuple(seen["holding"].values()), tuple(cells), tuple(possible)
