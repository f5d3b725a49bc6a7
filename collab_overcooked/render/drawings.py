"""Drawings that kitchens of every game share, as tables of strokes on a canvas of 100 x 100 units.

``core.painting`` turns them into pictures. Colour roles: main, dark, light (shades of main), accent, or a colour
itself; cooks add coat, coat_dark and skin.
"""

from __future__ import annotations

from typing import Any

Stroke = tuple[Any, ...]  # (operation, colour, numbers...): see ``core.painting``

# ------------------------------------------------------------------------------------------- colours

SEATS = ("#2f6fb5", "#d1622b", "#2f9c6e", "#b0528f", "#8a6d1f", "#5c5fc4", "#b33a3a", "#4d7f8c")
PAPER, INK, GREY, FAINT = "#fbf8f2", "#2b2a28", "#77726a", "#ddd6c8"
SKIN, HAIR, OUTLINE = "#f3c9a0", "#5d3f2a", "#33302c"
FLOOR, FLOOR_DARK = "#e9e3d6", "#e0d9c9"
WOOD, WOOD_TOP, WOOD_EDGE = "#a9794a", "#c79a66", "#7f5831"
GOOD, WORKING, BAD = "#2f9c4a", "#e08a1e", "#cc3a2f"

# ------------------------------------------------------------------------------------------- raw food

