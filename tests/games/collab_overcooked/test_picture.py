"""Pictures of kitchens: sizes, what is seen where, and what the text picture says."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collab_overcooked.games.collab_overcooked.engine.spec import Kitchen, kitchens, load_kitchen
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.games.collab_overcooked.text.picture import icon_of, labels_of, picture
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.render.ansi import draw_ansi
from collab_overcooked.render.lettering import text_width
from collab_overcooked.render.model import ARROWS, Icon
from collab_overcooked.render.rgb import draw_rgb, short_label
from collab_overcooked.render.sprites import icon_image

TILE = 48

STRANGE = """
extends: paper
name: strange
grid: |
  XXDXX
  I 0 W
  X 1 S
  XXXXX
agents:
  - {name: Ann, role: wizard, facing: south, knows_recipes: true}
  - {name: Abe, role: helper, facing: west, knows_recipes: false}
stations:
  W: {utensil: steam_wok_of_doom, operation: toss, capacity: 6}
  I: {dispenser: ingredients}
  D: {dispenser: dishes}
  S: {serving: true}
ingredients: [dragon_fruit, glimmer]
recipes:
  steam_wok_of_doom:
    fried_dragon_fruit: [dragon_fruit, dragon_fruit, dragon_fruit, glimmer, glimmer, glimmer]
    wobbly_thing: [glimmer]
serving: {plain: [fried_dragon_fruit, wobbly_thing]}
order_probability: {}
tasks:
  fried_dragon_fruit: {title: Fried Dragon Fruit, level: 1}
  wobbly_thing: {title: Wobbly Thing, level: 1}
