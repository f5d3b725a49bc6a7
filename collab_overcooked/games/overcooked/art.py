"""What the drawn kitchen is made of: onions, tomatoes, dishes and soups, stations, walls and gates; it knows no moment.

All art is drawn from tables, on a canvas of 100 x 100 units.
"""

from __future__ import annotations

from functools import lru_cache

from PIL import Image

from collab_overcooked.render.drawings import COUNTER, DISH, FLOOR, FORMS, SHAPES, STATIONS, Stroke
from collab_overcooked.render.painting import Food, food_colours, paint

# food: shape, main, accent, flesh
FOODS: dict[str, Food] = {
    "onion": ("bulb", "#e0b04c", "#a9772c", "#f7ecd0"),
    "tomato": ("tomato", "#ee4b2b", "#3f8f3a", "#f8866d"),
}
WALL: tuple[Stroke, ...] = (
    ("box", "#5a5f66", 0, 0, 0, 100, 100),
    *(
        ("box", "#7d848c", 2, x, y, min(x + 44, 99), y + 21)
        for y, shift in ((2, 0), (27, -23), (52, 0), (77, -23))
        for x in range(2 + shift, 99, 48)
    ),
)
CRATE: tuple[Stroke, ...] = (
    ("box", "#8a5a2c", 4, 8, 46, 92, 92),
    ("box", "#d6a567", 3, 11, 49, 89, 60),
    ("box", "#d6a567", 3, 11, 63, 89, 74),
    ("box", "#d6a567", 3, 11, 77, 89, 89),
)
POSTS: tuple[Stroke, ...] = (("box", "#4b5057", 2, 2, 0, 14, 100), ("box", "#4b5057", 2, 86, 0, 98, 100))
BARS: tuple[Stroke, ...] = (
    *(("box", "#9aa3ad", 2, x, 10, x + 7, 92) for x in (22, 38, 54, 70)),
    ("box", "#737b84", 2, 12, 22, 88, 31),
    ("box", "#737b84", 2, 12, 70, 88, 79),
)
FLOOR_TILE: tuple[Stroke, ...] = (("box", FLOOR, 0, 0, 0, 100, 100),)


@lru_cache(maxsize=256)
def ingredient_picture(name: str, size: int) -> Image.Image:
    """Return an onion or a tomato, RGBA (size, size)."""
    return paint(SHAPES[FOODS[name][0]], size, food_colours([FOODS[name]]))


@lru_cache(maxsize=64)
def dish_picture(size: int) -> Image.Image:
    """Return an empty dish, RGBA (size, size)."""
    return paint(DISH, size, {})


@lru_cache(maxsize=256)
def soup_picture(ingredients: tuple[str, ...], size: int) -> Image.Image:
    """Return a bowl of soup with what is in it beside, RGBA (size, size)."""
    picture = paint(FORMS["soup"], size, food_colours([FOODS[name] for name in ingredients]))
    side = max(6, round(size * 0.36))
    for i, name in enumerate(ingredients):
        picture.alpha_composite(ingredient_picture(name, side), (round(i * (size - side) / 2), size - side))
    return picture


@lru_cache(maxsize=128)
def cell_picture(symbol: str, tile: int) -> Image.Image:
    """Return the tile of a grid symbol other than floor, a gate closed."""
    if symbol in "OT":
        return _crate("onion" if symbol == "O" else "tomato", tile)
    strokes: dict[str, tuple[Stroke, ...]] = {
        "X": COUNTER,
        "W": WALL,
        "G": (*FLOOR_TILE, *BARS, *POSTS),
        "P": STATIONS["pot"],
        "D": STATIONS["dishes"],
        "S": STATIONS["serving"],
    }
    return paint(strokes[symbol], tile, {}, outlined=False)


@lru_cache(maxsize=16)
def open_gate_picture(tile: int) -> Image.Image:
    """Return the tile of an open gate: posts beside free floor."""
    return paint((*FLOOR_TILE, *POSTS), tile, {}, outlined=False)


def _crate(name: str, tile: int) -> Image.Image:
    """Return a counter with a crate of ingredients on it."""
    picture, side = paint(COUNTER, tile, {}, outlined=False), round(tile * 0.5)
    for x, y in ((0.04, 0.08), (0.46, 0.08), (0.25, 0.02)):
        picture.alpha_composite(ingredient_picture(name, side), (round(x * tile), round(y * tile)))
    picture.alpha_composite(paint(CRATE, tile, {}, outlined=False))
    return picture
