"""Knowledge of an agent of CuisineWorld: everything except future orders; all agents see all refusals."""

from __future__ import annotations

from functools import cached_property

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.cuisineworld.text.text import rules, surroundings


class KitchenView(SeatView):
    """Knowledge of one agent: the whole state, so that it also knows the valid actions of the others."""

    public_refusals = True
    public_choices = True  # commands are carried out one after the other
    public_actions = True

    @property
    def rules(self) -> str:
        """The rules for people, with the recipes of the level's orders."""
        return self._say(rules(self._game.compiled.level))

    @cached_property
    def surroundings(self) -> str:
        """The observation for people; language agents get the original's text."""
        return self._say(surroundings(self.scene, self._seat))

    @cached_property
    def unlikely(self) -> frozenset[int]:
        """Ids of actions that put ingredients back."""
        level, commands = self._game.compiled.level, self._game.compiled.names.catalogue
        places = zip(level.locations, level.kitchen, strict=True)
        back = {f"put {name}" for name, kind in places if level.tools[kind].role == "storage"}
        return frozenset(action for action in range(self._game.n_actions) if commands[action] in back)

    def commands(self, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat now."""
        game = self._game
        texts = (game.command_text(seat, action) for action in range(game.n_actions))
        return [text for action, text in enumerate(texts) if game.check(self._state, 0, seat, action)[0] == "OK"]
