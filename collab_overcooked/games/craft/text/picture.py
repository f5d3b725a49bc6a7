"""Build pictures of CraftKitchen: places, agents next to them, and cards of bags, furnaces and orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from math import cos, hypot, sin
from typing import Any

from collab_overcooked.render.model import (
    BAD,
    GOOD,
    GREY,
    INK,
    SHADE,
    TALL,
    WORKING,
    Bar,
    Board,
    BoardCell,
    Card,
    Cook,
    Dot,
    Drawing,
    Icon,
    PanelColumn,
    Point,
    Span,
    Text,
    TextLine,
    agent_card,
    clock,
    held_spans,
    share_of,
)
from collab_overcooked.render.sprites import sprite_names

from ..engine.constants import Param
from ..engine.spec import Level
from .text import CraftText, content_text, slot_text, stock

Scene = Mapping[str, Any]
PANEL = 34  # width in font sizes
SPRITES = {"chest": "chest", "furnace": "furnace", "block": "log", "mob": "mob"}
GRASS = "#dfe6cf"
SHOWN_DISHES = 2  # on the chest of a picture
# Scale of horizontal and vertical distances, for boards wider than high, and of vertical ones of neighbours
ACROSS, DOWN, FLATTER = 0.2, 0.12, 0.9
APART, ROUNDS = 1.15, 200  # minimum distance of places in tiles, and limit of iterations that push them apart
HURRY = 0.5  # share of remaining time below which an order's colour changes


def icon_of(item: str) -> Icon:
    """Return the icon of an item; cooked meat is brown."""
    meat = item.removeprefix("cooked_")
    cooked = item != meat
    if item.endswith("log"):
        return Icon("log_item", text=item)
    return Icon("", (COLOURS.get(meat, meat),), finish="baked" if cooked else "", text=item)


def _animal_icon(kind: str, gives: str) -> Icon:
    return Icon(kind, text=gives) if kind in sprite_names() else icon_of(gives)


COLOURS = {"mutton": "lamb", "porkchop": "pork"}  # foods with the colours of meat that has another name


def _cell(level: Level, scene: Scene, p: int) -> BoardCell:
    place = level.places[p]
    items: tuple[Icon, ...] = ()
    if place.role == "chest":
        items = tuple(icon_of(name) for name in stock(scene))[:SHOWN_DISHES]
    elif place.role == "furnace":
        furnace = scene["furnaces"][place.name]
        items = tuple(icon_of(slot["item"]) for slot in (furnace["input"], furnace["output"]) if slot)
    elif place.role == "mob" and place.name not in scene["gone"]:
        items = (_animal_icon(place.kind, place.gives),)
    sprite = "mob" if place.name in scene["gone"] else SPRITES[place.role]
    kind = place.name.rstrip("0123456789")  # commands to the nearest place of a kind may refer to it too
    targets = tuple(dict.fromkeys((place.name, kind)))
    name = place.name.replace("_", " ")
    return BoardCell(sprite, items=items, caption=name, quiet=place.role == "mob", targets=targets)


@lru_cache(maxsize=32)
def nearer(spots: tuple[tuple[float, float], ...]) -> tuple[Point, ...]:
    """Return the positions of places in the picture: moved closer together, as the field between them is empty.

    Places closer than ``APART`` are pushed away from each other until none are.
    """
    places = [(ACROSS * x, DOWN * z) for x, z in spots]
    for _ in range(ROUNDS):
        moved = False
        for a, b in combinations(range(len(places)), 2):
            (ax, ay), (bx, by) = places[a], places[b]
            dx, dy = bx - ax, (by - ay) * FLATTER
            gap = hypot(dx, dy)
            if gap < APART:
                moved = True
                push = (APART - gap) / 2 + 0.01
                dx, dy = (dx / gap, dy / gap) if gap else (cos(a + b), sin(a + b))
                places[a] = (ax - push * dx, ay - push * dy)
                places[b] = (bx + push * dx, by + push * dy)
        if not moved:
            break
    left, top = min(x for x, _ in places) - 0.3, min(y for _, y in places) - 0.5
    return tuple((round(x - left, 2), round(y - top, 2)) for x, y in places)


def _board(level: Level, scene: Scene, cooks: Sequence[Cook]) -> Board:
    spots = tuple((float(place.at[0]), float(place.at[1])) for place in level.places)
    drawn = nearer(spots)
    cells = [(drawn[p], _cell(level, scene, p)) for p in range(len(drawn))]
    standing: list[tuple[Point, Cook]] = []
    for cook, agent in zip(cooks, scene["agents"], strict=True):
        at = tuple(agent["at"])
        x, y = drawn[spots.index(at)] if at in spots else _between(at, spots, drawn)
        beside = sum(other["at"] == agent["at"] for other in scene["agents"][: cook.seat])
        standing.append(((round(x + 0.55 - 0.9 * beside, 2), y - 0.2), cook))
    width, height = max(x for x, _ in drawn) + 1.6, max(y for _, y in drawn) + 1.4
    return Board((width, height), tuple(cells), tuple(standing), cook_size=0.9, ground=GRASS)


def _between(at: Point, spots: Sequence[Point], drawn: Sequence[Point]) -> Point:
    weights = [1 / (0.1 + hypot(at[0] - x, at[1] - z)) ** 3 for x, z in spots]
    total = sum(weights)
    return (
        round(sum(w * x for w, (x, _) in zip(weights, drawn, strict=True)) / total, 2),
        round(sum(w * y for w, (_, y) in zip(weights, drawn, strict=True)) / total, 2),
    )


def _order_card(level: Level, order: Mapping[str, Any], lifetime: int) -> Card:
    share = share_of(order["remaining"], lifetime)
    colour = GOOD if share > HURRY else WORKING if order["remaining"] > 1 else BAD
    title = TextLine((Text(order["name"].replace("_", " "), bold=True),), (Text(f"{order['remaining']} left", colour),))
    return Card((title, Bar(share, colour), _needs(level, order["name"])), icon_of(order["name"]), 1.9, kind="order")


def _needs(level: Level, dish: str) -> TextLine:
    spans: list[Span] = []
    for item in (level.dishes[dish], *level.fuel[:1]):
        place = next(place for place in level.places if place.gives == item)
        icon = _animal_icon(place.kind, item) if place.role == "mob" else icon_of(item)
        spans += [replace(icon, text=item), Text(place.kind.replace("_", " "), GREY)]
    return TextLine((*spans, Text("furnace", GREY)), tall=True)


def _furnace_card(name: str, furnace: Mapping[str, Any]) -> Card:
    state = GOOD if furnace["output"] else WORKING if furnace["input"] and furnace["fuel"] else SHADE
    slots = [
        TextLine((Text(slot, GREY, width=4), Text(slot_text(furnace[slot])))) for slot in ("fuel", "input", "output")
    ]
    return Card((TextLine((Dot(state), Text(name, INK, bold=True))), *slots), kind="station")


def picture(game: CraftText, scene: Scene) -> Drawing:
    """Return the picture of a scene."""
    level, lifetime = game.level, int(game.compiled.tables.params[Param.LIFETIME])
    cooks: list[Cook] = []
    cards: list[Card] = []
    counts = [(f"served {scene['completed']}", GOOD), (f"failed {scene['expired']}", BAD)]
    cards.append(clock(f"Step {scene['timestep']} of {scene['limit']}", counts, scene["timestep"], scene["limit"]))
    for seat, agent in enumerate(scene["agents"]):
        held = icon_of(next(iter(agent["bag"]))) if agent["bag"] else None
        cooks.append(Cook(seat, str(seat + 1), chef=False, held=held))
        here = next((place.name for place in level.places if list(place.at) == agent["at"]), "on the way")
        cards.append(
            agent_card(cooks[-1], game.display_names[seat], here, held_spans(held, content_text(agent["bag"])))
        )
    cards += [_furnace_card(name, furnace) for name, furnace in scene["furnaces"].items()]
    cards.append(Card((TextLine((Text("chest", bold=True), Text(content_text(stock(scene))))),), kind="station"))
    cards += [_order_card(level, order, lifetime) for order in scene["orders"]]
    lines = 4 + 3 * len(cooks) + 5 * len(scene["furnaces"]) + 2 + (3 + TALL) * min(game.sizes["Q"], 4)
    listing = tuple(f"{place.name} at {place.at[0]}, {place.at[1]}" for place in level.places)
    board = _board(level, scene, cooks)
    return Drawing((board, PanelColumn(tuple(cards), PANEL, lines)), listing=listing, tile=64, font=0.19)
