"""Knowledge of an agent of Rush: the whole state, as agents act one after the other on an open board."""

from __future__ import annotations

from functools import cached_property

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.rush.text.text import LIST, WORTH


class BoardView(SeatView):
    """Knowledge of one agent."""

    public_choices = plays_in_turns = True

    @property
    def aim(self) -> str:
        return self._say(WORTH)

    @cached_property
    def unlikely(self) -> frozenset[int]:
        if plain(self._game) is not self._game:
            return frozenset()
        actions = range(1, self._game.n_actions)
        return frozenset(action for action in actions if self._game.ruins_order(self._state, 0, action))

    @cached_property
    def surroundings(self) -> str:
        return self.text.partition(self._say(LIST))[0].rstrip()
