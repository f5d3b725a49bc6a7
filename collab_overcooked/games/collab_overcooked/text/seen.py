"""Knowledge of a cook of Collab-Overcooked: recipes by role, and no counter out of its reach."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from collab_overcooked.envs.api import clone
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.kernels.macro_actions import IDLE, PRIMITIVE

from ..engine.constants import Reason, Row, Verb
from ..engine.observe import knows_recipes
from .text import PICTURE_RULES, PLANS, REQUEST_ENTRY, judge, recipe_text, spaced

SUPPLY = re.compile(r"pickup\((.+),(?:ingredient|dish)_dispenser\)")


class CookView(SeatView):
    """Knowledge of one cook, with the recipe of the current order if its role or ``knowledge="full"`` allows it."""

    @property
    def role(self) -> str:  # type: ignore[override]
        return str(self._game.kitchen.agents[self._seat].role)

    @property
    def objective(self) -> str:
        return self._say(f"Deliver {' and '.join(map(spaced, self.scene['orders']))}.")

    @property
    def rules(self) -> str:
        return f"{self.manual}\n{self._say(PLANS)}"

    @property
    def picture_rules(self) -> str:
        return self._say(PICTURE_RULES)

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
    def requests(self) -> Mapping[str, str]:
        game, seat = self._game, self._seat
        if game.levels[seat] == PRIMITIVE:
            return {}
        state = clone(self._state, 0)
        game.sample_belief(state, seat, np.random.default_rng(0))  # hidden counters decide nothing
        state.macro_state[:, :, list(IDLE)] = list(IDLE.values())  # a busy teammate finishes first
        names = game.compiled.names.catalogue
        accepted = [
            names[action]
            for other in range(game.n_agents)
            if other != seat
            for action in map(names.index, game.vocabulary(other))
            if judge(game.compiled.tables, state, 0, other, action) == Reason.OK
        ]
        alone = set(game.vocabulary(seat))
        texts = map(self._say, sorted(dict.fromkeys(accepted), key=alone.__contains__))  # its own abilities last
        return {text: REQUEST_ENTRY.format(text) for text in texts}

    @cached_property
    def supplies(self) -> Sequence[str]:
        matches = map(SUPPLY.fullmatch, self._game.vocabulary(self._seat))
        return [self._say(spaced(match[1])) for match in matches if match]

    @cached_property
    def waits(self) -> Sequence[int]:
        catalogue = self._game.compiled.tables.catalogue[: self._game.n_actions].tolist()
        primitive = self._game.levels[self._seat] == PRIMITIVE
        return [] if primitive else [action for action, row in enumerate(catalogue) if row[Row.VERB] == Verb.WAIT]
