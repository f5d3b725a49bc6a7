"""Pictures of a kitchen: a text picture for terminals, and drawn tiles for people.

Both need only the level in words (``spec.Level``), one moment of it (the scene of ``state.decode``) and, for the bars
of the orders, how long each order lives. The game knows places but no distances, so the tools stand in rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from collab_overcooked.errors import whole_number
from collab_overcooked.games.cuisineworld.art import item_picture, look_of, short_label, station_picture, words_of
from collab_overcooked.games.cuisineworld.spec import Level
from collab_overcooked.render.drawings import BAD, FAINT, FLOOR, FLOOR_DARK, GOOD, GREY, INK, PAPER, WORKING
from collab_overcooked.render.lettering import text_picture, text_width, write_held, write_line
from collab_overcooked.render.painting import (
    badge_picture,
    cook_picture,
    draw_bar,
    draw_progress,
    label_picture,
    label_size,
    seat_colour,
)

TILE = 64  # pixels of a tool
SMALLEST_TILE = 32  # below that the icons cannot be told apart
ROW_OF_TOOLS = 6  # most tools in a row
SHOWN_ITEMS = 5  # icons in a tool; what else is there is counted
HURRY, LATE = 0.5, 0.25  # shares of an order's time below which its bar changes colour
BAR = 10  # characters of a bar in the text picture

Scene = Mapping[str, Any]
Lifetimes = Mapping[str, int] | None


@dataclass(frozen=True)
class Measures:
    """Pixels of everything; they depend on level and number of agents alone, so that frames match."""

    tile: int
    text: int  # font size
    line: int  # height of a line of text
    pad: int
    per_row: int  # tools in a row
    block: tuple[int, int]  # a tool with its name and the floor before it
    cook: int  # size of an agent on the floor
    kitchen: tuple[int, int]  # all blocks
    panel: int  # width
    order: int  # height of an order
    body: int  # height of kitchen and panel
    height: int
    columns: int  # of the lines below


def _measure(level: Level, n_agents: int, tile: int) -> Measures:
    text = max(11, round(tile * 0.19))
    line, pad = round(text * 1.3), round(text * 0.6)
    count = len(level.kitchen)
    rows = -(-count // ROW_OF_TOOLS)
    per_row = -(-count // rows)
    cook = round(tile * 0.7)
    standing = -(-n_agents // 2) * (cook + 2)
    width = max(round(tile * 1.6), 2 * cook + 6)
    needed = tile + label_size(tile) + 6 + standing + pad
    order = 2 * line + 4
    panel = 25 * text
    above = 3 * pad + 3 * line + n_agents * (2 * line + pad)
    body = rows * max(needed, -(-(above + level.max_open_orders * order) // rows))
    block, kitchen = (width, body // rows), (per_row * width, body)
    columns = max(1, (kitchen[0] + panel) // (26 * text))
    strip = -(-len(_listed(level)) // columns) * line + 2 * pad
    return Measures(tile, text, line, pad, per_row, block, cook, kitchen, panel, order, body, body + strip, columns)


def _icon(level: Level, name: str, size: int) -> Image.Image:
    return item_picture(look_of(level, name), size)


def _corner(m: Measures, at: int) -> tuple[int, int]:
    """Return the upper left pixel of a location's block."""
    return at % m.per_row * m.block[0], at // m.per_row * m.block[1]


# ------------------------------------------------------------------------------------------- the kitchen