STEM: tuple[Stroke, ...] = (("rod", "#6b4a2b", 6, 50, 28, 54, 12), ("oval", "#5fa03a", 54, 8, 76, 22))
SHAPES: dict[str, tuple[Stroke, ...]] = {
    "round": (("oval", "main", 16, 22, 84, 90), ("oval", "light", 28, 32, 46, 50), *STEM),
    "tomato": (
        ("oval", "main", 12, 24, 88, 90),
        ("oval", "light", 24, 38, 42, 54),
        ("poly", "accent", 50, 14, 56, 26, 74, 22, 62, 34, 66, 46, 50, 36, 34, 46, 38, 34, 26, 22, 44, 26),
    ),
    "bulb": (
        ("poly", "main", 50, 4, 58, 28, 42, 28),
        ("oval", "main", 16, 22, 84, 90),
        ("arc", "dark", 3, 95, 265, 34, 24, 78, 88),
        ("arc", "dark", 3, -85, 85, 22, 24, 66, 88),
    ),
    "tuber": (
        ("oval", "main", 8, 26, 74, 86),
        ("oval", "main", 30, 16, 92, 74),
        ("oval", "dark", 30, 44, 37, 51),
        ("oval", "dark", 56, 34, 63, 41),
        ("oval", "dark", 50, 62, 57, 69),
    ),
    "spindle": (
        ("poly", "main", 2, 90, 18, 60, 40, 86),
        ("poly", "main", 98, 12, 62, 22, 82, 44),
        ("rod", "main", 44, 34, 66, 62, 42),
        ("line", "dark", 3, 30, 62, 40, 54),
        ("line", "dark", 3, 48, 68, 58, 58),
        ("line", "dark", 3, 62, 38, 72, 32),
    ),
    "banded": (
        ("oval", "main", 18, 12, 82, 92),
        ("arc", "accent", 4, 20, 160, 18, 10, 82, 50),
        ("arc", "accent", 4, 20, 160, 16, 26, 84, 70),
        ("arc", "accent", 4, 20, 160, 20, 46, 80, 88),
    ),
    "root": (
        ("poly", "accent", 62, 34, 60, 4, 72, 20, 86, 4, 84, 20, 98, 26, 76, 40),
        ("poly", "main", 6, 94, 54, 22, 82, 48),
        ("oval", "main", 50, 18, 86, 54),
        ("line", "dark", 3, 42, 48, 54, 58),
        ("line", "dark", 3, 30, 64, 40, 72),
    ),
    "cob": (
        ("rod", "main", 34, 28, 72, 72, 28),
        ("line", "dark", 2, 22, 60, 66, 16),
        ("line", "dark", 2, 40, 78, 84, 34),
        ("line", "dark", 2, 40, 44, 56, 60),
        ("line", "dark", 2, 54, 30, 70, 46),
        ("poly", "accent", 4, 96, 10, 52, 34, 66, 50, 90),
    ),
    "baton": (
        ("rod", "main", 26, 24, 76, 76, 24),
        ("line", "light", 4, 22, 66, 66, 22),
        ("line", "light", 4, 36, 78, 78, 36),
        ("rod", "accent", 10, 82, 18, 90, 10),
    ),
    "capped": (
        ("oval", "main", 12, 40, 62, 92),
        ("poly", "main", 20, 50, 62, 14, 86, 36, 56, 80),
        ("oval", "light", 24, 56, 36, 72),
        ("poly", "accent", 56, 14, 72, 4, 94, 30, 82, 44, 72, 32),
        ("rod", "accent", 8, 82, 18, 92, 6),
    ),
    "pepper": (
        ("oval", "main", 12, 24, 56, 90),
        ("oval", "main", 44, 24, 88, 90),
        ("oval", "main", 30, 26, 70, 94),
        ("arc", "dark", 3, 100, 240, 34, 30, 60, 88),
        ("rod", "accent", 9, 50, 28, 56, 8),
    ),
    "ribbed": (
        ("oval", "main", 6, 26, 94, 92),
        ("oval", "dark", 20, 24, 80, 92),
        ("oval", "main", 24, 24, 76, 92),
        ("oval", "dark", 37, 24, 63, 92),
        ("oval", "main", 41, 24, 59, 92),
        ("rod", "accent", 10, 50, 24, 58, 8),
    ),
    "egg": (("oval", "main", 22, 30, 78, 92), ("oval", "main", 28, 8, 72, 72), ("oval", "light", 38, 24, 50, 44)),
    "mushroom": (
        ("box", "accent", 10, 38, 46, 62, 92),
        ("pie", "main", 180, 360, 8, 10, 92, 94),
        ("oval", "light", 28, 24, 42, 36),
        ("oval", "light", 56, 30, 68, 40),
    ),
    "pods": (
        ("rod", "main", 12, 12, 70, 70, 14),
        ("rod", "dark", 12, 20, 86, 84, 30),
        ("rod", "main", 12, 40, 92, 92, 54),
        ("line", "light", 3, 20, 66, 66, 20),
    ),
    "peas": (
        ("pie", "accent", 0, 180, 4, 6, 96, 92),
        ("oval", "main", 12, 34, 38, 60),
        ("oval", "main", 37, 36, 63, 62),
        ("oval", "main", 62, 34, 88, 60),
    ),
    "balls": (
        ("oval", "dark", 30, 16, 66, 52),
        ("oval", "main", 10, 46, 48, 84),
        ("oval", "main", 52, 46, 90, 84),
        ("oval", "light", 20, 54, 30, 64),
        ("oval", "light", 62, 54, 72, 64),
    ),
    "kidneys": (
        ("rod", "main", 24, 24, 46, 40, 26),
        ("rod", "dark", 24, 58, 40, 76, 54),
        ("rod", "main", 24, 34, 78, 56, 74),
        ("line", "light", 4, 24, 42, 36, 26),
        ("line", "light", 4, 36, 74, 52, 71),
    ),
    "grains": tuple(
        ("oval", "main" if (x + y) % 3 else "dark", x, y, x + 22, y + 16)
        for x, y in ((38, 18), (22, 34), (50, 33), (8, 52), (36, 50), (64, 50), (20, 68), (48, 68), (70, 67))
    ),
    "shell": (
        ("oval", "main", 12, 8, 60, 54),
        ("oval", "main", 38, 40, 90, 92),
        ("line", "dark", 3, 26, 26, 46, 26),
        ("line", "dark", 3, 52, 64, 78, 64),
        ("line", "dark", 3, 58, 76, 74, 76),
        ("line", "dark", 3, 30, 38, 44, 38),
    ),
    "half_nut": (
        ("oval", "main", 6, 10, 94, 92),
        ("oval", "accent", 16, 18, 84, 80),
        ("oval", "#dcd6c6", 30, 28, 70, 66),
    ),
    "leaf": (
        ("poly", "main", 50, 4, 78, 26, 84, 54, 62, 78, 50, 82, 38, 78, 16, 54, 22, 26),
        ("rod", "light", 5, 50, 20, 50, 96),
        ("line", "light", 3, 50, 44, 70, 32),
        ("line", "light", 3, 50, 44, 30, 32),
        ("line", "light", 3, 50, 62, 70, 52),
        ("line", "light", 3, 50, 62, 30, 52),
    ),
    "heads": (
        ("poly", "main", 8, 20, 30, 6, 38, 60, 50, 94, 24, 70),
        ("poly", "main", 92, 20, 70, 6, 62, 60, 50, 94, 76, 70),
        ("poly", "light", 50, 2, 72, 30, 64, 76, 50, 94, 36, 76, 28, 30),
        ("rod", "accent", 6, 50, 28, 50, 88),
    ),
    "floret": (
        ("poly", "accent", 40, 50, 60, 50, 58, 94, 42, 94),
        ("oval", "main", 6, 30, 48, 66),
        ("oval", "main", 52, 30, 94, 66),
        ("oval", "main", 26, 8, 74, 58),
        ("oval", "light", 36, 16, 50, 28),
        ("oval", "light", 64, 38, 74, 46),
    ),
    "steak": (
        ("oval", "accent", 6, 20, 94, 86),
        ("oval", "main", 12, 26, 88, 80),
        ("oval", "accent", 58, 40, 74, 54),
        ("arc", "light", 4, 130, 230, 26, 34, 76, 74),
    ),
    "drumstick": (
        ("rod", "accent", 12, 60, 60, 86, 86),
        ("oval", "accent", 78, 72, 96, 90),
        ("oval", "accent", 72, 80, 90, 98),
        ("oval", "main", 6, 8, 72, 72),
        ("oval", "light", 20, 20, 38, 38),
    ),
    "block": (
        ("poly", "main", 10, 40, 56, 52, 56, 90, 10, 76),
        ("poly", "dark", 56, 52, 92, 38, 92, 72, 56, 90),
        ("poly", "light", 10, 40, 46, 26, 92, 38, 56, 52),
    ),
    "strands": (
        ("rod", "main", 6, 16, 92, 44, 8),
        ("rod", "main", 6, 34, 94, 50, 6),
        ("rod", "light", 6, 50, 94, 55, 6),
        ("rod", "main", 6, 66, 94, 60, 6),
        ("rod", "main", 6, 84, 92, 66, 8),
        ("box", "accent", 3, 34, 42, 74, 56),
    ),
    "wedge": (
        ("poly", "main", 4, 62, 88, 18, 96, 46, 96, 82, 4, 86),
        ("poly", "light", 4, 62, 88, 18, 96, 46),
        ("oval", "dark", 24, 66, 38, 80),
        ("oval", "dark", 60, 56, 76, 72),
        ("oval", "dark", 46, 74, 54, 82),
    ),
    "loaf": (
        ("oval", "accent", 8, 14, 60, 58),
        ("oval", "accent", 42, 14, 92, 58),
        ("box", "accent", 6, 16, 36, 84, 92),
        ("box", "main", 5, 23, 42, 77, 86),
        ("oval", "main", 16, 22, 56, 52),
        ("oval", "main", 46, 22, 84, 52),
    ),
}

