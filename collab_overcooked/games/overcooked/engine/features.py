"""Hand-made numbers of a kitchen: 46 of each player, then where the others stand, then where the player itself does.

Order of a block: facing (4); held onion, soup, dish, tomato (4); way to the closest onion, tomato, dish, soup (2
each); onions and tomatoes in that soup (2); way to the closest serving and the closest empty counter (2 each); the
nearest and the second nearest pot (10 each); walls north, south, east, west (4). A way is target minus player in x and
y, 0 if there is none or if an object of that kind is held; what is closest counts the steps of a player alone on the
map, turns included. ``features`` sees no counters, as the original does not; ``features_counters`` does. All numbers
are int8 and stop at 127.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import (
    HAND_END,
    IDLE,
    MAX_INGREDIENTS,
    NOTHING,
    Closest,
    Encoding,
    Item,
    Player,
    Terrain,
    Thing,
    View,
)
from collab_overcooked.games.overcooked.engine.rules import is_full, is_ready
from collab_overcooked.kernels.arrays import clip_i8, copy_numbers
from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.jit import kernel

BLOCK = 46
POT_FEATURES = 10
HELD = (int(Item.ONION), int(Item.SOUP), int(Item.DISH), int(Item.TOMATO))
SOURCES = (  # closest objects in the order of the block: item, and where it is dispensed
    (int(Item.ONION), int(Closest.ONIONS)),
    (int(Item.TOMATO), int(Closest.TOMATOES)),
    (int(Item.DISH), int(Closest.DISHES)),
    (int(Item.SOUP), NOTHING),
)


@kernel
def encode_features(players, cells, terrain, times, floor, nearest, ways, holders, view, observations):
    """Every player gets its own block first, then those of its teammates in seat order. Mutates: observations."""
    n_players = players.shape[0]
    sees_counters = view[View.ENCODING] == Encoding.FEATURES_COUNTERS
    for i in range(n_players):
        block = observations[i, :BLOCK]
        encode_player(players[i], cells, terrain, times, floor, nearest, ways, holders, sees_counters, block)
        for j in range(1, n_players):
            k = (i - j) % n_players  # who sees this player as its j-th teammate
            copy_numbers(block, observations[k, BLOCK * j : BLOCK * (j + 1)])
    for i in range(n_players):
        out = observations[i, BLOCK * n_players :]
        x, y = players[i, Player.X], players[i, Player.Y]
        for j in range(1, n_players):
            other = players[(i + j) % n_players]
            out[2 * j - 2] = clip_i8(other[Player.X] - x)
            out[2 * j - 1] = clip_i8(other[Player.Y] - y)
        out[2 * n_players - 2] = clip_i8(x)
        out[2 * n_players - 1] = clip_i8(y)


@kernel
def encode_player(player, cells, terrain, times, floor, nearest, ways, holders, sees_counters, out):
    """A player is its facing, its hand, the way to what it may need, the nearest pots, and walls. Mutates: out."""
    x, y, held = player[Player.X], player[Player.Y], player[Player.HAND]
    pose = 4 * floor[y, x] + player[Player.FACING]
    out[:] = 0
    out[player[Player.FACING]] = 1
    at = 4
    for item in HELD:
        out[at] = held == item
        at += 1
    soup = player[Player.HAND : HAND_END]
    for item, source in SOURCES:
        if held != item:
            target = nearest[pose, source] if source != NOTHING else NOTHING
            if sees_counters:
                target = closest_on_counters(item, target, pose, cells, terrain, ways, holders)
            encode_way(target, x, y, cells.shape[1], out, at)
            if item == Item.SOUP and target != NOTHING:
                soup = cells[target // cells.shape[1], target % cells.shape[1]]
        at += 2
    if soup[Thing.ITEM] == Item.SOUP:
        out[at] = soup[Thing.ONIONS]
        out[at + 1] = soup[Thing.TOMATOES]
    encode_way(nearest[pose, Closest.SERVING], x, y, cells.shape[1], out, at + 2)
    if sees_counters:
        target = closest_on_counters(Item.NONE, NOTHING, pose, cells, terrain, ways, holders)
        encode_way(target, x, y, cells.shape[1], out, at + 4)
    at += 6
    encode_pot(nearest[pose, Closest.POT], x, y, cells, times, out, at)
    encode_pot(nearest[pose, Closest.SECOND_POT], x, y, cells, times, out, at + POT_FEATURES)
    at += 2 * POT_FEATURES
    for direction in range(4):
        cell_x, cell_y = cell_ahead(x, y, direction)
        is_open = cells[cell_y, cell_x, Thing.ITEM] == Item.OPEN
        out[at + direction] = terrain[cell_y, cell_x] != Terrain.FLOOR and not is_open


@kernel
def closest_on_counters(item, target, pose, cells, terrain, ways, holders):
    """An object on a counter is closest if it takes fewer steps than any before it, in reading order; none is NONE."""
    fewest = ways[pose, target] if target != NOTHING else NOTHING
    for h in range(holders.shape[0]):
        x, y = holders[h, 0], holders[h, 1]
        if cells[y, x, Thing.ITEM] == item and terrain[y, x] == Terrain.COUNTER:
            steps = ways[pose, y * cells.shape[1] + x]
            if steps != NOTHING and (fewest == NOTHING or steps < fewest):
                fewest = steps
                target = y * cells.shape[1] + x
    return target


@kernel
def encode_way(target, x, y, width, out, at):
    """A way is two differences, both 0 where there is no target. Mutates: out."""
    if target != NOTHING:
        out[at] = clip_i8(target % width - x)
        out[at + 1] = clip_i8(target // width - y)


@kernel
def encode_pot(target, x, y, cells, times, out, at):
    """A pot is whether it is there, empty, full, cooking, ready, its content, time left and the way. Mutates: out."""
    if target == NOTHING:
        return
    width = cells.shape[1]
    pot = cells[target // width, target % width]
    left = times[pot[Thing.ONIONS], pot[Thing.TOMATOES]] - pot[Thing.TICK]
    started = pot[Thing.ITEM] == Item.SOUP and pot[Thing.TICK] != IDLE
    cooking = started and left > 0
    out[at] = 1
    out[at + 1] = pot[Thing.ITEM] == Item.NONE
    out[at + 2] = is_full(pot)
    out[at + 3] = cooking
    out[at + 4] = is_ready(pot, times)
    out[at + 5] = pot[Thing.ONIONS]
    out[at + 6] = pot[Thing.TOMATOES]
    out[at + 7] = clip_i8(left) if cooking else 0
    encode_way(target, x, y, width, out, at + 8)


def feature_bounds(height: int, width: int, n_players: int, cook_time: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value of each number of one player's observation, int8 (L,)."""
    way, most = [width - 1, height - 1], MAX_INGREDIENTS
    pot = [1] * 5 + [most, most, cook_time] + way
    block = [1] * 8 + way * len(SOURCES) + [most, most] + way * 2 + pot * 2 + [1] * 4
    high = np.clip(block * n_players + way * n_players, 1, 127)
    to, at = [True, True], [False, False]
    flags = [False] * 8
    signed = flags + to * len(SOURCES) + at + to * 2 + ([False] * 8 + to) * 2 + [False] * 4
    low = np.where(signed * n_players + to * (n_players - 1) + at, -high, 0)
    return low.astype(np.int8), high.astype(np.int8)
