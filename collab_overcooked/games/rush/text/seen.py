"""Knowledge of an agent of Rush: everything, as the board lies open and agents act one after the other."""

from __future__ import annotations

from functools import cached_property

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.rush.text.text import LIST


class BoardView(SeatView):
    """What one agent knows."""

    public_choices = plays_in_turns = True

    @cached_property
    def surroundings(self) -> str:
        """The moment in words, without the list of valid actions."""
        return self.text.partition(self._say(LIST))[0].rstrip()
