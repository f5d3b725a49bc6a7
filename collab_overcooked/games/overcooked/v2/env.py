"""OvercookedV2 behind the ``Game`` protocol: options, spaces, names; no rule."""

from __future__ import annotations

import copy
from typing import Any

from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.render.model import Drawing

from ..engine.constants import HORIZON, Action, Reason
from ..engine.state import Out
from .engine import rules
from .engine.compile import compile_layout
from .engine.config import OvercookedV2Config
from .engine.constants import Clock, Event, Param, Player
from .engine.spec import Layout, load_kitchen
from .engine.state import State
from .engine.step import BATCH_KERNELS
from .text.text import OvercookedV2Text


class OvercookedV2(OvercookedV2Text):
    """The kitchens of OvercookedV2 (Gessler et al. 2025), where only those who see the recipe know it.

    Options by position or name are those of ``OvercookedV2Config``.
    """

    id = "OvercookedV2-v0"
    exact_masks = True
    config_class = OvercookedV2Config
    array_classes = (State, Out)
    batch_kernels = BATCH_KERNELS
    event_codes, reason_codes = Event, Reason
    n_actions = len(Action)
    max_cycles = HORIZON
    global_state = ("players", "cells", "clock")
    tutorial = (
        ("take", r"\S+ take ingredient", "crate"),
        ("pot", r"\S+ put ingredient in pot", "pot"),
        ("put_down", r"\S+ put down", "counter"),
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = OvercookedV2Config.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_layout(load_kitchen(config.layout), config)
        height, width = self.compiled.tables.terrain.shape
        self.n_agents = len(self.layout.starts)
        self.sizes = {"H": height, "W": width, "K": self.layout.kinds, "layers": 0}
        drawn = (config.random_start, config.random_state, config.permuted_ingredients)
        self.deterministic = len(self.layout.recipes) == 1 and not any(drawn)
        if config.reward == "sparse":
            paying = {event: rules.reward_for(event, self.compiled.tables.params[Param.WRONG_PAYS]) for event in Event}
            self.event_pay = [Pay(event.name.lower(), team=(points, points)) for event, points in paying.items()]
        self._set_spaces(self.compiled.space)

    def with_spare_planes(self, planes: int) -> OvercookedV2:
        drawn = copy.copy(self)
        drawn.__setstate__({"compiled": compile_layout(self.layout, self.compiled.config, planes)})
        return drawn

    @property
    def layout(self) -> Layout:
        """The layout as read from its file."""
        layout: Layout = self.compiled.layout
        return layout

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables, player = self.compiled.tables, state.players[i, seat]
        x, y = cell_ahead(player[Player.X], player[Player.Y], player[Player.FACING])
        recipe, explicit = state.clock[i, Clock.RECIPE], tables.params[Param.EXPLICIT]
        event = rules.judge_interact(player[Player.HAND], state.cells[i, y, x], tables.terrain[y, x], recipe, explicit)
        return int(Reason.NO_EFFECT if action == Action.INTERACT and event == Event.NONE else Reason.OK)

    def idle_action(self, seat: int = 0) -> int:
        return int(Action.STAY)

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        return picture(self, scene, seat)
