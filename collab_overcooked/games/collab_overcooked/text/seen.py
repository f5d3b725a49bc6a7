"""Knowledge of a cook of Collab-Overcooked: recipes by role, and no counter out of its reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.collab_overcooked.engine.compile import Compiled
from collab_overcooked.games.collab_overcooked.engine.constants import (
    NOTHING,
    Access,
    Clock,
    Group,
    MacroState,
    Param,
    Row,
    Station,
    Tile,
    Verb,
)
from collab_overcooked.games.collab_overcooked.engine.observe import knows_recipes
from collab_overcooked.games.collab_overcooked.engine.state import State, empty_tile, filled_counters
from collab_overcooked.games.collab_overcooked.text.text import PLANS, recipe_text, spaced, vocabulary
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.kernels.macro_actions import PRIMITIVE, Macro

SUPPLY = re.compile(r"pickup\((.+),(?:ingredient|dish)_dispenser\)")


def hidden_counters(compiled: Compiled, seat: int) -> set[tuple[int, int]]:
    """Return the places (x, y) of the counters that a seat cannot use."""
    access, stations = compiled.tables.access[seat], compiled.tables.stations
    counters = [s for s in compiled.tables.groups[Group.COUNTER] if s != NOTHING]
    return {(int(stations[s, Station.X]), int(stations[s, Station.Y])) for s in counters if access[s] == Access.NONE}


def seat_scene(compiled: Compiled, scene: dict[str, Any], seat: int) -> dict[str, Any]:
    """Return a scene without what lies on counters that a seat cannot use."""
    hidden = hidden_counters(compiled, seat)
    return {**scene, "counters": [c for c in scene["counters"] if tuple(c["position"]) not in hidden]}


def forget_hidden(compiled: Compiled, state: State, seat: int) -> None:
    """Replace what a seat cannot know in every environment of a batch: counters that it cannot use become empty.

    Things on other counters are as old as their order says. Mutates: state.
    """
    tables = compiled.tables
    counters = [s for s in tables.groups[Group.COUNTER] if s != NOTHING]
    state.tiles[:, [s for s in counters if tables.access[seat, s] == Access.NONE]] = empty_tile(state.tiles.shape[2])
    others = np.arange(state.macro_state.shape[1]) != seat
    state.macro_state[:, others, Macro.STILL] = state.macro_state[:, others, MacroState.REASON] = 0
    if not tables.params[Param.SHOW_LIMIT]:
        state.clock[:, Clock.LIMIT] = MAX_OPTION
    for b in range(len(state.clock)):
        filled = filled_counters(tables, state.tiles[b])
        state.tiles[b, filled, Tile.PLACED] = np.arange(1, len(filled) + 1)
        state.clock[b, Clock.PLACEMENTS] = len(filled)


class CookView(SeatView):
    """Knowledge of one cook, with the recipe of the current order if its role or ``knowledge="full"`` allows it."""

    @property
    def role(self) -> str:  # type: ignore[override]
        """Role of the cook, for example ``"chef"``."""
        return str(self._game.kitchen.agents[self._seat].role)

    @property
    def aim(self) -> str:
        return self._say(f"Deliver {' and '.join(map(spaced, self.scene['orders']))}.")

    @property
    def rules(self) -> str:
        return f"{self.manual}\n{self._say(PLANS)}"

    @cached_property
    def recipe(self) -> str | None:  # type: ignore[override]
        """The recipe of the present order, None if there is no order or the cook does not know it."""
        orders = self.scene["orders"]
        knows = knows_recipes(self._seat, self._game.compiled.tables.params)
        return self._say(recipe_text(self._game.kitchen, orders[0])) if knows and orders else None

    @cached_property
    def vocabulary(self) -> Sequence[str]:
        if self._game.levels[self._seat] == PRIMITIVE:
            return self.action_texts
        return [self._say(text) for text in vocabulary(self._game.compiled, self._seat)]

    @cached_property
    def requestable(self) -> Sequence[str]:
        if self._game.levels[self._seat] == PRIMITIVE:
            return ()
        others = (seat for seat in range(self._game.n_agents) if seat != self._seat)
        texts = dict.fromkeys(text for seat in others for text in vocabulary(self._game.compiled, seat))
        alone = set(vocabulary(self._game.compiled, self._seat))
        return [self._say(text) for text in sorted(texts, key=alone.__contains__)]  # last what the seat can do itself

    @cached_property
    def supplies(self) -> Sequence[str]:
        matches = map(SUPPLY.fullmatch, vocabulary(self._game.compiled, self._seat))
        return [self._say(spaced(match[1])) for match in matches if match]

    @cached_property
    def waits(self) -> Sequence[int]:
        catalogue = self._game.compiled.tables.catalogue[: self._game.n_actions].tolist()
        primitive = self._game.levels[self._seat] == PRIMITIVE
        return [] if primitive else [action for action, row in enumerate(catalogue) if row[Row.VERB] == Verb.WAIT]
