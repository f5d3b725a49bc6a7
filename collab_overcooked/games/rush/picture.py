"""Pictures of a round: a text picture for terminals, and a drawn board for people.

Both need only the scenario in words (``spec.Scenario``) and one moment of it (the scene of ``state.decode``). On the
left are the areas with their action spaces and stock, on the right turn, workers and orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from collab_overcooked.errors import whole_number
from collab_overcooked.games.rush.art import area_picture, faded, flame_picture, good_picture
from collab_overcooked.games.rush.spec import Episode, Recipe, Scenario
from collab_overcooked.render.drawings import BAD, FAINT, FLOOR, FLOOR_DARK, GOOD, GREY, INK, PAPER, WORKING
from collab_overcooked.render.lettering import text_width, write_line
from collab_overcooked.render.painting import (
    badge_picture,
    cook_picture,
    draw_bar,
    label_size,
    seat_colour,
)

TILE = 64  # pixels of an area's drawing
SMALLEST_TILE = 32  # below that the icons cannot be told apart
PER_ROW = 2  # areas side by side
CHIPS = 3  # goods side by side
SHOWN_SPACES = 5  # action spaces, or workers, that are drawn one by one; more are only counted
SHOWN_COOKS = 8  # cooks that are drawn one by one; more are only counted
SHELVES = {"pantry": "ingredients", "spicebag": "spices"}  # what an area's stock is made of

Scene = Mapping[str, Any]


@dataclass(frozen=True)
class Measures:
    """Pixels of everything; they depend on the scenario and the number of agents alone, so that frames match."""

    tile: int
    text: int  # font size
    line: int  # height of a line of text
    pad: int
    icon: int
    chip: tuple[int, int]  # a good with its count
    card: tuple[int, int]  # an area
    board: int  # width of all areas
    panel: int  # width of turn, workers and orders
    order: int  # height
    seat: int  # height
    height: int


def _measure(scenario: Scenario, n_agents: int, tile: int) -> Measures:
    text = max(11, round(tile * 0.19))
    line, pad, icon = round(text * 1.35), round(text * 0.7), round(tile * 0.36)
    chip = (icon + round(text * 2.2), icon + 4)
    shelves = max(len(scenario.ingredients), len(scenario.spices))
    below = 2 * line + pad + -(-shelves // CHIPS) * chip[1]
    card = (tile + CHIPS * chip[0] + 3 * pad, max(tile + label_size(tile) + 6, below) + 2 * pad)
    rows = -(-max(len(episode.areas) for episode in scenario.episodes) // PER_ROW)
    order, seat = line + icon + 2 * pad, round(tile * 0.6)
    orders = max(len(episode.orders) for episode in scenario.episodes)
    above = 3 * line + 2 * pad + -(-n_agents // PER_ROW) * seat
    height = max(rows * card[1], above + orders * order + pad)
    widest = max(_recipe_width(recipe, icon, pad) for recipe in _ordered(scenario))
    panel = max(30 * text, widest + 2 * pad)
    return Measures(tile, text, line, pad, icon, chip, card, PER_ROW * card[0], panel, order, seat, height)


def _ordered(scenario: Scenario) -> list[Recipe]:
    return [episode.recipes[name] for episode in scenario.episodes for name in episode.orders]


def _recipe_width(recipe: Recipe, icon: int, pad: int) -> int:
    """Return the pixels of a recipe's icons: each good with its count, and the cooks."""
    goods = len(recipe.ingredients) + len(recipe.spices)
    return goods * 2 * icon + min(recipe.cook_time, SHOWN_COOKS) * icon + 4 * icon + 2 * pad


# ------------------------------------------------------------------------------------------- areas


