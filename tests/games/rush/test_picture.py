"""Pictures of rounds: sizes, what is seen where, and what the text picture says."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import yaml
from games.rush.world import SCENARIO, Round

from collab_overcooked.games.rush import art
from collab_overcooked.games.rush import picture as render
from collab_overcooked.games.rush.env import KitchenRush
from collab_overcooked.games.rush.spec import INGREDIENTS, SPICES, Scenario, scenarios
from collab_overcooked.render import painting


def start_scene(source: Any, episode: int = 0, **options: Any) -> tuple[Scenario, dict[str, Any]]:
    game = KitchenRush(scenario=source, **options)
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_), {"episode": episode})
    return game.scenario, game.scene(state, 0)


@pytest.fixture(scope="module")
def small() -> tuple[Scenario, dict[str, Any]]:
    return start_scene(yaml.safe_load(SCENARIO))


@pytest.fixture
def scene(small) -> dict[str, Any]:
    return copy.deepcopy(small[1])


def differing(scenario: Scenario, before: dict[str, Any], after: dict[str, Any]) -> set[Any]:
    """Parts of the picture that differ: ids of areas, "clock", "seats" and names of orders."""
    m = render._measure(scenario, before["agents"], render.TILE)
    one, two = (render.rgb_array(scenario, scene) for scene in (before, after))
    seats, orders = m.pad + 3 * m.line, m.pad + 3 * m.line + -(-before["agents"] // render.PER_ROW) * m.seat + m.pad
    parts: dict[Any, Any] = {
        "clock": np.s_[:seats, m.board :],
        "seats": np.s_[seats : orders - m.pad, m.board :],
    }
    for at, area in enumerate(before["areas"]):
        x, y = render._corner(m, at)
        parts[area["id"]] = np.s_[y : y + m.card[1], x : x + m.card[0]]
    for i, order in enumerate(before["orders"]):
        parts[order["name"]] = np.s_[orders + i * m.order : orders + (i + 1) * m.order - m.pad, m.board :]
    return {name for name, part in parts.items() if not np.array_equal(one[part], two[part])}


@pytest.mark.parametrize("name", scenarios())
@pytest.mark.parametrize(("agents", "workers", "tile"), [(1, 1, 32), (5, 7, 64)])
def test_every_scenario_has_a_picture(name, agents, workers, tile):
    scenario, scene = start_scene(name, agents=agents, workers=workers)
    picture = render.rgb_array(scenario, scene, tile)
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_equal_scenes_give_equal_pictures_also_with_empty_caches(small, scene):
    first = render.rgb_array(small[0], scene)
    for function in [*vars(art).values(), *vars(painting).values(), render._backdrop]:
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    np.testing.assert_array_equal(render.rgb_array(small[0], scene), first)


def test_all_scenes_of_a_scenario_have_one_size(small, scene):
    size = render.rgb_array(small[0], scene).shape
    assert render.rgb_array(*start_scene(yaml.safe_load(SCENARIO), episode=1)).shape == size
    for order in scene["orders"]:
        order |= {"ingredients": True, "spices": True, "cooked": 40, "ruined": True}
    for area in scene["areas"]:
        area |= {"spaces": 999, "spaces_per_turn": 999}
    assert render.rgb_array(small[0], scene).shape == size


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"turn": 1, "slot": 2, "turns_left": 3}, {"clock"}),
        ({"worker": 1, "slot": 1}, {"clock", "seats"}),
        ({"seat": 1}, {"seats"}),
        ({"over": True}, {"clock", "seats"}),
        ({"episode": 0, "scenario": "other"}, {"clock"}),
    ],
)
def test_the_panel_shows_time_and_workers(small, scene, change, seen):
    assert differing(small[0], scene, scene | change) == seen


def test_an_area_shows_its_spaces_and_stock(small, scene):
    fewer, empty = copy.deepcopy(scene), copy.deepcopy(scene)
    fewer["areas"][3]["spaces"] = 1
    assert differing(small[0], scene, fewer) == {2}
    empty["areas"][2]["stock"]["red"] = 0
    assert differing(small[0], scene, empty) == {1}


def test_an_order_looks_different_in_every_state(small, scene):
    states: list[dict[str, Any]] = [
        {},
        {"ingredients": True},
        {"spices": True},
        {"ingredients": True, "cooked": 1},
        {"ingredients": True, "spices": True, "cooked": 2, "finished": True},
        {"cooked": 1, "ruined": True},
    ]
    moments = [copy.deepcopy(scene) for _ in states]
    for moment, state in zip(moments, states, strict=True):
        moment["orders"][0] |= state
    for i, one in enumerate(moments):
        for two in moments[:i]:
            assert differing(small[0], one, two) - {"clock"} == {"Soup"}


@pytest.mark.parametrize("bad", [0, 31, True, 48.0, "48", None])
def test_a_bad_tile_size_is_refused(small, scene, bad):
    with pytest.raises(ValueError, match="tile_size must be a whole number of at least 32 pixels"):
        render.rgb_array(small[0], scene, bad)


def test_every_good_and_area_has_a_picture_of_its_own():
    goods = [(name, False) for name in (*INGREDIENTS, "moonrock")] + [(name, True) for name in (*SPICES, "stardust")]
    assert len({art.good_picture(*good, 28).tobytes() for good in goods}) == len(goods)
    assert len({art.faded(*good, 28).tobytes() for good in goods}) == len(goods)
    assert len({art.area_picture(kind, 48).tobytes() for kind in art.AREAS}) == 3


def test_the_text_picture():
    game = Round()
    game.play("0 Soup | 1 Soup", "2 Soup | 0 Salad", "3 Toast | -")
    assert render.ansi(game.game.scenario, game.scene).splitlines() == [
        "test, episode 1: turn 2 of 4, worker 2 of 2",
        "  pantry 0    [##]  meat 0, carrot 1, lettuce 0, bread 2, pasta 0, cheese 1",
        "  pantry 5    [#]   meat 0, carrot 1, lettuce 0, bread 0, pasta 0, cheese 0",
        "  spicebag 1  [#]   green 0, black 0, white 0, yellow 0, red 2",
        "  stove 2     [##]",
        "  stove 3     [.]",
        "  Soup   open      CARROT 2; GREEN 1; cooked 1/2",
        "  Toast  ruined    bread 1, cheese 1; red 2; cooked 1/1",
        "  Salad  finished  LETTUCE 1; cooked 0/0",
    ]
    game.play("2 Soup | -")
    assert render.ansi(game.game.scenario, game.scene).splitlines()[0] == "test, episode 1: over in turn 2"
