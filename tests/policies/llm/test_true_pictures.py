"""What pictures of seats show: everything that texts and actions name has its name in the picture."""

from __future__ import annotations

import re

import pytest
from support.hidden import reach

from collab_overcooked import registry
from collab_overcooked.render.model import Board, BoardCell
from collab_overcooked.render.rgb import LABELLED_TILE

GAMES = {
    "Overcooked-v0": [{"layout": "forced_coordination"}, {"layout": "gated_delivery", "action_level": "medium"}],
    "Housework-v0": [{"task": "put_groceries"}, {"agents": 3}],
    "Transport-v0": [{}],
    "CollabOvercooked-v0": [{"task": "boiled_egg"}],
    "CuisineWorld-v0": [{"level": "level_3"}],
    "CraftKitchen-v0": [{}],
    "KitchenRush-v0": [{}],
    "CollabEscape-v0": [{}],
}
CASES = [(env_id, options) for env_id, cases in GAMES.items() for options in cases]


def cells_of(drawing):
    return [cell for part in drawing.parts if isinstance(part, Board) for _, cell in part.cells]


def names_of(cell: BoardCell) -> str:
    """Return all that is written on a cell, with the kinds of its items before their numbers."""
    items = [f"{icon.text} {tag}" for icon, tag in zip(cell.items, cell.tags, strict=False)]
    progress = cell.progress.text if cell.progress else ""
    return "|".join([*cell.labels, cell.caption, progress, *items])


def named(game, view, env_id):
    """Return the names of objects in the board that a seat's text or actions have."""
    if env_id == "Overcooked-v0":
        return set(re.findall(r"\b[octpdsg]\d+\b", view.text))
    if env_id in ("Housework-v0", "Transport-v0"):
        things = {f"{thing['name']} {o}" for o, thing in view.scene["things"].items() if thing["status"] == "seen"}
        return things | {place["name"] for place in view.scene["places"].values()}
    if env_id == "CollabOvercooked-v0":
        return {name.replace("_", " ") for name, u in view.scene["utensils"].items() if u["status"] != "cooking"}
    if env_id == "CuisineWorld-v0":
        return set(view.scene["tools"])
    if env_id == "CraftKitchen-v0":
        return {place.name.replace("_", " ") for place in game.level.places}
    if env_id == "KitchenRush-v0":
        return {area["name"] for area in view.scene["areas"]}
    return set(game.level.rooms)


@pytest.mark.parametrize(("env_id", "options"), CASES)
def test_what_texts_name_is_labelled(env_id, options):
    game, count = registry.load_game(env_id, **options), 0
    for seed, steps in ((1, 0), (2, 9), (3, 25)):
        state, _ = reach(game, seed, steps)
        for seat in range(game.n_agents):
            view = game.seen(state, 0, seat)
            drawing = game.drawing(view.scene, seat)
            written = "|".join(map(names_of, cells_of(drawing))).replace(" ", "")
            names = named(game, view, env_id)
            count += len(names)
            assert not {name for name in names if not re.search(rf"{re.escape(name.replace(' ', ''))}(?!\d)", written)}
            assert drawing.tile >= LABELLED_TILE
    assert count


def test_furniture_at_the_same_place_is_drawn_together():
    game = registry.load_game("Housework-v0")
    together = 0
    for seed in range(20):
        state, _ = reach(game, seed, 0)
        scene = game.scene(state, 0)
        kinds = ("surface", "container", "bed")
        places = [place for place in scene["places"] if place["kind"] in kinds]
        targets = {target for cell in cells_of(game.drawing(scene)) for target in cell.targets}
        assert {place["name"] for place in places} <= targets
        together += len(places) - len({tuple(place["at"]) for place in places})
    assert together
