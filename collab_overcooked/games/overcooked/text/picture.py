"""Drawing of a kitchen's scene; OvercookedV2 shares parts of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from collab_overcooked.render.model import (
    FLOORS,
    GOOD,
    GREY,
    INK,
    WORKING,
    Board,
    BoardCell,
    Card,
    Cook,
    Drawing,
    Icon,
    PanelColumn,
    Point,
    Progress,
    Text,
    TextLine,
    agent_card,
    clock,
    held_spans,
    initials,
)

from ..engine.constants import BELTS, NOT_COOKING, Terrain
from ..engine.spec import SOUPS, Layout
from .kitchen_scene import warning_text
from .text import soup_text

SHOWN_ORDERS = 4  # orders with a line of their own; the others are counted
PANEL = 24  # width, font sizes
STATION_SPRITES = {"C": "chopping_board", "H": "oven", "M": "blender"}
STATION_SPRITES |= {symbol: kind.name.lower() for symbol, kind in BELTS.items()}
SPRITES = {"X": "counter", "W": "wall", "G": "gate", "P": "pot", "D": "dishes", "S": "serving"} | STATION_SPRITES
TEXTS = {"X": "##", "W": "%%"}
CRATES = {"O": "onion", "T": "tomato"}
FOODS = {"onion": "yellow_onion"}  # sprites of another name

Scene = Mapping[str, Any]
Thing = Mapping[str, Any]


def food_icons(names: Sequence[str]) -> tuple[Icon, ...]:
    """Return the icons of ingredients."""
    return tuple(Icon(foods=(FOODS.get(name, name),)) for name in names)


def icon_of(thing: Thing) -> Icon:
    """Return the icon of an object."""
    if "ingredients" in thing:
        return Icon("soup", tuple(FOODS.get(name, name) for name in thing["ingredients"]), garnish=True)
    return Icon("dish") if thing["item"] in ("dish", "plate") else food_icons([thing["item"]])[0]


def crate(symbol: str, food: str) -> BoardCell:
    """Return the cell of a dispenser of ingredients."""
    return BoardCell("counter", symbol, food_icons([food]) * 3, front="crate")


@lru_cache(maxsize=64)
def _plain_cell(symbol: str, shade: int) -> BoardCell:
    if symbol == " ":
        return BoardCell(FLOORS[shade], ".", walkable=True)
    if symbol in CRATES:
        return crate(symbol, CRATES[symbol])
    return BoardCell(SPRITES[symbol], TEXTS.get(symbol, symbol))


def work_label(thing: Thing) -> str:
    """Return how far an ingredient is prepared."""
    done: str = thing["preparation"]
    return done if thing["work"] >= thing["needs"] else f"{thing['work']} of {thing['needs']} {done}"


def object_cell(thing: Thing, symbol: str, cooked: int | None, time: int, labels: tuple[str, ...] = ()) -> BoardCell:
    """Return the cell of an object on a counter or in a pot, there with its steps of cooking, None before the first."""
    if symbol != "P":
        sprite = STATION_SPRITES.get(symbol, "counter")
        done = (work_label(thing),) if thing.get("work") else ()
        return BoardCell(sprite, f"[{thing['item'][0]}]", (icon_of(thing),), labels=(*done, *labels))
    if thing["ready"]:
        soon = filter(None, [warning_text(thing, unit="")])
        return BoardCell("pot", "P!", (icon_of(thing),), labels=(*soon, *labels), ready=True)
    contents = food_icons(thing["ingredients"])
    if cooked is None:
        return BoardCell("pot", f"P+{len(contents)}", contents, labels=labels)
    left = time - cooked
    return BoardCell(
        "pot", f"P~{left}", contents, progress=Progress(cooked, time, ", ".join((f"{left} left", *labels)))
    )


def seated(
    players: Sequence[Any], names: Sequence[str], text_of: Callable[[Thing | None], str]
) -> tuple[list[tuple[Point, Cook]], list[Card]]:
    """Return the players that are in view, each with its cell, and the cards of all."""
    letters, cards = initials(names), []
    standing: list[tuple[Point, Cook]] = []
    for seat, player in enumerate(players):
        held = player and player["holding"]
        icon, mark = (icon_of(held), held["item"][0]) if held else (None, "")
        cook = Cook(seat, letters[seat], player["facing"] if player else "", chef=False, held=icon, mark=mark)
        state = f"facing {player['facing']}" if player else "out of view"
        cards.append(agent_card(cook, names[seat], state, *([held_spans(icon, text_of(held))] if player else [()])))
        if player:
            x, y = player["position"]
            standing.append(((x, y), cook))
    return standing, cards


def list_card(title: str, lines: Sequence[str]) -> Card:
    """Return a card of the orders or the recipe."""
    return Card((TextLine((Text(title, GREY),)), *(TextLine((Text(line),)) for line in lines)), kind="order")


def kitchen_drawing(
    board: Board,
    scene: Scene,
    counts: Sequence[tuple[str, str]],
    colour: str,
    cards: Sequence[Card],
    orders: Card,
    listing: Sequence[str],
) -> Drawing:
    """Return the picture of a board with a column of cards: time and score, players, orders."""
    score = f"Score {scene['score']} ({scene['served']} served)", colour
    time = clock(f"Step {scene['timestep']} of {scene['limit']}", [*counts, score], scene["timestep"], scene["limit"])
    lines = 2.5 + 2.5 * len(cards) + orders.height
    return Drawing((board, PanelColumn((time, *cards, orders), PANEL, lines)), listing=tuple(listing))


def _cells(layout: Layout, scene: Scene, objects: Mapping[tuple[int, int], str]) -> dict[tuple[int, int], BoardCell]:
    cells = {
        (x, y): _plain_cell(symbol, (x + y) % 2) for y, row in enumerate(layout.grid) for x, symbol in enumerate(row)
    }
    cells |= {spot: replace(cells[spot], labels=(name,)) for spot, name in objects.items()}
    for gate in scene["gates"]:
        if gate["open"]:  # with the steps until it closes if no player stands in it
            label = f"{objects[tuple(gate['position'])]}, {gate['limit'] - gate['counter'] + 1} left"
            cells[tuple(gate["position"])] = BoardCell("open_gate", f"g{gate['counter']}", labels=(label,))
    for thing in scene["objects"]:
        x, y = thing["position"]
        cooked = None if thing.get("tick", NOT_COOKING) == NOT_COOKING else thing["tick"]
        cells[x, y] = object_cell(
            thing, layout.grid[y][x], cooked, thing.get("time", 0), (objects[x, y],) if (x, y) in objects else ()
        )
    return cells


def held_text(thing: Thing | None) -> str:
    """Return the text of the thing in a hand or on a counter."""
    if thing is None:
        return "nothing"
    if thing["item"] != "soup":
        return f"{work_label(thing)} {thing['item']}" if thing.get("work") else str(thing["item"])
    names = thing["ingredients"]
    return f"soup of {soup_text((names.count('onion'), names.count('tomato')))}"


def order_text(scene: Scene) -> str:
    """Return the order that stands."""
    names = scene["order"]
    return soup_text((names.count("onion"), names.count("tomato")))


def order_lines(layout: Layout) -> list[str]:
    """Return a line for each order with its points; one line if all soups pay the same."""
    pays = {soup: layout.pays(soup) for soup in SOUPS}
    if layout.orders == SOUPS and len(set(pays.values())) == 1:
        return [f"any soup: {pays[SOUPS[0]]}"]
    return [
        f"{soup_text(soup)}: {pays[soup]}{' with bonus' if soup in layout.bonus_orders else ''}"
        for soup in layout.orders
    ]


def _object_text(layout: Layout, thing: Thing) -> str:
    x, y = thing["position"]
    position = f"({x}, {y}) "
    if layout.grid[y][x] != "P":
        return position + held_text(thing)
    if thing["tick"] == NOT_COOKING:
        return f"{position}pot with {held_text(thing).removeprefix('soup of ')}"
    state = f"cooking, {thing['time'] - thing['tick']} of {thing['time']} steps left"
    if thing["ready"]:
        state = ", ".join(filter(None, ["ready", warning_text(thing, unit="")]))
    return f"{position}{held_text(thing)}, {state}"


def picture(
    layout: Layout,
    scene: Scene,
    names: Sequence[str],
    objects: Mapping[tuple[int, int], str],
    coming: Sequence[tuple[tuple[int, int], Terrain]],
) -> Drawing:
    """Return the scene model of a state.

    Args:
        layout: The present kitchen.
        scene: What is to be shown.
        names: Display names of the players.
        objects: Names of objects in texts, by position.
        coming: Cells that the next change changes, with what each becomes; shown once the change is announced.
    """
    standing, cards = seated(scene["players"], names, held_text)
    cells, left = _cells(layout, scene, objects), scene.get("changes", {}).get("left", 0)
    for cell, kind in coming if left else ():
        soon = f"soon {kind.name.lower()}"  # with the object's name where both fit
        both = (f"{objects[cell]} {soon}",) if cell in objects else ()
        cells[cell] = replace(cells[cell], labels=(*both, soon, *cells[cell].labels))
    board = Board((layout.width, layout.height), tuple(cells.items()), tuple(standing))
    lines = [order_text(scene)] if "order" in scene else order_lines(layout)
    first, rest = lines[:SHOWN_ORDERS], lines[SHOWN_ORDERS:]
    orders = list_card("Orders", [*first, *([f"and {len(rest)} more"] if rest else [])])
    listing = [*(f"order: {line}" for line in rest), *(_object_text(layout, thing) for thing in scene["objects"])]
    counts = [(f"Change in {left}", WORKING)] if left else []
    counts += [(f"Order {scene['order_left']}", INK)] if "order_left" in scene else []
    return kitchen_drawing(board, scene, counts, GOOD if scene["score"] else INK, cards, orders, listing)
