"""Sprites: cached small images from the strokes of ``sprites.yaml``."""

from __future__ import annotations

import colorsys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from PIL import Image, ImageDraw, ImageFilter

from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.render.lettering import load_font
from collab_overcooked.render.model import Cook, Icon, mix, seat_colour

Stroke = tuple[Any, ...]  # operation, colour, numbers: see sprites.yaml
Colours = Mapping[str, str]

OUTLINE = "#33302c"
SKIN = "#f3c9a0"
UNKNOWN_STATION = "appliance"
UNKNOWN_FOODS = ("round", "tuber", "balls", "baton", "block", "leaf")  # sprites of unknown foods
TINTS = {"": ("#000000", 0.0), "boiled": ("#dfeaf2", 0.28), "baked": ("#8a4a16", 0.30)}
SMOOTH = 4  # factor of supersampling
STRANGE = "strange_"  # sprites that are drawn from a number, for nouns of an invented vocabulary
BODIES: tuple[tuple[tuple[Any, ...], ...], ...] = (  # operation and numbers: see sprites.yaml
    (("oval", 20, 32, 80, 92),),
    (("box", 8, 24, 36, 76, 90),),
    (("poly", 50, 26, 88, 90, 12, 90),),
    (("poly", 50, 24, 88, 60, 50, 96, 12, 60),),
    (("oval", 10, 44, 90, 80), ("oval", 30, 30, 70, 94)),
    (("poly", 14, 36, 86, 36, 64, 64, 86, 92, 14, 92, 36, 64),),
)
TOPS: tuple[tuple[tuple[Any, ...], ...], ...] = (
    (("rod", 6, 40, 45, 26, 10), ("rod", 6, 60, 45, 74, 10)),
    (("poly", 40, 44, 50, 4, 60, 44),),
    (("oval", 14, 16, 42, 50), ("oval", 58, 16, 86, 50)),
    (("rod", 6, 50, 45, 50, 14), ("oval", 38, 4, 62, 26)),
)
EYES = 3  # at most
STRANGE_KINDS = len(BODIES) * len(TOPS) * EYES


class Food(NamedTuple):
    """Sprite of a raw food and its colours: accent is stem, leaf or fat, flesh the inside when cut."""

    sprite: str
    main: str
    accent: str
    flesh: str


@cache
def _data() -> tuple[dict[str, Food], dict[str, str]]:
    values = read_shipped_yaml("render/sprites.yaml")
    rows = (row.split() for row in values["foods"].splitlines())
    return {name: Food(*food) for name, *food in rows}, values["sprites"]


def sprite_names() -> list[str]:
    """Return the names of all sprites."""
    return list(_data()[1])


def food_names() -> list[str]:
    """Return the names of all foods with defined colours."""
    return list(_data()[0])


@cache
def strokes_of(name: str) -> tuple[Stroke, ...]:
    """Return the strokes of a sprite."""
    if name.startswith(STRANGE):
        return strange_strokes(int(name.removeprefix(STRANGE)))
    strokes: list[Stroke] = []
    for row in _data()[1][name].splitlines():
        operation, colour, *numbers = row.split()
        strokes += strokes_of(colour) if operation == "use" else [(operation, colour, *map(float, numbers))]
    return tuple(strokes)


def strange_strokes(number: int) -> tuple[Stroke, ...]:
    """Return the strokes of an invented thing; numbers below ``STRANGE_KINDS`` differ in shape."""
    body = number % len(BODIES)
    top = number // len(BODIES) % len(TOPS)
    eyes = number // len(BODIES) // len(TOPS) % EYES
    red, green, blue = colorsys.hsv_to_rgb(number * 0.618 % 1, 0.6, 0.85)
    colour = "#" + "".join(f"{round(255 * value):02x}" for value in (red, green, blue))
    strokes: list[Stroke] = [(*stroke[:1], mix(colour, "#000000", 0.35), *stroke[1:]) for stroke in TOPS[top]]
    strokes += [(*stroke[:1], colour, *stroke[1:]) for stroke in BODIES[body]]
    for eye in range(eyes + 1):
        x = 50 + 17 * (eye - eyes / 2)
        strokes += [("oval", "#ffffff", x - 8, 52, x + 8, 68), ("oval", OUTLINE, x - 3, 57, x + 3, 65)]
    return tuple(strokes)


def find_food(name: str) -> Food:
    """Return sprite and colours of a food; for an unknown food they are derived from its name."""
    known = _data()[0].get(name)
    if known is not None:
        return known
    number = zlib.crc32(name.encode())
    red, green, blue = colorsys.hsv_to_rgb((number % 360) / 360, 0.55 + (number >> 9) % 3 * 0.12, 0.82)
    colour = "#" + "".join(f"{round(255 * value):02x}" for value in (red, green, blue))
    sprite = UNKNOWN_FOODS[(number >> 16) % len(UNKNOWN_FOODS)]
    return Food(sprite, colour, mix(colour, "#000000", 0.35), mix(colour, "#ffffff", 0.55))


