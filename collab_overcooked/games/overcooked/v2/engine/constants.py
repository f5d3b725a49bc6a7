"""Codes and column names of the OvercookedV2 arrays; actions, reasons and columns of events are Overcooked's.

Contents of hands and cells are bit fields: PLATE, COOKED, then two bits for the count of each ingredient.
Shape letters: N players, H rows and W columns of the layout, K kinds of ingredients, Q recipes.
"""

from __future__ import annotations

from enum import IntEnum

INGREDIENTS = ("onion", "tomato", "carrot", "mushroom", "potato", "cucumber", "leek", "pea", "apple", "banana")
MAX_INGREDIENTS = 3  # of a soup
COOK_TIME = 20
BUTTON_TIME = 10
PLATE = 1
COOKED = 2
DISH = PLATE | COOKED  # with the ingredients of a recipe
FIRST = 4  # one ingredient of kind 0; kind k is shifted by 2 * k bits
COUNT = 3  # mask of a count


class Terrain(IntEnum):
    """Kinds of cells; floor, counter and pot as in Overcooked."""

    FLOOR = 0
    COUNTER = 1
    SERVING = 4
    POT = 5
    INDICATOR = 6
    BUTTON = 7
    PLATES = 9
    PILE = 10  # of ingredient 0; that of kind k has PILE + k


SYMBOLS = {
    " ": Terrain.FLOOR,
    "A": Terrain.FLOOR,
    "W": Terrain.COUNTER,
    "X": Terrain.SERVING,
    "P": Terrain.POT,
    "R": Terrain.INDICATOR,
    "L": Terrain.BUTTON,
    "B": Terrain.PLATES,
}


class Player(IntEnum):
    """Columns of ``State.players`` (B, N, 5); the first three as in Overcooked."""

    X = 0
    Y = 1
    FACING = 2  # kernels.grid.Direction
    HAND = 3  # bit field
    KNOWS = 4  # 1 once the player has seen the current recipe


class Cell(IntEnum):
    """Columns of ``State.cells`` (B, H, W, 2)."""

    CONTENT = 0  # bit field
    TIMER = 1  # steps that a pot cooks or a button shows the recipe from now on


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 7)."""

    T = 0
    LIMIT = 1
    OVER = 2  # 1 after the last step
    RECIPE = 3  # bit field of its ingredients
    DELIVERED = 4  # 1 if the last step delivered the recipe
    SERVED = 5  # soups of the recipe delivered
    SCORE = 6  # points for deliveries and buttons


class Param(IntEnum):
    """Entries of ``Tables.params``."""

    EXPLICIT = 0  # 1 where pots are started by an interact
    WRONG_PAYS = 1  # points for a soup that is not the recipe
    REDRAW = 2
    RANDOM_START = 3
    RANDOM_STATE = 4
    SHAPED = 5
    LIGHT = 6
    KINDS = 7
    RADIUS = 8  # of the view, NOTHING for the whole map
    CHANNELS = 9  # of a picture, without room for more


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
