"""Compile a layout and its options into read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.io.checks import quote_value
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.macro_actions import Level

from ...engine.compile import number_regions
from ...engine.constants import NOTHING, View
from ...engine.observation_layout import AXES, fill_view
from .config import OvercookedV2Config
from .constants import COOK_TIME, COUNT, FIRST, SYMBOLS, WRONG_PAYS, Param, Terrain
from .spec import DIGITS, Layout, Recipe
from .state import Tables

STATIC = (Terrain.COUNTER, Terrain.SERVING, Terrain.POT, Terrain.INDICATOR, Terrain.BUTTON, Terrain.PLATES)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A layout ready to play."""

    layout: Layout
    config: OvercookedV2Config
    tables: Tables
    space: gymnasium.spaces.Box[Any]  # Of one player's observation


def bits_of(recipe: Recipe) -> int:
    """Return the bit field of ingredients, given by their kinds."""
    return sum(FIRST << 2 * kind for kind in recipe)


def kinds_of(content: int) -> list[int]:
    """Return the kinds of the ingredients in a bit field, in ascending order."""
    kinds = range(content.bit_length() // 2)
    return [kind for kind in kinds for _ in range(content // (FIRST << 2 * kind) & COUNT)]


def compile_layout(layout: Layout, config: OvercookedV2Config, spare_planes: int = 0) -> Compiled:
    """Compile a layout with its options.

    Args:
        layout: The layout.
        config: Options of the game.
        spare_planes: Planes behind those of pictures for which room is left, see ``CompiledGame.with_spare_planes``.
    """
    terrain = np.array([[_kind(symbol) for symbol in row] for row in layout.grid], np.int32)
    shown = _highest(layout.kinds, config)
    highest, views = np.append(shown, np.ones(spare_planes, np.uint8)), np.full(len(View), NOTHING, np.int32)
    params = config.pack(
        Param,
        explicit=config.dynamics == "explicit",
        wrong_pays=WRONG_PAYS if config.negative_rewards else 0,
        redraw=config.redraw_recipe,
        random_start=config.random_start or config.random_state,
        shaped=config.reward == "shaped",
        light=config.delivery_light,
        kinds=layout.kinds,
        radius=config.view_radius,
        channels=len(shown),
    )
    height, width = terrain.shape
    shape = fill_view(views, height, width, len(highest), AXES["hwc"], config.view_radius)
    tables = Tables(
        params=params,
        terrain=terrain,
        starts=np.array(layout.starts, np.int32),
        regions=number_regions(terrain),
        recipes=np.array([bits_of(recipe) for recipe in layout.recipes], np.int32),
        object_cells=np.ascontiguousarray(np.argwhere(terrain != Terrain.FLOOR)[:, ::-1], np.int32),
        permuted=_permuted(config.permuted_ingredients, layout.kinds),
        views=views,
        template=_template(terrain, layout.kinds, len(highest), config.view_radius or 0),
        levels=np.full(len(layout.starts), Level.PRIMITIVE, np.int32),
    )
    return Compiled(layout, config, tables, counts_to(np.broadcast_to(highest, shape)))


def _kind(symbol: str) -> int:
    return Terrain.PILE + int(symbol) if symbol in DIGITS else SYMBOLS[symbol]


def _highest(kinds: int, config: OvercookedV2Config) -> np.ndarray:
    counts = [1, 1, *[3] * kinds]
    player = [1] * 5 + counts
    channels = [*player, *player, *[1] * (len(STATIC) + kinds), *counts, *counts, COOK_TIME]
    channels += [1] * config.delivery_light
    if config.channels == "paper2025" and config.view_radius is not None:  # as many as that code declared
        channels = channels[: 18 + 4 * (kinds + 2) + config.delivery_light]
    return np.array(channels, np.uint8)


def _permuted(kinds: Any, n_kinds: int) -> np.ndarray:
    chosen = [] if kinds is None else list(kinds) if isinstance(kinds, (list, tuple)) else [None]
    if any(type(kind) is not int or not 0 <= kind < n_kinds for kind in chosen) or len(set(chosen)) < len(chosen):
        allowed = f"a list of different numbers from 0 to {n_kinds - 1}"
        raise ValueError(f"permuted_ingredients must be {allowed}, not {quote_value(kinds)}")
    return np.array(chosen, np.int32)


def _template(terrain: np.ndarray, kinds: int, channels: int, margin: int) -> np.ndarray:
    template = np.zeros((*terrain.shape, channels), np.uint8)
    first = static_channel(kinds)
    for channel, kind in enumerate(STATIC, first):
        template[..., channel] = terrain == kind
    return np.pad(template, ((margin, margin), (margin, margin), (0, 0))).reshape(-1)


def static_channel(kinds: int) -> int:
    """Return the first channel of cell kinds, after the channels of players."""
    return 2 * (5 + 2 + kinds)
