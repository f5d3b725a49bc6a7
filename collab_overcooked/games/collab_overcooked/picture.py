"""Pictures of a kitchen: a text picture for terminals, and drawn tiles for people.

Both need only the kitchen in words (``spec.Kitchen``) and one moment of it (the scene of ``state.decode``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from collab_overcooked.errors import whole_number
from collab_overcooked.games.collab_overcooked.art import item_picture, look_of, short_label, station_picture
from collab_overcooked.games.collab_overcooked.spec import Kitchen, StationSpec
from collab_overcooked.render.drawings import (
    COUNTER,
    FAINT,
    GOOD,
    GREY,
    INK,
    PAPER,
    WORKING,
)
from collab_overcooked.render.lettering import (
    plain_text,
    text_picture,
    text_width,
    wrap_text,
    write_held,
    write_line,
)
from collab_overcooked.render.painting import (
    LABELLED_TILE,
    badge_picture,
    cook_picture,
    draw_bar,
    draw_progress,
    floor_plan,
    label_picture,
    label_size,
    paint,
    seat_colour,
)

TILE = 48  # pixels a cell
SMALLEST_TILE = 24  # below that the icons cannot be told apart
ORDER_ROWS = (3, 8)  # fewest and most orders with a row of their own; later ones are shown as icons

ARROWS = {"north": "^", "south": "v", "east": ">", "west": "<"}
CAPTIONS = {"ingredients": "food", "dishes": "dishes", "serving": "serve"}
STATUS_MARKS = {"empty": FAINT, "filling": "#5b8fc7", "cooking": WORKING, "ready": GOOD}


def _icon(kitchen: Kitchen, name: str, plated: bool, size: int) -> Image.Image:
    look = None if name == "dish" else look_of(name, kitchen.ingredients)
    return item_picture(look, plated, size)


# ------------------------------------------------------------------------------------------- the floor plan


@lru_cache(maxsize=64)
def _floor_plan(grid: tuple[str, ...], stations: tuple[StationSpec, ...], tile: int) -> Image.Image:
    """Return everything that never changes: floor, counters, stations."""
    specs = {station.symbol: station for station in stations}
    counter = paint(COUNTER, tile, {}, outlined=False)

    def cell(symbol: str) -> Image.Image:
        spec = specs.get(symbol)
        if spec is None:
            return counter
        kind = spec.name if spec.kind == "utensil" else spec.kind
        return station_picture(kind, CAPTIONS.get(spec.kind, ""), tile)

    return floor_plan(grid, tile, cell)


def _stack_label(picture: Image.Image, name: str, left: int, top: int, tile: int) -> int:
    """Write a name at the bottom of a tile that has room for it; returns the height it takes."""
    if tile < LABELLED_TILE:
        return 0
    size = label_size(tile)
    label = label_picture(short_label(name, size, tile - 2), size, tile - 2)
    picture.alpha_composite(label, (left + 1, top + tile - label.height))
    return label.height


def _draw_counter(picture: Image.Image, kitchen: Kitchen, counter: Mapping[str, Any], tile: int) -> None:
    left, top = (coordinate * tile for coordinate in counter["position"])
    used = _stack_label(picture, counter["item"], left, top, tile)
    side = min(round(tile * 0.74), tile - used)
    icon = _icon(kitchen, counter["item"], counter["plated"], side)
    picture.alpha_composite(icon, (left + (tile - side) // 2, top + max(0, tile - used - side) // 2))


def _draw_utensil(picture: Image.Image, kitchen: Kitchen, name: str, utensil: Mapping[str, Any], tile: int) -> None:
    """Draw what a utensil holds and how far it is: contents, then a bar with the steps left, then a ready mark."""
    left, top = (coordinate * tile for coordinate in utensil["position"])
    status = utensil["status"]
    if status == "empty":
        _stack_label(picture, name, left, top, tile)
    elif status == "ready":
        used = _stack_label(picture, utensil["product"], left, top, tile)
        side = min(round(tile * 0.7), tile - used)
        picture.alpha_composite(_icon(kitchen, utensil["product"], False, side), (left + (tile - side) // 2, top))
        mark = badge_picture("ready", round(tile * 0.34))
        picture.alpha_composite(mark, (left + tile - mark.width - 1, top + 1))
    else:
        _draw_contents(picture, kitchen, utensil["contents"], left, top, tile)
        if status == "cooking":
            done, whole = utensil["timer"], utensil["time"]
            words = f"{whole - done} left" if tile >= LABELLED_TILE else f"{whole - done}"
            draw_progress(picture, (left, top), tile, done, whole, words)
        else:
            x, y = utensil["position"]
            spec = kitchen.stations.get(kitchen.grid[y][x])
            _stack_label(picture, f"{len(utensil['contents'])} of {spec.capacity if spec else '?'}", left, top, tile)


def _draw_contents(
    picture: Image.Image, kitchen: Kitchen, contents: Sequence[str], left: int, top: int, tile: int
) -> None:
    """Draw the items in a utensil side by side, smaller the more there are."""
    count = max(1, len(contents))
    side = max(8, min(round(tile * 0.56), round(tile * 1.3 / count)))
    step = min(side, (tile - 2 - side) / max(1, count - 1))
    start = left + (tile - side - step * (count - 1)) / 2
    for i, item in enumerate(contents):
        lift = round(tile * 0.36 - side / 2 + (tile * 0.06 if i % 2 and count > 2 else 0))
        picture.alpha_composite(_icon(kitchen, item, False, side), (round(start + i * step), top + max(0, lift)))


# ------------------------------------------------------------------------------------------- cooks


def initials(kitchen: Kitchen) -> list[str]:
    """Return a letter a seat: its name's first if no other seat shares it, else the seat's number."""
    letters = [plain_text(agent.name)[:1].upper() for agent in kitchen.agents]
    return [c if letters.count(c) == 1 and c != "?" else str(seat) for seat, c in enumerate(letters)]


def _draw_cook(picture: Image.Image, kitchen: Kitchen, seat: int, agent: Mapping[str, Any], tile: int) -> None:
    left, top = (coordinate * tile for coordinate in agent["position"])
    held, spec = agent["holding"], kitchen.agents[seat]
    west = agent["facing"] == "west"
    lean = 0 if held is None else 13 if west else -13
    letter = initials(kitchen)[seat]
    cook = cook_picture(seat_colour(seat), agent["facing"], letter, spec.knows_recipes, lean, tile)
    picture.alpha_composite(cook, (left, top))
    if held is not None:
        side = round(tile * 0.52)
        x = left + 1 if west else left + tile - side - 1
        picture.alpha_composite(_icon(kitchen, held["item"], held["plated"], side), (x, top + round(tile * 0.44)))


# ------------------------------------------------------------------------------------------- words of the panel


def _words(name: str) -> str:
    return name.replace("_", " ")


def _held_words(holding: Mapping[str, Any] | None) -> str:
    if holding is None:
        return "nothing"
    return _words(holding["item"]) + (" on a dish" if holding["plated"] else "")


def _does_words(agent: Mapping[str, Any]) -> str:
    if agent["action"] is None:
        return "nothing"
    left = f" ({agent['timer']} left)" if agent["timer"] > 0 else ""
    return f"{agent['action']}{left}"


def _utensil_words(utensil: Mapping[str, Any]) -> tuple[str, str]:
    """Return how far a utensil is, and what is in it."""
    status = utensil["status"]
    if status == "cooking":
        return f"{utensil['time'] - utensil['timer']} left", _words(utensil["product"])
    if status == "ready":
        return "ready", _words(utensil["product"])
    return "", ", ".join(_words(item) for item in utensil["contents"]) or "empty"


def _order_words(kitchen: Kitchen, order: str) -> str:
    return "on a dish" if kitchen.serving.get(order, False) else "without a dish"


def _counter_words(scene: Mapping[str, Any]) -> str:
    """List what lies on the counters, equal things together."""
    counts: dict[str, int] = {}
    for counter in scene["counters"]:
        name = _held_words(counter)
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items()) or "nothing"


# ------------------------------------------------------------------------------------------- the panel


@dataclass(frozen=True)
class Measures:
    """Pixels of everything around the floor plan; they depend on the kitchen alone, so that frames match."""

    tile: int
    text: int  # font size
    line: int  # height of a line of text
    pad: int
    row: int  # height of an order
    order_rows: int  # orders with a row of their own, as many as there is room for
    grid_width: int
    panel_width: int
    body_height: int  # of floor plan and side panel
    height: int
    columns: int  # of the utensil lines below


def _measure(kitchen: Kitchen, tile: int) -> Measures:
    text = max(11, round(tile * 0.25))
    line, pad = round(text * 1.3), round(text * 0.6)
    row = 2 * line
    grid_width, grid_height = tile * len(kitchen.grid[0]), tile * len(kitchen.grid)
    panel_width = 30 * text
    agents = len(kitchen.agents) * (3 * line + pad)
    above = 2 * line + 2 * pad + agents  # the clock and the cooks
    fewest, most = ORDER_ROWS
    order_rows = min(most, max(fewest, (grid_height - above) // row))
    kinds = {station.symbol for station in kitchen.stations.values() if station.kind == "utensil"}
    utensils = sum(row.count(symbol) for symbol in kinds for row in kitchen.grid)
    columns = max(1, (grid_width + panel_width) // (28 * text))
    strip = (-(-utensils // columns) + 2) * line + 2 * pad
    body = max(grid_height, above + order_rows * row)
    return Measures(tile, text, line, pad, row, order_rows, grid_width, panel_width, body, body + strip, columns)


def _draw_clock(picture: Image.Image, scene: Mapping[str, Any], m: Measures, x: int, y: int, width: int) -> None:
    """Write timestep and deliveries, with a bar of the time used."""
    write_line(picture, f"Timestep {scene['timestep']} of {scene['limit']}", (x, y), m.text, width / 2, bold=True)
    delivered = f"Delivered: {scene['delivered']}"
    room = text_width(delivered, m.text)
    write_line(
        picture, delivered, (x + width - room - 2, y), m.text, width / 2, GOOD if scene["delivered"] else INK, True
    )
    share = min(1.0, scene["timestep"] / max(1, scene["limit"]))
    draw_bar(picture, (x, y + m.line + 2), width, share, "#8f877a")


def _draw_orders(picture: Image.Image, kitchen: Kitchen, orders: Sequence[str], m: Measures, x: int, y: int) -> None:
    """Draw the first orders with names, later ones as icons."""
    width = m.panel_width - 2 * m.pad
    named = orders if len(orders) <= m.order_rows else orders[: m.order_rows - 1]
    if not orders:
        write_line(picture, "No order is left.", (x, y), m.text, width, GREY)
    for i, order in enumerate(named):
        top, side = y + i * m.row, m.row - 3
        picture.alpha_composite(_icon(kitchen, order, kitchen.serving.get(order, False), side), (x, top))
        left, room = x + side + m.pad, width - side - m.pad
        write_line(picture, _words(order), (left, top), m.text, room, bold=i == 0)
        detail = ("Order, " if i == 0 else "Next, ") + _order_words(kitchen, order)
        write_line(picture, detail, (left, top + m.line - 2), m.text - 1, room, GREY)
    later, top = orders[len(named) :], y + len(named) * m.row
    left = x + m.pad + (write_line(picture, "Then", (x, top + m.row // 4), m.text, width, GREY) if later else 0)
    for i, order in enumerate(later):
        icon = _icon(kitchen, order, kitchen.serving.get(order, False), m.row - 5)
        picture.alpha_composite(icon, (left + i * m.row, top))


def _draw_agents(picture: Image.Image, kitchen: Kitchen, scene: Mapping[str, Any], m: Measures, x: int, y: int) -> None:
    """Draw each cook with what it holds and carries out."""
    width, side = m.panel_width - 2 * m.pad, 3 * m.line
    letters = initials(kitchen)
    for seat, (spec, agent) in enumerate(zip(kitchen.agents, scene["agents"], strict=True)):
        top, colour = y + seat * (side + m.pad), seat_colour(seat)
        face = cook_picture(colour, "south", letters[seat], spec.knows_recipes, None, side)
        picture.alpha_composite(face, (x, top))
        left = x + side + m.pad
        room = width - side - m.pad
        used = write_line(picture, spec.name, (left, top), m.text, room, colour, bold=True)
        used += m.text // 2
        write_line(picture, f"{spec.role}, facing {agent['facing']}", (left + used, top), m.text, room - used, GREY)
        held = agent["holding"]
        icon = _icon(kitchen, held["item"], held["plated"], m.line + 2) if held else None
        write_held(picture, icon, _held_words(held), (left, top + m.line), m.text, room)
        used = write_line(picture, "does ", (left, top + 2 * m.line), m.text, room, GREY) + 3
        write_line(picture, _does_words(agent), (left + used, top + 2 * m.line), m.text, room - used)


def _draw_strip(picture: Image.Image, scene: Mapping[str, Any], m: Measures) -> None:
    """Write below the picture, in full, what the utensils and counters hold."""
    width = (m.grid_width + m.panel_width - 2 * m.pad) // m.columns
    top = m.body_height + m.pad
    pen = ImageDraw.Draw(picture)
    for i, (name, utensil) in enumerate(scene["utensils"].items()):
        x, y = m.pad + i % m.columns * width, top + i // m.columns * m.line
        dot = (x, y + 0.35 * m.text, x + 0.6 * m.text, y + 0.95 * m.text)
        pen.ellipse(dot, fill=STATUS_MARKS[utensil["status"]], outline=GREY)
        left = x + m.text
        state, contents = _utensil_words(utensil)
        used = write_line(picture, f"{name}{f' ({state})' if state else ''}:", (left, y), m.text, width, GREY) + 3
        write_line(picture, contents, (left + used, y), m.text, width - used - m.text - m.pad)
    y = top + -(-len(scene["utensils"]) // m.columns) * m.line
    used = write_line(picture, "On counters: ", (m.pad, y), m.text, width, GREY) + 3
    room = m.grid_width + m.panel_width - 2 * m.pad - used
    for i, line in enumerate(_two_lines(_counter_words(scene), m.text, room)):
        picture.alpha_composite(text_picture(line, m.text, INK), (m.pad + used, y + i * m.line))


def _two_lines(text: str, size: int, width: int) -> tuple[str, ...]:
    """Wrap a text to two lines, the rest cut off with dots."""
    lines = wrap_text(text, size, width)
    if len(lines) <= 2:
        return lines
    second = lines[1]
    while text_width(second + " ...", size) > width:
        second = second.rpartition(" ")[0]
    return lines[0], second + " ..."


@lru_cache(maxsize=64)
def _backdrop(grid: tuple[str, ...], stations: tuple[StationSpec, ...], m: Measures) -> Image.Image:
    """Return the frame with everything that never changes."""
    picture = Image.new("RGBA", (m.grid_width + m.panel_width, m.height), PAPER)
    picture.paste(_floor_plan(grid, stations, m.tile), (0, 0))
    pen = ImageDraw.Draw(picture)
    pen.line((m.grid_width, 0, m.grid_width, m.body_height), fill=FAINT, width=2)
    pen.line((0, m.body_height, picture.width, m.body_height), fill=FAINT, width=2)
    return picture


def rgb_array(kitchen: Kitchen, scene: Mapping[str, Any], tile_size: int = TILE) -> np.ndarray:
    """Draw a moment of a kitchen.

    Args:
        kitchen: The kitchen in words.
        scene: The moment, see ``state.decode``.
        tile_size: Pixels of a cell, at least 24; texts grow with it.

    Returns:
        uint8 (H, W, 3), the same H and W for every scene of a kitchen.

    Raises:
        ValueError: If ``tile_size`` is not a whole number of at least 24.
    """
    tile = whole_number("tile_size", tile_size, SMALLEST_TILE, "pixels")
    m = _measure(kitchen, tile)
    picture = _backdrop(kitchen.grid, tuple(kitchen.stations.values()), m).copy()
    for name, utensil in scene["utensils"].items():
        _draw_utensil(picture, kitchen, name, utensil, tile)
    for counter in scene["counters"]:
        _draw_counter(picture, kitchen, counter, tile)
    for seat, agent in enumerate(scene["agents"]):
        _draw_cook(picture, kitchen, seat, agent, tile)
    x, y = m.grid_width + m.pad, m.pad
    _draw_clock(picture, scene, m, x, y, m.panel_width - 2 * m.pad)
    y += 2 * m.line
    _draw_agents(picture, kitchen, scene, m, x, y)
    y += len(kitchen.agents) * (3 * m.line + m.pad)
    _draw_orders(picture, kitchen, scene["orders"], m, x, y)
    _draw_strip(picture, scene, m)
    return np.asarray(picture.convert("RGB"))


# ------------------------------------------------------------------------------------------- the text picture


def ansi(kitchen: Kitchen, scene: Mapping[str, Any]) -> str:
    """Write a moment of a kitchen as text.

    Cells: ``##`` counter, ``[1]`` counter with item 1 of the list below, a letter for a station (the kitchen file's),
    followed on utensils by ``+n`` (n items in it), ``~n`` (n steps left) or ``!`` (ready); a cook is its initial with
    an arrow for where it faces, and ``*`` if it holds something.

    Args:
        kitchen: The kitchen in words.
        scene: The moment, see ``state.decode``.
    """
    cells = [["##" if symbol == "X" else "." if symbol == " " else symbol for symbol in row] for row in kitchen.grid]
    for number, counter in enumerate(scene["counters"], start=1):
        x, y = counter["position"]
        cells[y][x] = f"[{number}]"
    for utensil in scene["utensils"].values():
        x, y = utensil["position"]
        left = utensil["time"] - utensil["timer"]
        marks = {"empty": "", "filling": f"+{len(utensil['contents'])}", "cooking": f"~{left}", "ready": "!"}
        cells[y][x] += marks[utensil["status"]]
    letters = initials(kitchen)
    for letter, agent in zip(letters, scene["agents"], strict=True):
        x, y = agent["position"]
        cells[y][x] = letter + ARROWS[agent["facing"]] + ("*" if agent["holding"] else "")
    wide = max(len(cell) for row in cells for cell in row) + 1
    rows = ["".join(cell.ljust(wide) for cell in row).rstrip() for row in cells]
    return "\n".join(rows + _ansi_lines(kitchen, scene, letters))


def _ansi_lines(kitchen: Kitchen, scene: Mapping[str, Any], letters: Sequence[str]) -> list[str]:
    """Return the lines below the text picture."""
    orders = ", ".join(f"{order} ({_order_words(kitchen, order)})" for order in scene["orders"]) or "none"
    lines = [f"timestep {scene['timestep']} of {scene['limit']}, delivered {scene['delivered']}", f"orders: {orders}"]
    for letter, spec, agent in zip(letters, kitchen.agents, scene["agents"], strict=True):
        held, does = _ansi_held(agent["holding"]), _does_words(agent)
        lines.append(f"{letter} {spec.name} ({spec.role}) holds {held}; does {does}")
    for name, utensil in scene["utensils"].items():
        x, y = utensil["position"]
        lines.append(f"{kitchen.grid[y][x]} {name} at ({x}, {y}): {_ansi_utensil(utensil)}")
    lines += [f"[{i}] {_ansi_held(counter)}" for i, counter in enumerate(scene["counters"], start=1)]
    return lines


def _ansi_held(holding: Mapping[str, Any] | None) -> str:
    if holding is None:
        return "nothing"
    return holding["item"] + (" on a dish" if holding["plated"] else "")


def _ansi_utensil(utensil: Mapping[str, Any]) -> str:
    if utensil["status"] == "cooking":
        return f"cooking {utensil['product']}, {utensil['time'] - utensil['timer']} of {utensil['time']} timesteps left"
    if utensil["status"] == "ready":
        return f"{utensil['product']} ready"
    return ", ".join(utensil["contents"]) or "empty"
