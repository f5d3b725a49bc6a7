"""Certified scenarios: the built-in ones, claims that are wrong or open, and files of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collab_overcooked.games.rush.engine.compile import compile_scenario
from collab_overcooked.games.rush.engine.config import RushConfig
from collab_overcooked.games.rush.engine.constants import Clock
from collab_overcooked.games.rush.engine.generate import values_of
from collab_overcooked.games.rush.engine.search import BeamSearch, start_of
from collab_overcooked.games.rush.engine.solvability import claim_of, exchanged, prove, prove_solvability, report_text
from collab_overcooked.games.rush.engine.spec import Scenario, load_scenario, scenarios
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.registry import load_game

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "docs" / "examples" / "scenarios").glob("*.yaml"))
STEW = {"ingredients": {"meat": 1}, "spices": {"green": 1}, "cook_time": 2}
TOAST = {"ingredients": {"bread": 1}, "cook_time": 1}
SMALL: dict[str, Any] = {
    "name": "small",
    "max_turns": 3,
    "episodes": [
        {
            "recipes": {"Stew": STEW, "Toast": TOAST},
            "pantries": [{"spaces": 1, "stock": {"meat": 1, "bread": 1}}],
            "spicebags": [{"spaces": 1, "stock": {"green": 1}}],
            "stoves": [{"spaces": 1}],
        }
    ],
}


def changed(**values: Any) -> Scenario:
    episode = SMALL["episodes"][0]
    parts = {key: value for key, value in values.items() if key in episode}
    return load_scenario({**SMALL, "episodes": [episode | parts], **{k: values[k] for k in values if k not in parts}})


@pytest.mark.parametrize("name", scenarios())
def test_shipped_scenarios_keep_what_they_claim(name: str) -> None:
    report = prove_solvability(load_scenario(name))
    assert report.ok and report.claim and len(report.episodes) == 3
    assert all(episode.exchanged is not None for episode in report.episodes)
    assert all(claim_of(episode) == dict(report.claim) for episode in report.episodes)
    assert len({tuple(episode.exchanged.values()) for episode in report.episodes if episode.exchanged}) == 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_scenarios_keep_what_they_claim(path: Path) -> None:
    report = prove_solvability(load_scenario(path))
    assert report.ok and report.claim


def test_easy_can_be_done_alone_and_hard_only_together() -> None:
    easy, hard = (prove_solvability(load_scenario(name)) for name in ("easy", "hard"))
    for episode in easy.episodes:
        assert episode.alone is not None and episode.alone.turns == 8 <= easy.max_turns
    for episode in hard.episodes:
        assert episode.alone is not None and episode.alone.turns is None and episode.alone.finished == 3
        assert episode.team.turns == episode.team.at_least == hard.max_turns == 10


def test_in_hard_some_ingredient_is_just_enough() -> None:
    for episode in load_scenario("hard").episodes:
        scarce = [
            good
            for good in load_scenario("hard").ingredients
            if 0
            < sum(recipe.ingredients.get(good, 0) for recipe in episode.recipes.values())
            == sum(pantry.stock.get(good, 0) for pantry in episode.pantries)
        ]
        assert len(scarce) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", scenarios())
@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_proofs_hold_for_other_teams_too(name: str, agents: int) -> None:
    """More hands never make it slower, and proofs do not depend on which of the equivalent episodes is looked at."""
    scenario = load_scenario(name)
    proofs = [prove(scenario, e, agents) for e in range(3)]
    assert all(proof.proved for proof in proofs)
    assert len({(proof.finished, proof.turns) for proof in proofs}) == 1
    more = prove(scenario, 0, agents + 1)
    assert more.finished >= proofs[0].finished
    if proofs[0].turns:
        assert more.turns is not None and more.turns <= proofs[0].turns


@pytest.mark.parametrize("name", scenarios())
@pytest.mark.parametrize("other", [1, 2])
def test_the_same_actions_do_the_same_in_equivalent_episodes(name: str, other: int) -> None:
    """Step by step, with goods exchanged, whatever is played."""
    game = load_game("KitchenRush-v0", scenario=name)
    goods = list(game.scenario.goods)
    exchange = exchanged(game.scenario, game.scenario.episodes[0], game.scenario.episodes[other])
    assert exchange is not None
    columns = [goods.index(exchange[good]) for good in goods]
    state, out = game.alloc(2)
    rng = np.random.default_rng(other)
    for _ in range(10):
        for i, episode in enumerate((0, other)):
            game.reset(state, out, np.arange(2) == i, {"episode": episode})
        while not out.truncated.any() and not out.terminated.any():
            assert (state.orders[0] == state.orders[1]).all() and (state.spaces[0] == state.spaces[1]).all()
            assert (state.stock[0] == state.stock[1][:, columns]).all()
            assert (out.masks[0] == out.masks[1]).all() and (out.rewards[0] == out.rewards[1]).all()
            row = (rng.random(out.masks[0].shape) * (out.masks[0] + 0.05)).argmax(-1)
            game.step(state, np.stack([row, row]).astype(np.int32), out)
        assert out.terminated[0] == out.terminated[1] and out.truncated[0] == out.truncated[1]


def test_episodes_that_are_not_equivalent_are_told_apart() -> None:
    scenario = load_scenario("hard")
    assert exchanged(scenario, scenario.episodes[0], load_scenario("easy").episodes[0]) is None
    values = values_of(scenario)
    values["episodes"][1]["pantries"][0]["stock"]["meat"] += 1
    report = prove_solvability(load_scenario(values))
    assert report.episodes[1].exchanged is None and report.episodes[2].exchanged is not None
    assert "episode 1 differs from episode 0 in more than names" in report_text(report)


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ({"team_turns": 2}, "episode 0: the file claims team_turns 2, but it is 3"),
        ({"team_orders": 1}, "episode 0: the file claims team_orders 1, but it is 2"),
        ({"alone_turns": 2}, "episode 0: the file claims alone_turns 2, but it is 3"),
        ({"alone_orders": 2, "team_turns": 3}, None),
    ],
)
def test_a_claim_is_proved_or_refuted(claim: dict[str, int], problem: str | None) -> None:
    report = prove_solvability(changed(claim=claim))
    assert report.problems == ((problem,) if problem else ()) and report.ok == (problem is None)


def test_a_team_of_one_is_not_also_alone() -> None:
    report = prove_solvability(changed(agents=1, claim={"team_turns": 3}))
    assert report.ok and report.episodes[0].alone is None
    assert prove_solvability(changed(agents=1, claim={"alone_turns": 3})).problems == (
        "episode 0: the file claims alone_turns 3, but the team is one agent",
    )


def test_what_cannot_be_done_is_said() -> None:
    short = prove_solvability(changed(max_turns=1, claim={"team_turns": 2}))
    assert short.problems == ("episode 0: the file claims team_turns 2, but not all orders can be finished in time",)
    nothing = changed(pantries=[{"spaces": 0, "stock": {"meat": 5, "bread": 5}}])
    report = prove_solvability(nothing)
    assert report.ok and report.episodes[0].team.finished == 0 and "0 of 2" in report_text(report)


def test_an_unknown_claim_is_refused_with_its_line(tmp_path: Path) -> None:
    text = "name: x\nclaim: {team_turn: 3}\nepisodes:\n  - recipes:\n      A: {ingredients: {meat: 1}, cook_time: 0}\n"
    text += "    pantries: [{spaces: 1}]\n    spicebags: [{spaces: 1}]\n    stoves: [{spaces: 1}]\n"
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(DocumentError, match=r"x\.yaml, line 2: unknown claim 'team_turn'; did you mean team_turns"):
        prove_solvability(load_scenario(tmp_path / "x.yaml"))


TIGHT = {  # one order's meat leaves less than the other's in either pantry, though all of it together suffices
    "recipes": {name: {"ingredients": {"meat": 2}, "cook_time": n} for name, n in (("A", 1), ("B", 2))},
    "pantries": [{"spaces": 2, "stock": {"meat": n}} for n in (3, 1)],
}


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ({}, None),
        ({"team_orders": 1}, "episode 0: the file claims team_orders 1, but it is 1 to 2"),
        ({"team_turns": 2}, "episode 0: the file claims team_turns 2, but the best plan found finishes 1 of 2 orders"),
    ],
)
def test_what_is_not_proved_is_open_and_no_claim_of_it_holds(claim: dict[str, int], problem: str | None) -> None:
    report = prove_solvability(changed(**TIGHT, claim=claim))
    team = report.episodes[0].team
    assert (team.finished, team.at_most, team.turns, team.at_least, team.proved) == (1, 2, None, None, False)
    assert report.problems == ((problem,) if problem else ()) and claim_of(report.episodes[0]) == {}
    assert "all agents  1 to 2 of 2      unknown        no" in report_text(report)


@pytest.mark.parametrize("name", scenarios())
@pytest.mark.parametrize("agents", [1, 2])
def test_a_shipped_claim_has_a_certificate(name: str, agents: int) -> None:
    """A plan that the game's own steps carry out reaches what is claimed, and counting by hand allows no more."""
    scenario = load_scenario(name)
    for e, episode in enumerate(scenario.episodes):
        compiled = compile_scenario(scenario, RushConfig(agents=agents))
        solution = BeamSearch(compiled.tables, e, [True] * agents).search(start_of(compiled.tables, e))
        game = load_game("KitchenRush-v0", scenario=name, agents=agents)
        state, out = game.alloc(1)
        game.reset(state, out, np.ones(1, np.bool_), {"episode": e})
        for row in solution.plan:
            game.step(state, np.array([row], np.int32), out)
        work = sorted(recipe.cook_time + 2 for recipe in episode.recipes.values())
        hands, stoves = agents * scenario.workers, sum(stove.spaces for stove in episode.stoves)
        least = max(-(-sum(work) // hands), -((2 * len(work) - sum(work)) // stoves))
        if least <= scenario.max_turns:
            assert solution.turns == least and state.clock[0, Clock.FINISHED] == len(work)
            assert scenario.claim["team_turns" if agents == 2 else "alone_turns"] == least
        else:
            most = max(n for n in range(len(work)) if sum(work[:n]) <= hands * scenario.max_turns)
            assert state.clock[0, Clock.FINISHED] == most == scenario.claim["alone_orders"]


def test_files_of_other_sizes_are_certified() -> None:
    """Episodes of different sizes, several areas of a kind, own goods, one worker each."""
    first = {
        "recipes": {
            name: {"ingredients": {"rice": 1}, "spices": {"salt": 1}, "cook_time": n}
            for n, name in enumerate("ABCDEFG")
        },
        "pantries": [{"id": 7, "spaces": 1, "stock": {"rice": 3}}, {"id": 30, "spaces": 2, "stock": {"rice": 4}}],
        "spicebags": [{"spaces": 1, "stock": {"salt": 4}}, {"spaces": 1, "stock": {"salt": 3}}],
        "stoves": [{"spaces": 1}, {"spaces": 2}],
    }
    second = first | {"orders": ["B", "C"], "stoves": [{"spaces": 1}]}
    values = {"name": "x", "agents": 5, "workers": 1, "max_turns": 12, "ingredients": ["rice"], "spices": ["salt"]}
    report = prove_solvability(load_scenario(values | {"episodes": [first, second]}))
    assert [episode.team.turns for episode in report.episodes] == [7, 3] and report.ok
    assert [episode.alone.finished for episode in report.episodes if episode.alone] == [3, 2]
    assert report.episodes[1].exchanged is None


def test_the_report_is_fit_for_json() -> None:
    import json

    report = prove_solvability(load_scenario("hard"))
    data = json.loads(json.dumps(report.to_dict()))
    assert data["ok"] and data["episodes"][0]["team"]["turns"] == 10 and data["claim"]["alone_orders"] == 3
    assert data["episodes"][1]["exchanged"]["pasta"] == "cheese"
