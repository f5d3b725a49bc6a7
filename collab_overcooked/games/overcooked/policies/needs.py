"""Needs of a kitchen: missing items of every pot, loose items, and uses of items."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.jit import kernel

from ..engine.constants import (
    COUNT_MASK,
    FIRST_INGREDIENT,
    FIRST_PILE,
    MAX_INGREDIENTS,
    NOTHING,
    Item,
    Param,
    Player,
    Terrain,
    Thing,
)
from ..engine.rules import count_ingredients, is_full, is_idle
from .distances import FAR
from .kitchen import DISH, SOUP, Array, Goal, Station, item_on, stores


class Need(IntEnum):
    """Columns of ``Jobs.needs`` (S, 3 + 2 * kinds), for pots."""

    DISH = 0  # 1 if one is needed and no player brings it
    READY = 1  # steps until the soup is ready
    START = 2  # 1 if a player has to start it
    MISSING = 3  # of each kind of ingredient; then what the soup after this one needs of each


NEED_DISH, MISSING = int(Need.DISH), int(Need.MISSING)


class Jobs(NamedTuple):
    """Jobs of one environment, and the players that do them; shape letters as in ``kitchen``."""

    needs: Array = array_of("S", "needs")
    goals: Array = array_of("N", Goal)
    loose: Array = array_of("items")  # things on counters that are not yet counted for a need
    soups: Array = array_of(1)  # in hands and on counters
    taken: Array = array_of("S")  # 1 if a player already takes from or puts on a counter


@kernel
def count_kinds(needs):
    """Return the number of kinds of ingredients."""
    return (needs.shape[1] - MISSING) // 2


@kernel
def column_of(needs, item, later):
    """Return the column of ``needs`` for an item, now or for the next soup."""
    if item == DISH:
        return NEED_DISH
    return MISSING + item - FIRST_INGREDIENT + (count_kinds(needs) if later else 0)


@kernel
def is_supplied(kitchen, distances, kind, pot):
    """Return whether players can bring a pot a kind of ingredient, over counters if necessary."""
    for s in range(kitchen.stations.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] != FIRST_PILE + kind:
            continue
        for cell in distances.here:
            if distances.opened[s, cell] < FAR and distances.delivery[pot, cell] < FAR:
                return True
    return False


@kernel
def can_grow(soup, grown, supplied):
    """Return whether a soup can become another one with ingredients that are supplied, a bit for each kind."""
    while grown > 0:
        added = (grown & COUNT_MASK) - (soup & COUNT_MASK)
        if added < 0 or (added > 0 and supplied & 1 == 0):
            return False
        soup = soup >> 2
        grown = grown >> 2
        supplied = supplied >> 1
    return soup == 0


@kernel
def best_soup(kitchen, soup, supplied, missing):
    """Of all soups that a soup can still become the one that pays most is made; of equal ones the smallest.

    What no player can bring is not put in. Pots that start by themselves only do so with three ingredients. Where
    nothing pays any more, the first kind of ingredient that is supplied fills the pot.
    Mutates: missing, by kind.
    """
    values = kitchen.values
    most = 0
    left = MAX_INGREDIENTS - count_ingredients(soup)
    kind = 0
    missing[:] = 0
    while supplied >> kind & 1 == 0 and kind < missing.shape[0]:
        kind += 1
    missing[kind if kind < missing.shape[0] else 0] = left
    fewest = left
    for grown in kitchen.soups:
        if values[grown] < most or values[grown] == 0 or not can_grow(soup, grown, supplied):
            continue
        count = left + count_ingredients(grown) - MAX_INGREDIENTS
        if kitchen.params[Param.AUTO_START] == 1 and count < left:
            continue
        if values[grown] > most or count < fewest:
            most, fewest = values[grown], count
            for k in range(missing.shape[0]):
                missing[k] = (grown >> 2 * k & COUNT_MASK) - (soup >> 2 * k & COUNT_MASK)


@kernel
def list_needs(kitchen, cells, standstill, distances, needs):
    """List the needs of every pot; in a standstill none for the soup after this one. Mutates: needs."""
    kinds = count_kinds(needs)
    for s in range(needs.shape[0]):
        needs[s] = 0
        if kitchen.stations[s, Station.TERRAIN] != Terrain.POT:
            continue
        pot, supplied = cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X]], 0
        for kind in range(kinds):
            supplied |= is_supplied(kitchen, distances, kind, s) << kind
        if not is_full(pot):
            best_soup(kitchen, pot[Thing.SOUP], supplied, needs[s, MISSING : MISSING + kinds])
        if lacks_ingredients(needs[s]):
            continue
        needs[s, Need.START] = is_idle(pot)
        needs[s, Need.DISH] = 1
        needs[s, Need.READY] = max(kitchen.times[pot[Thing.SOUP]] - max(pot[Thing.TICK], 0), 0)
        if standstill[0] == 0:
            best_soup(kitchen, 0, supplied, needs[s, MISSING + kinds :])


@kernel
def lacks_ingredients(need):
    """Return whether a pot lacks ingredients for its present soup."""
    for column in range(MISSING, MISSING + (need.shape[0] - MISSING) // 2):
        if need[column] > 0:
            return True
    return False


@kernel
def count_loose(kitchen, env, claimed, jobs):
    """Count unclaimed things on counters, and soups. Mutates: jobs.loose, jobs.soups, jobs.taken."""
    loose, taken = jobs.loose, jobs.taken
    loose[:] = 0
    for s in range(taken.shape[0]):
        taken[s] = 0
        if stores(kitchen.stations[s, Station.TERRAIN]):
            item = item_on(kitchen, env.cells, s)
            taken[s] = claimed[s] > 0 and item != Item.NONE
            loose[item] += taken[s] == 0
    jobs.soups[0] = loose[SOUP]
    for i in range(env.players.shape[0]):
        jobs.soups[0] += env.players[i, Player.HAND] == SOUP


@kernel
def total_need(kitchen, needs, item):
    """Count how many of an item all pots need, now and for their next soups."""
    total = 0
    for s in range(needs.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] == Terrain.POT:
            total += needs[s, column_of(needs, item, False)]
            if item != DISH:
                total += needs[s, column_of(needs, item, True)]
    return total


@kernel
def best_target(kitchen, distances, needs, item, later, cell):
    """Find where an item is needed that gets there soonest from a cell: a pot, or a serving cell for soup.

    Waiting for soup counts like walking. NOTHING if no station needs it.
    """
    best, least = NOTHING, FAR
    for s in range(needs.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] != (Terrain.SERVING if item == SOUP else Terrain.POT):
            continue
        if item != SOUP and needs[s, column_of(needs, item, later)] <= 0:
            continue
        steps = distances.delivery[s, cell]
        if steps < FAR and (item == DISH or later):
            steps = max(steps, needs[s, Need.READY])
        if steps < least:
            best, least = s, steps
    return best