# ------------------------------------------------------------------------------------------- marks and dishes

BOWL: tuple[Stroke, ...] = (("pie", "#f2f4f7", 0, 180, 6, 10, 94, 96), ("box", "#f2f4f7", 4, 34, 86, 66, 96))
BADGES: dict[str, tuple[Stroke, ...]] = {
    "boiled": (
        ("poly", "#3b8fd6", 50, 4, 78, 52, 22, 52),
        ("oval", "#3b8fd6", 18, 36, 82, 96),
        ("oval", "#bfe0f7", 32, 56, 48, 76),
    ),
    "baked": (
        ("poly", "#e8541e", 50, 2, 66, 30, 84, 42, 84, 66, 16, 66, 18, 36, 34, 44),
        ("oval", "#e8541e", 16, 40, 84, 98),
        ("oval", "#fbc93b", 34, 58, 66, 94),
    ),
    "ready": (("oval", GOOD, 2, 2, 98, 98), ("line", "#ffffff", 13, 24, 52, 44, 72, 78, 30)),
    "spoilt": (
        ("oval", BAD, 2, 2, 98, 98),
        ("line", "#ffffff", 13, 30, 30, 70, 70),
        ("line", "#ffffff", 13, 70, 30, 30, 70),
    ),
}
DISH: tuple[Stroke, ...] = (
    ("oval", "#cfd6de", 4, 24, 96, 92),
    ("oval", "#ffffff", 4, 18, 96, 86),
    ("oval", "#dfe6ed", 24, 32, 76, 72),
    ("oval", "#f4f7fa", 28, 36, 72, 70),
)
PLATE: tuple[Stroke, ...] = (  # under food
    ("oval", "#cfd6de", 2, 54, 98, 98),
    ("oval", "#ffffff", 2, 50, 98, 92),
    ("oval", "#e3e9ef", 18, 56, 82, 84),
)

