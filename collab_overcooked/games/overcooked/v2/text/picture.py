"""Drawing of a scene of a kitchen with recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from collab_overcooked.render.model import BAD, FLOORS, GOOD, INK, WORKING, Board, BoardCell, Drawing, Progress

from ...engine.constants import BUTTON_TIME
from ...text.picture import STATION_SPRITES, crate, food_icons, kitchen_drawing, list_card, object_cell, seated
from ..engine.compile import cell_name
from ..engine.constants import COOK_TIME, INGREDIENTS
from .scene import cells_in_view
from .text import OvercookedV2Text, recipe_text, thing_text, unknown_text

SPRITES = {"W": "counter", "P": "pot", "B": "dishes", "X": "serving", "R": "counter", "L": "button"} | STATION_SPRITES
TEXTS = {"W": "##"}

Scene = Mapping[str, Any]


def _plain_cell(symbol: str, shade: int, is_seen: bool) -> BoardCell:
    if symbol == " ":
        return BoardCell(FLOORS[shade] if is_seen else "unseen", "." if is_seen else "?", walkable=True)
    if symbol.isdecimal():
        return crate(symbol, INGREDIENTS[int(symbol)])
    return BoardCell(SPRITES[symbol], TEXTS.get(symbol, symbol), labels=("recipe",) * (symbol == "R"))


def _recipe_cell(cell: BoardCell, recipe: Sequence[str], left: int | None) -> BoardCell:
    bar = None if left is None else Progress(BUTTON_TIME - left, BUTTON_TIME, f"{left} left")
    text = cell.text[0] + "".join(str(INGREDIENTS.index(name)) for name in recipe)
    return BoardCell(cell.sprite, text, food_icons(recipe), labels=cell.labels, progress=bar)


def _cells(game: OvercookedV2Text, scene: Scene, seat: int | None) -> dict[tuple[int, int], BoardCell]:
    k, players = game.layout_of(scene), scene["players"]
    layout = game.layouts[k]
    visible = [cells_in_view(game.compiled.tables, *players[seat]["position"])] if seat is not None else []
    cells = {
        (x, y): _plain_cell(symbol, (x + y) % 2, all(seen[y, x] for seen in visible))
        for y, row in enumerate(layout.grid)
        for x, symbol in enumerate(row)
    }
    left = {tuple(button["position"]): button["left"] for button in scene["buttons"] if button["left"]}
    shows = [*left, *(spot for spot in layout.cells("R") if all(seen[spot[1], spot[0]] for seen in visible))]
    cells |= {spot: _recipe_cell(cells[spot], scene["recipe"], left.get(spot)) for spot in shows}
    for thing in scene["objects"]:
        steps = thing.get("left")
        cooked = COOK_TIME - steps if steps else None
        x, y = thing["position"]
        cells[x, y] = object_cell(thing, layout.grid[y][x], cooked, COOK_TIME)
    for cell, kind in game.coming(k) if steps_left(scene) else ():
        cells[cell] = replace(cells[cell], labels=(f"soon {cell_name(kind)}", *cells[cell].labels))
    return cells


def steps_left(scene: Scene) -> int:
    """Return the steps to a change that is announced, 0 where none is."""
    left: int = scene.get("changes", {}).get("left", 0)
    return left


def picture(game: OvercookedV2Text, scene: Scene, seat: int | None) -> Drawing:
    """Return the scene model of a state, or of a seat's knowledge of it."""
    standing, cards = seated(scene["players"], game.display_names, thing_text)
    layout = game.layouts[game.layout_of(scene)]
    board = Board((len(layout.grid[0]), len(layout.grid)), tuple(_cells(game, scene, seat).items()), tuple(standing))
    known = "unknown" if scene["recipe"] is None else recipe_text(scene["recipe"])
    recipe = list_card("Recipe", [known])
    listing = [] if scene["recipe"] else [f"recipe: {unknown_text(layout.recipes)}"]
    news = [("delivered", GOOD)] if scene["delivered"] else []
    news += [(f"Change in {left}", WORKING)] if (left := steps_left(scene)) else []
    news += [(f"Recipe {scene['order_left']}", INK)] if "order_left" in scene else []
    return kitchen_drawing(board, scene, news, BAD if scene["score"] < 0 else INK, cards, recipe, listing)
