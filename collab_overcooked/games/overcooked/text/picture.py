"""The scene model of a kitchen: what a picture shows of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from collab_overcooked.games.overcooked.engine.constants import IDLE
from collab_overcooked.games.overcooked.engine.spec import SOUPS, Layout, Soup
from collab_overcooked.render.model import (
    FLOORS,
    GOOD,
    GREY,
    INK,
    Board,
    Card,
    Cell,
    Cook,
    Icon,
    Line,
    PanelColumn,
    Progress,
    Sheet,
    Text,
    agent_card,
    clock,
    held_spans,
    initials,
)

SHOWN_ORDERS = 4  # orders with a line of their own; the others are counted
PANEL = 24  # width, font sizes
SPRITES = {"X": "counter", "W": "wall", "G": "gate", "P": "pot", "D": "dishes", "S": "serving"}
TEXTS = {"X": "##", "W": "%%"}
CRATES = {"O": "onion", "T": "tomato"}
FOODS = {"onion": "yellow_onion", "tomato": "tomato"}

Scene = Mapping[str, Any]
Thing = Mapping[str, Any]


def icon_of(thing: Thing) -> Icon:
    """Return what an object looks like."""
    if thing["item"] == "dish":
        return Icon("dish")
    if thing["item"] == "soup":
        return Icon("soup", tuple(FOODS[name] for name in thing["ingredients"]), garnish=True)
    return Icon(foods=(FOODS[thing["item"]],))


@lru_cache(maxsize=64)
def _plain_cell(symbol: str, shade: int) -> Cell:
    if symbol == " ":
        return Cell(FLOORS[shade], ".", walkable=True)
    if symbol in CRATES:
        return Cell("counter", symbol, (Icon(foods=(FOODS[CRATES[symbol]],)),) * 3, front="crate")
    return Cell(SPRITES[symbol], TEXTS.get(symbol, symbol))


def _object_cell(layout: Layout, thing: Thing, name: str) -> Cell:
    x, y = thing["position"]
    if layout.grid[y][x] != "P":
        return Cell("counter", f"[{thing['item'][0]}]", (icon_of(thing),), labels=(name,))
    if thing["ready"]:
        return Cell("pot", "P!", (icon_of(thing),), labels=(name,), ready=True)
    contents = tuple(Icon(foods=(FOODS[name],)) for name in thing["ingredients"])
    if thing["tick"] == IDLE:
        return Cell("pot", f"P+{len(contents)}", contents, labels=(name,))
    left = thing["time"] - thing["tick"]
    return Cell("pot", f"P~{left}", contents, progress=Progress(thing["tick"], thing["time"], f"{left} left, {name}"))


def _board(layout: Layout, scene: Scene, cooks: Sequence[Cook], objects: Mapping[tuple[int, int], str]) -> Board:
    cells = {
        (x, y): _plain_cell(symbol, (x + y) % 2) for y, row in enumerate(layout.grid) for x, symbol in enumerate(row)
    }
    cells |= {spot: replace(cells[spot], labels=(name,)) for spot, name in objects.items()}
    for gate in scene["gates"]:
        if gate["open"]:  # with the steps until it closes if no player stands in it
            label = f"{objects[tuple(gate['position'])]}, {gate['limit'] - gate['counter'] + 1} left"
            cells[tuple(gate["position"])] = Cell("open_gate", f"g{gate['counter']}", labels=(label,))
    things = ((tuple(thing["position"]), thing) for thing in scene["objects"])
    cells |= {spot: _object_cell(layout, thing, objects[spot]) for spot, thing in things}
    standing = tuple((tuple(player["position"]), cook) for player, cook in zip(scene["players"], cooks, strict=True))
    return Board((layout.width, layout.height), tuple(cells.items()), standing)


def _cooks(scene: Scene, names: Sequence[str]) -> list[Cook]:
    letters = initials(names)
    cooks = []
    for seat, player in enumerate(scene["players"]):
        held = player["holding"]
        icon, mark = (icon_of(held), held["item"][0]) if held else (None, "")
        cooks.append(Cook(seat, letters[seat], player["facing"], chef=False, held=icon, mark=mark))
    return cooks


def soup_text(soup: Soup) -> str:
    """Return the text of a soup's ingredients."""
    parts = [
        f"{count} {name}{'es' if name == 'tomato' and count > 1 else 's' if count > 1 else ''}"
        for count, name in zip(soup, ("onion", "tomato"), strict=True)
        if count
    ]
    return " and ".join(parts)


def held_text(thing: Thing | None) -> str:
    """Return the text of the thing in a hand or on a counter."""
    if thing is None:
        return "nothing"
    if thing["item"] != "soup":
        return str(thing["item"])
    names = thing["ingredients"]
    return f"soup of {soup_text((names.count('onion'), names.count('tomato')))}"


def order_lines(layout: Layout) -> list[str]:
    """Return a line for each order with its points; one line if all soups pay the same."""
    pays = {soup: layout.values[soup] * (layout.order_bonus if soup in layout.bonus_orders else 1) for soup in SOUPS}
    if layout.orders == SOUPS and len(set(pays.values())) == 1:
        return [f"any soup: {pays[SOUPS[0]]}"]
    return [
        f"{soup_text(soup)}: {pays[soup]}{' with bonus' if soup in layout.bonus_orders else ''}"
        for soup in layout.orders
    ]


def _orders(layout: Layout) -> Card:
    lines = order_lines(layout)
    rest = len(lines) - SHOWN_ORDERS
    texts = lines[:SHOWN_ORDERS] + ([f"and {rest} more"] if rest > 0 else [])
    return Card((Line((Text("Orders", GREY),)), *(Line((Text(line),)) for line in texts)), kind="order")


def _object_text(layout: Layout, thing: Thing) -> str:
    x, y = thing["position"]
    position = f"({x}, {y}) "
    if layout.grid[y][x] != "P":
        return position + held_text(thing)
    if thing["tick"] == IDLE:
        return f"{position}pot with {held_text(thing).removeprefix('soup of ')}"
    state = "ready" if thing["ready"] else f"cooking, {thing['time'] - thing['tick']} of {thing['time']} steps left"
    return f"{position}{held_text(thing)}, {state}"


def picture(layout: Layout, scene: Scene, names: Sequence[str], objects: Mapping[tuple[int, int], str]) -> Sheet:
    """Return the scene model of a state; objects have their names in texts, by position."""
    cooks = _cooks(scene, names)
    score = (f"Score {scene['score']} ({scene['served']} served)", GOOD if scene["score"] else INK)
    time = clock(f"Step {scene['timestep']} of {scene['limit']}", [score], scene["timestep"], scene["limit"])
    players = [
        agent_card(cook, name, f"facing {player['facing']}", held_spans(cook.held, held_text(player["holding"])))
        for cook, name, player in zip(cooks, names, scene["players"], strict=True)
    ]
    orders = _orders(layout)
    lines = 2.5 + 2.5 * len(players) + orders.height
    listing = [f"order: {line}" for line in order_lines(layout)[SHOWN_ORDERS:]]
    listing += [_object_text(layout, thing) for thing in scene["objects"]]
    return Sheet(
        (_board(layout, scene, cooks, objects), PanelColumn((time, *players, orders), PANEL, lines)),
        listing=tuple(listing),
    )