def food_colours(foods: Sequence[Food], finish: str, sprite: str) -> dict[str, str]:
    """Return the colour of every role of a sprite that shows foods."""
    main, accent, flesh = (mix(colour, *TINTS[finish]) for colour in foods[0][1:])
    if sprite == "mashed":
        flesh = mix(flesh, main, 0.2)
    raw = [food.main for food in foods]
    return {
        "main": main,
        "accent": accent,
        "flesh": flesh,
        "shade": mix(flesh, main, 0.45) if sprite == "slices" else mix(flesh, "#000000", 0.25),
        "dark": mix(main, "#000000", 0.28),
        "light": mix(main, "#ffffff", 0.45),
        "first": raw[0],
        "second": raw[1] if len(raw) > 1 else mix(raw[0], "#ffffff", 0.35),
        "third": raw[2] if len(raw) > 2 else raw[0],
    }


def _stroke(pen: ImageDraw.ImageDraw, stroke: Stroke, unit: float, colours: Colours) -> None:
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
    """Return strokes as an RGBA image of ``size`` pixels, by default with a dark outline."""
    canvas = size * SMOOTH
    image = Image.new("RGBA", (canvas, canvas))
    pen = ImageDraw.Draw(image)
    for stroke in strokes:
        _stroke(pen, stroke, canvas / 100, colours)
    if outlined:
        margin = round(0.04 * canvas)  # room for the outline at the edge
        small = image.resize((canvas - 2 * margin,) * 2, Image.Resampling.BOX)
        image = Image.new("RGBA", (canvas, canvas))
        image.paste(small, (margin, margin))
        edge = image.getchannel("A").filter(ImageFilter.MaxFilter(2 * max(1, round(0.6 * SMOOTH)) + 1))
        backed = Image.new("RGBA", (canvas, canvas), OUTLINE)
        backed.putalpha(edge)
        image = Image.alpha_composite(backed, image)
    return image.resize((size, size), Image.Resampling.LANCZOS)


def station_strokes(name: str) -> tuple[Stroke, ...]:
    """Return the strokes of a station; one without sprite is an appliance."""
    known = name in _data()[1] or name.startswith(STRANGE)
    return strokes_of(name if known else UNKNOWN_STATION)


@lru_cache(maxsize=256)
def station_image(name: str, size: int) -> Image.Image:
    """Return floor, a counter or a station, RGBA (size, size); stations without sprite are drawn as an appliance."""
    return paint(station_strokes(name), size, {}, outlined=False)


@lru_cache(maxsize=2048)
def icon_image(icon: Icon, size: int) -> Image.Image:
    """Return an item, RGBA (size, size)."""
    if icon.plated:
        inner = round(size * 0.78)
        image = paint(strokes_of("plate"), size, {})
        image.alpha_composite(_food_image(icon, inner), ((size - inner) // 2, 0))
    else:
        image = _food_image(icon, size)
    if icon.faded:
        image.putalpha(image.getchannel("A").point(lambda alpha: alpha * 2 // 5))
    return image


def _food_image(icon: Icon, size: int) -> Image.Image:
    foods = [find_food(name) for name in icon.foods]
    sprite = icon.sprite or foods[0].sprite
    image = paint(strokes_of(sprite), size, food_colours(foods, icon.finish, sprite) if foods else {})
    if icon.finish:
        mark = paint(strokes_of(icon.finish), max(8, round(size * 0.43)), {})
        image.alpha_composite(mark, (size - mark.width, 0))
    side = max(6, round(size * 0.36))
    for i, name in enumerate(icon.foods if icon.garnish else ()):
        small = _food_image(Icon(foods=(name,)), side)
        image.alpha_composite(small, (round(i * (size - side) / 2), size - side))
    return image


@lru_cache(maxsize=1024)
def cook_image(cook: Cook, size: int) -> Image.Image:
    """Return an agent with its held item, RGBA (size, size); a yellow pointer shows its direction."""
    figure = _figure(cook.seat, cook.letter, cook.facing or "south", cook.chef, size)
    side = figure.width
    image = Image.new("RGBA", (size, size))
    west = cook.facing == "west"
    lean = round(size * 0.13) if cook.held and cook.facing else 0  # makes room for the held item
    image.paste(figure, ((size - side) // 2 + (lean if west else -lean), size - side), figure)
    if cook.facing:
        image.alpha_composite(_pointer(cook.facing, size))
    if cook.held:
        held = icon_image(cook.held, round(size * 0.54))
        image.alpha_composite(held, (1 if west else size - held.width - 1, round(size * 0.44)))
    return image


@lru_cache(maxsize=256)
def _figure(seat: int, letter: str, facing: str, chef: bool, size: int) -> Image.Image:
    colour = seat_colour(seat)
    names = ("body", f"face_{facing}", "hat" if chef else "cap")
    colours = {"coat": colour, "coat_dark": mix(colour, "#000000", 0.3), "skin": SKIN}
    side = round(size * 0.96)
    figure = paint([stroke for name in names for stroke in strokes_of(name)], side, colours)
    pen = ImageDraw.Draw(figure)
    font = load_font(max(8, round(size * 0.27)))
    pen.text((side / 2, side * 0.86), letter, fill="#ffffff", font=font, anchor="ms", stroke_width=0.5)
    return figure


@lru_cache(maxsize=64)
def _pointer(facing: str, size: int) -> Image.Image:
    return paint(strokes_of(f"pointer_{facing}"), size, {})
