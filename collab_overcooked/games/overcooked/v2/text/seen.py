"""Knowledge of a player: the square in view, and the recipe once it has seen it; and what it believes of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.games.overcooked.engine.constants import NOTHING
from collab_overcooked.games.overcooked.v2.engine.compile import Compiled
from collab_overcooked.games.overcooked.v2.engine.constants import Clock, Param, Player
from collab_overcooked.games.overcooked.v2.engine.state import State
from collab_overcooked.games.overcooked.v2.engine.step import learn_batch


class KitchenView(SeatView):
    """Knowledge of one player; what others do is known with a view of all only."""

    def __init__(self, game: Any, state: Any, seat: int) -> None:
        super().__init__(game, state, seat)
        self.public_actions = self.public_history = game.kwargs["view_radius"] is None


def cells_in_view(compiled: Compiled, x: int, y: int) -> np.ndarray:
    """Return which cells a player at (x, y) sees, bool (H, W)."""
    radius = compiled.tables.params[Param.RADIUS]
    rows, columns = np.indices(compiled.tables.terrain.shape)
    near: np.ndarray = np.maximum(abs(columns - x), abs(rows - y)) <= radius
    return near | (radius == NOTHING)


def limit_scene(compiled: Compiled, scene: Mapping[str, Any], seat: int) -> dict[str, Any]:
    """Return a scene without what a player does not see; None stands for others out of view and an unknown recipe."""
    me = scene["players"][seat]
    visible = cells_in_view(compiled, *me["position"])

    def sees(thing: Mapping[str, Any]) -> bool:
        x, y = thing["position"]
        return bool(visible[y, x])

    others = [{key: value for key, value in player.items() if key != "knows_recipe"} for player in scene["players"]]
    players = [me if j == seat else player if sees(player) else None for j, player in enumerate(others)]
    return {
        **scene,
        "recipe": scene["recipe"] if me["knows_recipe"] else None,
        "players": players,
        "objects": [thing for thing in scene["objects"] if sees(thing)],
        "buttons": [button for button in scene["buttons"] if sees(button)],
    }


def sample_belief(compiled: Compiled, state: State, seat: int, rng: np.random.Generator) -> None:
    """Replace what a player does not know by a sampled belief, in every environment of a batch; see ``Simulator``.

    Nothing lies or cooks out of view, players there are anywhere in their rooms with empty hands, an unknown recipe is
    one of the layout's, and others know it if they see it. The result depends on what the player knows alone.

    Mutates: state.
    """
    tables = compiled.tables
    for b in range(len(state.clock)):
        players, me = state.players[b], state.players[b, seat]
        visible = cells_in_view(compiled, int(me[Player.X]), int(me[Player.Y]))
        state.cells[b, ~visible] = 0
        taken = visible.copy()
        for j, (x, y) in enumerate(tables.starts.tolist()):
            if j == seat:
                continue
            players[j, Player.KNOWS] = 0
            if not visible[players[j, Player.Y], players[j, Player.X]]:
                room = (tables.regions == tables.regions[y, x]) & ~taken
                free = np.argwhere(room if room.any() else (tables.regions != NOTHING) & ~taken)
                row, column = free[rng.integers(len(free))].tolist()
                players[j] = column, row, rng.integers(4), 0, 0
                taken[row, column] = True
        if not me[Player.KNOWS]:
            state.clock[b, Clock.RECIPE] = rng.choice(tables.recipes)
    learn_batch(tables, state)
