"""Observations of OvercookedV2: action masks, and the map around a player in the channels of ``compile.planes_of``."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import clip_u8, copy_numbers
from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.jit import kernel

from ...engine.constants import (
    COUNT_MASK,
    FIRST_INGREDIENT,
    FIRST_PILE,
    HAND_END,
    NOT_COOKING,
    NOTHING,
    Action,
    Change,
    Clock,
    Effect,
    Item,
    LayoutSize,
    Order,
    Param,
    Player,
    Terrain,
    Thing,
    View,
)
from ...engine.observe import copy_window, draw_change, fill_channel, is_inside, time_left
from ...engine.rules import effect_of, is_ready
from .constants import Plane
from .rules import shows_recipe

OTHERS = Plane.OTHERS_POSITION - Plane.POSITION  # from a block of the player's own channels to that of all others


@kernel
def observe_env(tables, env, out):
    """Write masks and observations of all players. Mutates: out."""
    observations = out.observations
    masks = out.masks
    k = env.clock[Clock.LAYOUT]
    terrain = tables.terrain[k]
    params = tables.params
    view = tables.views
    times = tables.times[k]
    players = env.players
    cells = env.cells
    radius = tables.views[View.RADIUS]
    for i in range(players.shape[0]):
        player, seen = players[i], observations[i]
        x, y = cell_ahead(player[Player.X], player[Player.Y], player[Player.FACING])
        effect = effect_of(player[Player.HAND : HAND_END], cells[y, x], terrain[y, x], times, tables.prepare, params)
        masks[i, : Action.INTERACT] = 1
        masks[i, Action.INTERACT] = effect != Effect.NONE
        left, top = 0, 0
        if radius == NOTHING:
            copy_numbers(tables.template[k], seen)
        else:
            left, top = player[Player.X] - radius, player[Player.Y] - radius
            copy_window(tables.template[k], player[Player.X], player[Player.Y], view, seen)
        draw_cells(tables, env, i, left, top, seen)
        draw_players(tables, env, i, left, top, seen)
        if view[View.CHANGES] != NOTHING and env.changes[Change.LEFT] > 0:
            draw_change(tables.terrain, env, left, top, view, seen)
        if view[View.ORDER] != NOTHING:
            fill_channel(view[View.ORDER], clip_u8(env.order[Order.LEFT]), view, seen)


@kernel
def draw_counts(soup, at, last, channels, out):
    """A soup is the count of each ingredient, in the channel of the one it is seen as.

    Counts are added, as players can be drawn in the same channels; ``last`` bounds a view with missing channels.
    Mutates: out.
    """
    for kind in range(channels.shape[0]):
        target = at + channels[kind]
        if target < last:
            out[target] += soup >> 2 * kind & COUNT_MASK


@kernel
def draw_thing(thing, in_pot, times, at, last, channels, out):
    """A thing is whether it is a plate, whether it is cooked, and its ingredients. Mutates: out."""
    item = thing[Thing.ITEM]
    if item == Item.NONE:
        return
    if item == Item.DISH or (item == Item.SOUP and not in_pot):
        out[at] += 1
    if item == Item.SOUP:
        out[at + 1] += not in_pot or is_ready(thing, times)
        draw_counts(thing[Thing.SOUP], at + 2, last, channels, out)
    elif item >= FIRST_INGREDIENT:
        draw_counts(1 << 2 * (item - FIRST_INGREDIENT), at + 2, last, channels, out)


@kernel
def draw_work(thing, at, view, out):
    """The work done on an ingredient is drawn in its cell, where ingredients need preparation. Mutates: out."""
    if view[View.WORK] != NOTHING and thing[Thing.ITEM] >= FIRST_INGREDIENT:
        out[at + view[View.WORK]] = thing[Thing.TICK]


@kernel
def draw_players(tables, env, i, left, top, out):
    """The player that sees has the first channels, all others share the next ones. Mutates: out."""
    players = env.players
    channels = env.channels[i]
    view = tables.views
    planes = tables.planes
    times = tables.times[env.clock[Clock.LAYOUT]]
    for j in range(players.shape[0]):
        x, y = players[j, Player.X] - left, players[j, Player.Y] - top
        if is_inside(x, y, view):
            at, of = x * view[View.STEP_X] + y * view[View.STEP_Y], 0 if j == i else OTHERS
            out[at + planes[Plane.POSITION + of]] += 1
            out[at + planes[Plane.FACING + of] + players[j, Player.FACING]] += 1
            held, last = at + planes[Plane.HAND + of], at + tables.params[Param.CHANNELS]
            hand = players[j, Player.HAND : HAND_END]
            draw_thing(hand, False, times, held, last, channels, out)
            draw_work(hand, at, view, out)


@kernel
def draw_cells(tables, env, i, left, top, out):
    """Piles, contents, timers, the recipe where it is shown, and the light of a delivery are drawn in their cells.

    Mutates: out.
    """
    cells = env.cells
    clock = env.clock
    channels = env.channels[i]
    k = env.clock[Clock.LAYOUT]
    terrain = tables.terrain[k]
    object_cells = tables.object_cells[k]
    params = tables.params
    view = tables.views
    planes = tables.planes
    n_channels = params[Param.CHANNELS]
    times = tables.times[k]
    timer, light = planes[Plane.TIMER], planes[Plane.LIGHT]
    for h in range(tables.frames[k, LayoutSize.OBJECT_CELLS]):
        x, y = object_cells[h, 0], object_cells[h, 1]
        if not is_inside(x - left, y - top, view):
            continue
        kind, cell = terrain[y, x], cells[y, x]
        at = (x - left) * view[View.STEP_X] + (y - top) * view[View.STEP_Y]
        if kind >= Terrain.ONIONS:
            out[at + planes[Plane.PILE] + channels[kind - FIRST_PILE]] = 1
        elif kind == Terrain.SERVING:
            if params[Param.LIGHT] == 1 and light < n_channels:
                out[at + light] = clock[Clock.DELIVERED]
        elif shows_recipe(cell, kind):
            draw_counts(clock[Clock.RECIPE], at + planes[Plane.RECIPE] + 2, at + n_channels, channels, out)
        else:
            is_pot = kind == Terrain.POT
            draw_thing(cell, is_pot, times, at + planes[Plane.CONTENT], at + n_channels, channels, out)
            draw_work(cell, at, view, out)
            if is_pot and timer < n_channels and cell[Thing.ITEM] == Item.SOUP and cell[Thing.TICK] != NOT_COOKING:
                out[at + timer] = clip_u8(max(time_left(cell, times, view), 0))
