"""Observations of Overcooked: action masks, and grids of the map with one channel for each kind of thing.

A picture is centred on the player who sees: its own channels come first, its teammates' follow in seat order. All
numbers are uint8; times stop at 255. Every picture is drawn anew: the part that never changes is copied from a
template, then players and objects are put in.

Rewriting only what changed does not pay: in cramped_room, copying the template for two players takes 16 of the 100 ns
of an observation, all that could be saved, while finding out what changed needs the same look at every counter.
"""

from __future__ import annotations

from collab_overcooked.kernels.arrays import clip_i8, clip_u8, copy_numbers
from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.jit import kernel

from .constants import (
    HAND_END,
    NOT_COOKING,
    NOTHING,
    PLAYER_CHANNELS,
    URGENT_STEPS,
    Action,
    Change,
    Channel,
    Clock,
    Effect,
    Encoding,
    Feature,
    GateChannel,
    Item,
    NearestObject,
    Order,
    Player,
    PotFeature,
    Terrain,
    Thing,
    View,
)
from .rules import count_ingredients, count_kind, effect_of, is_full, is_idle, is_ready, next_layout

ORDER_NUMBERS = 3  # onions, tomatoes and steps of the order that stands
HELD = (int(Item.ONION), int(Item.SOUP), int(Item.DISH), int(Item.TOMATO))
SOURCES = (  # closest objects in the order of the block: item, and where it is dispensed
    (int(Item.ONION), int(NearestObject.ONIONS)),
    (int(Item.TOMATO), int(NearestObject.TOMATOES)),
    (int(Item.DISH), int(NearestObject.DISHES)),
    (int(Item.SOUP), NOTHING),
)


@kernel
def encode_features(tables, env, observations):
    """Every player gets its own block first, then those of its teammates in seat order. Mutates: observations."""
    players, length = env.players, tables.planes[Feature.END]
    n_players = players.shape[0]
    for i in range(n_players):
        block = observations[i, :length]
        encode_player(tables, env, i, block)
        for j in range(1, n_players):
            k = (i - j) % n_players  # who sees this player as its j-th teammate
            copy_numbers(block, observations[k, length * j : length * (j + 1)])
    for i in range(n_players):
        out = observations[i, length * n_players :]
        x, y = players[i, Player.X], players[i, Player.Y]
        for j in range(1, n_players):
            other = players[(i + j) % n_players]
            out[2 * j - 2] = clip_i8(other[Player.X] - x)
            out[2 * j - 1] = clip_i8(other[Player.Y] - y)
        out[2 * n_players - 2] = clip_i8(x)
        out[2 * n_players - 1] = clip_i8(y)
        if tables.views[View.CHANGES] != NOTHING:
            encode_change(tables, env, i, observations[i, tables.views[View.CHANGES] :])
        if tables.views[View.ORDER] != NOTHING:
            encode_order(env, observations[i, tables.views[View.ORDER] :])


@kernel
def encode_order(env, out):
    """The order that stands is the count of each ingredient, and its steps. Mutates: out."""
    soup = env.clock[Clock.RECIPE]
    out[0] = count_kind(soup, Item.ONION)
    out[1] = count_kind(soup, Item.TOMATO)
    out[2] = clip_i8(env.order[Order.LEFT])


@kernel
def encode_change(tables, env, i, out):
    """An announced change is the steps to it, and the ways to the nearest objects as they will be. Mutates: out."""
    following = next_layout(env.clock[Clock.LAYOUT], tables.terrain)
    x = env.players[i, Player.X]
    y = env.players[i, Player.Y]
    width = env.cells.shape[1]
    pose = 4 * tables.floor[following, y, x] + env.players[i, Player.FACING]
    out[: 1 + 2 * tables.nearest.shape[2]] = 0
    out[0] = clip_i8(env.changes[Change.LEFT])
    if env.changes[Change.LEFT] > 0 and pose >= 0:
        for column in range(tables.nearest.shape[2]):
            encode_way(tables.nearest[following, pose, column], x, y, width, out, 1 + 2 * column)