# ------------------------------------------------------------------------------------------- prepared food

# Strokes by form; first, second, third are the foods in it, flesh the inside of the first.
FORMS: dict[str, tuple[Stroke, ...]] = {
    "stew": (
        ("box", "#8c4a2f", 6, 2, 42, 98, 52),
        ("pie", "#8c4a2f", 0, 180, 8, 0, 92, 94),
        ("oval", "#6e3520", 8, 26, 92, 62),
        ("oval", "#b5742f", 13, 30, 87, 58),
        ("box", "first", 6, 20, 30, 42, 46),
        ("box", "second", 6, 46, 26, 68, 42),
        ("box", "third", 6, 62, 36, 82, 50),
        ("box", "first", 6, 36, 42, 58, 56),
        ("arc", "#ffffff", 4, 100, 260, 30, 2, 44, 24),
        ("arc", "#ffffff", 4, -80, 80, 56, 2, 70, 24),
    ),
    "soup": (
        *BOWL,
        ("oval", "#d5dae0", 6, 34, 94, 66),
        ("oval", "main", 12, 38, 88, 63),
        ("arc", "light", 5, 200, 400, 30, 44, 70, 58),
        ("arc", "#ffffff", 5, 100, 260, 32, 4, 48, 30),
        ("arc", "#ffffff", 5, -80, 80, 54, 4, 70, 30),
    ),
    "patty": (
        ("oval", "#6d3f1d", 4, 34, 96, 92),
        ("oval", "#a9682f", 4, 22, 96, 80),
        ("oval", "first", 20, 32, 38, 44),
        ("oval", "second", 58, 30, 76, 42),
        ("oval", "third", 40, 54, 58, 66),
        ("oval", "second", 22, 56, 36, 66),
        ("oval", "first", 66, 52, 82, 63),
        ("line", "#5b3213", 5, 42, 24, 34, 78),
        ("line", "#5b3213", 5, 64, 24, 58, 79),
    ),
    "mashed": (
        ("oval", "flesh", 4, 50, 96, 94),
        ("oval", "flesh", 16, 30, 84, 76),
        ("oval", "flesh", 32, 12, 68, 52),
        ("arc", "shade", 5, 20, 170, 12, 44, 88, 84),
        ("arc", "shade", 5, 20, 170, 24, 26, 76, 62),
        ("oval", "first", 60, 40, 68, 48),
        ("oval", "second", 34, 46, 42, 54),
        ("oval", "second", 66, 66, 76, 76),
        ("oval", "first", 26, 70, 34, 78),
    ),
    "slices": (
        ("oval", "main", 40, 6, 92, 58),
        ("oval", "flesh", 46, 12, 86, 52),
        ("oval", "main", 8, 20, 60, 72),
        ("oval", "flesh", 14, 26, 54, 66),
        ("oval", "main", 36, 40, 90, 94),
        ("oval", "flesh", 42, 46, 84, 88),
        ("oval", "shade", 58, 62, 68, 72),
        ("oval", "shade", 29, 41, 38, 50),
    ),
}

