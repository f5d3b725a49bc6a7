"""One kitchen that questions are about: its games, its search, and names of what can be done there first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.core.grid import OFFSETS, Direction
from collab_overcooked.games.overcooked.constants import NOTHING, Object, Row, Terrain
from collab_overcooked.games.overcooked.questions.search import First, JointSearch
from collab_overcooked.games.overcooked.text import directive_texts, look, object_name

ENV_ID = "Overcooked-v0"
WAIT, AWAY = "wait", "move away"
State = Mapping[str, Any]
Place = tuple[int, int]  # x, y


class Kitchen:
    """A layout of two players.

    Args:
        layout: Shipped name.
    """

    def __init__(self, layout: str) -> None:
        self.layout = layout
        self.game: Any = registry.load_game(ENV_ID, layout=layout)
        self.compiled = self.game.compiled
        tables = self.compiled.tables
        self.terrain, self.regions = tables.terrain[0], tables.regions[0]
        self.width = self.terrain.shape[1]
        self.objects = {object_name(thing): thing for thing in tables.objects[0] if thing[Object.X] != NOTHING}
        texts = directive_texts(self.compiled)
        self.cells = {
            texts[action]: self._number(tables.objects[0, slot])
            for action, (_, slot) in enumerate(tables.catalogue.tolist())
            if slot != NOTHING and tables.catalogue[action, Row.SLOT] != NOTHING
        }

    @cached_property
    def search(self) -> JointSearch:
        """The exact search of this kitchen."""
        return JointSearch(self.game)

    def _number(self, thing: np.ndarray) -> int:
        return int(thing[Object.Y] * self.width + thing[Object.X])

    def place(self, name: str) -> Place:
        """Return the cell of a named object."""
        return int(self.objects[name][Object.X]), int(self.objects[name][Object.Y])

    def first(self, choice: str) -> int:
        """Return what a choice in words is among ``search.First``."""
        return int(First.WAITED) if choice == WAIT else int(First.CELL) + self.cells[choice]

    def seen(self, state: State, seat: int) -> dict[str, Any]:
        """Return what ``text.look`` says of a moment."""
        arrays, out = self.game.alloc(1)
        self.game.reset(arrays, out, np.ones(1, np.bool_), {"state": state})
        return look(self.compiled, arrays, 0, seat)

    def choices(self, state: State, seat: int) -> tuple[str, ...]:
        """Return what a seat can do next, waiting among it."""
        return tuple(text for text in self.seen(state, seat)["feasible"] if text not in (AWAY, "continue"))

    def faced(self, player: Mapping[str, Any]) -> int:
        """Return the number of the cell that a player of a scene faces."""
        dx, dy = OFFSETS[Direction[player["facing"].upper()]]
        x, y = player["position"]
        return int((y + dy) * self.width + x + dx)

    def used(self, before: State, after: State, seat: int) -> int | None:
        """Return the number of the cell that a seat used its hands on in a step; None if it did not."""
        own = before["players"][seat]
        cell = self.faced(own)
        if own["holding"] != after["players"][seat]["holding"]:
            return cell
        here = [cell % self.width, cell // self.width]
        opened = any(
            one["position"] == here and other["open"] and not one["open"]
            for one, other in zip(before["gates"], after["gates"], strict=True)
        )
        return cell if opened and own["holding"] is None else None

    def floor(self, region: int | None = None) -> list[Place]:
        """Return the floor cells, of one region if it is given."""
        wanted = self.terrain == Terrain.FLOOR if region is None else self.regions == region
        return [(int(x), int(y)) for y, x in np.argwhere(wanted)]


@lru_cache(maxsize=16)
def kitchen(layout: str) -> Kitchen:
    """Return the kitchen of a shipped layout."""
    return Kitchen(layout)
