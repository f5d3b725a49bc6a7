"""Pictures of kitchens: sizes, what is seen where, and what the text picture says."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from support.covers import cover

from collab_overcooked.games.cuisineworld.engine.spec import Level, levels, load_level
from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.games.cuisineworld.text.picture import (
    CAPTION,
    COOK,
    STATIONS,
    icon_of,
    is_finished,
    picture,
    split_name,
    spots,
    time_colour,
)
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.render.ansi import draw_ansi
from collab_overcooked.render.model import BAD, GOOD, GREY, WORKING
from collab_overcooked.render.rgb import draw_rgb, measure, part_boxes
from collab_overcooked.render.sprites import food_names, icon_image, sprite_names, station_image

LIFETIMES = load_level("level_9").timing(1.5).lifetimes


def start_scene(name: str, agents: int) -> tuple[Level, dict[str, Any]]:
    game = CuisineWorld(level=name, agents=agents)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([np.uint64(0)])
    game.reset(state, out, np.ones(1, np.bool_))
    return game.level, game.scene(state, 0)


@pytest.fixture(scope="module")
def burgers() -> tuple[Level, dict[str, Any]]:
    return start_scene("level_9", 3)


@pytest.fixture
def scene(burgers) -> dict[str, Any]:
    return copy.deepcopy(burgers[1])


def drawing(level: Level, scene: dict[str, Any], lifetimes: Any = None) -> Any:
    return picture(level, scene, [f"agent{seat}" for seat in range(len(scene["agents"]))], lifetimes)


def rgb(level: Level, scene: dict[str, Any], lifetimes: Any = None, tile: int | None = None) -> np.ndarray:
    return draw_rgb(drawing(level, scene, lifetimes), tile)


def ansi(level: Level, scene: dict[str, Any], lifetimes: Any = None) -> str:
    return draw_ansi(drawing(level, scene, lifetimes))


def differing(level: Level, before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Parts of the picture that differ: names of locations, "panel" and "strip"."""
    displayed = drawing(level, before, LIFETIMES)
    board, panel = part_boxes(displayed, measure(displayed, displayed.tile))
    one, two = (rgb(level, scene, LIFETIMES) for scene in (before, after))
    parts = {"panel": np.s_[: panel[3], panel[0] :], "strip": np.s_[panel[3] :, :]}
    m = measure(displayed, displayed.tile)
    (_, height), places = spots(level, len(before["agents"]))
    for name, ((x, y), _, way) in zip(level.locations, places, strict=True):
        end = height - 1 - CAPTION - COOK - 0.05  # in the room: two rows before an upper tool, one before a lower one
        left, top, middle = (round(value * m.tile) for value in (x - 0.5, y if way > 0 else end, end))
        parts[name] = np.s_[top : middle if way > 0 else board[3], max(0, left) : left + 2 * m.tile]
    return {name for name, part in parts.items() if not np.array_equal(one[part], two[part])}


@pytest.mark.parametrize(("name", "size"), cover(levels(), [(1, 32), (4, 64)]))
def test_every_level_has_a_picture(name, size):
    agents, tile = size
    level, scene = start_scene(name, agents)
    pixels = rgb(level, scene, None, tile)
    assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100
    kinds = zip(level.locations, level.kitchen, strict=True)
    assert all(f"{name}: " in ansi(level, scene) for name, kind in kinds if kind != "storage")


@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_every_tool_is_drawn_and_no_counter_over_it(agents):
    level, scene = start_scene("level_3", agents)
    board = drawing(level, scene).parts[0]
    places = [(round(x, 6), round(y, 6)) for (x, y), _ in board.cells]
    assert len(set(places)) == len(places)
    assert {cell.caption for _, cell in board.cells if cell.targets} == set(level.locations)


def test_all_scenes_of_a_level_have_one_size(burgers, scene):
    level = burgers[0]
    size = rgb(level, scene).shape
    scene["orders"] = [{"name": "cheeseBurger", "remaining": i} for i in range(level.max_open_orders)]
    for tool in scene["tools"].values():
        tool |= {"content": ["cheese", "bread", "sauteedBeef", "lettuceSlice", "tomatoSlice", "beef", "tomato"]}
    for agent in scene["agents"]:
        agent |= {"location": "mixer1", "holding": "BurritodePollo"}
    assert rgb(level, scene, LIFETIMES).shape == size


def test_agents_show_where_they_stand(burgers, scene):
    after = copy.deepcopy(scene)
    after["agents"][1]["location"] = "pan1"
    # The third agent moves up to the first one's side; its old place is in the strip of the tool opposite.
    assert differing(burgers[0], scene, after) == {"servingtable0", "mixer0", "pan1", "panel"}


def test_a_held_item_shows_on_the_agent(burgers, scene):
    after = copy.deepcopy(scene)
    after["agents"][2]["holding"] = "beef"
    assert differing(burgers[0], scene, after) == {"mixer0", "panel"}  # it stands in the second row, as above


