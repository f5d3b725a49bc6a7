"""What players see, as numbers: action masks, and pictures of the map with one channel for each kind of thing.

A picture is centred on the player who sees: its own channels come first, its teammates' follow in seat order. All
numbers are uint8; times stop at 255. Every picture is drawn anew: the part that never changes is copied from a
template, then players and objects are put in. Rows of numbers are in ``features.py``.
"""

from __future__ import annotations

from collab_overcooked._jit import kernel
from collab_overcooked.envs.core.grid import OFFSETS
from collab_overcooked.envs.overcooked.constants import (
    HAND_END,
    NOTHING,
    PLAYER_CHANNELS,
    URGENT_STEPS,
    Action,
    Channel,
    Clock,
    Encoding,
    GateChannel,
    Item,
    Limit,
    Player,
    Terrain,
    Thing,
    View,
)
from collab_overcooked.envs.overcooked.features import encode_features
from collab_overcooked.envs.overcooked.rules import answers, is_idle, is_ready


@kernel
def observe_env(tables, players, cells, clock, observations, masks):
    """Every player gets its mask and its view. Mutates: observations, masks."""
    k = clock[Clock.LAYOUT]
    view, times, terrain = tables.views, tables.times[k], tables.terrain[k]
    for i in range(players.shape[0]):
        mask_primitive(players[i], cells, terrain, times, tables.limits, masks[i])
    if view[View.ENCODING] >= Encoding.FEATURES:
        encode_features(
            players, cells, terrain, times, tables.floor[k], tables.nearest[k], tables.ways[k], view, observations
        )
        return
    for i in range(players.shape[0]):
        draw_picture(i, players, cells, clock, terrain, times, tables.template[k], view, observations[i])


@kernel
def mask_primitive(player, cells, terrain, times, limits, mask):
    """Moves and staying are always allowed, an interact where it changes something. Mutates: mask."""
    dx, dy = OFFSETS[player[Player.FACING]]
    x, y = player[Player.X] + dx, player[Player.Y] + dy
    mask[: Action.INTERACT] = 1
    mask[Action.INTERACT] = answers(
        player[Player.HAND : HAND_END],
        cells[y, x],
        terrain[y, x],
        times,
        limits[Limit.AUTO_START],
        limits[Limit.GATE_ANYONE],
    )


@kernel
def small(value):
    """Counts and times are capped to fit a byte."""
    return min(max(value, 0), 255)


@kernel
def draw_picture(i, players, cells, clock, terrain, times, template, view, out):
    """A player sees the map, or a window of it around itself, with everybody and everything on it. Mutates: out."""
    left = top = 0
    if view[View.RADIUS] == NOTHING:
        copy_numbers(template, out)
    else:
        left, top = players[i, Player.X] - view[View.RADIUS], players[i, Player.Y] - view[View.RADIUS]
        copy_window(template, left, top, cells.shape[1], cells.shape[0], view, out)
    draw_players(i, players, left, top, times, view, out)
    draw_objects(cells, left, top, terrain, times, PLAYER_CHANNELS * players.shape[0], view, out)
    if view[View.ENCODING] != Encoding.GATES and clock[Clock.LIMIT] - clock[Clock.T] < URGENT_STEPS:
        fill_channel(PLAYER_CHANNELS * players.shape[0] + Channel.URGENT, view, out)


