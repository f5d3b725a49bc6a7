"""OvercookedV2 behind the ``Game`` protocol: options, spaces, names; no rule."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.macro_actions import PRIMITIVE
from collab_overcooked.render.model import Drawing

from ..engine.constants import HAND_END, HORIZON, Action, Change, Clock, Effect, Order, Param, Player, Reason
from ..engine.rules import effect_of
from ..engine.state import Out, State
from ..pool import PROCEDURAL, read_pool, refuse_generator
from .engine import rules
from .engine.compile import compile_layouts
from .engine.config import OvercookedV2Config
from .engine.constants import Event
from .engine.generate import generate, read_config
from .engine.spec import Layout, load_kitchen
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
    event_codes, events_are_bits = Event, True
    reason_codes = Reason
    n_actions = len(Action)
    max_cycles = HORIZON
    tutorial = (
        ("take", r"\S+ take ingredient", "crate"),
        ("pot", r"\S+ put ingredient in pot", "pot"),
        ("put_down", r"\S+ put down", "counter"),
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = OvercookedV2Config.read(values, options)
        self.kwargs = config.to_dict()
        self.compiled = compile_layouts(load_pool(config.layout, config.generator), config)
        self.layout_names = self.compiled.names if len(self.layouts) > 1 else ()
        height, width = self.compiled.tables.terrain.shape[1:]
        self.n_agents = self.compiled.n_players
        self.levels = (PRIMITIVE,) * self.n_agents
        changes = config.changes is not None
        optional = {"changes": len(Change) if changes else 0, "order": len(Order) if config.order_time else 0}
        self.sizes = {"H": height, "W": width, "kinds": self.compiled.kinds, "layers": 0, **optional}
        self.global_state = ("players", "cells", "clock", *(name for name, size in optional.items() if size))
        drawn = (config.random_start, config.random_state, config.permuted_ingredients)
        self.deterministic = len(self.layouts) == 1 and not self.all_recipes and not any(drawn)
        if config.reward == "sparse":
            wrong = self.compiled.tables.params[Param.WRONG_PAYS]
            own = [event for event in Event if not event.loss]
            paying = {event: rules.reward_for(event, wrong) for event in own}
            pays = [Pay(event.name.lower(), team=(points, points)) for event, points in paying.items()]
            self.event_pay = [*pays, *self.team_pays()]
        self._set_spaces(self.compiled.space)

    def with_spare_planes(self, planes: int) -> OvercookedV2:
        drawn = copy.copy(self)
        drawn.__setstate__({"compiled": compile_layouts(self.layouts, self.compiled.config, planes)})
        return drawn

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables = self.compiled.tables
        player = state.players[i, seat]
        k = state.clock[i, Clock.LAYOUT]
        x, y = cell_ahead(player[Player.X], player[Player.Y], player[Player.FACING])
        hand = player[Player.HAND : HAND_END]
        cell = state.cells[i, y, x]
        kind = tables.terrain[k, y, x]
        effect = effect_of(hand, cell, kind, tables.times[k], tables.prepare, tables.params)
        return int(Reason.NO_EFFECT if action == Action.INTERACT and effect == Effect.NONE else Reason.OK)

    def idle_action(self, seat: int = 0) -> int:
        return int(Action.STAY)

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def drawing(self, scene: dict[str, Any], seat: int | None = None) -> Drawing:
        from .text.picture import picture

        return picture(self, scene, seat)


def load_pool(source: Any, generator: Mapping[str, Any] | None = None) -> list[Layout]:
    """Read one layout or several, or generate them.

    Raises:
        ValueError: The source has another type, or options of the generator are given without it.
        DocumentError: A file is invalid.
    """
    if source == PROCEDURAL:
        return generate(read_config(generator))
    refuse_generator(source, generator)
    return read_pool(source, load_kitchen)
