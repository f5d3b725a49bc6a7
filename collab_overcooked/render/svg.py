"""Sprites as SVG, from the same strokes of ``sprites.yaml`` as the images of ``sprites``.

Every function returns markup for a canvas of 100 x 100 units without an enclosing element, so that a page can use it
as a symbol and a file can nest it. Colours are attributes, which a strict Content Security Policy allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from math import cos, radians, sin

from collab_overcooked.render.model import Cook, Icon, mix, seat_colour
from collab_overcooked.render.sprites import (
    OUTLINE,
    SKIN,
    Colours,
    Food,
    Stroke,
    find_food,
    food_colours,
    station_strokes,
    strokes_of,
)

EDGE = 2.6  # width of an outline in units
MARGIN = 0.04  # share of the canvas that leaves room for the outline


def svg_strokes(strokes: Iterable[Stroke], colours: Colours, outlined: bool = True) -> str:
    """Return strokes as SVG elements, by default with a dark outline."""
    drawn = list(strokes)
    inner = "".join(_element(stroke, colours) for stroke in drawn)
    if not outlined:
        return inner
    edge = "".join(_element(stroke, colours, OUTLINE) for stroke in drawn)
    return _placed(f'<g stroke-linejoin="round">{edge}</g>{inner}', 100 * MARGIN, 100 * MARGIN, 1 - 2 * MARGIN)


def _element(stroke: Stroke, colours: Colours, edge: str = "") -> str:
    operation, colour, *numbers = stroke
    fill = edge or colours.get(colour, colour)
    paint = f'fill="{fill}"' + (f' stroke="{edge}" stroke-width="{EDGE}"' if edge else "")
    if operation == "oval":
        left, top, right, bottom = numbers
        cx = (left + right) / 2
        cy = (top + bottom) / 2
        rx = (right - left) / 2
        ry = (bottom - top) / 2
        return f'<ellipse cx="{cx:g}" cy="{cy:g}" rx="{rx:g}" ry="{ry:g}" {paint}/>'
    if operation == "poly":
        return f'<polygon points="{_points(numbers)}" {paint}/>'
    if operation == "box":
        radius, left, top, right, bottom = numbers
        size = f'width="{right - left:g}" height="{bottom - top:g}" rx="{radius:g}"'
        return f'<rect x="{left:g}" y="{top:g}" {size} {paint}/>'
    if operation == "pie":
        start, end, *box = numbers
        cx, cy = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return f'<path d="M{cx:g} {cy:g}L{_arc(start, end, box)}Z" {paint}/>'
    width = numbers[0] + (EDGE if edge else 0)
    line = f'fill="none" stroke="{fill}" stroke-width="{width:g}" stroke-linejoin="round"'
    if operation == "arc":
        start, end, left, top, right, bottom = numbers[1:]
        inset = numbers[0] / 2
        return f'<path d="M{_arc(start, end, (left + inset, top + inset, right - inset, bottom - inset))}" {line}/>'
    cap = "round" if operation == "rod" else "square" if edge else "butt"
    return f'<polyline points="{_points(numbers[1:])}" {line} stroke-linecap="{cap}"/>'


def _points(numbers: Sequence[float]) -> str:
    return " ".join(f"{value:g}" for value in numbers)


def _arc(start: float, end: float, box: Sequence[float]) -> str:
    left, top, right, bottom = box
    cx = (left + right) / 2
    cy = (top + bottom) / 2
    rx = (right - left) / 2
    ry = (bottom - top) / 2
    turn = min(359.99, (end - start) % 360 or 360)
    ends = ((cx + rx * cos(radians(a)), cy + ry * sin(radians(a))) for a in (start, start + turn))
    (x, y), (end_x, end_y) = ends
    return f"{x:.4g} {y:.4g}A{rx:g} {ry:g} 0 {int(turn > 180)} 1 {end_x:.4g} {end_y:.4g}"


def _placed(markup: str, x: float, y: float, scale: float) -> str:
    return f'<g transform="translate({x:g} {y:g}) scale({scale:g})">{markup}</g>'


@lru_cache(maxsize=512)
def station_svg(name: str) -> str:
    """Return floor, a counter or a station; stations without sprite are drawn as an appliance."""
    return svg_strokes(station_strokes(name), {}, outlined=False)


@lru_cache(maxsize=512)
def mark_svg(name: str) -> str:
    """Return the SVG markup of a sign such as ``"ready"``, outlined."""
    return svg_strokes(strokes_of(name), {})


@lru_cache(maxsize=2048)
def icon_svg(icon: Icon) -> str:
    """Return the SVG markup of an item."""
    markup = _food_svg(icon)
    if icon.plated:
        markup = mark_svg("plate") + _placed(markup, 11, 0, 0.78)
    return f'<g opacity="0.4">{markup}</g>' if icon.faded else markup


def _food_svg(icon: Icon) -> str:
    foods: list[Food] = [find_food(name) for name in icon.foods]
    sprite = icon.sprite or foods[0].sprite
    markup = svg_strokes(strokes_of(sprite), food_colours(foods, icon.finish, sprite) if foods else {})
    if icon.finish:
        markup += _placed(mark_svg(icon.finish), 57, 0, 0.43)
    for i, name in enumerate(icon.foods if icon.garnish else ()):
        markup += _placed(_food_svg(Icon(foods=(name,))), 32 * i, 64, 0.36)
    return markup


@lru_cache(maxsize=256)
def cook_svg(cook: Cook) -> str:
    """Return an agent with empty hands; a yellow pointer shows its direction."""
    colour = seat_colour(cook.seat)
    names = ("body", f"face_{cook.facing or 'south'}", "hat" if cook.chef else "cap")
    colours = {"coat": colour, "coat_dark": mix(colour, "#000000", 0.3), "skin": SKIN}
    figure = svg_strokes([stroke for name in names for stroke in strokes_of(name)], colours)
    figure += (
        f'<text x="50" y="84" font-size="26" font-weight="700" font-family="system-ui, sans-serif" fill="#ffffff" '
        f'text-anchor="middle">{escape(cook.letter)}</text>'
    )
    pointer = mark_svg(f"pointer_{cook.facing}") if cook.facing else ""
    return _placed(figure, 2, 4, 0.96) + pointer
