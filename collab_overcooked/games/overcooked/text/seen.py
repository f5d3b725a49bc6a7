"""Knowledge of a player of Overcooked: everything."""

from __future__ import annotations

from functools import cached_property

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.overcooked.text.text import MENU


class LayoutView(SeatView):
    """Knowledge of one player."""

    public_actions = True

    @cached_property
    def surroundings(self) -> str:
        """The moment in words, without the list of directives."""
        return self.text.partition(self._say(MENU))[0].rstrip()
