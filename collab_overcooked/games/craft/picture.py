"""Pictures of CraftKitchen: the places as they lie, agents beside them, and cards of bags, furnaces and orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.craft.compile import Compiled
from collab_overcooked.games.craft.text import content_text, slot_text, stock
from collab_overcooked.render.model import (
    BAD,
    GOOD,
    GREY,
    INK,
    SHADE,
    WORKING,
    Bar,
    Board,
    Card,
    Cell,
    Column,
    Cook,
    Dot,
    Icon,
    Line,
    Point,
    Sheet,
    Text,
    agent_card,
    clock,
    held_spans,
    share_of,
)

Scene = Mapping[str, Any]
PANEL = 34  # width, font sizes
SPRITES = {"chest": "chest", "furnace": "furnace", "block": "log", "mob": "mob"}
GRASS = "#dfe6cf"
SHOWN_DISHES = 2  # on the chest of a picture
HURRY = 0.5  # share of its time from which an order's colour changes


def icon_of(item: str) -> Icon:
    """Return what an item looks like: meat, or a meal that is brown."""
    meat = item.removeprefix("cooked_")
    cooked = item != meat
    if item.endswith("log"):
        return Icon("log_item", text=item)
    return Icon("", (COLOURS.get(meat, meat),), finish="baked" if cooked else "", text=item)


COLOURS = {"mutton": "lamb", "porkchop": "pork"}  # foods that give the colours of meat with another name


def _cell(compiled: Compiled, scene: Scene, p: int) -> Cell:
    """Return a place; a mob that is away leaves an empty spot."""
    place = compiled.level.places[p]
    items: tuple[Icon, ...] = ()
    if place.role == "chest":
        items = tuple(icon_of(name) for name in stock(scene))[:SHOWN_DISHES]
    elif place.role == "furnace":
        furnace = scene["furnaces"][place.name]
        items = tuple(icon_of(slot["item"]) for slot in (furnace["input"], furnace["output"]) if slot)
    elif place.role == "mob" and place.name not in scene["gone"]:
        items = (icon_of(place.gives),)
    sprite = "mob" if place.name in scene["gone"] else SPRITES[place.role]
    return Cell(sprite, items=items, caption=place.name.replace("_", " "))


def _board(compiled: Compiled, scene: Scene, cooks: Sequence[Cook]) -> Board:
    """Return the places between the outermost of them and the agents; several agents on a spot stand side by side."""
    spots = [*compiled.level.corners, *(tuple(agent["at"]) for agent in scene["agents"])]
    left, top = min(x for x, _ in spots) - 1, min(z for _, z in spots) - 1
    width, height = max(x for x, _ in spots) - left + 2, max(z for _, z in spots) - top + 2
    cells = [
        ((place.at[0] - left, place.at[1] - top), _cell(compiled, scene, p))
        for p, place in enumerate(compiled.level.places)
    ]
    standing: list[tuple[Point, Cook]] = []
    for cook, agent in zip(cooks, scene["agents"], strict=True):
        x, z = agent["at"]
        beside = sum(other["at"] == agent["at"] for other in scene["agents"][: cook.seat])
        standing.append(((x - left + 0.7 + 0.6 * beside, z - top - 0.15), cook))
    return Board((width, height), tuple(cells), tuple(standing), cook_size=1.2, ground=GRASS)


def _order_card(order: Mapping[str, Any], lifetime: int) -> Card:
    share = share_of(order["remaining"], lifetime)
    colour = GOOD if share > HURRY else WORKING if order["remaining"] > 1 else BAD
    name = Text(order["name"].replace("_", " "), bold=True)
    return Card(
        (Line((name,), (Text(f"{order['remaining']} left", colour),)), Bar(share, colour)), icon_of(order["name"]), 1.9
    )


def _furnace_card(name: str, furnace: Mapping[str, Any]) -> Card:
    state = GOOD if furnace["output"] else WORKING if furnace["input"] and furnace["fuel"] else SHADE
    slots = [Line((Text(slot, GREY, width=4), Text(slot_text(furnace[slot])))) for slot in ("fuel", "input", "output")]
    return Card((Line((Dot(state), Text(name, INK, bold=True))), *slots))


def picture(compiled: Compiled, scene: Scene, names: Sequence[str]) -> Sheet:
    """Return the scene model of a moment.

    Args:
        compiled: The level.
        scene: See ``scene.decode``.
        names: Of the agents.
    """
    cooks: list[Cook] = []
    cards: list[Card] = []
    counts = [(f"served {scene['completed']}", GOOD), (f"failed {scene['expired']}", BAD)]
    cards.append(clock(f"Step {scene['timestep']} of {scene['limit']}", counts, scene["timestep"], scene["limit"]))
    for seat, agent in enumerate(scene["agents"]):
        held = icon_of(next(iter(agent["bag"]))) if agent["bag"] else None
        cooks.append(Cook(seat, str(seat + 1), chef=False, held=held))
        here = next((place.name for place in compiled.level.places if list(place.at) == agent["at"]), "on the way")
        cards.append(agent_card(cooks[-1], names[seat], here, held_spans(held, content_text(agent["bag"]))))
    cards += [_furnace_card(name, furnace) for name, furnace in scene["furnaces"].items()]
    cards.append(Card((Line((Text("chest", bold=True), Text(content_text(stock(scene))))),)))
    cards += [_order_card(order, compiled.lifetime) for order in scene["orders"]]
    lines = 4 + 3 * len(cooks) + 5 * len(scene["furnaces"]) + 2 + 3 * min(compiled.slots, 4)
    listing = tuple(f"{place.name} at {place.at[0]}, {place.at[1]}" for place in compiled.level.places)
    board = _board(compiled, scene, cooks)
    return Sheet((board, Column(tuple(cards), PANEL, lines)), listing=listing, tile=30, font=0.36)
