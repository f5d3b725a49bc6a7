"""Estimated values of states for search: soups delivered, and progress towards the next ones."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import (
    HAND_END,
    MAX_INGREDIENTS,
    NOTHING,
    Clock,
    Item,
    Player,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.engine.rules import ingredients_in, is_idle, is_ready
from collab_overcooked.games.overcooked.policies.assignment_arrays import DISH, SOUP, Station
from collab_overcooked.kernels.jit import kernel

# What things are worth, in thousandths of a soup delivered.
SERVED = 1000
POTTED = 110
COOKING = 420
COOKED = 260  # more when it is ready, in equal parts for each step
LOADED = 800
CARRIED = 45  # an ingredient or dish in hand, as long as it can be of use
LYING = 30  # the same on a counter
PER_STEP = 4  # less for each step to the next station
MAX_STEPS = 60  # steps, at most, that count
UNDECIDED = 5  # steps for which having no errand counts


@kernel
def appraise(tables, static, ways, players, cells, clock, goals, worth):
    """Say what every node is worth, in thousandths of the best soup. Mutates: worth (C,)."""
    for c in range(players.shape[0]):
        k = clock[c, Clock.LAYOUT]
        stations, values, times, best = static.stations[k], tables.values[k], tables.times[k], tables.best[k]
        top = max(best[0, 0], 1)
        total = SERVED * clock[c, Clock.SCORE] // top
        ingredients, dishes = 0, 0  # of which more can be of use
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.POT:
                pot = cells[c, stations[s, Station.Y], stations[s, Station.X]]
                total += worth_of_pot(pot, values, times, best, top)
                ingredients += 2 * MAX_INGREDIENTS - ingredients_in(pot)
                dishes += ingredients_in(pot) > 1
        for i in range(players.shape[1]):
            hand = players[c, i, Player.HAND : HAND_END]
            cell = tables.floor[k, players[c, i, Player.Y], players[c, i, Player.X]]
            steps = min(ways[k, goals[c, i], cell], MAX_STEPS) if goals[c, i] != NOTHING else UNDECIDED
            total += worth_of_thing(hand, 0, ingredients, dishes, values, top) - PER_STEP * steps
            dishes -= hand[Thing.ITEM] == DISH
            ingredients -= hand[Thing.ITEM] == Item.ONION or hand[Thing.ITEM] == Item.TOMATO
        for s in range(stations.shape[0]):
            if stations[s, Station.TERRAIN] == Terrain.COUNTER:
                thing = cells[c, stations[s, Station.Y], stations[s, Station.X]]
                total += worth_of_thing(thing, CARRIED - LYING, ingredients, dishes, values, top)
                dishes -= thing[Thing.ITEM] == DISH
                ingredients -= thing[Thing.ITEM] == Item.ONION or thing[Thing.ITEM] == Item.TOMATO
        worth[c] = total


@kernel
def worth_of_thing(thing, less, ingredients, dishes, values, top):
    """Say what a thing in a hand is worth, or for less on a counter; what is not needed any more is worth nothing."""
    if thing[Thing.ITEM] == SOUP:
        return (LOADED - 6 * less) * values[thing[Thing.ONIONS], thing[Thing.TOMATOES]] // top
    if thing[Thing.ITEM] == Item.NONE or (dishes if thing[Thing.ITEM] == DISH else ingredients) <= 0:
        return 0
    return CARRIED - less


@kernel
def worth_of_pot(pot, values, times, best, top):
    """Say what a pot is worth: by its ingredients until it cooks, then more and more until it is ready."""
    if pot[Thing.ITEM] == Item.NONE:
        return 0
    onions, tomatoes = pot[Thing.ONIONS], pot[Thing.TOMATOES]
    if is_idle(pot):
        return POTTED * (onions + tomatoes) * best[onions, tomatoes] // top
    if is_ready(pot, times):
        return (COOKING + COOKED) * values[onions, tomatoes] // top
    time = max(times[onions, tomatoes], 1)
    return (COOKING + COOKED * pot[Thing.TICK] // time) * values[onions, tomatoes] // top