@lru_cache(maxsize=64)
def _backdrop(kinds: tuple[str, ...], numbers: tuple[int, ...], m: Measures) -> Image.Image:
    """Return the frame with everything that never changes in an episode: floor, areas and their names."""
    picture = Image.new("RGBA", (m.board + m.panel, m.height), PAPER)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, m.board - 1, m.height - 1), fill=FLOOR)
    for at, (kind, number) in enumerate(zip(kinds, numbers, strict=True)):
        left, top = _corner(m, at)
        if (at % PER_ROW + at // PER_ROW) % 2:
            pen.rectangle((left, top, left + m.card[0] - 1, top + m.card[1] - 1), fill=FLOOR_DARK)
        picture.alpha_composite(area_picture(kind, m.tile), (left + m.pad, top + m.pad))
        write_line(
            picture, f"{kind} {number}", (left + m.tile + 2 * m.pad, top + m.pad), m.text, m.card[0], INK, bold=True
        )
    pen.line((m.board, 0, m.board, m.height), fill=FAINT, width=2)
    return picture


def _corner(m: Measures, at: int) -> tuple[int, int]:
    """Return the upper left pixel of an area's card."""
    return at % PER_ROW * m.card[0], at // PER_ROW * m.card[1]


def _draw_area(picture: Image.Image, at: int, area: Mapping[str, Any], m: Measures) -> None:
    """Draw free and taken action spaces, then what is in stock."""
    left, top = _corner(m, at)
    x, y = left + m.tile + 2 * m.pad, top + m.pad + m.line
    _draw_spaces(picture, area["spaces"], area["spaces_per_turn"], (x, y), m)
    y += m.line + m.pad
    for k, (name, count) in enumerate(area["stock"].items()):
        place = (x + k % CHIPS * m.chip[0], y + k // CHIPS * m.chip[1])
        _draw_chip(picture, name, count, area["kind"] == "spicebag", place, m)


def _draw_spaces(picture: Image.Image, free: int, whole: int, at: tuple[int, int], m: Measures) -> None:
    x, y = at
    pen, side = ImageDraw.Draw(picture), m.text
    if whole <= SHOWN_SPACES:
        for k in range(whole):
            box = (x, y + 2, x + side, y + 2 + side)
            pen.rounded_rectangle(box, radius=3, fill=GOOD if k < free else FAINT, outline=GREY)
            x += side + 4
    write_line(picture, f"{free} of {whole} free", (x + 2, y), m.text, m.card[0] / 2, INK if free else BAD)


def _draw_chip(picture: Image.Image, name: str, count: int, is_spice: bool, at: tuple[int, int], m: Measures) -> None:
    icon = good_picture(name, is_spice, m.icon) if count else faded(name, is_spice, m.icon)
    picture.alpha_composite(icon, at)
    words = str(count)
    write_line(
        picture,
        words,
        (at[0] + m.icon + 3, at[1] + (m.icon - m.text) // 2 - 1),
        m.text,
        m.chip[0] - m.icon - 3,
        INK if count else BAD,
        bold=True,
    )


# ------------------------------------------------------------------------------------------- the panel


def _draw_clock(picture: Image.Image, scenario: Scenario, scene: Scene, m: Measures, x: int, y: int) -> None:
    """Write episode, turn and counts, with a bar of the time used."""
    width = m.panel - 2 * m.pad
    episode = f"{scene['scenario']}, episode {scene['episode'] + 1} of {len(scenario.episodes)}"
    write_line(picture, episode, (x, y), m.text, width, GREY)
    write_line(picture, _turn_words(scene), (x, y + m.line), m.text, width / 2, bold=True)
    counts = [(name, sum(order[name] for order in scene["orders"])) for name in ("finished", "ruined")]
    right = x + width
    for name, count in reversed(counts):
        words = f"{name} {count}"
        right -= round(text_width(words, m.text)) + 2
        colour = GREY if not count else GOOD if name == "finished" else BAD
        write_line(picture, words, (right, y + m.line), m.text, width, colour, bold=True)
        right -= m.text
    draw_bar(picture, (x, y + 2 * m.line + 2), width, min(1.0, scene["slot"] / max(1, scene["limit"])), "#8f877a")


def _turn_words(scene: Scene) -> str:
    turns = scene["turn"] + scene["turns_left"]
    return f"over in turn {_turns_used(scene)}" if scene["over"] else f"turn {scene['turn'] + 1} of {turns}"


def _turns_used(scene: Scene) -> int:
    return scene["turn"] + (scene["worker"] > 0)


def _draw_seats(picture: Image.Image, scene: Scene, m: Measures, x: int, y: int) -> None:
    """Draw every agent with its workers: done in this turn, acting now, and still to come."""
    width, pen = (m.panel - 2 * m.pad) // PER_ROW, ImageDraw.Draw(picture)
    for seat in range(scene["agents"]):
        left, top = x + seat % PER_ROW * width, y + seat // PER_ROW * m.seat
        picture.alpha_composite(
            cook_picture(seat_colour(seat), "south", str(seat), True, None, m.seat - 4), (left, top)
        )
        left += m.seat + m.pad // 2
        write_line(picture, f"agent_{seat}", (left, top), m.text, width - m.seat, seat_colour(seat), bold=True)
        for worker in range(scene["workers"] if scene["workers"] <= SHOWN_SPACES else 0):
            turn = _worker_state(scene, seat, worker)
            dot = (left, top + m.line + 2, left + m.text - 2, top + m.line + m.text)
            pen.ellipse(dot, fill={"done": FAINT, "now": WORKING, "waits": PAPER}[turn], outline=GREY)
            left += m.text + 3
        write_line(picture, _worker_words(scene, seat), (left, top + m.line), m.text, width - m.seat, GREY)


def _worker_state(scene: Scene, seat: int, worker: int) -> str:
    done = scene["worker"] + (seat < scene["seat"])
    return "done" if worker < done or scene["over"] else "now" if worker == done else "waits"


def _worker_words(scene: Scene, seat: int) -> str:
    acting = scene["worker"] + (seat < scene["seat"])
    return "" if scene["over"] or acting >= scene["workers"] else f"worker {acting + 1} of {scene['workers']}"


def _draw_orders(
    picture: Image.Image, episode: Episode, orders: Sequence[Mapping[str, Any]], m: Measures, x: int, y: int
) -> None:
    """Draw each order: its name and state, then goods and cooks, faint where they are still missing."""
    width = m.panel - 2 * m.pad
    for i, order in enumerate(orders):
        top = y + i * m.order
        ImageDraw.Draw(picture).line((x, top - m.pad // 2, x + width, top - m.pad // 2), fill=FAINT)
        ended = order["finished"] or order["ruined"]
        if ended:
            badge = badge_picture("ready" if order["finished"] else "spoilt", m.line)
            picture.alpha_composite(badge, (x + width - m.line, top))
            words = "finished" if order["finished"] else "ruined"
            room = round(text_width(words, m.text)) + m.line + 8
            write_line(picture, words, (x + width - room, top), m.text, room, GOOD if order["finished"] else BAD)
        write_line(picture, order["name"], (x, top), m.text, width - 6 * m.text, GREY if ended else INK, bold=True)
        _draw_recipe(picture, episode.recipes[order["name"]], order, (x, top + m.line + 2), m)


def _draw_recipe(
    picture: Image.Image, recipe: Recipe, order: Mapping[str, Any], at: tuple[int, int], m: Measures
) -> None:
    x, y = at
    middle = y + (m.icon - m.text) // 2 - 1
    for key in ("ingredients", "spices"):
        draw = good_picture if order[key] else faded
        for name, count in getattr(recipe, key).items():
            picture.alpha_composite(draw(name, key == "spices", m.icon), (x, y))
            colour = INK if order[key] else GREY
            x += m.icon + 2
            x += max(write_line(picture, str(count), (x, middle), m.text, m.icon, colour) + 5, m.icon // 2)
        if order[key] and getattr(recipe, key):
            mark = badge_picture("ready", round(m.icon * 0.6))
            picture.alpha_composite(mark, (x, y + (m.icon - mark.height) // 2))
            x += mark.width
        x += m.pad
    side = round(m.icon * 0.8)
    if recipe.cook_time <= SHOWN_COOKS:
        for k in range(recipe.cook_time):
            picture.alpha_composite(flame_picture(k < order["cooked"], side), (x, y + (m.icon - side) // 2))
            x += side + 1
    write_line(
        picture,
        f"{order['cooked']}/{recipe.cook_time}",
        (x + 3, middle),
        m.text,
        2 * m.icon,
        BAD if order["cooked"] > recipe.cook_time else GREY,
    )


def rgb_array(scenario: Scenario, scene: Scene, tile_size: int = TILE) -> np.ndarray:
    """Draw a moment of a round.

    Args:
        scenario: The scenario in words.
        scene: The moment, see ``state.decode``.
        tile_size: Pixels of an area's drawing, at least 32; texts grow with it.

    Returns:
        uint8 (H, W, 3), the same H and W for every scene of a scenario with as many agents.

    Raises:
        ValueError: If ``tile_size`` is not a whole number of at least 32.
    """
    m = _measure(scenario, scene["agents"], whole_number("tile_size", tile_size, SMALLEST_TILE, "pixels"))
    areas, episode = scene["areas"], scenario.episodes[scene["episode"]]
    picture = _backdrop(tuple(area["kind"] for area in areas), tuple(area["id"] for area in areas), m).copy()
    for at, area in enumerate(areas):
        _draw_area(picture, at, area, m)
    x, y = m.board + m.pad, m.pad
    _draw_clock(picture, scenario, scene, m, x, y)
    y += 3 * m.line
    _draw_seats(picture, scene, m, x, y)
    y += -(-scene["agents"] // PER_ROW) * m.seat + m.pad
    _draw_orders(picture, episode, scene["orders"], m, x, y)
    return np.asarray(picture.convert("RGB"))


# ------------------------------------------------------------------------------------------- the text picture


def ansi(scenario: Scenario, scene: Scene) -> str:
    """Write a moment of a round as text: the time, each area with its action spaces and stock, each order.

    ``[##.]`` are action spaces, ``#`` a free one. What an order has is in capitals.

    Args:
        scenario: The scenario in words.
        scene: The moment, see ``state.decode``.
    """
    now = "" if scene["over"] else f", worker {scene['worker'] + 1} of {scene['workers']}"
    lines = [f"{scene['scenario']}, episode {scene['episode'] + 1}: {_turn_words(scene)}{now}"]
    areas = [
        (f"{area['kind']} {area['id']}", _ansi_spaces(area), _ansi_goods(area["stock"])) for area in scene["areas"]
    ]
    recipes = scenario.episodes[scene["episode"]].recipes
    orders = [
        (order["name"], _ansi_status(order), _ansi_recipe(recipes[order["name"]], order)) for order in scene["orders"]
    ]
    for cells in (areas, orders):
        widths = [max(len(cell[i]) for cell in cells) for i in range(2)]
        lines += [f"  {name:<{widths[0]}}  {state:<{widths[1]}}  {rest}".rstrip() for name, state, rest in cells]
    return "\n".join(lines)


def _ansi_spaces(area: Mapping[str, Any]) -> str:
    free, whole = area["spaces"], area["spaces_per_turn"]
    return f"[{'#' * free:.<{whole}}]" if whole <= SHOWN_SPACES else f"[{free} of {whole}]"


def _ansi_goods(goods: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in goods.items())


def _ansi_status(order: Mapping[str, Any]) -> str:
    return "finished" if order["finished"] else "ruined" if order["ruined"] else "open"


def _ansi_recipe(recipe: Recipe, order: Mapping[str, Any]) -> str:
    parts = []
    for key in ("ingredients", "spices"):
        words = _ansi_goods(getattr(recipe, key))
        parts += [words.upper() if order[key] else words] if words else []
    return "; ".join([*parts, f"cooked {order['cooked']}/{recipe.cook_time}"])