@lru_cache(maxsize=64)
def _backdrop(kitchen: tuple[str, ...], locations: tuple[str, ...], m: Measures) -> Image.Image:
    """Return the frame with everything that never changes: floor, tools and their names."""
    picture = Image.new("RGBA", (m.kitchen[0] + m.panel, m.height), PAPER)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, m.kitchen[0] - 1, m.body - 1), fill=FLOOR)
    for at, (kind, name) in enumerate(zip(kitchen, locations, strict=True)):
        left, top = _corner(m, at)
        if (at % m.per_row + at // m.per_row) % 2:
            pen.rectangle((left, top, left + m.block[0] - 1, top + m.block[1] - 1), fill=FLOOR_DARK)
        picture.paste(station_picture(kind, m.tile), (left + (m.block[0] - m.tile) // 2, top))
        size = label_size(m.tile)
        label = label_picture((name,), size, m.block[0])
        picture.alpha_composite(label, (left, top + m.tile + 2))
    pen.line((m.kitchen[0], 0, m.kitchen[0], m.body), fill=FAINT, width=2)
    pen.line((0, m.body, picture.width, m.body), fill=FAINT, width=2)
    return picture


def _draw_tool(picture: Image.Image, level: Level, at: int, tool: Mapping[str, Any], m: Measures) -> None:
    """Draw what a tool holds and how far it is: contents, then a bar with the steps left, then a ready mark."""
    x, y = _corner(m, at)
    left = x + (m.block[0] - m.tile) // 2
    content = tool["content"]
    _draw_contents(picture, level, content, left, y, m.tile)
    if tool["busy"]:
        whole = level.tools[level.kitchen[at]].busy
        draw_progress(picture, (left, y), m.tile, whole - tool["busy"], whole, f"{tool['busy']} left")
    elif content and tool["ready"]:
        size = label_size(m.tile)
        label = label_picture(short_label(content[0], size, m.tile - 2), size, m.tile - 2)
        picture.alpha_composite(label, (left + 1, y + m.tile - label.height))
        if _finished(level, at, content):
            mark = badge_picture("ready", round(m.tile * 0.32))
            picture.alpha_composite(mark, (left + m.tile - mark.width - 1, y + 1))


def _finished(level: Level, at: int, content: Sequence[str]) -> bool:
    """Whether a tool holds a product of its own, and not raw food that may be taken back."""
    recipe = level.recipes.get(content[0])
    return len(content) == 1 and recipe is not None and recipe.tool == level.kitchen[at]


def _draw_contents(picture: Image.Image, level: Level, content: Sequence[str], left: int, top: int, tile: int) -> None:
    """Draw items side by side, smaller the more there are."""
    shown = content if len(content) <= SHOWN_ITEMS else content[: SHOWN_ITEMS - 1]
    if not shown:
        return
    side = round(tile * (0.62 if len(shown) == 1 else 0.46))
    step = min(side, (tile - 4 - side) / max(1, len(shown) - 1))
    start = left + (tile - side - step * (len(shown) - 1)) / 2
    middle = top + round(tile * 0.42) - side // 2
    for i, item in enumerate(shown):
        drop = round(tile * 0.09) * (1 if i % 2 else -1) if len(shown) > 2 else 0
        picture.alpha_composite(_icon(level, item, side), (round(start + i * step), middle + drop))
    if len(shown) < len(content):
        words = text_picture(f"+{len(content) - len(shown)}", label_size(tile) + 2, INK, bold=True)
        picture.alpha_composite(words, (left + tile - words.width - 2, top + tile - words.height - 1))


def _draw_cooks(picture: Image.Image, level: Level, agents: Sequence[Mapping[str, Any]], m: Measures) -> None:
    """Draw the agents on the floor before the tools they stand at, with what they hold."""
    places = {name: at for at, name in enumerate(level.locations)}
    standing: dict[str, list[int]] = {}
    for seat, agent in enumerate(agents):
        standing.setdefault(agent["location"], []).append(seat)
    for location, seats in standing.items():
        x, y = _corner(m, places[location])
        top = y + m.tile + label_size(m.tile) + 6
        for i, seat in enumerate(seats):
            beside = 1 if i == len(seats) - 1 and i % 2 == 0 else 2  # a last one alone stands in the middle
            left = x + (m.block[0] - beside * m.cook) // 2 + i % 2 * m.cook * (beside - 1)
            _draw_cook(picture, level, seat, agents[seat], (left, top + i // 2 * (m.cook + 2)), m.cook)


def _draw_cook(
    picture: Image.Image, level: Level, seat: int, agent: Mapping[str, Any], at: tuple[int, int], size: int
) -> None:
    picture.alpha_composite(cook_picture(seat_colour(seat), "south", str(seat), True, None, size), at)
    if agent["holding"] is not None:
        side = round(size * 0.56)
        picture.alpha_composite(_icon(level, agent["holding"], side), (at[0] + size - side, at[1] + size - side))


# ------------------------------------------------------------------------------------------- the panel


def _held_words(agent: Mapping[str, Any]) -> str:
    return "nothing" if agent["holding"] is None else words_of(agent["holding"])


def _draw_clock(picture: Image.Image, scene: Scene, m: Measures, x: int, y: int) -> None:
    """Write step and counters, with a bar of the time used."""
    width = m.panel - 2 * m.pad
    write_line(picture, f"Step {scene['timestep']} of {scene['limit']}", (x, y), m.text, width / 2, bold=True)
    shown = [(f"completed {scene['completed']}", GOOD if scene["completed"] else GREY)]
    shown.append((f"failed {scene['expired']}", BAD if scene["expired"] else GREY))
    right = x + width
    for words, colour in reversed(shown):
        right -= round(text_width(words, m.text)) + 2
        write_line(picture, words, (right, y), m.text, width, colour, bold=True)
        right -= m.text
    share = min(1.0, scene["timestep"] / max(1, scene["limit"]))
    draw_bar(picture, (x, y + m.line + 2), width, share, "#8f877a")


def _draw_agents(picture: Image.Image, level: Level, scene: Scene, m: Measures, x: int, y: int) -> None:
    """Write where each agent stands and what it holds."""
    side = 2 * m.line
    for seat, agent in enumerate(scene["agents"]):
        top, colour = y + seat * (side + m.pad), seat_colour(seat)
        picture.alpha_composite(cook_picture(colour, "south", str(seat), True, None, side), (x, top))
        left, room = x + side + m.pad, m.panel - 3 * m.pad - side
        used = write_line(picture, f"agent_{seat}", (left, top), m.text, room, colour, bold=True) + m.text // 2
        state = "busy at" if agent["busy"] else "at"
        write_line(picture, f"{state} {agent['location']}", (left + used, top), m.text, room - used, GREY)
        icon = None if agent["holding"] is None else _icon(level, agent["holding"], m.line + 2)
        write_held(picture, icon, _held_words(agent), (left, top + m.line), m.text, room)


def _draw_orders(
    picture: Image.Image, level: Level, orders: Sequence[Mapping[str, Any]], lifetimes: Lifetimes, m: Measures, y: int
) -> None:
    """Draw each open order with a bar of the time that is left."""
    x = m.kitchen[0] + m.pad
    side = m.order - 6
    width = m.panel - 3 * m.pad - side
    if not orders:
        write_line(picture, "No order is open.", (x, y), m.text, width, GREY)
    for i, order in enumerate(orders):
        top, left = y + i * m.order, x + side + m.pad
        picture.alpha_composite(_icon(level, order["name"], side), (x, top))
        words, colour = _time_words(order), _time_colour(order, lifetimes)
        room = round(text_width(words, m.text)) + 2
        write_line(picture, words, (left + width - room, top), m.text, room + 2, colour)
        write_line(picture, words_of(order["name"]), (left, top), m.text, width - room - m.pad, bold=True)
        share = _share(order, lifetimes)
        if share is not None:
            draw_bar(picture, (left, top + m.line + 3), width, share, colour)


def _time_words(order: Mapping[str, Any]) -> str:
    remaining = order["remaining"]
    return "no limit" if remaining is None else "too late" if remaining == 0 else f"{remaining} left"


def _share(order: Mapping[str, Any], lifetimes: Lifetimes) -> float | None:
    """Return the share of an order's time that is left; None if it is not known or without end."""
    if order["remaining"] is None or lifetimes is None:
        return None
    return float(min(1.0, max(0.0, order["remaining"] / max(1, lifetimes.get(order["name"], 1)))))


def _time_colour(order: Mapping[str, Any], lifetimes: Lifetimes) -> str:
    share = _share(order, lifetimes)
    if share is None:
        return GREY
    return GOOD if share > HURRY else WORKING if share > LATE else BAD


def _draw_strip(picture: Image.Image, level: Level, scene: Scene, m: Measures) -> None:
    """Write below the picture, in full, what the tools hold."""
    width = (picture.width - 2 * m.pad) // m.columns
    for i, name in enumerate(_listed(level)):
        tool = scene["tools"][name]
        x, y = m.pad + i % m.columns * width, m.body + m.pad + i // m.columns * m.line
        colour = WORKING if tool["busy"] else GOOD if tool["ready"] and tool["content"] else FAINT
        dot = (x, y + 0.35 * m.text, x + 0.6 * m.text, y + 0.95 * m.text)
        ImageDraw.Draw(picture).ellipse(dot, fill=colour, outline=GREY)
        state = f" ({tool['busy']} left)" if tool["busy"] else ""
        used = write_line(picture, f"{name}{state}:", (x + m.text, y), m.text, width, GREY) + 3
        words = ", ".join(words_of(item) for item in tool["content"]) or "empty"
        write_line(picture, words, (x + m.text + used, y), m.text, width - used - m.text - m.pad)


def _listed(level: Level) -> list[str]:
    """Return the locations that can hold something."""
    kinds = zip(level.locations, level.kitchen, strict=True)
    return [name for name, kind in kinds if level.tools[kind].role != "storage"]


def rgb_array(level: Level, scene: Scene, lifetimes: Lifetimes = None, tile_size: int = TILE) -> np.ndarray:
    """Draw a moment of a kitchen.

    Args:
        level: The level in words.
        scene: The moment, see ``state.decode``.
        lifetimes: Full time of each order by name, for the bars; without it there are numbers only.
        tile_size: Pixels of a tool, at least 32; texts grow with it.

    Returns:
        uint8 (H, W, 3), the same H and W for every scene of a level with as many agents.

    Raises:
        ValueError: If ``tile_size`` is not a whole number of at least 32.
    """
    m = _measure(level, len(scene["agents"]), whole_number("tile_size", tile_size, SMALLEST_TILE, "pixels"))
    picture = _backdrop(level.kitchen, level.locations, m).copy()
    for at, name in enumerate(level.locations):
        _draw_tool(picture, level, at, scene["tools"][name], m)
    _draw_cooks(picture, level, scene["agents"], m)
    x, y = m.kitchen[0] + m.pad, m.pad
    _draw_clock(picture, scene, m, x, y)
    y += 2 * m.line + m.pad
    _draw_agents(picture, level, scene, m, x, y)
    y += len(scene["agents"]) * (2 * m.line + m.pad)
    write_line(picture, "Orders", (x, y), m.text, m.panel, GREY)
    _draw_orders(picture, level, scene["orders"], lifetimes, m, y + m.line + 2)
    _draw_strip(picture, level, scene, m)
    return np.asarray(picture.convert("RGB"))


# ------------------------------------------------------------------------------------------- the text picture


def ansi(level: Level, scene: Scene, lifetimes: Lifetimes = None) -> str:
    """Write a moment of a kitchen as text: orders with bars, then each location with contents and agents.

    A busy tool shows ``~`` and the steps left, a finished product ``!``; an agent is ``@`` and its number, with what it
    holds in brackets.

    Args:
        level: The level in words.
        scene: The moment, see ``state.decode``.
        lifetimes: Full time of each order by name, for the bars.
    """
    lines = [
        f"{level.name}: step {scene['timestep']} of {scene['limit']}, "
        f"completed {scene['completed']}, failed {scene['expired']}"
    ]
    wide = max((len(order["name"]) for order in scene["orders"]), default=0)
    for order in scene["orders"]:
        share = _share(order, lifetimes)
        bar = "" if share is None else f" {'#' * round(BAR * share):.<{BAR}}"
        lines.append(f"  {order['name']:<{wide}}{bar} {_time_words(order)}")
    if not scene["orders"]:
        lines.append("  no order is open")
    cells = [(name, _ansi_content(level, at, scene["tools"][name])) for at, name in enumerate(level.locations)]
    widths = [max(len(cell[i]) for cell in cells) for i in range(2)]
    for name, content in cells:
        here = " ".join(
            f"@{seat}" + (f"[{agent['holding']}]" if agent["holding"] is not None else "")
            for seat, agent in enumerate(scene["agents"])
            if agent["location"] == name
        )
        lines.append(f"{name:<{widths[0]}} | {content:<{widths[1]}} | {here}".rstrip())
    return "\n".join(lines)


def _ansi_content(level: Level, at: int, tool: Mapping[str, Any]) -> str:
    words = " & ".join(tool["content"]) or "-"
    if tool["busy"]:
        return f"{words} ~{tool['busy']}"
    return f"{words} !" if tool["content"] and tool["ready"] and _finished(level, at, tool["content"]) else words
