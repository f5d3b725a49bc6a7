"""New scenarios: as wished, the same for the same seed, certified; episodes with goods exchanged."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.envs.lexicon import load_lexicon
from collab_overcooked.games.rush.engine.generate import (
    DISHES,
    PAPER_RECIPES,
    Cards,
    GeneratorConfig,
    episodes_like,
    exchange_goods,
    generate_scenario,
    scenario_text,
    values_of,
)
from collab_overcooked.games.rush.engine.solvability import prove_solvability
from collab_overcooked.games.rush.engine.spec import INGREDIENTS, load_scenario, scenarios

WISHES = [
    GeneratorConfig(),
    GeneratorConfig(tightness=0.5),
    GeneratorConfig(turns=4, tightness=0.3),
    GeneratorConfig(turns=6, tightness=0.1, episodes=1),
    GeneratorConfig(turns=8, agents=3, workers=1, orders=4),
    GeneratorConfig(turns=7, agents=4, orders=9, tightness=0.8),
    GeneratorConfig(turns=8, tightness=0, max_turns=10),
    GeneratorConfig(turns=20, tightness=0, agents=1, workers=1),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_a_scenario_is_as_wished(wish: GeneratorConfig, seed: int) -> None:
    scenario = load_scenario(generate_scenario(wish, seed, "new"))
    report = prove_solvability(scenario)
    assert report.ok and report.claim and len(report.episodes) == wish.episodes
    assert (scenario.agents, scenario.workers) == (wish.agents, wish.workers)
    assert scenario.max_turns == (wish.max_turns or wish.turns)
    for number, episode in enumerate(report.episodes):
        assert episode.exchanged is not None and len(scenario.episodes[number].orders) == wish.orders
        if wish.tightness > 0:
            assert episode.team.turns == wish.turns and episode.alone and episode.alone.finished < wish.orders
        else:
            assert (episode.alone or episode.team).turns == wish.turns
    needs = [recipe.ingredients for recipe in scenario.episodes[0].recipes.values()]
    just_enough = [
        good
        for good in INGREDIENTS
        if 0
        < sum(need.get(good, 0) for need in needs)
        == sum(pantry.stock.get(good, 0) for pantry in scenario.episodes[0].pantries)
    ]
    assert bool(just_enough) == (wish.tightness > 0)


def test_the_same_seed_makes_the_same_scenario() -> None:
    texts = [scenario_text(generate_scenario(GeneratorConfig(turns=9), seed, "new"), "") for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"turns": 0}, "turns must be an integer of at least 1, not 0"),
        ({"orders": True}, "orders must be an integer of at least 1, not True"),
        ({"tightness": 1.5}, "tightness must be a number from 0 to 1, not 1.5"),
        ({"max_turns": 12}, "max_turns must be left out, or be at least turns at tightness 0, not 12"),
        ({"max_turns": 9, "tightness": 0}, "max_turns must be left out"),
        ({"agents": 1}, "tightness must be 0 for one agent"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GeneratorConfig(**values)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (
            GeneratorConfig(turns=3),
            "turns: 3 is impossible with 5 orders and 2 x 2 workers at tightness 1; possible: 4 and more",
        ),
        (GeneratorConfig(turns=4, tightness=0), "at tightness 0; possible: 5 and more"),
        (GeneratorConfig(orders=400, turns=99), "possible: no number"),
    ],
)
def test_turns_that_cannot_be_are_refused_with_those_that_can(wish: GeneratorConfig, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate_scenario(wish, 0, "new")


def test_a_wish_that_no_draw_meets_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collab_overcooked.games.rush.engine.generate.DRAWS", 0)
    with pytest.raises(ValueError, match=r"found no episode that needs exactly 10; try another seed or fewer orders"):
        generate_scenario(GeneratorConfig(), 0, "new")


def test_the_papers_exchange_makes_mac_and_cheese_of_aglio_e_olio() -> None:
    for name in scenarios():
        first, second = (list(episode.recipes.values()) for episode in load_scenario(name).episodes[:2])
        pairs = [(a.name, b.name) for a, b in zip(first, second, strict=True)]
        assert ("Spaghetti Aglio e Olio", "Mac and Cheese") in pairs


def test_equal_recipes_have_one_name_and_known_ones_theirs() -> None:
    cards = Cards()
    stew = {"ingredients": {"meat": 2}, "spices": {}, "cook_time": 1}
    assert cards.name(PAPER_RECIPES["Mac and Cheese"], "x") == "Mac and Cheese"
    assert cards.name(stew, "x") == cards.name(dict(stew), "x") == DISHES["meat"][0]
    names = {cards.name(stew | {"cook_time": n}, "Dish") for n in range(1, 13)}
    assert len(names) == 12 and {"Dish 2", "Dish 3", "Dish 4"} <= names
    assert cards.name({"ingredients": {"rice": 1}, "spices": {}, "cook_time": 1}, "Risotto") == "Risotto 2"


def test_a_recipe_keeps_its_name_over_the_episodes() -> None:
    """Other recipe, other name: who remembers an episode is not misled by the next one."""
    values = generate_scenario(GeneratorConfig(episodes=6), 3, "new")
    known: dict[str, Any] = {}
    for episode in values["episodes"]:
        for name, recipe in episode["recipes"].items():
            assert known.setdefault(name, recipe) == recipe


def test_every_dish_can_be_said_in_the_alien_lexicon() -> None:
    assert load_lexicon("alien").missing(name for names in DISHES.values() for name in names) == {}


def test_episodes_of_a_users_own_file() -> None:
    """Own goods, recipes that nobody orders, ids of areas: all of it is exchanged or kept."""
    result = load_scenario(
        {
            "name": "own",
            "agents": 3,
            "max_turns": 4,
            "ingredients": ["rice", "fish"],
            "spices": ["salt", "dill", "miso"],
            "episodes": [
                {
                    "recipes": {
                        "Sushi": {"ingredients": {"rice": 2, "fish": 1}, "spices": {"salt": 1}, "cook_time": 1},
                        "Soup": {"ingredients": {"fish": 1}, "spices": {"dill": 1, "miso": 2}, "cook_time": 2},
                        "Porridge": {"ingredients": {"rice": 1}, "cook_time": 0},
                    },
                    "orders": ["Soup", "Sushi"],
                    "pantries": [{"id": 4, "spaces": 1, "stock": {"rice": 2, "fish": 3}}],
                    "spicebags": [{"id": 9, "spaces": 2, "stock": {"salt": 1, "dill": 1, "miso": 2}}],
                    "stoves": [{"id": 2, "spaces": 2}],
                }
            ],
        }
    )
    values = episodes_like(result, 4, 0, "new")
    report = prove_solvability(load_scenario(values))
    assert report.ok and report.claim == {"team_turns": 2, "alone_turns": 4}
    assert all(episode.exchanged for episode in report.episodes)
    assert len({str(episode.exchanged) for episode in report.episodes}) == 4
    second = values["episodes"][1]
    assert [area["id"] for area in second["pantries"] + second["spicebags"] + second["stoves"]] == [4, 9, 2]
    assert len(second["recipes"]) == 3 and len(second["orders"]) == 2
    with pytest.raises(ValueError, match="episodes must be from 1 to 12, the number of possible exchanges, not 13"):
        exchange_goods(values, 13, random.Random(0))


@pytest.mark.parametrize("name", scenarios())
def test_a_file_that_is_written_reads_as_the_same_scenario(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    (tmp_path / "again.yaml").write_text(scenario_text(values_of(scenario), "a comment"), encoding="utf-8")
    again = load_scenario(tmp_path / "again.yaml")
    assert again.episodes == scenario.episodes and again.claim == scenario.claim


def run(*text: str) -> Any:
    return CliRunner().invoke(app, list(text))


def test_the_command_line_writes_what_it_proves(tmp_path: Path) -> None:
    out = str(tmp_path / "dinner.yaml")
    created = run("generate", "KitchenRush-v0", "--out", out, "--seed", "7", "--turns", "8", "--tightness", "0.5")
    assert created.exit_code == 0, created.output
    assert "claimed: team_turns 8, alone_orders 4 (all true)" in created.output
    text = Path(out).read_text("utf-8")
    assert text.startswith(
        "# collab-overcooked generate KitchenRush-v0 --seed 7 --episodes 3 --tightness 0.5 --turns 8\n"
    )
    assert run("check", out).output == created.output.replace(f"written: {out}\n", "")
    assert (
        run("generate", "KitchenRush-v0", "--out", out, "--seed", "7", "--turns", "8", "--tightness", "0.5").exit_code
        == 0
    )
    assert Path(out).read_text("utf-8") == text
    like = run("generate", "KitchenRush-v0", "--like", out, "--out", str(tmp_path / "more.yaml"), "--episodes", "2")
    assert like.exit_code == 0 and "more: 2 episodes" in like.output and "team_turns 8" in like.output


def test_verify_prints_json_and_fails_on_a_wrong_claim(tmp_path: Path) -> None:
    import json

    data = json.loads(run("check", "hard", "--json").output)
    assert data["ok"] and data["episodes"][2]["alone"]["finished"] == 3
    values = values_of(load_scenario("easy")) | {"claim": {"team_turns": 5}}
    (tmp_path / "wrong.yaml").write_text(scenario_text(values, "wrong"), encoding="utf-8")
    wrong = run("check", str(tmp_path / "wrong.yaml"))
    assert wrong.exit_code == 1 and "! episode 0: the file claims team_turns 5, but it is 4" in wrong.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["check", "esay"], "unknown file or name 'esay'; did you mean easy"),
        (["generate", "KitchenRush-v0", "--out", "x.txt"], "out: x.txt should end in .yaml"),
        (["generate", "KitchenRush-v0", "--out", "x.yaml", "--turns", "2"], "turns: 2 is impossible"),
        (
            ["generate", "KitchenRush-v0", "--out", "x.yaml", "--tightness", "7"],
            "tightness must be a number from 0 to 1",
        ),
        (
            ["generate", "KitchenRush-v0", "--out", "x.yaml", "--like", "easy", "--turns", "9"],
            "option --turns has no effect with --like",
        ),
        (
            ["generate", "KitchenRush-v0", "--out", "x.yaml", "--like", "easy", "--episodes", "0"],
            "episodes must be from 1 to 86400",
        ),
    ],
)
def test_what_users_get_wrong_is_one_line_and_code_2(text: list[str], message: str) -> None:
    result = run(*text)
    assert result.exit_code == 2 and message in result.output and "Traceback" not in result.output
