"""Compile a pool of layouts and its options into read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.io.checks import quote_value
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import Block, highest_of, starts_of
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import Level

from ...engine.compile import (
    best_of,
    by_soup,
    check_changes,
    check_names,
    compile_grids,
    compile_terrain,
    places_of,
    prepare_of,
    recipes_of,
)
from ...engine.config import pack_changes
from ...engine.constants import BELTS, MAX_INGREDIENTS, PREPARING, LayoutSize, NearestObject, Param, Shaping, Terrain
from ...engine.observation_layout import AXES, empty_view, fill_view, further_planes, place_planes
from ...engine.state import Tables
from .config import OvercookedV2Config
from .constants import COOK_TIME, DELIVERY_PAYS, INGREDIENTS, KINDS_OF_CELLS, WRONG_PAYS, Event, Plane
from .spec import Layout, Recipe, counts_in, number_of_recipe

STATIC = (Terrain.COUNTER, Terrain.SERVING, Terrain.POT, Terrain.INDICATOR, Terrain.BUTTON, Terrain.DISHES)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A pool of layouts ready to play."""

    layouts: tuple[Layout, ...]
    config: OvercookedV2Config
    names: tuple[str, ...]  # Of the layouts
    kinds: int  # Of ingredients, in all layouts together
    tables: Tables
    n_players: int
    space: gymnasium.spaces.Box[Any]  # Of one player's observation


def compile_layouts(layouts: Sequence[Layout], config: OvercookedV2Config, spare_planes: int = 0) -> Compiled:
    """Compile a pool of one or more layouts with its options.

    Args:
        layouts: The pool.
        config: Options of the game.
        spare_planes: Planes behind those of pictures for which room is left, see ``CompiledGame.with_spare_planes``.

    Raises:
        ValueError: Options contradict each other or do not fit the layouts, or layouts cannot be of one pool.
    """
    names, kinds = check_names(layouts), max(layout.kinds for layout in layouts)
    counts = {len(layout.starts) for layout in layouts}
    if len(counts) > 1:
        raise ValueError(f"layouts of the pool start {sorted(counts)} players; all must start as many")
    config.check_costs()
    terrain = compile_terrain([layout.grid for layout in layouts], KINDS_OF_CELLS)
    planes = planes_of(kinds, config.longest_time(COOK_TIME))
    shown = _shown(planes, kinds, config)
    views = empty_view(config)
    further = further_planes(config, terrain, 1)
    drawn = dict(zip(STATIC, range(starts_of(planes)[Plane.TERRAIN], len(shown)), strict=False))
    drawn |= place_planes(further, len(shown), views)
    highest = np.array([*shown, *highest_of(further), *[1] * spare_planes], np.uint8)
    params = config.pack(
        Param,
        auto_start=config.dynamics == "auto",
        full_waits=True,
        wrong_pays=WRONG_PAYS if config.negative_rewards else 0,
        redraw=config.redraw_recipe or config.order_time is not None,
        random_start=config.random_start or config.random_state,
        shaped=config.reward == "shaped",
        light=config.delivery_light,
        radius=config.view_radius,
        channels=len(shown),
        soup_burnt=Event.SOUP_BURNT,
        **pack_changes(config.changes),
    )
    height, width = terrain.shape[1:]
    shape = fill_view(views, height, width, len(highest), AXES["hwc"], config.view_radius)
    frames = np.stack([_frame(layout, grid) for layout, grid in zip(layouts, terrain, strict=True)])
    values = np.stack([_same_for(layout.recipes, DELIVERY_PAYS, kinds) for layout in layouts])
    sizes = range(1, MAX_INGREDIENTS + 1)
    soups = [soup for size in sizes for soup in combinations_with_replacement(range(kinds), size)]
    times = np.stack([_same_for(soups, COOK_TIME, kinds)] * len(layouts))
    check_changes(config, names, len(layouts[0].starts), terrain, times, frames)
    tables = Tables(
        params=params,
        shaping=np.zeros((len(layouts), len(Shaping)), np.float32),
        frames=frames,
        starts=np.array([layout.starts for layout in layouts], np.int32),
        **compile_grids(layouts, terrain, auto_start=config.dynamics == "auto"),
        values=values,
        best=np.stack([best_of(pays) for pays in values]),
        times=times,
        views=views,
        object_cells=places_of([np.argwhere(is_object(grid))[:, ::-1] for grid in terrain]),
        template=_template(terrain, drawn, len(highest), config.view_radius or 0),
        nearest=np.zeros((len(layouts), 0, len(NearestObject)), np.int32),
        levels=np.full(counts.pop(), Level.PRIMITIVE, np.int32),
        prepare=prepare_of(layouts, INGREDIENTS[:kinds]),
        recipes=recipes_of(layouts, [[*map(number_of_recipe, layout.recipes)] for layout in layouts], config),
        planes=starts_of(planes)[:-1],
        permuted=_permuted(config.permuted_ingredients, kinds),
    )
    space = counts_to(np.broadcast_to(highest, shape))
    return Compiled(tuple(layouts), config, names, kinds, tables, len(tables.levels), space)


