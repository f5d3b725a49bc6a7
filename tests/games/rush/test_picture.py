"""Pictures of rounds: sizes, what is seen where, and what the text picture says."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import yaml
from games.rush.world import SCENARIO, Round

from collab_overcooked.games.rush.engine.spec import INGREDIENTS, SPICES, Scenario, scenarios
from collab_overcooked.games.rush.env import KitchenRush
from collab_overcooked.games.rush.text.picture import SPRITES, area_corners, area_size, good_icon, picture
from collab_overcooked.render.ansi import draw_ansi
from collab_overcooked.render.model import Icon
from collab_overcooked.render.rgb import draw_rgb, measure, part_boxes
from collab_overcooked.render.sprites import icon_image


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


def drawing(scenario: Scenario, scene: dict[str, Any]) -> Any:
    return picture(scenario, scene, [f"agent_{seat}" for seat in range(scene["agents"])])


def rgb(scenario: Scenario, scene: dict[str, Any], tile: int | None = None) -> np.ndarray:
    return draw_rgb(drawing(scenario, scene), tile)


def differing(scenario: Scenario, before: dict[str, Any], after: dict[str, Any]) -> set[Any]:
    """Parts of the picture that differ: ids of areas, "clock", "seats" and names of orders."""
    displayed = drawing(scenario, before)
    m = measure(displayed, displayed.tile)
    panel = ["clock", *["seats"] * before["agents"], *(order["name"] for order in before["orders"])]
    one, two = (rgb(scenario, scene) for scene in (before, after))
    (_, box) = part_boxes(displayed, m)
    result, top = set(), float(m.pad)
    for card, name in zip(displayed.parts[1].cards, panel, strict=True):
        end = top + card.height * m.line
        result |= {name} if changed(one, two, (box[0] + 2, round(top), box[2], round(end))) else set()
        top = end
    kinds = [area["kind"] for area in before["areas"]]
    for area, (x, y) in zip(before["areas"], area_corners(scenario, kinds), strict=True):
        wide, high = (side * m.tile for side in area_size(scenario, area["kind"]))
        left, top = round(x * m.tile), round(y * m.tile)
        result |= {area["id"]} if changed(one, two, (left, top, left + wide, top + high)) else set()
    return result


def changed(one: np.ndarray, two: np.ndarray, box: tuple[int, int, int, int]) -> bool:
    left, top, right, bottom = box
    return not np.array_equal(one[top:bottom, left:right], two[top:bottom, left:right])


@pytest.mark.parametrize("name", scenarios())
@pytest.mark.parametrize(("agents", "workers", "tile"), [(1, 1, 32), (5, 7, 64)])
def test_every_scenario_has_a_picture(name, agents, workers, tile):
    scenario, scene = start_scene(name, agents=agents, workers=workers)
    pixels = rgb(scenario, scene, tile)
    assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100


def test_all_scenes_of_a_scenario_have_one_size(small, scene):
    size = rgb(small[0], scene).shape
    assert rgb(*start_scene(yaml.safe_load(SCENARIO), episode=1)).shape == size
    for order in scene["orders"]:
        order |= {"ingredients": True, "spices": True, "cooked": 40, "ruined": True}
    for area in scene["areas"]:
        area |= {"spaces": 999, "spaces_per_turn": 999}
    assert rgb(small[0], scene).shape == size


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
    snapshots = [copy.deepcopy(scene) for _ in states]
    for snapshot, state in zip(snapshots, states, strict=True):
        snapshot["orders"][0] |= state
    for i, one in enumerate(snapshots):
        for two in snapshots[:i]:
            assert differing(small[0], one, two) - {"clock"} == {"Soup"}


def test_every_good_and_area_has_a_picture_of_its_own():
    goods = [(name, False) for name in (*INGREDIENTS, "moonrock")] + [(name, True) for name in (*SPICES, "stardust")]
    for missing in (False, True):
        assert len({icon_image(good_icon(*good, missing), 28).tobytes() for good in goods}) == len(goods)
    kinds = ("pantry", "spicebag", "stove")
    assert len({icon_image(Icon(SPRITES.get(kind, kind)), 48).tobytes() for kind in kinds}) == 3


def test_the_text_picture():
    game = Round()
    game.play("0 Soup | 1 Soup", "2 Soup | 0 Salad", "3 Toast | -")
    assert draw_ansi(drawing(game.game.scenario, game.scene)).splitlines() == [
        "test, episode 1 of 2; turn 2 of 4  finished 1 ruined 1 [####......]",
        "0 agent_0 worker 2 of 2",
        "1 agent_1 worker 2 of 2",
        "Soup; CARROT 2 GREEN 1 cooked 1/2",
        "Toast  ruined; bread 1 cheese 1 red 2 cooked 1/1",
        "Salad  finished; LETTUCE 1 cooked 0/0",
        "pantry1; 2 of 2 free; meat 0 carrot 1 lettuce 0 bread 2 pasta 0 cheese 1",
        "pantry2; 1 of 1 free; meat 0 carrot 1 lettuce 0 bread 0 pasta 0 cheese 0",
        "spicebag; 1 of 1 free; green 0 black 0 white 0 yellow 0 red 2",
        "stove1; 2 of 2 free",
        "stove2; 0 of 1 free",
    ]
    game.play("2 Soup | -")
    assert "over in turn 2" in draw_ansi(drawing(game.game.scenario, game.scene))
