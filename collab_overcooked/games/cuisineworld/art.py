"""What things look like in CuisineWorld: tables of foods, dishes and tools, and the cached pictures drawn from them.

A product's look follows from its name where that says what it is (a salad, a burger), and from the tool it is made in
otherwise, so that dishes of new level files have a picture too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image

from collab_overcooked.games.cuisineworld.spec import Level
from collab_overcooked.render.drawings import (
    BADGES,
    BOWL,
    COUNTER,
    FORMS,
    PLATE,
    SHAPES,
    STATIONS,
    STEEL,
    Stroke,
)
from collab_overcooked.render.lettering import plain_text, shorten_words
from collab_overcooked.render.painting import Food, food_colours, paint, strange_food

# ------------------------------------------------------------------------------------------- tables: raw food

OWN_SHAPES: dict[str, tuple[Stroke, ...]] = {
    "fish": (
        ("poly", "dark", 70, 50, 98, 22, 92, 50, 98, 80),
        ("oval", "main", 4, 26, 80, 76),
        ("pie", "accent", 20, 160, 4, 26, 80, 76),
        ("poly", "dark", 34, 28, 52, 10, 60, 30),
        ("arc", "dark", 3, -70, 70, 14, 32, 34, 70),
        ("oval", "#2b2a28", 14, 42, 21, 49),
    ),
    "lobster": (
        ("rod", "main", 8, 40, 40, 18, 24),
        ("rod", "main", 8, 60, 40, 82, 24),
        ("oval", "main", 4, 4, 30, 30),
        ("oval", "main", 70, 4, 96, 30),
        ("oval", "main", 32, 26, 68, 72),
        ("poly", "dark", 36, 66, 64, 66, 58, 84, 42, 84),
        ("poly", "main", 42, 80, 58, 80, 76, 98, 24, 98),
        ("line", "dark", 3, 36, 44, 64, 44),
        ("line", "dark", 3, 35, 56, 65, 56),
        ("oval", "#2b2a28", 40, 30, 46, 36),
        ("oval", "#2b2a28", 54, 30, 60, 36),
    ),
    "discs": (
        ("oval", "main", 34, 4, 92, 60),
        ("oval", "main", 6, 26, 64, 84),
        ("oval", "accent", 18, 42, 27, 51),
        ("oval", "accent", 38, 60, 47, 69),
        ("oval", "accent", 62, 20, 71, 29),
        ("oval", "main", 44, 46, 96, 98),
        ("oval", "accent", 60, 60, 69, 69),
        ("oval", "accent", 74, 78, 83, 87),
    ),
    "stalk": (
        ("rod", "accent", 16, 22, 84, 50, 52),
        ("poly", "main", 42, 50, 52, 60, 96, 30, 82, 22, 88, 8, 70, 12, 62, 4),
        ("line", "dark", 3, 50, 52, 80, 14),
        ("line", "dark", 3, 52, 56, 90, 28),
    ),
    "sack": (
        ("poly", "main", 22, 26, 78, 26, 90, 92, 10, 92),
        ("oval", "light", 24, 12, 76, 34),
        ("line", "accent", 5, 20, 34, 80, 34),
        ("oval", "accent", 34, 48, 66, 78),
        ("oval", "flesh", 40, 54, 60, 72),
    ),
    "ball": (
        ("oval", "main", 6, 18, 94, 94),
        ("arc", "dark", 3, 20, 120, 20, 30, 80, 86),
        ("oval", "light", 24, 28, 50, 46),
    ),
    "sheet": (
        ("poly", "main", 14, 20, 80, 10, 90, 82, 22, 92),
        ("line", "light", 2, 24, 32, 80, 24),
        ("line", "light", 2, 28, 54, 84, 46),
        ("line", "light", 2, 30, 76, 86, 68),
    ),
    "disc": (
        ("oval", "accent", 4, 14, 96, 92),
        ("oval", "main", 8, 17, 92, 88),
        ("oval", "accent", 28, 34, 40, 44),
        ("oval", "accent", 58, 44, 72, 56),
        ("oval", "accent", 38, 64, 48, 72),
    ),
}
ALL_SHAPES = SHAPES | OWN_SHAPES

# food: shape, main, accent (stem, leaf, fat), flesh (inside when cut)
FOODS: dict[str, Food] = {
    "pork": ("steak", "#e59a9a", "#fae6df", "#eeb4b0"),
    "beef": ("steak", "#a8262f", "#f0d6cc", "#c8525a"),
    "tuna": ("fish", "#3f6f9f", "#c5d6e6", "#b8324e"),
    "salmon": ("fish", "#e8825f", "#f6d9cb", "#f49a6c"),
    "lamb": ("steak", "#8e4a5a", "#f3ddd6", "#b0717f"),
    "chicken": ("drumstick", "#e0a95c", "#f6ecdc", "#f3d3ab"),
    "turkey": ("drumstick", "#a4602f", "#f1e2cf", "#e0b389"),
    "egg": ("egg", "#f4e2c4", "#e6cfa6", "#f7c83e"),
    "duck": ("drumstick", "#c65f2c", "#f5d9b8", "#d78f62"),
    "lobster": ("lobster", "#d63a2a", "#8f1f16", "#f6d3c8"),
    "pepperoni": ("discs", "#c33a2c", "#f0a58e", "#d9604f"),
    "potato": ("tuber", "#c69c5b", "#8a6a38", "#f1dc98"),
    "carrot": ("root", "#f07f1f", "#4f9a3c", "#f9a552"),
    "onion": ("bulb", "#c98ab5", "#8a4b78", "#f3e2ee"),
    "lettuce": ("heads", "#69a83c", "#e6f1c4", "#b5d885"),
    "tomato": ("tomato", "#ee4b2b", "#3f8f3a", "#f8866d"),
    "cucumber": ("baton", "#3f8a3a", "#7a9a4c", "#dcecb0"),
    "leek": ("stalk", "#4f9450", "#eef3d6", "#cfe3a4"),
    "broccoli": ("floret", "#3f8f3d", "#a5cc7c", "#7fb765"),
    "flour": ("sack", "#efe6d4", "#b79a68", "#fffaf0"),
    "rice": ("grains", "#f1ecdf", "#cfc7b3", "#fbf9f2"),
    "pasta": ("strands", "#f0cf72", "#c0504a", "#f5dd97"),
    "dough": ("ball", "#ecd9ae", "#c9ad74", "#f5ead0"),
    "cheese": ("wedge", "#f4bf3a", "#d79a1e", "#fbdc85"),
    "seaweedSheet": ("sheet", "#2f5a45", "#1e3d2f", "#477a60"),
    "bread": ("loaf", "#f3dca8", "#b9773a", "#f6e6c2"),
    "tortilla": ("disc", "#f2dfae", "#cf9f56", "#f7ead0"),
}
FILLERS = ("flour", "rice", "pasta", "dough", "bread", "tortilla")  # never what tells two dishes apart

# ------------------------------------------------------------------------------------------- tables: dishes

OWN_FORMS: dict[str, tuple[Stroke, ...]] = {
    "cake": (
        ("box", "#d9a15a", 8, 12, 46, 88, 90),
        ("box", "#f7e3b8", 0, 12, 62, 88, 72),
        ("oval", "#fff4d8", 10, 32, 90, 62),
        ("oval", "#e0485a", 42, 22, 58, 40),
    ),
    "fillets": (
        ("poly", "flesh", 6, 56, 30, 30, 58, 40, 34, 72),
        ("poly", "first", 24, 70, 50, 40, 76, 50, 54, 84),
        ("poly", "flesh", 46, 84, 68, 52, 94, 60, 76, 94),
        ("line", "#ffffff", 3, 20, 54, 44, 42),
        ("line", "#ffffff", 3, 38, 68, 62, 52),
        ("line", "#ffffff", 3, 60, 80, 82, 64),
    ),
    "fries": (
        ("rod", "#f6cf4a", 9, 34, 56, 28, 12),
        ("rod", "#f2bf35", 9, 46, 56, 44, 6),
        ("rod", "#f6cf4a", 9, 56, 56, 60, 8),
        ("rod", "#f2bf35", 9, 66, 56, 76, 16),
        ("poly", "first", 22, 42, 78, 42, 70, 96, 30, 96),
        ("poly", "#c8352e", 22, 46, 78, 46, 70, 96, 30, 96),
    ),
    "salad": (
        *BOWL,
        ("oval", "first", 8, 20, 44, 56),
        ("oval", "second", 34, 12, 70, 50),
        ("oval", "third", 58, 22, 92, 56),
        ("oval", "second", 24, 34, 50, 60),
        ("oval", "first", 50, 34, 78, 60),
        ("pie", "#f2f4f7", 0, 180, 6, 14, 94, 92),
    ),
    "heap": (
        ("oval", "first", 16, 16, 84, 84),
        ("oval", "light", 30, 26, 42, 32),
        ("oval", "light", 52, 22, 64, 28),
        ("oval", "light", 44, 36, 56, 42),
        *BOWL,
        ("line", "#7f9fd0", 4, 12, 62, 88, 62),
    ),
    "noodles": (
        *PLATE,
        ("oval", "#f0cf72", 16, 34, 84, 76),
        ("arc", "#c99b35", 3, 180, 400, 24, 40, 60, 70),
        ("arc", "#c99b35", 3, 180, 400, 40, 44, 76, 74),
        ("arc", "#c99b35", 3, 0, 200, 28, 46, 72, 72),
        ("oval", "first", 32, 22, 68, 52),
        ("oval", "light", 40, 28, 50, 36),
    ),
    "sushi": (
        ("box", "#fbf9f2", 14, 12, 52, 88, 92),
        ("oval", "#dcd6c6", 22, 66, 30, 71),
        ("oval", "#dcd6c6", 46, 76, 54, 81),
        ("oval", "#dcd6c6", 68, 66, 76, 71),
        ("box", "flesh", 16, 4, 26, 96, 62),
        ("line", "#ffffff", 4, 24, 30, 34, 58),
        ("line", "#ffffff", 4, 46, 28, 56, 60),
        ("line", "#ffffff", 4, 68, 30, 78, 58),
    ),
    "roll": (
        ("oval", "#24463a", 6, 10, 94, 94),
        ("oval", "#fbf9f2", 14, 18, 86, 86),
        ("oval", "flesh", 34, 38, 66, 66),
        ("oval", "#dcd6c6", 26, 30, 33, 35),
        ("oval", "#dcd6c6", 64, 70, 71, 75),
    ),
    "pizza": (
        ("oval", "#d79a4e", 2, 12, 98, 96),
        ("oval", "#d8432f", 9, 18, 91, 90),
        ("oval", "#f6cf5c", 13, 22, 87, 86),
        ("oval", "second", 24, 32, 42, 48),
        ("oval", "second", 54, 28, 72, 44),
        ("oval", "second", 60, 56, 78, 72),
        ("oval", "second", 30, 60, 48, 76),
        ("line", "#d79a4e", 2, 50, 14, 50, 94),
        ("line", "#d79a4e", 2, 4, 54, 96, 54),
    ),
    "dumplings": (
        ("pie", "#efe1c2", 180, 360, 26, 4, 92, 84),
        ("arc", "#c9ad74", 3, 180, 360, 34, 14, 84, 74),
        ("oval", "first", 50, 22, 66, 34),
        ("pie", "#f6ead0", 180, 360, 4, 34, 78, 124),
        ("arc", "#c9ad74", 3, 180, 360, 12, 44, 70, 114),
        ("oval", "first", 32, 54, 50, 68),
    ),
    "burger": (
        ("pie", "#d4893a", 180, 360, 8, 4, 92, 78),
        ("oval", "#f6e6c2", 30, 12, 37, 17),
        ("oval", "#f6e6c2", 52, 10, 59, 15),
        ("oval", "#f6e6c2", 66, 20, 73, 25),
        ("box", "third", 4, 8, 40, 92, 52),
        ("box", "first", 4, 4, 50, 96, 60),
        ("box", "second", 4, 8, 58, 92, 72),
        ("box", "#d4893a", 10, 10, 70, 90, 92),
    ),
    "burrito": (
        ("rod", "#f2dfae", 40, 28, 70, 70, 32),
        ("oval", "#cf9f56", 56, 14, 92, 48),
        ("oval", "first", 60, 18, 88, 44),
        ("oval", "#fbf9f2", 66, 22, 74, 29),
        ("oval", "#69a83c", 76, 30, 84, 37),
        ("oval", "#cf9f56", 34, 56, 44, 64),
        ("oval", "#cf9f56", 20, 68, 28, 76),
    ),
}
ALL_FORMS = FORMS | OWN_FORMS

# Pattern of a name: form. The first that fits is taken; "" is the raw food itself, changed in colour only.
FORM_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"[Mm]eatcake$", "patty"),
    (r"[Cc]ake$", "cake"),
    (r"[Gg]round|[Ss]mashed", "mashed"),
    (r"Slice$", "slices"),
    (r"Sashimi$", "fillets"),
    (r"Fries$", "fries"),
    (r"Salad$", "salad"),
    (r"^cooked", "heap"),
    (r"^sauteed|^boiled", ""),
    (r"Pasta$", "noodles"),
    (r"Sushi$", "sushi"),
    (r"Roll$", "roll"),
    (r"Sauce$", "soup"),
    (r"Pizza$", "pizza"),
    (r"Soup$", "stew"),
    (r"Dumpling$", "dumplings"),
    (r"[Bb]urger$|^MaxJr$|^Hopper$", "burger"),
    (r"^Burrito", "burrito"),
)
MIXED = ("fillets",)  # forms that are a salad once they are made of several foods
TOOL_FORMS = {"chopboard": "slices", "blender": "mashed", "pot": "stew", "pan": "", "fryer": "fries", "oven": "pizza"}
FINISHES = {"pan": "baked", "pot": "boiled", "steamer": "boiled"}  # by tool; shown on food that keeps its shape
FINISH_TINTS = {"": ("#000000", 0.0), "boiled": ("#dfeaf2", 0.28), "baked": ("#8a4a16", 0.30)}
PLAIN_FORMS = ("", "mashed", "slices")  # forms that show how their food was cooked

# ------------------------------------------------------------------------------------------- tables: tools

OWN_STATIONS: dict[str, tuple[Stroke, ...]] = {
    "pan": (
        *STEEL,
        ("rod", "#2f353b", 10, 62, 34, 92, 14),
        ("oval", "#33383d", 10, 24, 78, 82),
        ("oval", "#565e66", 15, 28, 73, 76),
        ("oval", "#474e55", 22, 34, 66, 70),
    ),
    "fryer": (
        *STEEL,
        ("box", "#5d666f", 6, 12, 30, 88, 84),
        ("box", "#e0b23c", 4, 18, 34, 82, 62),
        ("line", "#8a949d", 3, 26, 36, 26, 60),
        ("line", "#8a949d", 3, 42, 36, 42, 60),
        ("line", "#8a949d", 3, 58, 36, 58, 60),
        ("line", "#8a949d", 3, 74, 36, 74, 60),
        ("line", "#8a949d", 3, 20, 48, 80, 48),
        ("rod", "#2f353b", 7, 50, 34, 50, 8),
    ),
    "steamer": (
        *STEEL,
        ("box", "#9a6a32", 6, 12, 52, 88, 84),
        ("box", "#d9ac66", 6, 12, 28, 88, 58),
        ("line", "#9a6a32", 3, 12, 44, 88, 44),
        ("oval", "#c99552", 12, 14, 88, 42),
        ("oval", "#e8c48f", 18, 17, 82, 38),
        ("oval", "#9a6a32", 45, 20, 55, 30),
    ),
    "mixer": (
        *COUNTER,
        ("box", "#8d98a3", 8, 22, 6, 84, 30),
        ("box", "#8d98a3", 6, 66, 20, 84, 84),
        ("line", "#5d666f", 5, 40, 30, 40, 44),
        ("pie", "#e8edf2", 0, 180, 12, 14, 66, 86),
        ("oval", "#c5ced6", 12, 42, 66, 58),
        ("box", "#5d666f", 5, 20, 82, 90, 92),
        ("oval", "#e8541e", 70, 12, 78, 20),
    ),
    "servingtable": STATIONS["serving"],
    "storage": STATIONS["ingredients"],
    "chopboard": STATIONS["chopping_board"],
}

# ------------------------------------------------------------------------------------------- what an item looks like


@dataclass(frozen=True)
class Look:
    """How an item is drawn: form ("" for raw), finish ("", "boiled", "baked") and up to three foods in it."""

    form: str
    finish: str
    foods: tuple[str, ...]


def look_of(level: Level, name: str) -> Look:
    """Return the look of an item of a level's cookbook."""
    recipe = level.recipes.get(name)
    if recipe is None:
        return Look("", "", (name,))
    base = [item for item in reversed(level.tree(name)) if item not in level.recipes]
    named = [item for item in base if item.lower() in name.lower()]
    others = [item for item in base if item not in named and item not in FILLERS]
    foods = tuple([item for item in named if item not in FILLERS] + others + [item for item in base if item in FILLERS])
    form = next((form for pattern, form in FORM_PATTERNS if re.search(pattern, name)), None)
    if form is None:
        form = TOOL_FORMS.get(recipe.tool, "salad")
    if form in MIXED and len(foods) > 1:
        form = "salad"
    if form == "pizza":  # its ground is the same everywhere; the topping is what counts
        foods = ("tomato", *(food for food in foods if food not in ("tomato", "cheese")), "cheese")
    return Look(form, FINISHES.get(recipe.tool, "") if form in PLAIN_FORMS else "", foods[:3])