# ------------------------------------------------------------------------------------------- stations

COUNTER: tuple[Stroke, ...] = (
    ("box", WOOD_EDGE, 0, 0, 0, 100, 100),
    ("box", WOOD, 0, 2, 2, 98, 98),
    ("box", WOOD_TOP, 6, 4, 3, 96, 90),
    ("line", "#bb8d59", 2, 12, 32, 88, 32),
    ("line", "#bb8d59", 2, 12, 62, 88, 62),
)
STEEL: tuple[Stroke, ...] = (
    ("box", "#6f777f", 0, 0, 0, 100, 100),
    ("box", "#b8c0c8", 0, 2, 2, 98, 98),
    ("box", "#d3d9df", 6, 4, 3, 96, 90),
)
STATIONS: dict[str, tuple[Stroke, ...]] = {
    "pot": (
        *STEEL,
        ("oval", "#494f56", 14, 42, 86, 80),
        ("rod", "#2f353b", 8, 10, 48, 90, 48),
        ("box", "#5d666f", 8, 18, 44, 82, 74),
        ("oval", "#8a949d", 18, 30, 82, 58),
        ("oval", "#33383d", 23, 34, 77, 55),
    ),
    "oven": (
        *STEEL,
        ("box", "#4a5057", 6, 10, 8, 90, 80),
        ("oval", "#e6e9ec", 18, 12, 27, 21),
        ("oval", "#e6e9ec", 32, 12, 41, 21),
        ("oval", "#e8541e", 72, 12, 81, 21),
        ("box", "#2a1a12", 6, 17, 28, 83, 70),
        ("box", "#6b2f14", 5, 21, 32, 79, 66),
        ("line", "#e08a1e", 3, 26, 60, 74, 60),
        ("line", "#b8c0c8", 4, 24, 27, 76, 27),
    ),
    "chopping_board": (
        *COUNTER,
        ("box", "#8a5a2c", 8, 9, 26, 83, 80),
        ("box", "#e8c48f", 8, 9, 22, 83, 75),
        ("oval", "#a9794a", 70, 27, 78, 35),
        ("poly", "#dfe4e9", 84, 24, 94, 24, 94, 58, 84, 58),
        ("box", "#33302c", 4, 86, 56, 93, 82),
    ),
    "blender": (
        *COUNTER,
        ("box", "#3f464d", 6, 28, 60, 72, 82),
        ("oval", "#e8541e", 46, 66, 54, 76),
        ("poly", "#b9e0ee", 24, 12, 76, 12, 68, 60, 32, 60),
        ("poly", "#dff2f8", 30, 16, 42, 16, 40, 56, 35, 56),
        ("box", "#2f353b", 3, 22, 6, 78, 14),
        ("arc", "#7fb6c9", 5, -80, 80, 64, 20, 90, 50),
    ),
    "ingredients": (
        *COUNTER,
        ("oval", "#cf2e3c", 18, 16, 44, 42),
        ("oval", "#ef8a1d", 40, 10, 66, 38),
        ("oval", "#5ca53a", 58, 18, 84, 44),
        ("poly", "#3f8f3a", 50, 14, 44, 2, 56, 4),
        ("box", "#8a5a2c", 4, 10, 34, 90, 74),
        ("box", "#d6a567", 3, 13, 37, 87, 46),
        ("box", "#d6a567", 3, 13, 49, 87, 58),
        ("box", "#d6a567", 3, 13, 61, 87, 71),
    ),
    "dishes": (
        *COUNTER,
        *(("oval", "#b9c2cb", 14, top, 86, top + 34) for top in (38, 30, 22, 14)),
        ("oval", "#ffffff", 14, 11, 86, 44),
        ("oval", "#dfe6ed", 30, 18, 70, 37),
        ("arc", "#ffffff", 3, 10, 170, 14, 18, 86, 54),
        ("arc", "#ffffff", 3, 10, 170, 14, 26, 86, 62),
        ("arc", "#ffffff", 3, 10, 170, 14, 34, 86, 70),
    ),
    "serving": (
        ("box", "#2f6b3e", 0, 0, 0, 100, 100),
        ("box", "#4f9d62", 0, 2, 2, 98, 98),
        ("box", "#74bd84", 6, 4, 3, 96, 90),
        ("oval", "#3f464d", 12, 58, 88, 76),
        ("pie", "#f2c94c", 180, 360, 18, 22, 82, 108),
        ("oval", "#f7e3a1", 30, 34, 42, 48),
        ("box", "#8a6d1f", 2, 16, 62, 84, 68),
        ("oval", "#8a6d1f", 44, 14, 56, 26),
    ),
    "": (
        *STEEL,
        ("box", "#59636d", 8, 14, 14, 86, 78),
        ("box", "#a9d3df", 6, 22, 22, 66, 64),
        ("oval", "#f2c94c", 71, 26, 81, 36),
        ("oval", "#e8541e", 71, 44, 81, 54),
    ),
}
# ------------------------------------------------------------------------------------------- cooks