def test_a_tool_looks_different_in_every_state(burgers, scene):
    states = [
        {"content": []},
        {"content": ["beef"]},
        {"content": ["beef", "bread"]},
        {"content": ["sauteedBeef"], "busy": 2, "ready": True},
        {"content": ["sauteedBeef"], "busy": 1, "ready": True},
        {"content": ["sauteedBeef"], "busy": 0, "ready": True},
    ]
    snapshots = []
    for state in states:
        snapshot = copy.deepcopy(scene)
        snapshot["tools"]["pan0"] |= state
        snapshots.append(snapshot)
    for i, one in enumerate(snapshots):
        for two in snapshots[:i]:
            assert differing(burgers[0], one, two) == {"pan0", "strip"}


def test_raw_food_on_a_board_is_not_marked_as_finished(burgers):
    level = burgers[0]
    board = level.locations.index("chopboard0")
    assert is_finished(level, board, ["tomatoSlice"])
    assert not is_finished(level, board, ["tomato"])
    assert not is_finished(level, level.locations.index("pan0"), ["tomatoSlice"])


def test_the_panel_shows_clock_counters_and_orders(burgers, scene):
    scene["orders"] = [{"name": "MaxJr", "remaining": 9}]
    for change in (
        {"timestep": 3},
        {"completed": 1},
        {"expired": 2},
        {"limit": 99},
        {"orders": []},
        {"orders": [{"name": "MaxJr", "remaining": 8}]},
        {"orders": [{"name": "MaxJr", "remaining": None}]},
        {"orders": [{"name": "Hopper", "remaining": 9}]},
    ):
        assert differing(burgers[0], scene, scene | change) == {"panel"}, change


def test_bars_turn_red_in_time():
    colours = [time_colour({"name": "Hopper", "remaining": left}, LIFETIMES) for left in (29, 12, 5, 0, None)]
    assert colours == [GOOD, WORKING, BAD, BAD, GREY]


def test_every_item_and_tool_has_a_picture_of_its_own():
    level = load_level("level_9")
    icons: dict[bytes, str] = {}
    for name in (*level.base_ingredients, *level.recipes):
        icon = icon_image(icon_of(level, name), 28).tobytes()
        assert icon not in icons, f"{name} looks like {icons[icon]}"
        icons[icon] = name
    sprites = {STATIONS.get(kind, kind) for kind in level.tools}
    assert len({station_image(sprite, 48).tobytes() for sprite in sprites}) == len(level.tools)
    assert sprites <= set(sprite_names())
    assert set(level.base_ingredients) <= set(food_names())


def test_dishes_of_new_level_files_are_drawn():
    values = {
        "extends": "cookbook",
        "name": "new",
        "ingredients": {"other": ["glimmer", "moonrock"]},
        "tools": {
            "storage": {"role": "storage"},
            "servingtable": {"role": "table"},
            "oven": {"busy": 3},
            "cauldron": {"busy": 2},
        },
        "recipes": {"brew": {"cauldron": ["glimmer", "moonrock"]}, "crust": {"oven": ["brew"]}},
        "kitchen": ["storage", "servingtable", "cauldron", "oven"],
        "orders": ["crust"],
    }
    level = load_level(values)
    icons = [icon_of(level, name) for name in ("glimmer", "brew", "crust")]
    assert [icon.sprite for icon in icons] == ["", "salad", "pizza"]
    assert len({icon_image(icon, 28).tobytes() for icon in icons}) == 3
    assert station_image("cauldron", 48).size == (48, 48)


@pytest.mark.parametrize(
    ("name", "message"), [("tomatoLettuceSalad", "tomato lettuce salad"), ("MaxJr", "max jr"), ("egg", "egg")]
)
def test_names_become_words(name, message):
    assert split_name(name) == message


def test_the_text_picture(burgers, scene):
    scene |= {"timestep": 7, "limit": 60, "completed": 1, "expired": 2}
    scene["orders"] = [
        {"name": "cheeseBurger", "remaining": 0},
        {"name": "Hopper", "remaining": 29},
        {"name": "MaxJr", "remaining": None},
    ]
    scene["agents"][0] |= {"location": "pan0", "holding": "beef"}
    scene["tools"]["pan1"] |= {"content": ["sauteedBeef"], "busy": 2, "ready": True}
    scene["tools"]["chopboard0"] |= {"content": ["tomatoSlice"], "ready": True}
    scene["tools"]["mixer0"] |= {"content": ["cheese", "bread"]}
    assert ansi(burgers[0], scene, LIFETIMES).splitlines() == [
        "Step 7 of 60  completed 1 failed 2 [#.........]",
        "0 agent0 at pan0; holds beef",
        "1 agent1 at servingtable0; holds nothing",
        "2 agent2 at servingtable0; holds nothing",
        "Orders",
        "cheese burger  too late [..........]; cheese bread beef pan, mixer",
        "hopper  29 left [##########]; bread tomato lettuce beef pan, chopboard, mixer",
        "max jr  no limit; cheese bread lettuce beef pan, chopboard, mixer",
        "pan0: empty",
        "pan1 (2 left): sauteed beef",
        "mixer0: cheese, bread",
        "mixer1: empty",
        "chopboard0: tomato slice",
        "chopboard1: empty",
        "servingtable0: empty",
    ]
    scene["orders"] = []
    assert "No order is open." in ansi(burgers[0], scene).splitlines()