def _food(name: str) -> Food:
    return FOODS[name] if name in FOODS else strange_food(name)


@lru_cache(maxsize=4096)
def item_picture(look: Look, size: int) -> Image.Image:
    """Return the icon of an item, RGBA (size, size)."""
    foods = [_food(name) for name in look.foods]
    strokes = ALL_FORMS[look.form] if look.form else ALL_SHAPES[foods[0][0]]
    picture = paint(strokes, size, food_colours(foods, *FINISH_TINTS[look.finish]))
    if look.finish:
        badge = paint(BADGES[look.finish], max(8, round(size * 0.42)), {})
        picture.alpha_composite(badge, (size - badge.width, 0))
    return picture


@lru_cache(maxsize=256)
def station_picture(kind: str, size: int) -> Image.Image:
    """Return the tile of an empty tool; kinds in no table get a plain appliance."""
    known = STATIONS | OWN_STATIONS
    return paint(known.get(kind, known[""]), size, {}, outlined=False)


def words_of(name: str) -> str:
    """Write an item's name as words: ``tomatoLettuceSalad`` becomes ``tomato lettuce salad``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain_text(name)).lower()


@lru_cache(maxsize=1024)
def short_label(name: str, size: int, width: int) -> tuple[str, ...]:
    """Write a name in at most two lines of ``width`` pixels; the longest words lose letters where it is too long."""
    return shorten_words(words_of(name).split() or [name], size, width)