BODY: tuple[Stroke, ...] = (
    ("oval", "coat_dark", 30, 86, 48, 98),
    ("oval", "coat_dark", 52, 86, 70, 98),
    ("box", "coat", 14, 27, 54, 73, 94),
    ("oval", "skin", 20, 64, 33, 77),
    ("oval", "skin", 67, 64, 80, 77),
    ("oval", "skin", 30, 26, 70, 62),
)
FACES: dict[str, tuple[Stroke, ...]] = {
    "north": (("pie", HAIR, 0, 360, 31, 26, 69, 60),),
    "south": (("oval", INK, 40, 42, 46, 50), ("oval", INK, 54, 42, 60, 50), ("arc", INK, 2, 30, 150, 42, 44, 58, 57)),
    "east": (("oval", INK, 53, 42, 58, 50), ("oval", INK, 63, 42, 68, 50), ("pie", HAIR, 110, 250, 30, 28, 66, 60)),
    "west": (("oval", INK, 42, 42, 47, 50), ("oval", INK, 32, 42, 37, 50), ("pie", HAIR, -70, 70, 34, 28, 70, 60)),
}
HATS: dict[bool, tuple[Stroke, ...]] = {  # by whether the cook knows the recipes
    True: (
        ("oval", "#ffffff", 26, 8, 50, 28),
        ("oval", "#ffffff", 50, 8, 74, 28),
        ("oval", "#ffffff", 36, 2, 64, 26),
        ("box", "#ffffff", 3, 33, 18, 67, 36),
        ("box", "coat", 0, 33, 31, 67, 36),
    ),
    False: (("pie", "coat", 180, 360, 28, 16, 72, 56), ("box", "coat_dark", 3, 27, 33, 73, 39)),
}
POINTERS: dict[str, tuple[Stroke, ...]] = {
    "north": (("poly", "#ffd83d", 50, 0, 60, 12, 40, 12),),
    "south": (("poly", "#ffd83d", 50, 100, 60, 88, 40, 88),),
    "east": (("poly", "#ffd83d", 100, 50, 88, 40, 88, 60),),
    "west": (("poly", "#ffd83d", 0, 50, 12, 40, 12, 60),),
}