@kernel
def copy_numbers(source, target):
    """Numbers are copied as whole views, so that the compiler vectorises the loop. Mutates: target."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@kernel
def copy_window(template, left, top, map_width, map_height, view, out):
    """A window shows what lies inside the map; what lies outside is all zeros. Mutates: out."""
    out[:] = 0
    for y in range(max(0, -top), min(view[View.HEIGHT], map_height - top)):
        for x in range(max(0, -left), min(view[View.WIDTH], map_width - left)):
            source = (left + x) * view[View.MAP_X] + (top + y) * view[View.MAP_Y]
            target = x * view[View.STEP_X] + y * view[View.STEP_Y]
            for c in range(view[View.CHANNELS]):
                out[target + c * view[View.STEP_CHANNEL]] = template[source + c * view[View.MAP_CHANNEL]]


@kernel
def fill_channel(channel, view, out):
    """A channel that tells of the moment is 1 in all cells. Mutates: out."""
    for y in range(view[View.HEIGHT]):
        for x in range(view[View.WIDTH]):
            out[x * view[View.STEP_X] + y * view[View.STEP_Y] + channel * view[View.STEP_CHANNEL]] = 1


@kernel
def draw_players(i, players, left, top, times, view, out):
    """A player is a mark in its own channel, one in the channel of its facing, and what it holds. Mutates: out."""
    n_players, step = players.shape[0], view[View.STEP_CHANNEL]
    for j in range(n_players):
        player = players[i + j if i + j < n_players else i + j - n_players]
        x, y = player[Player.X] - left, player[Player.Y] - top
        if 0 <= x < view[View.WIDTH] and 0 <= y < view[View.HEIGHT]:
            at = x * view[View.STEP_X] + y * view[View.STEP_Y]
            out[at + j * step] = 1
            out[at + (n_players + 4 * j + player[Player.FACING]) * step] = 1
            at += PLAYER_CHANNELS * n_players * step
            draw_thing(player[Player.HAND : HAND_END], False, times, view[View.ENCODING], step, out, at)


@kernel
def draw_objects(cells, left, top, terrain, times, base, view, out):
    """Whatever lies on counters and in pots is drawn in its cell, and so are open gates. Mutates: out."""
    step, encoding = view[View.STEP_CHANNEL], view[View.ENCODING]
    for y in range(max(0, top), min(cells.shape[0], top + view[View.HEIGHT])):
        for x in range(max(0, left), min(cells.shape[1], left + view[View.WIDTH])):
            if cells[y, x, Thing.ITEM] != Item.NONE:
                at = (x - left) * view[View.STEP_X] + (y - top) * view[View.STEP_Y] + base * step
                draw_thing(cells[y, x], terrain[y, x] == Terrain.POT, times, encoding, step, out, at)
                if encoding == Encoding.JAXMARL:
                    out[at + Channel.COUNTERS * step] = 0  # that port draws an object instead of its counter


@kernel
def draw_thing(thing, in_pot, times, encoding, step, out, at):
    """Each kind of object has a channel, a soup several. Mutates: out."""
    if thing[Thing.ITEM] == Item.NONE:
        return
    if encoding == Encoding.GATES:
        draw_gated_thing(thing, in_pot, step, out, at)
    elif thing[Thing.ITEM] == Item.SOUP:
        draw_soup(thing, in_pot, times, step, out, at)
    elif thing[Thing.ITEM] == Item.OPEN:
        out[at + Channel.GATE_OPEN * step] = 1
        out[at + Channel.GATE_COUNTER * step] = small(thing[Thing.TICK])
    elif thing[Thing.ITEM] == Item.DISH:
        out[at + Channel.DISH * step] = 1
    elif thing[Thing.ITEM] == Item.ONION:
        out[at + Channel.ONION * step] = 1
    else:
        out[at + Channel.TOMATO * step] = 1


@kernel
def draw_soup(soup, in_pot, times, step, out, at):
    """A soup shows what is in it, apart while its pot is idle, how long it still cooks, and whether it is ready.

    Mutates: out.
    """
    if in_pot and is_idle(soup):
        out[at + Channel.POT_ONIONS * step] = soup[Thing.ONIONS]
        out[at + Channel.POT_TOMATOES * step] = soup[Thing.TOMATOES]
        return
    out[at + Channel.SOUP_ONIONS * step] = soup[Thing.ONIONS]
    out[at + Channel.SOUP_TOMATOES * step] = soup[Thing.TOMATOES]
    out[at + Channel.READY * step] = not in_pot or is_ready(soup, times)
    if in_pot:
        left = times[soup[Thing.ONIONS], soup[Thing.TOMATOES]] - soup[Thing.TICK]
        out[at + Channel.TIME_LEFT * step] = small(left)


@kernel
def draw_gated_thing(thing, in_pot, step, out, at):
    """The encoding with gates shows pots by content and steps of cooking, other soup by a mark. Mutates: out."""
    if thing[Thing.ITEM] == Item.SOUP and in_pot:
        out[at + GateChannel.POT_ONIONS * step] = thing[Thing.ONIONS] + thing[Thing.TOMATOES]
        out[at + GateChannel.POT_TICK * step] = small(thing[Thing.TICK])
    elif thing[Thing.ITEM] == Item.SOUP:
        out[at + GateChannel.SOUP * step] = 1
    elif thing[Thing.ITEM] == Item.OPEN:
        out[at + GateChannel.GATE_OPEN * step] = 1
        out[at + GateChannel.GATE_COUNTER * step] = small(thing[Thing.TICK])
    elif thing[Thing.ITEM] == Item.DISH:
        out[at + GateChannel.DISH * step] = 1
    else:
        out[at + GateChannel.ONION * step] = 1
