"""The scene model of a kitchen with recipes: what a picture shows of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.overcooked.v2.engine.compile import Compiled
from collab_overcooked.games.overcooked.v2.engine.constants import BUTTON_TIME, COOK_TIME, INGREDIENTS
from collab_overcooked.games.overcooked.v2.text.scene import cells_in_view
from collab_overcooked.games.overcooked.v2.text.text import recipe_text, thing_text, unknown_text
from collab_overcooked.render.model import (
    BAD,
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

PANEL = 24  # width in font sizes
SPRITES = {"W": "counter", "P": "pot", "B": "dishes", "X": "serving", "R": "counter", "L": "button"}
TEXTS = {"W": "##"}
FOODS = {"onion": "yellow_onion"}

Scene = Mapping[str, Any]
Thing = Mapping[str, Any]


def _foods(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(FOODS.get(name, name) for name in names)


def icon_of(thing: Thing) -> Icon:
    """Return what an object looks like."""
    if thing["item"] == "plate":
        return Icon("dish")
    if "ingredients" in thing:
        return Icon("soup", _foods(thing["ingredients"]), garnish=True)
    return Icon(foods=_foods([thing["item"]]))


def _plain_cell(symbol: str, shade: int, is_seen: bool) -> Cell:
    if symbol == " ":
        return Cell(FLOORS[shade] if is_seen else "unseen", "." if is_seen else "?", walkable=True)
    if symbol.isdecimal():
        return Cell("counter", symbol, (Icon(foods=_foods([INGREDIENTS[int(symbol)]])),) * 3, front="crate")
    return Cell(SPRITES[symbol], TEXTS.get(symbol, symbol), labels=("recipe",) * (symbol == "R"))


def _recipe_cell(cell: Cell, recipe: Sequence[str], left: int | None) -> Cell:
    icons = tuple(Icon(foods=(food,)) for food in _foods(recipe))
    bar = None if left is None else Progress(BUTTON_TIME - left, BUTTON_TIME, f"{left} left")
    text = cell.text[0] + "".join(str(INGREDIENTS.index(name)) for name in recipe)
    return Cell(cell.sprite, text, icons, labels=cell.labels, progress=bar)


def _object_cell(thing: Thing) -> Cell:
    if thing["item"] != "soup":
        return Cell("counter", f"[{thing['item'][0]}]", (icon_of(thing),))
    if thing["ready"]:
        return Cell("pot", "P!", (icon_of(thing),), ready=True)
    contents, left = tuple(Icon(foods=(food,)) for food in _foods(thing["ingredients"])), thing["left"]
    if not left:
        return Cell("pot", f"P+{len(contents)}", contents)
    return Cell("pot", f"P~{left}", contents, progress=Progress(COOK_TIME - left, COOK_TIME, f"{left} left"))


def _board(compiled: Compiled, scene: Scene, cooks: Mapping[int, Cook], seat: int | None) -> Board:
    layout, players = compiled.layout, scene["players"]
    height, width = compiled.tables.terrain.shape
    visible = [cells_in_view(compiled.tables, *players[seat]["position"])] if seat is not None else []
    cells = {
        (x, y): _plain_cell(symbol, (x + y) % 2, all(seen[y, x] for seen in visible))
        for y, row in enumerate(layout.grid)
        for x, symbol in enumerate(row)
    }
    left = {tuple(button["position"]): button["left"] for button in scene["buttons"] if button["left"]}
    shows = [*left, *(spot for spot in layout.cells("R") if all(seen[spot[1], spot[0]] for seen in visible))]
    cells |= {spot: _recipe_cell(cells[spot], scene["recipe"], left.get(spot)) for spot in shows}
    cells |= {tuple(thing["position"]): _object_cell(thing) for thing in scene["objects"]}
    standing = tuple((tuple(players[j]["position"]), cook) for j, cook in cooks.items())
    return Board((width, height), tuple(cells.items()), standing)


def picture(compiled: Compiled, scene: Scene, names: Sequence[str], seat: int | None) -> Sheet:
    """Return the scene model of a state, or of a seat's knowledge of it."""
    letters, cooks, cards = initials(names), {}, []
    for j, player in enumerate(scene["players"]):
        held = player and player["holding"]
        icon, mark = (icon_of(held), held["item"][0]) if held else (None, "")
        cook = Cook(j, letters[j], player["facing"] if player else "", chef=False, held=icon, mark=mark)
        state = f"facing {player['facing']}" if player else "out of view"
        cards.append(agent_card(cook, names[j], state, *([held_spans(icon, thing_text(held))] if player else [()])))
        if player:
            cooks[j] = cook
    score = f"Score {scene['score']} ({scene['served']} served)", BAD if scene["score"] < 0 else INK
    light = [("delivered", GOOD)] if scene["delivered"] else []
    time = clock(f"Step {scene['timestep']} of {scene['limit']}", [*light, score], scene["timestep"], scene["limit"])
    recipe = "unknown" if scene["recipe"] is None else recipe_text(scene["recipe"])
    orders = Card((Line((Text("Recipe", GREY),)), Line((Text(recipe),))), kind="order")
    lines = 2.5 + 2.5 * len(cards) + orders.height
    listing = [] if scene["recipe"] else [f"recipe: {unknown_text(compiled.layout.recipes)}"]
    parts = _board(compiled, scene, cooks, seat), PanelColumn((time, *cards, orders), PANEL, lines)
    return Sheet(parts, listing=tuple(listing))