"""


def start_scene(kitchen: str | Path = "paper", **options: Any) -> tuple[Kitchen, dict[str, Any]]:
    game = CollabOvercooked(kitchen=kitchen, **options)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([np.uint64(5)])
    game.reset(state, out, np.ones(1, np.bool_))
    return game.kitchen, game.scene(state, 0)


@pytest.fixture(scope="module")
def paper() -> tuple[Kitchen, dict[str, Any]]:
    return start_scene()


@pytest.fixture
def scene(paper) -> dict[str, Any]:
    return copy.deepcopy(paper[1])


def rgb(kitchen: Kitchen, scene: dict[str, Any], tile: int | None = None, **options: Any) -> np.ndarray:
    return draw_rgb(picture(kitchen, scene, **options), tile)


def ansi(kitchen: Kitchen, scene: dict[str, Any]) -> str:
    return draw_ansi(picture(kitchen, scene))


def cell(pixels: np.ndarray, position: list[int], tile: int = TILE) -> np.ndarray:
    x, y = position
    return pixels[y * tile : (y + 1) * tile, x * tile : (x + 1) * tile]


def changed_cells(kitchen: Kitchen, before: dict[str, Any], after: dict[str, Any]) -> set[tuple[int, int]]:
    """Cells of the floor plan whose pixels differ between two scenes."""
    one, two = rgb(kitchen, before), rgb(kitchen, after)
    positions = [(x, y) for y, row in enumerate(kitchen.grid) for x in range(len(row))]
    return {(x, y) for x, y in positions if not np.array_equal(cell(one, [x, y]), cell(two, [x, y]))}


def test_all_scenes_of_a_kitchen_have_one_size(paper, scene):
    kitchen = paper[0]
    size = rgb(kitchen, scene).shape
    scene["orders"] = ["sweet_potato_spinach_and_mushroom_patty"] * 8
    scene["counters"] = [
        {"position": [x, y], "item": "sliced_sweet_potato_and_mashed_coconut_stew", "plated": True}
        for y, row in enumerate(kitchen.grid)
        for x, symbol in enumerate(row)
        if symbol == "X"
    ]
    for agent in scene["agents"]:
        agent["holding"] = {"item": "romaine_lettuce_pea_and_tomato_patty", "plated": True}
        agent["action"] = "pickup(sweet_potato_spinach_and_mushroom_patty,oven0)"
    assert rgb(kitchen, scene).shape == size
    scene["orders"] = []
    assert rgb(kitchen, scene).shape == size


@pytest.mark.parametrize("facing", ["north", "south", "east", "west"])
@pytest.mark.parametrize("held", [("egg", False), ("dish", False), ("baked_pumpkin_soup", True)])
def test_a_held_item_shows_in_the_agents_cell_only(paper, scene, facing, held):
    scene["agents"][0]["facing"] = facing
    after = copy.deepcopy(scene)
    after["agents"][0]["holding"] = {"item": held[0], "plated": held[1]}
    assert changed_cells(paper[0], scene, after) == {tuple(scene["agents"][0]["position"])}


def test_facings_look_different(paper, scene):
    pictures = []
    for facing in [facing for facing in ARROWS if facing]:
        scene["agents"][1]["facing"] = facing
        pictures.append(cell(rgb(paper[0], scene), scene["agents"][1]["position"]).tobytes())
    assert len(set(pictures)) == 4


def test_an_item_on_a_counter_shows_and_so_does_the_dish_under_it(paper, scene):
    item, plated = copy.deepcopy(scene), copy.deepcopy(scene)
    item["counters"] = [{"position": [2, 2], "item": "boiled_egg", "plated": False}]
    plated["counters"] = [{"position": [2, 2], "item": "boiled_egg", "plated": True}]
    assert changed_cells(paper[0], scene, item) == {(2, 2)}
    assert changed_cells(paper[0], item, plated) == {(2, 2)}


def test_a_utensil_looks_different_in_every_state(paper, scene):
    position = scene["utensils"]["pot0"]["position"]
    states = [
        {},
        {"status": "filling", "contents": ["egg"]},
        {"status": "filling", "contents": ["egg", "egg"]},
        {"status": "cooking", "contents": ["egg"], "product": "boiled_egg", "timer": 1, "time": 3},
        {"status": "cooking", "contents": ["egg"], "product": "boiled_egg", "timer": 2, "time": 3},
        {"status": "ready", "contents": ["egg"], "product": "boiled_egg", "timer": 3, "time": 3},
    ]
    pictures = []
    for state in states:
        scene["utensils"]["pot0"] |= state
        pictures.append(cell(rgb(paper[0], scene), position).tobytes())
    assert len(set(pictures)) == len(states)


def test_the_panel_shows_clock_orders_and_deliveries(paper, scene):
    base = rgb(paper[0], scene)
    panel = slice(TILE * len(paper[0].grid[0]), None)
    for change in ({"timestep": 3}, {"orders": ["boiled_mushroom"]}, {"orders": []}, {"delivered": 1}, {"limit": 99}):
        pixels = rgb(paper[0], scene | change)
        assert not np.array_equal(pixels[:, panel], base[:, panel]), change
        assert np.array_equal(pixels[:, : panel.start], base[:, : panel.start]), change


def test_unknown_utensils_and_foods_are_drawn(tmp_path):
    path = tmp_path / "strange.yaml"
    path.write_text(STRANGE, encoding="utf-8")
    kitchen = load_kitchen(path)
    _, scene = start_scene(path)
    scene["utensils"]["steam_wok_of_doom0"] |= {"status": "filling", "contents": ["dragon_fruit"] * 3 + ["glimmer"] * 3}
    scene["agents"][0]["holding"] = {"item": "wobbly_thing", "plated": False}
    assert rgb(kitchen, scene).dtype == np.uint8
    assert "steam_wok_of_doom0" in ansi(kitchen, scene)
    assert "0v" in ansi(kitchen, scene) and "1<" in ansi(kitchen, scene)  # Ann and Abe share a letter


@pytest.mark.parametrize("bad", [0, 23, True, 48.0, "48"])
def test_a_bad_tile_size_is_refused(paper, scene, bad):
    with pytest.raises(ValueError, match="tile_size must be an integer of at least 24 pixels"):
        rgb(paper[0], scene, bad)


def test_a_hidden_counter_shows_nothing_of_what_lies_there(paper, scene):
    full = copy.deepcopy(scene)
    full["counters"] = [{"position": [2, 2], "item": "boiled_egg", "plated": False}]
    seen = draw_ansi(picture(paper[0], scene, hidden=[(2, 2)]))
    assert [row.split()[2] for row in seen.split("\n")[:3]] == ["##", "##", "??"]
    assert changed_cells(paper[0], scene, full) == {(2, 2)}
    one, two = rgb(paper[0], scene), rgb(paper[0], scene, hidden=[(2, 2)])
    assert not np.array_equal(cell(one, [2, 2]), cell(two, [2, 2]))


@pytest.mark.parametrize(
    ("name", "icon"),
    [
        ("egg", ("", "", ("egg",))),
        ("boiled_egg", ("", "boiled", ("egg",))),
        ("sweet_potato_slices", ("slices", "", ("sweet_potato",))),
        ("baked_bell_pepper_slices", ("slices", "baked", ("bell_pepper",))),
        ("mashed_carrot", ("mashed", "", ("carrot",))),
        ("baked_carrot_soup", ("soup", "", ("carrot",))),
        ("sliced_beef_and_mashed_peanut_stew", ("stew", "", ("beef", "peanut"))),
        ("taro_bean_and_bell_pepper_patty", ("patty", "", ("taro", "bean", "bell_pepper"))),
        ("zucchini_green_pea_and_onion_patty", ("patty", "", ("zucchini", "green_pea", "onion"))),
        ("grilled_moon_rock", ("", "baked", ("moon_rock",))),
    ],
)
def test_icons_follow_from_names(name, icon):
    form, finish, foods = icon
    assert icon_of(name) == Icon(form, foods, finish)


def test_every_item_of_the_paper_has_an_icon_of_its_own(paper):
    kitchen = paper[0]
    names = [*kitchen.ingredients, *(recipe.product for recipe in kitchen.recipes)]
    icons: dict[bytes, str] = {}
    for name in names:
        icon = icon_of(name, False, tuple(kitchen.ingredients))
        assert set(icon.foods) <= set(kitchen.ingredients), name
        pixels = icon_image(icon, 28).tobytes()
        # A stew's vegetables may have been cut or mashed before; that is the one thing its sprite leaves out.
        assert pixels not in icons or icon.sprite == "stew", f"{name} looks like {icons[pixels]}"
        icons[pixels] = name


@pytest.mark.parametrize("width", [30, 46, 70])
def test_labels_fit_their_cells(paper, width):
    kitchen = paper[0]
    names = [*kitchen.ingredients, *(recipe.product for recipe in kitchen.recipes), "chopping_board0", "W" * 40]
    for name in names:
        lines = short_label(labels_of(name), 10, width)
        assert 1 <= len(lines) <= 2 and all(text_width(line, 10) <= width for line in lines), name


def test_the_text_picture_tells_everything(paper, scene):
    chef, helper = scene["agents"]
    chef |= {"facing": "east", "holding": {"item": "baked_carrot_soup", "plated": True}, "action": "deliver()"}
    helper |= {"facing": "south", "action": "wait(5)", "timer": 3}
    cooking = {"status": "cooking", "contents": ["egg"], "product": "boiled_egg", "timer": 1, "time": 3}
    scene["utensils"]["pot0"] |= cooking
    scene["utensils"]["oven0"] |= cooking | {"status": "ready", "product": "baked_carrot_slices", "timer": 3}
    scene["utensils"]["blender0"] |= {"status": "filling", "contents": ["tofu", "egg"]}
    scene["counters"] = [
        {"position": [2, 3], "item": "dish", "plated": False},
        {"position": [2, 1], "item": "boiled_egg", "plated": True},
    ]
    scene["orders"] = ["baked_carrot_soup", "boiled_egg"]
    text = ansi(paper[0], scene)
    for part in (
        "B>*",
        "Av ",
        "P~2",
        "O!",
        "B+2",
        "baked carrot soup; Order, on a dish\nboiled egg; Next, without a dish",
        "B Bob chef, facing east; holds baked carrot soup on a dish; does deliver()",
        "A Alice assistant, facing south; holds nothing; does wait(5) (3 left)",
        "pot0 (2 left): boiled egg",
        "oven0 (ready): baked carrot slices",
        "blender0: tofu, egg",
        "[1] dish",
        "[2] boiled egg on a dish",
    ):
        assert part in text
    rows = text.split("\n")
    assert rows[3].split()[2] == "[1]" and rows[1].split()[2] == "[2]"


@pytest.mark.parametrize("name", kitchens())
def test_every_kitchen_has_a_text_picture_with_aligned_columns(name):
    kitchen, scene = start_scene(name)
    rows = ansi(kitchen, scene).split("\n")[: len(kitchen.grid)]
    assert all(len(row.split()) == len(kitchen.grid[0]) for row in rows)
    for agent in kitchen.agents:
        assert any(f"{agent.name[0]}^" in row for row in rows)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_a_seat_sees_only_the_counters_that_it_can_use(mode):
    game = CollabOvercooked(kitchen="paper")
    state, out = game.alloc(1)
    views = []
    for lying in ([], [{"position": [1, 0], "item": "egg", "plated": False}]):
        start = game.scene(*reset(game, state, out))
        reset(game, state, out, start | {"counters": lying})
        views.append([np.asarray(game.render(state, 0, mode, seat)).tobytes() for seat in (None, 0, 1)])
    assert [one == two for one, two in zip(*views, strict=True)] == [False, True, False]


def reset(game: CollabOvercooked, state: Any, out: Any, scene: dict[str, Any] | None = None) -> tuple[Any, int]:
    state.rng[:] = seed_states([np.uint64(5)])
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene} if scene else None)
    return state, 0