@kernel
def encode_player(tables, env, i, out):
    """A player is its facing, its hand, the way to what it may need, the nearest pots, and walls. Mutates: out."""
    k = env.clock[Clock.LAYOUT]
    cells = env.cells
    player = env.players[i]
    planes = tables.planes
    terrain, nearest = tables.terrain[k], tables.nearest[k]
    x = player[Player.X]
    y = player[Player.Y]
    held = player[Player.HAND]
    pose = 4 * tables.floor[k, y, x] + player[Player.FACING]
    out[:] = 0
    out[planes[Feature.FACING] + player[Player.FACING]] = 1
    at = planes[Feature.HELD]
    for item in HELD:
        out[at] = held == item
        at += 1
    soup, at = player[Player.HAND : HAND_END], planes[Feature.WAYS]
    for item, source in SOURCES:
        if held != item:
            target = nearest[pose, source] if source != NOTHING else NOTHING
            encode_way(target, x, y, cells.shape[1], out, at)
            if item == Item.SOUP and target != NOTHING:
                soup = cells[target // cells.shape[1], target % cells.shape[1]]
        at += 2
    if soup[Thing.ITEM] == Item.SOUP:
        out[planes[Feature.SOUP]] = count_kind(soup[Thing.SOUP], Item.ONION)
        out[planes[Feature.SOUP] + 1] = count_kind(soup[Thing.SOUP], Item.TOMATO)
    encode_way(nearest[pose, NearestObject.SERVING], x, y, cells.shape[1], out, planes[Feature.SERVING])
    encode_pot(tables, env, nearest[pose, NearestObject.POT], i, out, planes[Feature.POT])
    encode_pot(tables, env, nearest[pose, NearestObject.SECOND_POT], i, out, planes[Feature.SECOND_POT])
    for direction in range(4):
        cell_x, cell_y = cell_ahead(x, y, direction)
        is_open = cells[cell_y, cell_x, Thing.ITEM] == Item.OPEN
        out[planes[Feature.WALLS] + direction] = terrain[cell_y, cell_x] != Terrain.FLOOR and not is_open


@kernel
def encode_way(target, x, y, width, out, at):
    """A way is two differences, both 0 where there is no target. Mutates: out."""
    if target != NOTHING:
        out[at] = clip_i8(target % width - x)
        out[at + 1] = clip_i8(target // width - y)


@kernel
def encode_pot(tables, env, target, i, out, at):
    """A pot is whether it is there, empty, full, cooking, ready, its content, time left and the way. Mutates: out."""
    if target == NOTHING:
        return
    times, width = tables.times[env.clock[Clock.LAYOUT]], env.cells.shape[1]
    pot = env.cells[target // width, target % width]
    started = pot[Thing.ITEM] == Item.SOUP and pot[Thing.TICK] != NOT_COOKING
    ready = is_ready(pot, times)
    cooking = started and not ready
    out[at + PotFeature.EXISTS] = 1
    out[at + PotFeature.EMPTY] = pot[Thing.ITEM] == Item.NONE
    out[at + PotFeature.FULL] = is_full(pot)
    out[at + PotFeature.COOKING] = cooking
    out[at + PotFeature.READY] = ready
    out[at + PotFeature.ONIONS] = count_kind(pot[Thing.SOUP], Item.ONION)
    out[at + PotFeature.TOMATOES] = count_kind(pot[Thing.SOUP], Item.TOMATO)
    out[at + PotFeature.LEFT] = clip_i8(max(time_left(pot, times, tables.views), 0)) if started else 0
    encode_way(target, env.players[i, Player.X], env.players[i, Player.Y], width, out, at + PotFeature.WAY)


@kernel
def observe_env(tables, env, out):
    """Write masks and observations of all players. Mutates: out."""
    observations, masks = out.observations, out.masks
    k = env.clock[Clock.LAYOUT]
    players = env.players
    cells = env.cells
    view = tables.views
    terrain, times = tables.terrain[k], tables.times[k]
    for i in range(players.shape[0]):
        mask_primitive(players[i], cells, terrain, times, tables.prepare, tables.params, masks[i])
    if view[View.ENCODING] == Encoding.FEATURES:
        encode_features(tables, env, observations)
        return
    if view[View.RADIUS] == NOTHING:
        draw_maps(tables, env, observations)
        return
    for i in range(players.shape[0]):
        draw_window(tables, env, i, observations[i])


@kernel
def mask_primitive(player, cells, terrain, times, prepare, params, mask):
    """The mask always allows moves and stay, and interact if it changes something. Mutates: mask."""
    x, y = cell_ahead(player[Player.X], player[Player.Y], player[Player.FACING])
    mask[: Action.INTERACT] = 1
    effect = effect_of(player[Player.HAND : HAND_END], cells[y, x], terrain[y, x], times, prepare, params)
    mask[Action.INTERACT] = effect != Effect.NONE


@kernel
def draw_maps(tables, env, observations):
    """Draw the map once and copy it for all players; only the player channels differ.

    Mutates: observations.
    """
    first, players = observations[0], env.players
    copy_numbers(tables.template[env.clock[Clock.LAYOUT]], first)
    draw_state(tables, env, 0, 0, first)
    for i in range(1, players.shape[0]):
        copy_numbers(first, observations[i])
    for i in range(players.shape[0]):
        mark_players(i, players, 0, 0, tables.views, observations[i])


@kernel
def draw_window(tables, env, i, out):
    """A player with a view radius sees the part of the map around itself. Mutates: out."""
    players, view = env.players, tables.views
    x, y = players[i, Player.X], players[i, Player.Y]
    left, top = x - view[View.RADIUS], y - view[View.RADIUS]
    copy_window(tables.template[env.clock[Clock.LAYOUT]], x, y, view, out)
    draw_state(tables, env, left, top, out)
    mark_players(i, players, left, top, view, out)


@kernel
def copy_window(template, x, y, view, out):
    """A window is copied in the longest runs there are; the template has a margin as wide as the view. Mutates: out."""
    side = view[View.HEIGHT]
    channels = view[View.CHANNELS]
    corner = x * view[View.MAP_X] + y * view[View.MAP_Y]
    if view[View.STEP_CHANNEL] == 1:
        step = max(view[View.STEP_X], view[View.STEP_Y])
        map_step = max(view[View.MAP_X], view[View.MAP_Y])
        for line in range(side):
            copy_run(template, corner + line * map_step, side * channels, out, line * step)
        return
    for c in range(channels):
        for line in range(side):
            source = corner + c * view[View.MAP_CHANNEL] + line * view[View.MAP_Y]
            copy_run(template, source, side, out, c * view[View.STEP_CHANNEL] + line * view[View.STEP_Y])


@kernel
def copy_run(source, start, length, target, at):
    """Copy a number of values. Mutates: target."""
    copy_numbers(source[start : start + length], target[at : at + length])


@kernel
def is_inside(x, y, view):
    """A cell counted from the corner of a picture is inside or not."""
    return 0 <= x < view[View.WIDTH] and 0 <= y < view[View.HEIGHT]


@kernel
def mark_players(i, players, left, top, view, out):
    """A player is a 1 in its own channel and in the one of its facing; who sees has the first of each. Mutates: out."""
    n_players, step = players.shape[0], view[View.STEP_CHANNEL]
    for j in range(n_players):
        player = players[i + j if i + j < n_players else i + j - n_players]
        x, y = player[Player.X] - left, player[Player.Y] - top
        if is_inside(x, y, view):
            at = x * view[View.STEP_X] + y * view[View.STEP_Y]
            out[at + j * step] = 1
            out[at + (n_players + 4 * j + player[Player.FACING]) * step] = 1


@kernel
def draw_state(tables, env, left, top, out):
    """Objects are drawn where they lie or are held, and open gates; little time left is a channel. Mutates: out."""
    players = env.players
    cells = env.cells
    clock = env.clock
    view = tables.views
    k = clock[Clock.LAYOUT]
    terrain = tables.terrain[k]
    times = tables.times[k]
    object_cells = tables.object_cells[k]
    step = view[View.STEP_CHANNEL]
    encoding = view[View.ENCODING]
    base = PLAYER_CHANNELS * players.shape[0]
    for h in range(object_cells.shape[0]):
        x, y = object_cells[h, 0], object_cells[h, 1]
        if cells[y, x, Thing.ITEM] != Item.NONE and is_inside(x - left, y - top, view):
            at = (x - left) * view[View.STEP_X] + (y - top) * view[View.STEP_Y] + base * step
            draw_thing(cells[y, x], terrain[y, x] == Terrain.POT, times, view, out, at)
            if encoding == Encoding.JAXMARL:
                out[at + Channel.COUNTERS * step] = 0  # that port draws an object instead of its counter
    for i in range(players.shape[0]):
        x, y = players[i, Player.X] - left, players[i, Player.Y] - top
        if players[i, Player.HAND] != Item.NONE and is_inside(x, y, view):
            at = x * view[View.STEP_X] + y * view[View.STEP_Y] + base * step
            draw_thing(players[i, Player.HAND : HAND_END], False, times, view, out, at)
    if encoding != Encoding.GATES and clock[Clock.LIMIT] - clock[Clock.T] < URGENT_STEPS:
        fill_channel(base + Channel.URGENT, 1, view, out)
    if view[View.CHANGES] != NOTHING and env.changes[Change.LEFT] > 0:
        draw_change(tables.terrain, env, left, top, view, out)
    if view[View.ORDER] != NOTHING:
        fill_channel(view[View.ORDER], count_kind(clock[Clock.RECIPE], Item.ONION), view, out)
        fill_channel(view[View.ORDER] + 1, count_kind(clock[Clock.RECIPE], Item.TOMATO), view, out)
        fill_channel(view[View.ORDER] + 2, clip_u8(env.order[Order.LEFT]), view, out)


@kernel
def draw_change(terrain, env, left, top, view, out):
    """An announced change is a channel of the steps to it, and one of the cells that change. Mutates: out."""
    k = env.clock[Clock.LAYOUT]
    following = next_layout(k, terrain)
    fill_channel(view[View.CHANGES], clip_u8(env.changes[Change.LEFT]), view, out)
    for y in range(terrain.shape[1]):
        for x in range(terrain.shape[2]):
            if terrain[k, y, x] != terrain[following, y, x] and is_inside(x - left, y - top, view):
                at = (x - left) * view[View.STEP_X] + (y - top) * view[View.STEP_Y]
                out[at + (view[View.CHANGES] + 1) * view[View.STEP_CHANNEL]] = 1


@kernel
def fill_channel(channel, value, view, out):
    """Write a channel that is the same number in all cells. Mutates: out."""
    for y in range(view[View.HEIGHT]):
        for x in range(view[View.WIDTH]):
            out[x * view[View.STEP_X] + y * view[View.STEP_Y] + channel * view[View.STEP_CHANNEL]] = value


@kernel
def draw_thing(thing, in_pot, times, view, out, at):
    """Each kind of object has a channel, a soup several. Mutates: out."""
    step = view[View.STEP_CHANNEL]
    if view[View.ENCODING] == Encoding.GATES:
        draw_gated_thing(thing, in_pot, step, out, at)
    elif thing[Thing.ITEM] == Item.SOUP:
        draw_soup(thing, in_pot, times, view, out, at)
    elif thing[Thing.ITEM] == Item.OPEN:
        out[at + Channel.GATE_OPEN * step] = 1
        out[at + Channel.GATE_COUNTER * step] = clip_u8(thing[Thing.TICK])
    else:  # dish, onion and tomato stand in this order; no branch, as it would be guessed wrong too often
        out[at + (Channel.DISH + thing[Thing.ITEM] - Item.DISH) * step] = 1
        if view[View.WORK] != NOTHING:
            out[at + view[View.WORK] * step] = thing[Thing.TICK]


@kernel
def draw_soup(soup, in_pot, times, view, out, at):
    """A soup shows what is in it, apart while its pot is idle, the steps until it is ready or burns, and whether it is.

    Mutates: out.
    """
    step, content = view[View.STEP_CHANNEL], soup[Thing.SOUP]
    onions, tomatoes = count_kind(content, Item.ONION), count_kind(content, Item.TOMATO)
    if in_pot and is_idle(soup):
        out[at + Channel.POT_ONIONS * step] = onions
        out[at + Channel.POT_TOMATOES * step] = tomatoes
        return
    out[at + Channel.SOUP_ONIONS * step] = onions
    out[at + Channel.SOUP_TOMATOES * step] = tomatoes
    out[at + Channel.READY * step] = not in_pot or is_ready(soup, times)
    if in_pot:
        out[at + Channel.TIME_LEFT * step] = clip_u8(time_left(soup, times, view))


@kernel
def time_left(pot, times, view):
    """A soup in a pot has the steps until it is ready, then those until it burns."""
    left = times[pot[Thing.SOUP]] - pot[Thing.TICK]
    return left + view[View.BURN] if left <= 0 and view[View.BURN] != NOTHING else left


@kernel
def draw_gated_thing(thing, in_pot, step, out, at):
    """The encoding with gates shows pots by content and steps of cooking, other soup by a mark. Mutates: out."""
    if thing[Thing.ITEM] == Item.SOUP and in_pot:
        out[at + GateChannel.POT_ONIONS * step] = count_ingredients(thing[Thing.SOUP])
        out[at + GateChannel.POT_TICK * step] = clip_u8(thing[Thing.TICK])
    elif thing[Thing.ITEM] == Item.SOUP:
        out[at + GateChannel.SOUP * step] = 1
    elif thing[Thing.ITEM] == Item.OPEN:
        out[at + GateChannel.GATE_OPEN * step] = 1
        out[at + GateChannel.GATE_COUNTER * step] = clip_u8(thing[Thing.TICK])
    elif thing[Thing.ITEM] == Item.DISH:
        out[at + GateChannel.DISH * step] = 1
    else:
        out[at + GateChannel.ONION * step] = 1
