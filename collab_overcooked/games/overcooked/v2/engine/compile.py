"""Compile a layout and its options into read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.io.checks import quote_value
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import Block, highest_of, starts_of
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import Level

from ...engine.compile import number_regions
from ...engine.constants import NOTHING, View
from ...engine.observation_layout import AXES, fill_view
from .config import OvercookedV2Config
from .constants import COOK_TIME, COUNT, FIRST, SYMBOLS, WRONG_PAYS, Param, Plane, Terrain
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
    planes = planes_of(layout.kinds)
    shown = _shown(planes, layout.kinds, config)
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
        template=_template(terrain, starts_of(planes)[Plane.TERRAIN], len(highest), config.view_radius or 0),
        planes=starts_of(planes)[:-1],
        levels=np.full(len(layout.starts), Level.PRIMITIVE, np.int32),
    )
    return Compiled(layout, config, tables, counts_to(np.broadcast_to(highest, shape)))


def _kind(symbol: str) -> int:
    return Terrain.PILE + int(symbol) if symbol in DIGITS else SYMBOLS[symbol]


def planes_of(kinds: int) -> list[Block]:
    """Return the blocks of channels by ``Plane``, for a number of kinds of ingredients."""
    content, counts = (1, 1, *[COUNT] * kinds), "plate, cooked, a count for each ingredient"
    return [
        Block("own position", (1,), "1 in the player's cell"),
        Block("own facing", (1,) * len(Direction), ", ".join(way.name.lower() for way in Direction)),
        Block("own hand", content, counts),
        Block("position of the others", (1,), "as the player's own, of all others together"),
        Block("facing of the others", (1,) * len(Direction), ""),
        Block("hands of the others", content, ""),
        Block("cells", (1,) * len(STATIC), ", ".join(kind.name.lower() for kind in STATIC)),
        Block("piles", (1,) * kinds, "one for each ingredient"),
        Block("contents of cells", content, counts),
        Block("recipe", content, "in cells that show it"),
        Block("timer", (COOK_TIME,), "steps that a pot cooks on"),
        Block("light", (1,), "with `delivery_light`: 1 at serving cells after a delivery of the recipe"),
    ]


def _shown(planes: list[Block], kinds: int, config: OvercookedV2Config) -> np.ndarray:
    highest = highest_of(planes if config.delivery_light else planes[: Plane.LIGHT])
    if config.channels == "paper2025" and config.view_radius is not None:
        return highest[: len(highest) - (kinds - 1)]  # that code declares fewer than it writes
    return highest


def _permuted(kinds: Any, n_kinds: int) -> np.ndarray:
    chosen = [] if kinds is None else list(kinds) if isinstance(kinds, (list, tuple)) else [None]
    if any(type(kind) is not int or not 0 <= kind < n_kinds for kind in chosen) or len(set(chosen)) < len(chosen):
        allowed = f"a list of different numbers from 0 to {n_kinds - 1}"
        raise ValueError(f"permuted_ingredients must be {allowed}, not {quote_value(kinds)}")
    return np.array(chosen, np.int32)


def _template(terrain: np.ndarray, first: int, channels: int, margin: int) -> np.ndarray:
    template = np.zeros((*terrain.shape, channels), np.uint8)
    for channel, kind in enumerate(STATIC, first):
        template[..., channel] = terrain == kind
    return np.pad(template, ((margin, margin), (margin, margin), (0, 0))).reshape(-1)
