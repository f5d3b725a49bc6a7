"""Codes of OvercookedV2 beside those of ``overcooked.engine.constants``, which name all columns of its arrays."""

from __future__ import annotations

from enum import IntEnum

from ...engine.constants import BELTS, FIRST_PILE, NOTHING, PREPARING, KitchenEvent, Terrain

INGREDIENTS = ("onion", "tomato", "carrot", "mushroom", "potato", "cucumber", "leek", "pea", "apple", "banana")
COOK_TIME = 20
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
    **BELTS,
    **PREPARING,
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


class Event(KitchenEvent):
    """Events of OvercookedV2."""

    INGREDIENT_PICKUP = 0, "take ingredient"  # from a pile
    PLATE_PICKUP = 1, "take plate"  # from a pile
    DROP = 2, "put down"  # on a counter
    PICKUP = 3, "pick up"  # from a counter
    POTTING = 4, "put ingredient in pot"
    START = 5, "start pot"
    SOUP_PICKUP = 6, "take soup"
    SOUP_DELIVERY = 7, "deliver soup"  # of the recipe
    WRONG_DELIVERY = 8, "deliver wrong soup"
    PRESS = 9, "press button"
    PREPARATION = 10, "prepare ingredient"  # interact with an ingredient at a station
    SOUP_BURNT = 11, "soup burns", "Nobody took the soup out of its pot in time"
    ORDER_EXPIRED = 12, "recipe expires", "Nobody delivered the recipe in time"


# Events of Effect, in order, and two that depend on what is held too. Plain ints, as kernels return one type.
PLATE_PICKUP, WRONG_DELIVERY = int(Event.PLATE_PICKUP), int(Event.WRONG_DELIVERY)
EVENTS = (
    NOTHING,
    int(Event.INGREDIENT_PICKUP),
    int(Event.DROP),
    int(Event.PICKUP),
    int(Event.POTTING),
    int(Event.START),
    int(Event.SOUP_PICKUP),
    int(Event.SOUP_DELIVERY),
    NOTHING,
    int(Event.PRESS),
    int(Event.PREPARATION),
)


DELIVERY_PAYS = 20
BUTTON_PAYS = -5
WRONG_PAYS = -20  # with negative rewards
POTTING_SHAPED = 3
PLATE_SHAPED = 3
SOUP_SHAPED = 5
START_SHAPED = 5
