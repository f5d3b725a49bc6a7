"""Knowledge of an agent of CuisineWorld: everything but what is drawn next; refusals are told to all."""

from __future__ import annotations

from functools import cached_property

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.cuisineworld.text.text import rules, surroundings


class KitchenView(SeatView):
    """What one agent knows. The kitchen lies open, so the agent knows what every other one could do as well."""

    public_refusals = True
    public_choices = True  # commands are carried out one after the other

    @property
    def rules(self) -> str:
        """The rules for people, with the recipes of all dishes that are ordered here."""
        return self._say(rules(self._game.compiled.level))

    @cached_property
    def surroundings(self) -> str:
        """The moment in plain sentences; language agents read the original's."""
        return self._say(surroundings(self.scene, self._seat))

    def commands(self, seat: int) -> list[str]:
        """Return what the game would accept from a seat now, written as commands."""
        game = self._game
        texts = (game.command_text(seat, action) for action in range(game.n_actions))
        return [text for action, text in enumerate(texts) if game.check(self._state, 0, seat, action)[0] == "OK"]
