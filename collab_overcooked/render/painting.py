"""The brush of all pictures: strokes become small pictures, cached, with labels and cooks; it knows no game."""

from __future__ import annotations

import colorsys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter

from collab_overcooked.render.drawings import (
    BADGES,
    BODY,
    FACES,
    FAINT,
    FLOOR,
    FLOOR_DARK,
    HATS,
    INK,
    OUTLINE,
    POINTERS,
    SEATS,
    SKIN,
    Stroke,
)
from collab_overcooked.render.lettering import load_font, text_picture, text_width

Colours = Mapping[str, str]
Food = tuple[str, str, str, str]
"""Shape of a raw food, and its colours: main, accent (stem, leaf, fat), flesh (inside when cut)."""

LABELLED_TILE = 36  # from this many pixels a cell on there is room for names in the cells
SHAPES_OF_STRANGERS = ("round", "tuber", "balls", "baton", "block", "leaf")
SMOOTH = 4  # art is drawn this many times larger and then scaled down


def floor_plan(grid: Sequence[str], tile: int, cell: Callable[[str], Image.Image]) -> Image.Image:
    """Return a kitchen's grid with chequered floor where it is blank and the tile of its symbol everywhere else."""
    picture = Image.new("RGBA", (tile * len(grid[0]), tile * len(grid)))
    pen = ImageDraw.Draw(picture)
    for y, row in enumerate(grid):
        for x, symbol in enumerate(row):
            left, top = x * tile, y * tile
            if symbol == " ":
                shade = FLOOR if (x + y) % 2 else FLOOR_DARK
                pen.rectangle((left, top, left + tile - 1, top + tile - 1), fill=shade, outline="#d3cab7")
            else:
                picture.paste(cell(symbol), (left, top))
    return picture


def mix(one: str, other: str, share: float) -> str:
    """Return a colour with a share of another in it."""
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _stroke(pen: ImageDraw.ImageDraw, stroke: Stroke, unit: float, colours: Colours) -> None:
    """Draw one stroke: ``(operation, colour, numbers...)``, numbers in hundredths of the picture.

    oval and poly take points; box a radius and a box; pie start and end angle and a box; arc width, start, end and a
    box; line and rod (a line with round ends) width and points.
    """
    operation, colour, *numbers = stroke
    fill = colours.get(colour, colour)
    values = [number * unit for number in numbers]
    if operation == "oval":
        pen.ellipse(values, fill=fill)
    elif operation == "poly":
        pen.polygon(values, fill=fill)
    elif operation == "box":
        pen.rounded_rectangle(values[1:], radius=values[0], fill=fill)
    elif operation == "pie":
        pen.pieslice(values[2:], numbers[0], numbers[1], fill=fill)
    elif operation == "arc":
        pen.arc(values[3:], numbers[1], numbers[2], fill=fill, width=round(values[0]))
    else:
        pen.line(values[1:], fill=fill, width=round(values[0]), joint="curve")
        if operation == "rod":
            radius = values[0] / 2
            for x, y in zip(values[1::2], values[2::2], strict=True):
                pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)


def paint(strokes: Iterable[Stroke], size: int, colours: Colours, outlined: bool = True) -> Image.Image:
    """Return strokes as an RGBA picture of ``size`` pixels, with a dark outline around the whole."""
    canvas = size * SMOOTH
    picture = Image.new("RGBA", (canvas, canvas))
    pen = ImageDraw.Draw(picture)
    for stroke in strokes:
        _stroke(pen, stroke, canvas / 100, colours)
    if outlined:
        margin = round(0.04 * canvas)  # the outline must not be cut off at the edge
        small = picture.resize((canvas - 2 * margin,) * 2, Image.Resampling.BOX)
        picture = Image.new("RGBA", (canvas, canvas))
        picture.paste(small, (margin, margin))
        edge = picture.getchannel("A").filter(ImageFilter.MaxFilter(2 * max(1, round(0.6 * SMOOTH)) + 1))
        backed = Image.new("RGBA", (canvas, canvas), OUTLINE)
        backed.putalpha(edge)
        picture = Image.alpha_composite(backed, picture)
    return picture.resize((size, size), Image.Resampling.LANCZOS)


# ------------------------------------------------------------------------------------------- foods


def strange_food(name: str) -> Food:
    """Return shape and colours for a food in no table; they follow from its letters."""
    number = zlib.crc32(name.encode())
    red, green, blue = colorsys.hsv_to_rgb((number % 360) / 360, 0.55 + (number >> 9) % 3 * 0.12, 0.82)
    colour = "#" + "".join(f"{round(255 * value):02x}" for value in (red, green, blue))
    shape = SHAPES_OF_STRANGERS[(number >> 16) % len(SHAPES_OF_STRANGERS)]
    return shape, colour, mix(colour, "#000000", 0.35), mix(colour, "#ffffff", 0.55)


