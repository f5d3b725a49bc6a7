"""What the drawn kitchen is made of: tables of foods and dishes, and the cached pictures drawn from them.

All art is drawn from tables, on a canvas of 100 x 100 units; nothing here knows a kitchen or a moment of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PIL import Image

from collab_overcooked.render.drawings import BADGES, DISH, FORMS, PLATE, SHAPES, STATIONS
from collab_overcooked.render.lettering import fits_two_lines, plain_text, shorten_words
from collab_overcooked.render.painting import (
    LABELLED_TILE,
    Food,
    food_colours,
    label_picture,
    label_size,
    mix,
    paint,
    strange_food,
)

# ------------------------------------------------------------------------------------------- tables: raw food

# food: shape, main, accent (stem, leaf, fat), flesh (inside when cut)
FOODS: dict[str, Food] = {
    "apple": ("round", "#cf2e3c", "#5fa03a", "#f8edc8"),
    "carrot": ("root", "#f07f1f", "#4f9a3c", "#f9a552"),
    "onion": ("bulb", "#c98ab5", "#8a4b78", "#f3e2ee"),
    "potato": ("tuber", "#c69c5b", "#8a6a38", "#f1dc98"),
    "tofu": ("block", "#efe8d2", "#d6cdb0", "#fbf7e8"),
    "bell_pepper": ("pepper", "#e33b2c", "#3f8a34", "#f2907c"),
    "sweet_potato": ("spindle", "#b55a45", "#8a4032", "#f29a4a"),
    "egg": ("egg", "#f4e2c4", "#e6cfa6", "#f7c83e"),
    "mushroom": ("mushroom", "#9c6f4d", "#ecdcc4", "#ead6bb"),
    "pumpkin": ("ribbed", "#ef8a1d", "#5c7a33", "#f8b85c"),
    "corn": ("cob", "#f6cf3a", "#6aa53d", "#fbe688"),
    "green_bean": ("pods", "#5ca53a", "#3c7a2a", "#a8d67c"),
    "lentil": ("grains", "#a5673a", "#7d4a25", "#c98d5c"),
    "eggplant": ("capped", "#5b2f73", "#4f8a3f", "#ece2b8"),
    "chickpea": ("balls", "#e2bd75", "#c1994f", "#f1d9a4"),
    "zucchini": ("baton", "#3f8a3a", "#7a9a4c", "#dcecb0"),
    "beef": ("steak", "#b8323a", "#f0d6cc", "#d9656b"),
    "peanut": ("shell", "#d8a75c", "#a87a38", "#ecd2a0"),
    "chicken": ("drumstick", "#d99a4e", "#f6ecdc", "#f3d3ab"),
    "spinach": ("leaf", "#2f7d3a", "#9ccb84", "#63a85f"),
    "coconut": ("half_nut", "#6f4a2c", "#ffffff", "#f7f5ee"),
    "broccoli": ("floret", "#3f8f3d", "#a5cc7c", "#7fb765"),
    "bean": ("kidneys", "#8e3b2e", "#6b2a20", "#b9695a"),
    "cauliflower": ("floret", "#efe6cb", "#9cc27a", "#f8f3e2"),
    "pea": ("peas", "#7cc144", "#4b8f34", "#a9d97a"),
    "romaine_lettuce": ("heads", "#69a83c", "#e6f1c4", "#b5d885"),
    "tomato": ("tomato", "#ee4b2b", "#3f8f3a", "#f8866d"),
    "taro": ("banded", "#7d6175", "#4f3a4a", "#d9c6dd"),
    "green_pea": ("balls", "#66b23c", "#3f8a2a", "#a4d977"),
}

# ------------------------------------------------------------------------------------------- tables: prepared food

# Word of a name: form. Of several forms in a name the one that comes first in FORMS is the dish itself.
FORM_WORDS = {
    "stew": "stew",
    "curry": "stew",
    "soup": "soup",
    "broth": "soup",
    "patty": "patty",
    "burger": "patty",
    "cake": "patty",
    "mashed": "mashed",
    "mixture": "mashed",
    "puree": "mashed",
    "slices": "slices",
    "sliced": "slices",
    "chopped": "slices",
    "diced": "slices",
}
FINISH_WORDS = {
    "boiled": "boiled",
    "steamed": "boiled",
    "baked": "baked",
    "roasted": "baked",
    "grilled": "baked",
    "fried": "baked",
}
FINISH_TINTS = {"boiled": ("#dfeaf2", 0.28), "baked": ("#8a4a16", 0.30)}

# ------------------------------------------------------------------------------------------- what an item looks like


@dataclass(frozen=True)
class Look:
    """How an item is drawn: form ("" for raw), finish ("", "boiled", "baked") and the foods it is made of."""

    form: str
    finish: str
    foods: tuple[str, ...]


@lru_cache(maxsize=4096)
def look_of(name: str, ingredients: tuple[str, ...] = ()) -> Look:
    """Derive the look of an item from its name.

    Args:
        name: Item name such as ``"sliced_beef_and_mashed_peanut_stew"``.
        ingredients: Names that count as foods besides those of ``FOODS``.

    Returns:
        The look; a name without any known food is a food of its own, with colours drawn from its letters.
    """
    words = name.split("_")
    forms = {FORM_WORDS[word] for word in words if word in FORM_WORDS}
    form = next((form for form in FORMS if form in forms), "")
    finish = next((FINISH_WORDS[word] for word in words if word in FINISH_WORDS), "")
    if form in ("stew", "soup", "patty"):  # how their ingredients were made does not show any more
        finish = ""
    known = set(FOODS) | set(ingredients)
    foods: list[str] = []
    start = 0
    while start < len(words):
        ends = (end for end in range(len(words), start, -1) if "_".join(words[start:end]) in known)
        end = next(ends, 0)
        if end:
            foods.append("_".join(words[start:end]))
        start = end or start + 1
    rest = [word for word in words if word not in FORM_WORDS and word not in FINISH_WORDS]
    return Look(form, finish, tuple(foods) or ("_".join(rest) or name,))


def _food(name: str) -> Food:
    """Return shape and colours of a raw food; those of an unknown one follow from its letters."""
    return FOODS[name] if name in FOODS else strange_food(name)


def _item_colours(look: Look) -> dict[str, str]:
    """Return the colour of every role for a look."""
    colours = food_colours([_food(name) for name in look.foods], *FINISH_TINTS.get(look.finish, ("#000000", 0.0)))
    if look.form == "mashed":
        flesh = mix(colours["flesh"], colours["main"], 0.2)
        return colours | {"flesh": flesh, "shade": mix(flesh, "#000000", 0.25)}
    if look.form == "slices":
        return colours | {"shade": mix(colours["flesh"], colours["main"], 0.45)}
    return colours


@lru_cache(maxsize=4096)
def item_picture(look: Look | None, plated: bool, size: int) -> Image.Image:
    """Return the icon of an item, RGBA (size, size).

    Args:
        look: Look of the food; None for an empty dish.
        plated: Whether a dish lies under it.
        size: Pixels.
    """
    if look is None:
        return paint(DISH, size, {})
    strokes = FORMS[look.form] if look.form else SHAPES[_food(look.foods[0])[0]]
    inner = round(size * 0.78) if plated else size
    food = paint(strokes, inner, _item_colours(look))
    if look.finish:
        badge = paint(BADGES[look.finish], max(8, round(inner * 0.44)), {})
        food.alpha_composite(badge, (inner - badge.width, 0))
    if not plated:
        return food
    picture = paint(PLATE, size, {})
    picture.alpha_composite(food, ((size - inner) // 2, 0))
    return picture


@lru_cache(maxsize=1024)
def short_label(name: str, size: int, width: int) -> tuple[str, ...]:
    """Write an item's or place's name in at most two lines of ``width`` pixels.

    If it is too long, words that the icon shows anyway (boiled, slices, stew) go first; then the longest words are
    shortened letter by letter.
    """
    words = [word for word in plain_text(name).split("_") if word and word != "and"] or [name]
    if not fits_two_lines(words, size, width):
        words = [word for word in words if word not in FORM_WORDS and word not in FINISH_WORDS] or words
    return shorten_words(words, size, width)


@lru_cache(maxsize=256)
def station_picture(kind: str, caption: str, tile: int) -> Image.Image:
    """Return an empty station's tile; a caption names stations that never show contents."""
    picture = paint(STATIONS.get(kind, STATIONS[""]), tile, {}, outlined=False)
    if caption and tile >= LABELLED_TILE:
        size = label_size(tile)
        label = label_picture(short_label(caption, size, tile - 4), size, tile - 4)
        picture.alpha_composite(label, (2, tile - label.height - 1))
    return picture
