"""Pictures of kitchens: sizes, what is seen where, and what the text picture says."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from collab_overcooked.core.rng import seed_words
from collab_overcooked.games.cuisineworld import art
from collab_overcooked.games.cuisineworld import picture as render
from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.games.cuisineworld.spec import Level, levels, load_level
from collab_overcooked.render import painting

LIFETIMES = load_level("level_9").timing(1.5).lifetimes


def start_scene(name: str, agents: int) -> tuple[Level, dict[str, Any]]:
    game = CuisineWorld(level=name, agents=agents)
    state, out = game.alloc(1)
    state.rng[:] = seed_words([np.uint64(0)])
    game.reset(state, out, np.ones(1, np.bool_))
    return game.level, game.scene(state, 0)


@pytest.fixture(scope="module")
def burgers() -> tuple[Level, dict[str, Any]]:
    return start_scene("level_9", 3)


@pytest.fixture
def scene(burgers) -> dict[str, Any]:
    return copy.deepcopy(burgers[1])


def differing(level: Level, before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Parts of the picture that differ: names of locations, "panel" and "strip"."""
    m = render._measure(level, len(before["agents"]), render.TILE)
    one, two = (render.rgb_array(level, scene, LIFETIMES) for scene in (before, after))
    parts = {"panel": np.s_[: m.body, m.kitchen[0] :], "strip": np.s_[m.body :, :]}
    for at, name in enumerate(level.locations):
        x, y = render._corner(m, at)
        parts[name] = np.s_[y : y + m.block[1], x : x + m.block[0]]
    return {name for name, part in parts.items() if not np.array_equal(one[part], two[part])}


# ------------------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("name", levels())
@pytest.mark.parametrize(("agents", "tile"), [(1, 32), (4, 64)])
def test_every_level_has_a_picture(name, agents, tile):
    level, scene = start_scene(name, agents)
    picture = render.rgb_array(level, scene, None, tile)
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
    assert all(location in render.ansi(level, scene) for location in level.locations)


def test_equal_scenes_give_equal_pictures_also_with_empty_caches(burgers, scene):
    first = render.rgb_array(burgers[0], scene)
    for function in [*vars(art).values(), *vars(painting).values(), render._backdrop]:
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    np.testing.assert_array_equal(render.rgb_array(burgers[0], scene), first)


def test_all_scenes_of_a_level_have_one_size(burgers, scene):
    level = burgers[0]
    size = render.rgb_array(level, scene).shape
    scene["orders"] = [{"name": "cheeseBurger", "remaining": i} for i in range(level.max_open_orders)]
    for tool in scene["tools"].values():
        tool |= {"content": ["cheese", "bread", "sauteedBeef", "lettuceSlice", "tomatoSlice", "beef", "tomato"]}
    for agent in scene["agents"]:
        agent |= {"location": "mixer1", "holding": "BurritodePollo"}
    assert render.rgb_array(level, scene, LIFETIMES).shape == size


def test_agents_show_where_they_stand(burgers, scene):
    after = copy.deepcopy(scene)
    after["agents"][1]["location"] = "pan1"
    assert differing(burgers[0], scene, after) == {"servingtable0", "pan1", "panel"}


def test_a_held_item_shows_on_the_agent(burgers, scene):
    after = copy.deepcopy(scene)
    after["agents"][2]["holding"] = "beef"
    assert differing(burgers[0], scene, after) == {"servingtable0", "panel"}


def test_a_tool_looks_different_in_every_state(burgers, scene):
    states = [
        {"content": []},
        {"content": ["beef"]},
        {"content": ["beef", "bread"]},
        {"content": ["sauteedBeef"], "busy": 2, "ready": True},
        {"content": ["sauteedBeef"], "busy": 1, "ready": True},
        {"content": ["sauteedBeef"], "busy": 0, "ready": True},
    ]
    moments = []
    for state in states:
        moment = copy.deepcopy(scene)
        moment["tools"]["pan0"] |= state
        moments.append(moment)
    for i, one in enumerate(moments):
        for two in moments[:i]:
            assert differing(burgers[0], one, two) == {"pan0", "strip"}


def test_raw_food_on_a_board_is_not_marked_as_finished(burgers):
    level = burgers[0]
    board = level.locations.index("chopboard0")
    assert render._finished(level, board, ["tomatoSlice"])
    assert not render._finished(level, board, ["tomato"])
    assert not render._finished(level, level.locations.index("pan0"), ["tomatoSlice"])


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
    colours = [render._time_colour({"name": "Hopper", "remaining": left}, LIFETIMES) for left in (29, 12, 5, 0, None)]
    assert colours == [render.GOOD, render.WORKING, render.BAD, render.BAD, render.GREY]


@pytest.mark.parametrize("bad", [0, 31, True, 48.0, "48", None])
def test_a_bad_tile_size_is_refused(burgers, scene, bad):
    with pytest.raises(ValueError, match="tile_size must be a whole number of at least 32 pixels"):
        render.rgb_array(burgers[0], scene, None, bad)


# ------------------------------------------------------------------------------------------- items


def test_every_item_and_tool_has_a_picture_of_its_own():
    level = load_level("level_9")
    icons: dict[bytes, str] = {}
    for name in (*level.base_ingredients, *level.recipes):
        icon = art.item_picture(art.look_of(level, name), 28).tobytes()
        assert icon not in icons, f"{name} looks like {icons[icon]}"
        icons[icon] = name
    tools = {art.station_picture(kind, 48).tobytes() for kind in level.tools}
    assert len(tools) == len(level.tools)
    assert set(art.FOODS) == set(level.base_ingredients)


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
    looks = [art.look_of(level, name) for name in ("glimmer", "brew", "crust")]
    assert [look.form for look in looks] == ["", "salad", "pizza"]
    assert len({art.item_picture(look, 28).tobytes() for look in looks}) == 3
    assert art.station_picture("cauldron", 48).size == (48, 48)


@pytest.mark.parametrize(
    ("name", "words"), [("tomatoLettuceSalad", "tomato lettuce salad"), ("MaxJr", "max jr"), ("egg", "egg")]
)
def test_names_become_words(name, words):
    assert art.words_of(name) == words


# ------------------------------------------------------------------------------------------- text


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
    assert render.ansi(burgers[0], scene, LIFETIMES).splitlines() == [
        "level_9: step 7 of 60, completed 1, failed 2",
        "  cheeseBurger .......... too late",
        "  Hopper       ########## 29 left",
        "  MaxJr        no limit",
        "storage0      | -              |",
        "pan0          | -              | @0[beef]",
        "pan1          | sauteedBeef ~2 |",
        "mixer0        | cheese & bread |",
        "mixer1        | -              |",
        "chopboard0    | tomatoSlice !  |",
        "chopboard1    | -              |",
        "servingtable0 | -              | @1 @2",
    ]
    scene["orders"] = []
    assert "  no order is open" in render.ansi(burgers[0], scene).splitlines()
