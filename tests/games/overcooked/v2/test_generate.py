"""Procedural kitchens with a hidden recipe: drawn from a seed, proved, and with an indicator in one room."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from support.cli_runner import run

from collab_overcooked.evaluation.par_score import play_par
from collab_overcooked.games.overcooked.engine.compile import compile_terrain, number_regions
from collab_overcooked.games.overcooked.engine.constants import NOTHING, Terrain
from collab_overcooked.games.overcooked.engine.generate import generate as generate_kitchens
from collab_overcooked.games.overcooked.engine.generate import layout_text
from collab_overcooked.games.overcooked.engine.solvability import prove
from collab_overcooked.games.overcooked.v2.engine.constants import KINDS_OF_CELLS
from collab_overcooked.games.overcooked.v2.engine.generate import generate, read_config
from collab_overcooked.games.overcooked.v2.engine.spec import load_kitchen
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.registry import make_vec

TRANSLATED = str.maketrans("WX01BR", "XSOTDW")  # as Overcooked writes it, the indicator as a wall


def test_layouts_of_a_seed_are_the_same_however_many_are_drawn() -> None:
    few, many = (generate(read_config({"seed": 4, "count": count, "rooms": [1, 2]})) for count in (3, 6))
    assert [layout.grid for layout in few] == [layout.grid for layout in many[:3]]
    assert len({layout.grid for layout in many}) == 6
    other = generate(read_config({"seed": 5, "count": 3, "rooms": [1, 2]}))
    assert not {layout.grid for layout in few} & {layout.grid for layout in other}


FURNISHED = {"belts": [1, 2], "prepared": [1, 2]}


@pytest.mark.parametrize("options", [{}, FURNISHED])
@pytest.mark.parametrize("rooms", [1, 2])
def test_every_recipe_is_proved_and_one_room_sees_the_indicator(rooms, options) -> None:
    for layout in generate(read_config({"seed": 1, "count": 5, "rooms": rooms, **options})):
        assert layout.recipes == ((0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)) and layout.kinds == 2
        rows = [row.translate(TRANSLATED) for row in layout.grid]
        for recipe in layout.recipes:
            names = [tuple(["onion", "tomato"][kind] for kind in recipe)]
            assert prove(rows, layout.starts, names, layout.prepare) is not None
        (terrain,) = compile_terrain([layout.grid], KINDS_OF_CELLS)
        regions = number_regions(terrain)
        ((y, x),) = np.argwhere(terrain == Terrain.INDICATOR).tolist()
        around = {
            int(regions[y + dy, x + dx])
            for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0))
            if inside(terrain, y + dy, x + dx)
        }
        assert len(around - {NOTHING}) == 1 and regions.max() + 1 == rooms


def inside(grid: np.ndarray, y: int, x: int) -> bool:
    return 0 <= y < grid.shape[0] and 0 <= x < grid.shape[1]


@pytest.mark.parametrize("options", [{}, FURNISHED])
def test_files_of_layouts_read_as_the_layouts(tmp_path, options) -> None:
    for layout in generate(read_config({"count": 2, "rooms": 2, **options})):
        path = tmp_path / f"{layout.name}.yaml"
        path.write_text(layout_text(layout.document.content))
        again = load_kitchen(path)
        assert (again.name, again.grid, again.starts) == (layout.name, layout.grid, layout.starts)
        assert again.prepare == layout.prepare and bool(layout.prepare) == bool(options)


def test_layouts_have_belts_and_a_station_of_each_kind_that_prepares() -> None:
    for layout in generate(read_config({"seed": 2, "count": 3, **FURNISHED})):
        cells = "".join(layout.grid)
        assert 2 <= sum(map(cells.count, "<>^v")) <= 8
        stations = {"board": "C", "grill": "H", "blender": "M"}
        assert sorted(set(cells) & set("CHM")) == sorted({stations[name] for name in layout.prepare.values()})


def test_kitchens_without_a_counter_for_the_indicator_are_drawn_anew() -> None:
    options = {"seed": 1, "count": 100, "rooms": 2, **FURNISHED}
    kitchens, layouts = generate_kitchens(read_config(options)), generate(read_config(options))
    same = [kitchen.cells(" ") == layout.cells(" ") for kitchen, layout in zip(kitchens, layouts, strict=True)]
    assert 80 < sum(same) < 100, "a few kitchens have no such counter"
    assert all(len(layout.cells("R")) == 1 for layout in layouts)


def test_greedy_players_use_belts_and_stations() -> None:
    for layout in generate(read_config({"seed": 3, "count": 6, "belts": [1, 2], "prepared": 1})):
        env = play_par("OvercookedV2-v0", "greedy", layout=layout.document.content, max_cycles=150)
        assert env.scene()["score"] > 0, layout.grid


def test_layouts_without_belts_and_preparation_are_those_drawn_before_there_were_any() -> None:
    digest = sha256()
    for options in ({}, {"rooms": [1, 2]}, {"rearrange": True}):
        for layout in generate(read_config({"seed": 4, "count": 3, **options})):
            digest.update(str(layout.document.content).encode())
    assert digest.hexdigest()[:16] == "c8449d880ccd2ac5"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "procedural", "generator": {"tomatoes": 0}}, "tomatoes must be at least 1, not 0"),
        ({"layout": "procedural", "generator": {"cheese": 1}}, "cheese"),
        ({"layout": "procedural", "generator": {"prepared": 3}}, "prepared must be an integer from 0 to 2"),
        ({"layout": "cramped_room", "generator": {"count": 2}}, "generator is for layout 'procedural'"),
    ],
)
def test_options_of_the_generator_are_checked(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        OvercookedV2(**options)


def test_a_procedural_pool_is_played_and_rearranged_ones_change() -> None:
    env = make_vec(
        "OvercookedV2-v0", num_envs=32, layout="procedural", generator={"count": 8, "rooms": 2}, view_radius=2
    )
    env.reset(seed=0)
    assert len(set(env.game.layout_numbers(env.state).tolist())) > 4
    assert env.game.single_observation_space.shape[:2] == (5, 5)
    game = OvercookedV2("procedural", generator={"count": 2, "rearrange": True}, changes=50, notice=10)
    first, second = game.compiled.tables.terrain
    assert ((first == Terrain.FLOOR) == (second == Terrain.FLOOR)).all() and (first != second).any()


def test_generate_writes_files_that_check_reads(tmp_path) -> None:
    words = ["generate", "OvercookedV2-v0", "--count", 2, "--seed", 1, "--par", "none", "--out", tmp_path]
    assert run(*words).exit_code == 0
    files = sorted(tmp_path.glob("*.yaml"))
    assert len(files) == 2
    result = run("check", *files, "--par", "none")
    assert result.exit_code == 0 and "4 recipes" in result.output


def test_the_suite_plays_procedural_kitchens(tmp_path) -> None:
    words = [
        "evaluate",
        "overcooked-v2",
        "--layouts",
        "procedural",
        "--set",
        "generator={count: 2}",
        "--team",
        "all=greedy",
    ]
    result = run(*words, "--episodes", 1, "--views", "paper", "--max-cycles", 40, "--no-report", "--out", tmp_path)
    assert result.exit_code == 0 and "procedural" in result.output
