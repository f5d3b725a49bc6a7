"""Observations of OvercookedV2: action masks, and the map around a player in the channels of ``compile.planes_of``."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.jit import kernel

from ...engine.constants import NOTHING, Action, View
from ...engine.observe import copy_window, is_inside
from .constants import COOKED, COUNT, PLATE, Cell, Clock, Event, Param, Plane, Player, Terrain
from .rules import judge_interact, shows_recipe

OTHERS = Plane.OTHERS_POSITION - Plane.POSITION  # from a block of the player's own channels to that of all others


@kernel
def observe_env(tables, env, out):
    """Write masks and observations of all players. Mutates: out."""
    observations, masks = out.observations, out.masks
    terrain, params, view = tables.terrain, tables.params, tables.views
    players, cells, radius = env.players, env.cells, tables.views[View.RADIUS]
    for i in range(players.shape[0]):
        player, seen = players[i], observations[i]
        x, y = cell_ahead(player[Player.X], player[Player.Y], player[Player.FACING])
        event = judge_interact(
            player[Player.HAND], cells[y, x], terrain[y, x], env.clock[Clock.RECIPE], params[Param.EXPLICIT]
        )
        masks[i, : Action.INTERACT] = 1
        masks[i, Action.INTERACT] = event != Event.NONE
        left, top = 0, 0
        if radius == NOTHING:
            copy_numbers(tables.template, seen)
        else:
            left, top = player[Player.X] - radius, player[Player.Y] - radius
            copy_window(tables.template, player[Player.X], player[Player.Y], view, seen)
        draw_cells(tables, env, i, left, top, seen)
        draw_players(tables, env, i, left, top, seen)


@kernel
def draw_content(content, at, last, channels, out):
    """A content is plate, cooked, and the count of each ingredient, in the channel of the one it is seen as.

    Contents are added, as players can be drawn in the same channels; ``last`` bounds a view with missing channels.
    Mutates: out.
    """
    if content == 0:
        return
    out[at] += content & PLATE
    out[at + 1] += (content & COOKED) >> 1
    for kind in range(channels.shape[0]):
        target = at + 2 + channels[kind]
        if target < last:
            out[target] += content >> (2 * kind + 2) & COUNT


@kernel
def draw_players(tables, env, i, left, top, out):
    """The player that sees has the first channels, all others share the next ones. Mutates: out."""
    players, channels, view, planes = env.players, env.channels[i], tables.views, tables.planes
    for j in range(players.shape[0]):
        x, y = players[j, Player.X] - left, players[j, Player.Y] - top
        if is_inside(x, y, view):
            at, of = x * view[View.STEP_X] + y * view[View.STEP_Y], 0 if j == i else OTHERS
            out[at + planes[Plane.POSITION + of]] += 1
            out[at + planes[Plane.FACING + of] + players[j, Player.FACING]] += 1
            hand, last = at + planes[Plane.HAND + of], at + tables.params[Param.CHANNELS]
            draw_content(players[j, Player.HAND], hand, last, channels, out)


@kernel
def draw_cells(tables, env, i, left, top, out):
    """Piles, contents, timers, the recipe where it is shown, and the light of a delivery are drawn in their cells.

    Mutates: out.
    """
    cells, clock, channels = env.cells, env.clock, env.channels[i]
    terrain, object_cells, params, view = tables.terrain, tables.object_cells, tables.params, tables.views
    planes, n_channels = tables.planes, params[Param.CHANNELS]
    timer, light = planes[Plane.TIMER], planes[Plane.LIGHT]
    for h in range(object_cells.shape[0]):
        x, y = object_cells[h, 0], object_cells[h, 1]
        if not is_inside(x - left, y - top, view):
            continue
        kind, cell = terrain[y, x], cells[y, x]
        at = (x - left) * view[View.STEP_X] + (y - top) * view[View.STEP_Y]
        if kind >= Terrain.PILE:
            out[at + planes[Plane.PILE] + channels[kind - Terrain.PILE]] = 1
        elif kind == Terrain.SERVING:
            if params[Param.LIGHT] == 1 and light < n_channels:
                out[at + light] = clock[Clock.DELIVERED]
        elif shows_recipe(cell, kind):
            draw_content(clock[Clock.RECIPE], at + planes[Plane.RECIPE], at + n_channels, channels, out)
        else:
            draw_content(cell[Cell.CONTENT], at + planes[Plane.CONTENT], at + n_channels, channels, out)
            if kind == Terrain.POT and timer < n_channels:
                out[at + timer] = cell[Cell.TIMER]
