"""Pictures of a kitchen: a text picture for terminals, and drawn tiles for people.

Both need only the layout in words (``spec.Layout``) and one moment of it (the scene of ``state.decode``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from collab_overcooked.errors import whole_number
from collab_overcooked.games.overcooked.art import (
    cell_picture,
    dish_picture,
    ingredient_picture,
    open_gate_picture,
    soup_picture,
)
from collab_overcooked.games.overcooked.constants import IDLE
from collab_overcooked.games.overcooked.spec import SOUPS, Layout, Soup
from collab_overcooked.render.drawings import FAINT, GOOD, GREY, INK, PAPER
from collab_overcooked.render.lettering import text_picture, text_width, write_held, write_line
from collab_overcooked.render.painting import (
    badge_picture,
    cook_picture,
    draw_bar,
    draw_progress,
    floor_plan,
    label_size,
    seat_colour,
)

TILE = 48  # pixels a cell
SMALLEST_TILE = 24  # below that the icons cannot be told apart
SHOWN_ORDERS = 4  # orders with a row of their own; the others are counted
ARROWS = {"north": "^", "south": "v", "east": ">", "west": "<"}

Scene = Mapping[str, Any]
Thing = Mapping[str, Any]


def _icon(thing: Thing, size: int) -> Image.Image:
    if thing["item"] == "dish":
        return dish_picture(size)
    if thing["item"] == "soup":
        return soup_picture(tuple(thing["ingredients"]), size)
    return ingredient_picture(thing["item"], size)


# ------------------------------------------------------------------------------------------- the floor plan


@lru_cache(maxsize=64)
def _floor_plan(grid: tuple[str, ...], tile: int) -> Image.Image:
    """Return everything that never changes: floor, counters, walls, stations, closed gates."""
    return floor_plan(grid, tile, lambda symbol: cell_picture(symbol, tile))


def _draw_object(picture: Image.Image, layout: Layout, thing: Thing, tile: int) -> None:
    """Draw what lies on a counter, or what a pot holds and how far it is."""
    x, y = thing["position"]
    left, top = x * tile, y * tile
    if layout.grid[y][x] != "P":
        side = round(tile * 0.74)
        picture.alpha_composite(_icon(thing, side), (left + (tile - side) // 2, top + (tile - side) // 2))
    elif thing["ready"]:
        side = round(tile * 0.8)
        picture.alpha_composite(_icon(thing, side), (left + (tile - side) // 2, top + (tile - side) // 2))
        picture.alpha_composite(badge_picture("ready", round(tile * 0.32)), (left + round(tile * 0.66), top + 1))
    else:
        _draw_ingredients(picture, thing["ingredients"], left, top, tile)
        if thing["tick"] != IDLE:
            draw_progress(picture, (left, top), tile, thing["tick"], thing["time"], str(thing["time"] - thing["tick"]))


def _draw_ingredients(picture: Image.Image, names: Sequence[str], left: int, top: int, tile: int) -> None:
    side = round(tile * 0.44)
    for i, name in enumerate(names):
        across = round(0.5 * (tile - side) * (1 if len(names) == 1 else i))
        picture.alpha_composite(ingredient_picture(name, side), (left + across, top + round(tile * 0.1)))


def _draw_gate(picture: Image.Image, gate: Mapping[str, Any], tile: int) -> None:
    """Draw an open gate with the steps until it closes, unless somebody stands in it longer."""
    if gate["open"]:
        left, top = (coordinate * tile for coordinate in gate["position"])
        picture.paste(open_gate_picture(tile), (left, top))
        words = text_picture(str(gate["limit"] - gate["counter"] + 1), label_size(tile), GREY)
        picture.alpha_composite(words, (left + (tile - words.width) // 2, top + tile - words.height))


def _draw_player(picture: Image.Image, seat: int, player: Mapping[str, Any], tile: int) -> None:
    left, top = (coordinate * tile for coordinate in player["position"])
    west, held = player["facing"] == "west", player["holding"]
    lean = 0 if held is None else 13 if west else -13
    cook = cook_picture(seat_colour(seat), player["facing"], str(seat), False, lean, tile)
    picture.alpha_composite(cook, (left, top))
    if held is not None:
        side = round(tile * 0.56)
        x = left + 1 if west else left + tile - side - 1
        picture.alpha_composite(_icon(held, side), (x, top + round(tile * 0.42)))


# ------------------------------------------------------------------------------------------- the panel


@dataclass(frozen=True)
class Measures:
    """Pixels around the floor plan; they depend on layout and number of players alone, so that frames match."""

    tile: int
    text: int  # font size
    line: int  # height of a line of text
    pad: int
    row: int  # height of a player
    panel: int  # width
    grid: tuple[int, int]
    height: int


def _measure(layout: Layout, n_players: int, tile: int) -> Measures:
    text = max(11, round(tile * 0.25))
    line, pad = round(text * 1.3), round(text * 0.6)
    row = 2 * line + pad
    shown = min(len(layout.orders), SHOWN_ORDERS) + (len(layout.orders) > SHOWN_ORDERS)
    panel_height = 2 * pad + 3 * line + n_players * row + (1 + shown) * line
    grid = tile * layout.width, tile * layout.height
    return Measures(tile, text, line, pad, row, 24 * text, grid, max(grid[1], panel_height))


def soup_words(soup: Soup) -> str:
    """Name a soup by what is in it."""
    parts = [
        f"{count} {name}{'es' if name == 'tomato' and count > 1 else 's' if count > 1 else ''}"
        for count, name in zip(soup, ("onion", "tomato"), strict=True)
        if count
    ]
    return " and ".join(parts)


def held_words(thing: Thing | None) -> str:
    """Say what a hand or a counter holds."""
    if thing is None:
        return "nothing"
    if thing["item"] != "soup":
        return str(thing["item"])
    names = thing["ingredients"]
    return f"soup of {soup_words((names.count('onion'), names.count('tomato')))}"


def order_lines(layout: Layout) -> list[str]:
    """Return a line for each order with what it pays; one line where every soup pays the same."""
    pays = {soup: layout.values[soup] * (layout.order_bonus if soup in layout.bonus_orders else 1) for soup in SOUPS}
    if layout.orders == SOUPS and len(set(pays.values())) == 1:
        return [f"any soup: {pays[SOUPS[0]]}"]
    return [
        f"{soup_words(soup)}: {pays[soup]}{' with bonus' if soup in layout.bonus_orders else ''}"
        for soup in layout.orders
    ]


def _draw_clock(picture: Image.Image, scene: Scene, m: Measures, x: int, y: int, width: int) -> None:
    """Write step and score, with a bar of the time used."""
    write_line(picture, f"Step {scene['timestep']} of {scene['limit']}", (x, y), m.text, width / 2, bold=True)
    score = f"Score {scene['score']} ({scene['served']} served)"
    left = x + width - text_width(score, m.text) - 3
    write_line(picture, score, (left, y), m.text, width / 2, GOOD if scene["score"] else INK, bold=True)
    share = min(1.0, scene["timestep"] / max(1, scene["limit"]))
    draw_bar(picture, (x, y + m.line + 2), width, share, "#8f877a")


def _draw_seats(picture: Image.Image, scene: Scene, m: Measures, x: int, y: int, width: int) -> None:
    """Draw each player with what it holds."""
    side = 2 * m.line
    for seat, player in enumerate(scene["players"]):
        top, colour = y + seat * m.row, seat_colour(seat)
        picture.alpha_composite(cook_picture(colour, "south", str(seat), False, None, side), (x, top))
        left, room = x + side + m.pad, width - side - m.pad
        used = write_line(picture, f"Player {seat}", (left, top), m.text, room, colour, bold=True) + m.text // 2
        write_line(picture, f"facing {player['facing']}", (left + used, top), m.text, room - used, GREY)
        icon = _icon(player["holding"], m.line + 2) if player["holding"] else None
        write_held(picture, icon, held_words(player["holding"]), (left, top + m.line), m.text, room)


def _draw_orders(picture: Image.Image, layout: Layout, m: Measures, x: int, y: int, width: int) -> None:
    """Write what soups pay."""
    write_line(picture, "Orders", (x, y), m.text, width, GREY)
    lines = order_lines(layout)
    rest = len(lines) - SHOWN_ORDERS
    for i, words in enumerate(lines[:SHOWN_ORDERS] + ([f"and {rest} more"] if rest > 0 else [])):
        write_line(picture, words, (x, y + (i + 1) * m.line), m.text, width)


def rgb_array(layout: Layout, scene: Scene, tile_size: int = TILE) -> np.ndarray:
    """Draw a moment of a kitchen.

    Args:
        layout: The kitchen in words.
        scene: The moment, see ``state.decode``.
        tile_size: Pixels of a cell, at least 24; texts grow with it.

    Returns:
        uint8 (H, W, 3), the same H and W for every scene of a layout.

    Raises:
        ValueError: If ``tile_size`` is not a whole number of at least 24.
    """
    tile = whole_number("tile_size", tile_size, SMALLEST_TILE, "pixels")
    m = _measure(layout, len(scene["players"]), tile)
    picture = Image.new("RGBA", (m.grid[0] + m.panel, m.height), PAPER)
    picture.paste(_floor_plan(layout.grid, tile), (0, 0))
    for gate in scene["gates"]:
        _draw_gate(picture, gate, tile)
    for thing in scene["objects"]:
        _draw_object(picture, layout, thing, tile)
    for seat, player in enumerate(scene["players"]):
        _draw_player(picture, seat, player, tile)
    ImageDraw.Draw(picture).line((m.grid[0], 0, m.grid[0], m.height), fill=FAINT, width=2)
    x, y, width = m.grid[0] + m.pad, m.pad, m.panel - 2 * m.pad
    _draw_clock(picture, scene, m, x, y, width)
    y += 2 * m.line
    _draw_seats(picture, scene, m, x, y, width)
    _draw_orders(picture, layout, m, x, y + len(scene["players"]) * m.row, width)
    return np.asarray(picture.convert("RGB"))


# ------------------------------------------------------------------------------------------- the text picture


def ansi(layout: Layout, scene: Scene) -> str:
    """Write a moment of a kitchen as text.

    Cells: ``.`` floor, ``##`` counter, ``[o]`` counter with an onion (t tomato, d dish, s soup), ``%%`` wall, ``G``
    closed gate, ``g`` and its counter for an open one, a letter for a station, followed on pots by ``+n`` (n
    ingredients in it), ``~n`` (n steps left) or ``!`` (ready); a player is its number with an arrow for where it
    faces, and the letter of what it holds.

    Args:
        layout: The kitchen in words.
        scene: The moment, see ``state.decode``.
    """
    marks = {" ": ".", "X": "##", "W": "%%"}
    cells = [[marks.get(symbol, symbol) for symbol in row] for row in layout.grid]
    for gate in scene["gates"]:
        x, y = gate["position"]
        cells[y][x] = f"g{gate['counter']}" if gate["open"] else "G"
    for thing in scene["objects"]:
        x, y = thing["position"]
        in_pot = layout.grid[y][x] == "P"
        cells[y][x] = "P" + _pot_mark(thing) if in_pot else f"[{thing['item'][0]}]"
    for seat, player in enumerate(scene["players"]):
        x, y = player["position"]
        held = player["holding"]
        cells[y][x] = f"{seat}{ARROWS[player['facing']]}{held['item'][0] if held else ''}"
    wide = max(len(cell) for row in cells for cell in row) + 1
    rows = ["".join(cell.ljust(wide) for cell in row).rstrip() for row in cells]
    rows.append(f"step {scene['timestep']} of {scene['limit']}, score {scene['score']}, served {scene['served']}")
    rows.append("orders: " + "; ".join(order_lines(layout)))
    rows += [f"player {seat} holds {held_words(player['holding'])}" for seat, player in enumerate(scene["players"])]
    rows += [f"({x}, {y}) {_lying_words(layout, thing)}" for thing in scene["objects"] for x, y in [thing["position"]]]
    return "\n".join(rows)


def _pot_mark(thing: Thing) -> str:
    if thing["ready"]:
        return "!"
    return f"+{len(thing['ingredients'])}" if thing["tick"] == IDLE else f"~{thing['time'] - thing['tick']}"


def _lying_words(layout: Layout, thing: Thing) -> str:
    """Say what lies on a counter, or how far a pot is."""
    x, y = thing["position"]
    if layout.grid[y][x] != "P":
        return held_words(thing)
    if thing["tick"] == IDLE:
        return f"pot with {held_words(thing).removeprefix('soup of ')}"
    state = "ready" if thing["ready"] else f"cooking, {thing['time'] - thing['tick']} of {thing['time']} steps left"
    return f"{held_words(thing)}, {state}"
