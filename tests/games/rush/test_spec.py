"""Scenario files: what they may say, what is refused and where, and the tables that become of them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from games.rush.world import SCENARIO

from collab_overcooked.games.rush.engine.compile import compile_scenario
from collab_overcooked.games.rush.engine.config import RushConfig
from collab_overcooked.games.rush.engine.constants import Kind, Param
from collab_overcooked.games.rush.engine.spec import INGREDIENTS, SPICES, load_scenario, scenarios
from collab_overcooked.io.documents import DocumentError

VALUES = yaml.safe_load(SCENARIO)


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """Return the test scenario with one value changed; None takes it away."""
    values = copy.deepcopy(VALUES)
    place = values
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return values


def test_shipped_scenarios_are_the_paper_s_size():
    assert {"easy", "hard"} <= set(scenarios())
    for name in ("easy", "hard"):
        scenario = load_scenario(name)
        assert (scenario.name, scenario.agents, scenario.workers, scenario.max_turns) == (name, 2, 2, 10)
        assert [len(episode.orders) for episode in scenario.episodes] == [5, 5, 5]
        assert (scenario.ingredients, scenario.spices) == (INGREDIENTS, SPICES)


def test_a_scenario_in_words():
    scenario = load_scenario(VALUES)
    first, second = scenario.episodes
    assert first.orders == ("Soup", "Toast", "Salad")
    assert first.recipes["Toast"].ingredients == {"bread": 1, "cheese": 1}
    assert (first.recipes["Salad"].spices, first.recipes["Salad"].cook_time) == ({}, 0)
    assert [(area.id, area.kind, area.spaces) for area in first.areas] == [
        (0, "pantry", 2),
        (5, "pantry", 1),
        (1, "spicebag", 1),
        (2, "stove", 2),
        (3, "stove", 1),
    ]
    assert [area.id for area in second.areas] == [7, 8, 9]
    assert scenario.claim is None


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ([None, None, None, None, None], [0, 1, 2, 3, 4]),
        ([1, None, None, None, None], [1, 2, 3, 4, 5]),
        ([2, None, None, 7, None], [2, 1, 3, 7, 4]),
        ([None, 3, None, None, 9], [0, 3, 2, 4, 9]),
    ],
)
def test_areas_without_an_id_get_the_next_free_number(value, ids):
    values = copy.deepcopy(VALUES)
    areas = [area for kind in ("pantries", "spicebags", "stoves") for area in values["episodes"][0][kind]]
    for area, number in zip(areas, value, strict=True):
        area.pop("id", None)
        if number is not None:
            area["id"] = number
    assert [area.id for area in load_scenario(values).episodes[0].areas] == ids


def test_what_may_be_left_out():
    values = {
        "name": "least",
        "claim": {"team_turns": 1},
        "episodes": [
            {
                "recipes": {
                    "Salad": {"ingredients": {"lettuce": 1}, "cook_time": 0},
                    "Soup": {"ingredients": {"carrot": 1, "lettuce": 0}, "cook_time": 1},
                },
                "pantries": [{"spaces": 1}],
                "spicebags": [{"spaces": 1}],
                "stoves": [{"spaces": 1}, {"spaces": 1}],
            }
        ],
    }
    scenario = load_scenario(values)
    (episode,) = scenario.episodes
    assert (scenario.agents, scenario.workers, scenario.max_turns, scenario.description) == (2, 2, 10, "")
    assert episode.orders == ("Salad", "Soup")
    assert episode.recipes["Soup"].ingredients == {"carrot": 1}
    assert [area.id for area in episode.areas] == [0, 1, 2, 3]
    assert scenario.claim == {"team_turns": 1}


E = ("episodes", 0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (changed("name", to=None), "name is missing"),
        (changed("episodes", to=[]), "episodes must be a list of at least one episode"),
        (changed("max_turns", to=True), "max_turns must be an integer from 1 to 10000, not True"),
        (changed("max_turn", to=3), "unknown key 'max_turn'; did you mean max_turns"),
        (changed("spices", to=["red", "meat"]), "'meat' is an ingredient and a spice"),
        (changed("spices", to=["it's"]), '"it\'s" is not a valid name'),
        (changed(*E, "recipe", to={}), "unknown key 'recipe'; did you mean recipes"),
        (changed(*E, "recipes", to={}), "recipes must hold `name: value` lines"),
        (changed(*E, "recipes", "Soup", "cook_time", to=-1), "cook_time must be an integer from 0 to 9999, not -1"),
        (changed(*E, "recipes", "Soup", "ingredients", to={"carot": 1}), "unknown ingredients 'carot'; did you mean"),
        (changed(*E, "recipes", "Soup", "ingredients", to={}), "Soup has no ingredients"),
        (changed(*E, "orders", to=["Soap"]), "unknown recipe 'Soap'; did you mean Soup"),
        (changed(*E, "orders", to=["Soup", "Soup"]), "'Soup' is listed twice"),
        (changed(*E, "orders", to=[]), "orders must be a list of names"),
        (changed(*E, "stoves", to=[]), "stoves must be a list of at least one stove"),
        (changed(*E, "stoves", 0, "id", to=5), "id 5 belongs to another area"),
        (changed(*E, "stoves", 0, "stock", to={"meat": 1}), "unknown key 'stock'"),
        (changed(*E, "stoves", 0, "spaces", to="two"), "spaces must be an integer from 0 to 9999, not 'two'"),
        (changed(*E, "pantries", 0, "stock", to={"red": 1}), "unknown stock 'red'"),
        (changed("claim", to={"team_turns": "ten"}), "team_turns must be an integer from 0"),
    ],
)
def test_what_cannot_work_is_refused(values, message):
    with pytest.raises(DocumentError, match=message):
        load_scenario(values)


def test_complaints_name_file_and_line(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO.replace("carrot: 2", "carot: 2"), "utf-8")
    with pytest.raises(DocumentError, match=r"mine\.yaml, line 7: unknown ingredients 'carot'"):
        load_scenario(path)
    path.write_text(SCENARIO, "utf-8")
    assert load_scenario(path).episodes == load_scenario(VALUES).episodes


def test_tables_hold_the_largest_episode():
    compiled = compile_scenario(load_scenario(VALUES))
    tables, goods = compiled.tables, compiled.scenario.goods
    assert goods == (*INGREDIENTS, *SPICES)
    assert (compiled.n_orders, tables.areas.shape[1], compiled.n_actions) == (3, 5, 16)
    assert tables.dishes.tolist() == [[[1, 2], [1, 1], [1, 0]], [[1, 1], [0, 0], [0, 0]]]
    pantry, spicebag, stove = int(Kind.PANTRY), int(Kind.SPICEBAG), int(Kind.STOVE)
    assert tables.areas[0].tolist() == [[pantry, 2], [pantry, 1], [spicebag, 1], [stove, 2], [stove, 1]]
    assert tables.areas[1].tolist() == [[pantry, 1], [spicebag, 1], [stove, 1], [0, 0], [0, 0]]
    toast = {name: count for name, count in zip(goods, tables.needs[0, 1].tolist(), strict=True) if count}
    assert toast == {"bread": 1, "cheese": 1, "red": 2}
    assert tables.stock[0].sum() == 7 + 1 + 3
    assert not any(array.flags.writeable for array in tables)
    assert all(array.dtype == np.int32 and array.flags.c_contiguous for array in tables)


def test_actions_are_areas_times_orders():
    compiled = compile_scenario(load_scenario(VALUES))
    assert [compiled.parts(action) for action in (0, 1, 4, 15)] == [(-1, -1), (0, 0), (1, 0), (4, 2)]
    assert all(compiled.action(*compiled.parts(action)) == action for action in range(1, compiled.n_actions))


def test_options_overrule_the_scenario():
    compiled = compile_scenario(load_scenario(VALUES), RushConfig(agents=3, workers=4, max_turns=5, episode=1))
    params = compiled.tables.params
    columns = (Param.N_AGENTS, Param.WORKERS, Param.MAX_TURNS, Param.EPISODE)
    assert [int(params[column]) for column in columns] == [3, 4, 5, 1]


GOODS = (["meat", "carrot", "lettuce", "bread", "pasta", "cheese"], ["green", "black", "white", "yellow", "red"])


def test_built_in_scenarios_are_those_of_the_papers_figures() -> None:
    """Stock 40 (or 20), spices 12, 12, 12, 8, 8 and 4 action spaces; hard limits pantries and stoves only."""
    easy, hard = load_scenario("easy"), load_scenario("hard")
    assert all(recipe.cook_time for s in (easy, hard) for e in s.episodes for recipe in e.recipes.values())
    for scenario in (easy, hard):
        (bag,) = scenario.episodes[0].spicebags
        assert (bag.spaces, list(bag.stock), list(bag.stock.values())) == (4, GOODS[1], [12, 12, 12, 8, 8])
        assert all(sorted(e.spicebags[0].stock.values()) == [8, 8, 12, 12, 12] for e in scenario.episodes)
    for episode in easy.episodes:
        assert [(area.name, area.spaces) for area in episode.areas] == [("pantry", 4), ("spicebag", 4), ("stove", 4)]
        assert episode.pantries[0].stock == dict.fromkeys(GOODS[0], 40)
    for episode in hard.episodes:
        assert [area.name for area in episode.areas] == ["pantry1", "pantry2", "spicebag", "stove1", "stove2"]
        assert {area.spaces for area in (*episode.pantries, *episode.stoves)} == {1}
        counts = {good: {area.stock[good] for area in episode.pantries} for good in GOODS[0]}
        assert sum(stock == {20} for stock in counts.values()) == 3, "as in the paper's other figure"
        assert sum(max(stock) < 4 for stock in counts.values()) == 3, "scarce"
