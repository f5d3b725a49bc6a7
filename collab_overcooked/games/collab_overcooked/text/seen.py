"""Knowledge of a cook of Collab-Overcooked: recipes by role, and no counter out of its reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.collab_overcooked.engine.constants import Row, Verb
from collab_overcooked.games.collab_overcooked.engine.observe import knows_recipes
from collab_overcooked.games.collab_overcooked.text.text import PLANS, recipe_text, spaced
from collab_overcooked.kernels.macro_actions import PRIMITIVE

SUPPLY = re.compile(r"pickup\((.+),(?:ingredient|dish)_dispenser\)")


class CookView(SeatView):
    """Knowledge of one cook, with the recipe of the current order if its role or ``knowledge="full"`` allows it."""

    @property
    def role(self) -> str:  # type: ignore[override]
        return str(self._game.kitchen.agents[self._seat].role)

    @property
    def aim(self) -> str:
        return self._say(f"Deliver {' and '.join(map(spaced, self.scene['orders']))}.")

    @property
    def rules(self) -> str:
        return f"{self.manual}\n{self._say(PLANS)}"

    @cached_property
    def text(self) -> str:
        return self._say(plain(self._game).describe_scene(self.scene, self._seat))

    @cached_property
    def recipe(self) -> str | None:  # type: ignore[override]
        orders = self.scene["orders"]
        knows = knows_recipes(self._seat, self._game.compiled.tables.params)
        return self._say(recipe_text(self._game.kitchen, orders[0])) if knows and orders else None

    @cached_property
    def vocabulary(self) -> Sequence[str]:
        if self._game.levels[self._seat] == PRIMITIVE:
            return self.action_texts
        return [self._say(text) for text in self._game.vocabulary(self._seat)]

    @cached_property
    def requestable(self) -> Sequence[str]:
        if self._game.levels[self._seat] == PRIMITIVE:
            return ()
        others = (seat for seat in range(self._game.n_agents) if seat != self._seat)
        texts = dict.fromkeys(text for seat in others for text in self._game.vocabulary(seat))
        alone = set(self._game.vocabulary(self._seat))
        return [self._say(text) for text in sorted(texts, key=alone.__contains__)]  # last what the seat can do itself

    @cached_property
    def supplies(self) -> Sequence[str]:
        matches = map(SUPPLY.fullmatch, self._game.vocabulary(self._seat))
        return [self._say(spaced(match[1])) for match in matches if match]

    @cached_property
    def waits(self) -> Sequence[int]:
        catalogue = self._game.compiled.tables.catalogue[: self._game.n_actions].tolist()
        primitive = self._game.levels[self._seat] == PRIMITIVE
        return [] if primitive else [action for action, row in enumerate(catalogue) if row[Row.VERB] == Verb.WAIT]
