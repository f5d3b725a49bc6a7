"""Generated levels of CuisineWorld."""

from __future__ import annotations

import pytest
import yaml
from support.cli_runner import CliRunner

import collab_overcooked as co
from collab_overcooked.cli import app
from collab_overcooked.games.cuisineworld.engine.generate import GeneratorConfig, depths, generate_level
from collab_overcooked.games.cuisineworld.engine.solvability import prove_solvability
from collab_overcooked.games.cuisineworld.engine.spec import load_level


@pytest.mark.parametrize(("tools", "depth", "dishes"), [(1, 1, 3), (3, 2, 2), (6, 3, 3), (12, 2, 5)])
def test_levels_have_the_tools_and_the_depth_that_were_wished(tools, depth, dishes):
    drawn = [generate_level(GeneratorConfig(tools, depth, dishes, agents=3), seed, "mine") for seed in range(5)]
    assert drawn[0] == generate_level(GeneratorConfig(tools, depth, dishes, agents=3), 0, "mine")
    assert len({str(values) for values in drawn}) > 1
    for level in map(load_level, drawn):
        cooking = [kind for kind in level.kitchen if level.tools[kind].role == "cook"]
        assert len(cooking) == tools and len(level.orders) == dishes and level.agents == 3
        assert max(depths()[name] for name in level.order_names) == depth
        report = prove_solvability(level)
        assert report.ok and not report.unused  # every order can be made, and every tool is of use


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 4}, "depth must be an integer from 1 to 3, not 4"),
        ({"tools": 0}, "tools must be an integer from 1"),
        ({"tools": 1, "depth": 2}, "tools: found no 3 dishes of depth 2 that 1 tools can make"),
    ],
)
def test_configs_that_cannot_be_met_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        generate_level(GeneratorConfig(**options), 0, "mine")


def test_the_command_writes_a_level_with_the_greedy_par(tmp_path):
    file = tmp_path / "mine.yaml"
    options = ["--seed", "3", "--tools", "3", "--dishes", "2", "--out", str(file)]
    run = CliRunner().invoke(app, ["generate", "CuisineWorld-v0", *options])
    assert run.exit_code == 0, run.output
    text = file.read_text()
    command = "generate CuisineWorld-v0 --seed 3 --tools 3 --depth 2 --dishes 2 --agents 2 --par greedy"
    assert command in text.split("\n")[0]
    level = load_level(file)
    assert level.par == yaml.safe_load(text)["par"] > 0 and f"par {level.par}" in run.output
    env = co.make("CuisineWorld-v0", level=str(file))
    assert env.reset(seed=0) and len(env.possible_agents) == 2
    CliRunner().invoke(app, ["generate", "CuisineWorld-v0", *options, "--par", "none"])
    assert load_level(file).par is None


def test_a_par_is_a_number():
    with pytest.raises(ValueError, match="par"):
        load_level({**generate_level(GeneratorConfig(), 0, "mine"), "par": "many"})