def food_colours(foods: Sequence[Food], tint: str = "#000000", share: float = 0.0) -> dict[str, str]:
    """Return the colour of every role of a drawing.

    Args:
        foods: What it is made of, at least one; the first gives main, accent and flesh.
        tint: Mixed into these three, for example what baking adds.
        share: How much of it.
    """
    main, accent, flesh = (mix(colour, tint, share) for colour in foods[0][1:])
    raw = [food[1] for food in foods]
    return {
        "main": main,
        "accent": accent,
        "flesh": flesh,
        "shade": mix(flesh, "#000000", 0.25),
        "dark": mix(main, "#000000", 0.28),
        "light": mix(main, "#ffffff", 0.45),
        "first": raw[0],
        "second": raw[1] if len(raw) > 1 else mix(raw[0], "#ffffff", 0.35),
        "third": raw[2] if len(raw) > 2 else raw[0],
    }


# ------------------------------------------------------------------------------------------- labels and marks


@lru_cache(maxsize=1024)
def label_picture(lines: tuple[str, ...], size: int, width: int) -> Image.Image:
    """Return lines on a light plate, centred."""
    step = size
    picture = Image.new("RGBA", (width, step * len(lines) + 2))
    widest = max(text_width(line, size) for line in lines)
    left = max(0, (width - widest) / 2 - 2)
    pen = ImageDraw.Draw(picture)
    pen.rounded_rectangle((left, 0, width - 1 - left, picture.height - 1), radius=3, fill="#fffdf6dd")
    for i, line in enumerate(lines):
        x = (width - text_width(line, size)) / 2
        pen.text((x, 1 + i * step + 0.78 * size), line, fill=INK, font=load_font(size), anchor="ls")
    return picture


@lru_cache(maxsize=64)
def badge_picture(name: str, size: int) -> Image.Image:
    """Return a small mark of ``BADGES``, RGBA (size, size)."""
    return paint(BADGES[name], size, {})


def draw_bar(picture: Image.Image, at: tuple[int, int], width: int, share: float, colour: str) -> None:
    """Draw a bar ``width`` pixels wide of which a share is filled."""
    pen = ImageDraw.Draw(picture)
    x, y = at
    pen.rounded_rectangle((x, y, x + width, y + 5), radius=2, fill=FAINT)
    if share:
        pen.rounded_rectangle((x, y, x + max(4, round(width * share)), y + 5), radius=2, fill=colour)


def draw_progress(picture: Image.Image, at: tuple[int, int], tile: int, done: int, whole: int, words: str) -> None:
    """Draw a bar with words in it at the bottom of the tile at a pixel, filled as far as its steps of work are done."""
    size = label_size(tile)
    height = size + 3
    left, x, y = at[0], at[0] + 2, at[1] + tile - height - 2
    pen = ImageDraw.Draw(picture)
    pen.rounded_rectangle((x, y, left + tile - 3, y + height), radius=3, fill="#fffdf6", outline=INK)
    share = max(0, done) / max(1, whole)
    pen.rectangle((x + 1, y + 1, x + 1 + round((tile - 7) * share), y + height - 1), fill="#f3b24f")
    line = text_picture(words, size, INK)
    baseline = y + height - round(size * 0.16) - line.height + load_font(size).getmetrics()[1]
    picture.alpha_composite(line, (left + (tile - line.width) // 2 + 1, min(baseline - 1, y + 1)))


def label_size(tile: int) -> int:
    """Return the font size of the names in cells of ``tile`` pixels."""
    return max(8, round(tile * 0.21))


# ------------------------------------------------------------------------------------------- cooks


def seat_colour(seat: int) -> str:
    """Return a seat's colour; further seats than listed get darker ones."""
    return mix(SEATS[seat % len(SEATS)], "#000000", 0.35 * min(2, seat // len(SEATS)))


@lru_cache(maxsize=1024)
def cook_picture(colour: str, facing: str, initial: str, chef: bool, lean: int | None, tile: int) -> Image.Image:
    """Return a cook, RGBA (tile, tile).

    Args:
        colour: Coat colour.
        facing: ``"north"``, ``"south"``, ``"east"`` or ``"west"``.
        initial: Written on the coat.
        chef: Tall white hat for those who know the recipes, a cap for others.
        lean: Hundredths of the tile to the right of the middle, to make room for what is held; a yellow tip points
            where the cook faces. None for a portrait, in the middle and without the tip.
        tile: Pixels.
    """
    colours = {"coat": colour, "coat_dark": mix(colour, "#000000", 0.3), "skin": SKIN}
    side = round(tile * 0.96)
    figure = paint((*BODY, *FACES[facing], *HATS[chef]), side, colours)
    size = max(8, round(tile * 0.27))
    pen = ImageDraw.Draw(figure)
    pen.text((side / 2, side * 0.86), initial, fill="#ffffff", font=load_font(size), anchor="ms", stroke_width=0.5)
    picture = Image.new("RGBA", (tile, tile))
    left = (tile - side) // 2 + round((lean or 0) * tile / 100)
    if left < 0:
        figure, left = figure.crop((-left, 0, side, side)), 0
    picture.alpha_composite(figure.crop((0, 0, min(figure.width, tile - left), side)), (left, tile - side))
    if lean is not None:
        picture.alpha_composite(paint(POINTERS[facing], tile, {}))
    return picture
