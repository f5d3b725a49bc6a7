"""What things look like in Rush: tables of goods and areas, and the cached pictures drawn from them."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image

from collab_overcooked.render.drawings import BADGES, COUNTER, SHAPES, STATIONS, STEEL, Stroke
from collab_overcooked.render.painting import Food, food_colours, mix, paint, strange_food

# ingredients: shape, main, accent (stem, leaf, fat), flesh
INGREDIENTS: dict[str, Food] = {
    "meat": ("steak", "#b0303a", "#f0d6cc", "#c8525a"),
    "carrot": ("root", "#f07f1f", "#4f9a3c", "#f9a552"),
    "lettuce": ("heads", "#69a83c", "#e6f1c4", "#b5d885"),
    "bread": ("loaf", "#f3dca8", "#b9773a", "#f6e6c2"),
    "pasta": ("strands", "#f0cf72", "#c0504a", "#f5dd97"),
    "cheese": ("wedge", "#f4bf3a", "#d79a1e", "#fbdc85"),
}
SPICES = {
    "green": "#4f9a3c",
    "black": "#3a3a40",
    "white": "#f4f1ea",
    "yellow": "#eec62f",
    "red": "#c9352c",
}
JAR: tuple[Stroke, ...] = (  # of spice: glass, what is in it, and a lid
    ("box", "#e9f1f4", 14, 20, 26, 80, 96),
    ("box", "main", 10, 25, 44, 75, 91),
    ("line", "light", 6, 34, 52, 34, 82),
    ("box", "#7d5a3a", 5, 24, 6, 76, 30),
    ("line", "#a9794a", 4, 28, 18, 72, 18),
)
AREAS: dict[str, tuple[Stroke, ...]] = {
    "pantry": STATIONS["ingredients"],
    "spicebag": (
        *COUNTER,
        ("poly", "#8c5f36", 26, 34, 74, 34, 90, 88, 10, 88),
        ("poly", "#b98450", 30, 38, 70, 38, 84, 84, 16, 84),
        ("poly", "#8c5f36", 24, 16, 76, 16, 68, 34, 32, 34),
        ("rod", "#e8c48f", 5, 28, 35, 72, 35),
        ("oval", SPICES["red"], 26, 62, 40, 76),
        ("oval", SPICES["green"], 43, 56, 57, 70),
        ("oval", SPICES["yellow"], 60, 62, 74, 76),
    ),
    "stove": (
        *STEEL,
        ("box", "#4a5057", 6, 8, 8, 92, 72),
        ("oval", "#23272b", 14, 16, 46, 60),
        ("oval", "#e8541e", 19, 21, 41, 55),
        ("oval", "#23272b", 25, 28, 35, 48),
        ("oval", "#23272b", 54, 16, 86, 60),
        ("oval", "#e8541e", 59, 21, 81, 55),
        ("oval", "#23272b", 65, 28, 75, 48),
        *(("oval", "#4a5057", left, 78, left + 10, 88) for left in (20, 38, 56, 74)),
    ),
}


@lru_cache(maxsize=1024)
def good_picture(name: str, is_spice: bool, size: int) -> Image.Image:
    """Return the icon of an ingredient or a spice, RGBA (size, size); those in no table get one by their letters."""
    if is_spice:
        colour = SPICES.get(name, strange_food(name)[1])
        return paint(JAR, size, {"main": colour, "light": mix(colour, "#ffffff", 0.45)})
    food = INGREDIENTS.get(name, strange_food(name))
    return paint(SHAPES[food[0]], size, food_colours([food]))


@lru_cache(maxsize=256)
def faded(name: str, is_spice: bool, size: int) -> Image.Image:
    """Return the icon of a good that is still missing, half transparent."""
    picture = good_picture(name, is_spice, size).copy()
    picture.putalpha(picture.getchannel("A").point(lambda alpha: alpha * 2 // 5))
    return picture


@lru_cache(maxsize=64)
def area_picture(kind: str, size: int) -> Image.Image:
    """Return the tile of an area."""
    return paint(AREAS[kind], size, {}, outlined=False)


@lru_cache(maxsize=64)
def flame_picture(lit: bool, size: int) -> Image.Image:
    """Return the mark of one cook, lit once it is done."""
    picture = paint(BADGES["baked"], size, {})
    if not lit:
        grey = picture.convert("LA").convert("RGBA")
        grey.putalpha(picture.getchannel("A").point(lambda alpha: alpha // 3))
        return grey
    return picture