def is_object(terrain: np.ndarray) -> np.ndarray:
    """Return which cells are neither floor nor wall, bool of the shape of ``terrain``."""
    found: np.ndarray = (terrain != Terrain.FLOOR) & (terrain != Terrain.WALL)
    return found


def _frame(layout: Layout, terrain: np.ndarray) -> np.ndarray:
    frame = np.zeros(len(LayoutSize), np.int32)
    frame[LayoutSize.HEIGHT], frame[LayoutSize.WIDTH] = len(layout.grid), len(layout.grid[0])
    frame[LayoutSize.POTS] = len(layout.cells("P"))
    frame[LayoutSize.OBJECT_CELLS] = is_object(terrain).sum()
    frame[LayoutSize.BUTTONS] = len(layout.cells("L"))
    frame[LayoutSize.BELTS] = sum(len(layout.cells(symbol)) for symbol in BELTS)
    frame[LayoutSize.STATIONS] = sum(len(layout.cells(symbol)) for symbol in PREPARING)
    frame[LayoutSize.RECIPES], frame[LayoutSize.KINDS] = len(layout.recipes), layout.kinds
    return frame


def _same_for(soups: Sequence[Recipe], number: int, kinds: int) -> np.ndarray:
    return by_soup({counts_in(soup, kinds): number for soup in soups}, kinds)


def planes_of(kinds: int, longest: int = COOK_TIME) -> list[Block]:
    """Return the blocks of channels by ``Plane``, for kinds of ingredients and the longest time that a pot shows."""
    content = (1, 1, *[MAX_INGREDIENTS] * kinds)
    counts = "plate, cooked, a count for each ingredient"
    return [
        Block("own position", (1,), "1 in the player's cell"),
        Block("own facing", (1,) * len(Direction), ", ".join(way.name.lower() for way in Direction)),
        Block("own hand", content, counts),
        Block("position of the others", (1,), "as the player's own, of all others together"),
        Block("facing of the others", (1,) * len(Direction), ""),
        Block("hands of the others", content, ""),
        Block("cells", (1,) * len(STATIC), ", ".join(cell_name(kind) for kind in STATIC)),
        Block("piles", (1,) * kinds, "one for each ingredient"),
        Block("contents of cells", content, counts),
        Block("recipe", content, "in cells that show it"),
        Block("timer", (longest,), "steps that a pot cooks on; with `burn`, then those until its soup burns"),
        Block("light", (1,), "with `delivery_light`: 1 at serving cells after a delivery of the recipe"),
    ]


def cell_name(kind: Terrain) -> str:
    """Return the name of a kind of cells in this game."""
    return "plates" if kind == Terrain.DISHES else kind.name.lower()


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


def _template(terrain: np.ndarray, drawn: Mapping[Terrain, int], channels: int, margin: int) -> np.ndarray:
    template = np.zeros((*terrain.shape, channels), np.uint8)
    for kind, channel in drawn.items():
        template[..., channel] = terrain == kind
    padded = np.pad(template, ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    return padded.reshape(len(terrain), -1)
