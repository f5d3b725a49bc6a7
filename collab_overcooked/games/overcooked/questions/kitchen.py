"""Kitchen of a question: its game, and names of things and actions there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.kernels.grid import OFFSETS, Direction
from collab_overcooked.kernels.macro_actions import MEDIUM

from ..engine.constants import NOTHING, Object
from ..text.text import object_name

ENV_ID = "Overcooked-v0"
WAIT = "wait"
State = Mapping[str, Any]
Place = tuple[int, int]  # x, y


class Kitchen:
    """A layout of two players.

    Args:
        layout: Built-in name.
    """

    def __init__(self, layout: str) -> None:
        self.layout = layout
        self.game: Any = registry.load_game(ENV_ID, layout=layout)
        self.compiled = self.game.compiled
        tables = self.compiled.tables
        self.terrain = tables.terrain[0]
        self.width = self.terrain.shape[1]
        self.objects = {object_name(thing): thing for thing in tables.objects[0] if thing[Object.X] != NOTHING}
        game: Any = self.game
        texts = game.directive_texts
        self.cells = {
            texts[action]: self.number(tables.objects[0, slot])
            for action, (_, slot) in enumerate(tables.catalogue.tolist())
            if slot != NOTHING
        }

    @cached_property
    def _directed(self) -> Any:
        return registry.load_game(ENV_ID, layout=self.layout, action_level=MEDIUM)

    def told(self, state: State, seat: int) -> str:
        """Return the observation text of an agent with directives: distances, contents, possible directives."""
        game = self._directed
        arrays, out = game.alloc(1)
        game.reset(arrays, out, np.ones(1, np.bool_), {"state": state})
        return str(game.describe(arrays, 0, seat))

    def number(self, thing: np.ndarray) -> int:
        """Return the number of a thing's cell."""
        return int(thing[Object.Y] * self.width + thing[Object.X])

    def place(self, name: str) -> Place:
        """Return the cell of a named object."""
        return int(self.objects[name][Object.X]), int(self.objects[name][Object.Y])

    def cell(self, choice: str) -> int:
        """Return the number of the cell that a choice names at its end."""
        return self.number(self.objects[choice.split()[-1]])

    def faced(self, player: Mapping[str, Any]) -> int:
        """Return the number of the cell that a player of a scene faces."""
        dx, dy = OFFSETS[Direction[player["facing"].upper()]]
        x, y = player["position"]
        return int((y + dy) * self.width + x + dx)

    def used(self, before: State, after: State, seat: int) -> int | None:
        """Return the number of the cell that a seat used its hands on in a step; None if it did not."""
        player = before["players"][seat]
        cell = self.faced(player)
        if player["holding"] != after["players"][seat]["holding"]:
            return cell
        here = [cell % self.width, cell // self.width]
        opened = any(
            one["position"] == here and other["open"] and not one["open"]
            for one, other in zip(before["gates"], after["gates"], strict=True)
        )
        return cell if opened and player["holding"] is None else None


@lru_cache(maxsize=16)
def load_kitchen(layout: str) -> Kitchen:
    """Load the kitchen of a built-in layout; it is cached."""
    return Kitchen(layout)
