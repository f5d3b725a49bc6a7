"""Needs of a kitchen: missing items of every pot, loose items, and uses of items."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.jit import kernel

from ..engine.constants import MAX_INGREDIENTS, NOTHING, Item, Player, Terrain, Thing
from ..engine.rules import is_full, is_idle
from .distances import FAR
from .kitchen import DISH, SOUP, TOMATO, Array, Goal, Rule, Station, item_on


class Need(IntEnum):
    """Columns of ``Jobs.needs`` (S, 7), for pots."""

    ONIONS = 0  # missing now
    TOMATOES = 1
    NEXT_ONIONS = 2  # for the soup after this one
    NEXT_TOMATOES = 3
    DISH = 4  # 1 if one is needed and no player brings it
    READY = 5  # steps until the soup is ready
    START = 6  # 1 if a player has to start it


NEED_LATER, NEED_DISH = int(Need.NEXT_ONIONS), int(Need.DISH)


class Jobs(NamedTuple):
    """Jobs of one environment, and the players that do them; shape letters as in ``kitchen``."""

    needs: Array = array_of("S", Need)
    goals: Array = array_of("N", Goal)
    loose: Array = array_of(Item)  # things on counters that are not yet counted for a need
    soups: Array = array_of(1)  # in hands and on counters
    taken: Array = array_of("S")  # 1 if a player already takes from or puts on a counter


@kernel
def column_of(item, later):
    """Return the column of ``Need`` for an item, now or for the next soup."""
    if item == DISH:
        return NEED_DISH
    return (NEED_LATER if later else 0) + (1 if item == TOMATO else 0)


@kernel
def is_supplied(kitchen, distances, terrain, pot):
    """Return whether players can bring a pot what a kind of dispenser has, over counters if necessary."""
    for s in range(kitchen.stations.shape[0]):
        if kitchen.stations[s, Station.TERRAIN] != terrain:
            continue
        for cell in distances.here:
            if distances.opened[s, cell] < FAR and distances.delivery[pot, cell] < FAR:
                return True
    return False


@kernel
def best_soup(kitchen, onions, tomatoes, has_onions, has_tomatoes, missing):
    """Of all soups that the content can still become the one that pays most is made; of equal ones the smallest.

    What no player can bring is not put in. Pots that start by themselves only do so with three ingredients. Where
    nothing pays any more, onions fill the pot, or tomatoes where these are all there is.
    Mutates: missing (2,), onions and tomatoes.
    """
    values, most, left = kitchen.values, 0, MAX_INGREDIENTS - onions - tomatoes
    missing[0], missing[1] = left, 0
    if has_tomatoes and not has_onions:
        missing[0], missing[1] = 0, left
    for o in range(onions, MAX_INGREDIENTS + 1):
        for t in range(tomatoes, MAX_INGREDIENTS + 1 - o):
            if values[o, t] < most or values[o, t] == 0:
                continue
            if (o > onions and not has_onions) or (t > tomatoes and not has_tomatoes):
                continue
            count = o + t - onions - tomatoes
            if kitchen.rules[Rule.AUTO_START] == 1 and count < left:
                continue
            if values[o, t] > most or count < missing[0] + missing[1]:
                most = values[o, t]
                missing[0], missing[1] = o - onions, t - tomatoes


@kernel
def list_needs(kitchen, cells, relief, distances, needs):
    """List the needs of every pot; in relief none for the soup after this one. Mutates: needs."""
    for s in range(needs.shape[0]):
        needs[s] = 0
        if kitchen.stations[s, Station.TERRAIN] != Terrain.POT:
            continue
        pot = cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X]]
        onions, tomatoes = pot[Thing.ONIONS], pot[Thing.TOMATOES]
        has_onions = is_supplied(kitchen, distances, Terrain.ONIONS, s)
        has_tomatoes = is_supplied(kitchen, distances, Terrain.TOMATOES, s)
        if not is_full(pot):
            best_soup(kitchen, onions, tomatoes, has_onions, has_tomatoes, needs[s, :NEED_LATER])
        if needs[s, Need.ONIONS] + needs[s, Need.TOMATOES] > 0:
            continue
        needs[s, Need.START] = is_idle(pot)
        needs[s, Need.DISH] = 1
        needs[s, Need.READY] = max(kitchen.times[onions, tomatoes] - max(pot[Thing.TICK], 0), 0)
        if relief[0] == 0:
            best_soup(kitchen, 0, 0, has_onions, has_tomatoes, needs[s, NEED_LATER:NEED_DISH])


@kernel
def count_loose(kitchen, env, claimed, jobs):
    """Count unclaimed things on counters, and soups. Mutates: jobs.loose, jobs.soups, jobs.taken."""
    loose, taken = jobs.loose, jobs.taken
    loose[:] = 0
    for s in range(taken.shape[0]):
        taken[s] = 0
        if kitchen.stations[s, Station.TERRAIN] == Terrain.COUNTER:
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
            total += needs[s, column_of(item, False)]
            if item != DISH:
                total += needs[s, column_of(item, True)]
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
        if item != SOUP and needs[s, column_of(item, later)] <= 0:
            continue
        steps = distances.delivery[s, cell]
        if steps < FAR and (item == DISH or later):
            steps = max(steps, needs[s, Need.READY])
        if steps < least:
            best, least = s, steps
    return best
