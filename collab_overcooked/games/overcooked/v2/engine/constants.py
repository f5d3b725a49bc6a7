"""Codes of OvercookedV2 beside those of ``overcooked.engine.constants``, which name all columns of its arrays."""

from __future__ import annotations

from enum import IntEnum

from ...engine.constants import FIRST_PILE, Terrain

INGREDIENTS = ("onion", "tomato", "carrot", "mushroom", "potato", "cucumber", "leek", "pea", "apple", "banana")
COOK_TIME = 20
BUTTON_TIME = 10
DIGITS = "0123456789"  # symbols of ingredient piles
SYMBOLS: dict[str, int] = {
    " ": Terrain.FLOOR,
    "A": Terrain.FLOOR,
    "W": Terrain.COUNTER,
    "X": Terrain.SERVING,
    "P": Terrain.POT,
    "R": Terrain.INDICATOR,
    "L": Terrain.BUTTON,
    "B": Terrain.DISHES,
}
KINDS_OF_CELLS = SYMBOLS | {digit: FIRST_PILE + kind for kind, digit in enumerate(DIGITS)}


class Plane(IntEnum):
    """Blocks of the channels of an observation, in order; see ``compile.planes_of``."""

    POSITION = 0
    FACING = 1
    HAND = 2
    OTHERS_POSITION = 3
    OTHERS_FACING = 4
    OTHERS_HAND = 5
    TERRAIN = 6
    PILE = 7
    CONTENT = 8
    RECIPE = 9
    TIMER = 10
    LIGHT = 11


class Event(IntEnum):
    """Codes of ``Out.events``: effect of a player's action in a step."""

    NONE = 0
    INGREDIENT_PICKUP = 1  # from a pile
    PLATE_PICKUP = 2  # from a pile
    DROP = 3  # on a counter
    PICKUP = 4  # from a counter
    POTTING = 5
    START = 6
    SOUP_PICKUP = 7
    SOUP_DELIVERY = 8  # of the recipe
    WRONG_DELIVERY = 9
    PRESS = 10


DELIVERY_PAYS = 20
BUTTON_PAYS = -5
WRONG_PAYS = -20  # with negative rewards
POTTING_SHAPED, PLATE_SHAPED, SOUP_SHAPED, START_SHAPED = 3, 3, 5, 5
