"""Greedy, planned and selfish play of Rush, alone and beside others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import collab_overcooked as co
from collab_overcooked.games.rush.engine.constants import Clock, Order
from collab_overcooked.games.rush.engine.search import BeamSearch
from collab_overcooked.games.rush.policies.planner import Planner
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import load_game

SCENARIOS = [(name, episode) for name in ("easy", "hard") for episode in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "episode"), SCENARIOS)
def test_the_planner_plays_the_certified_optimum(play: Any, scenario: str, episode: int) -> None:
    result = play("planner", scenario=scenario, episode=episode)
    assert (result["finished"], result["ruined"], result["refused"]) == (5, 0, 0)
    assert result["turns"] == {"easy": 4, "hard": 10}[scenario]
    assert abs(np.diff(result["advanced"])) <= 1, "the work is shared"


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "episode"), SCENARIOS)
def test_selfish_play_is_one_agents_best(play: Any, scenario: str, episode: int) -> None:
    result = play("selfish", scenario=scenario, episode=episode)
    assert (result["finished"], result["turns"]) == {"easy": (5, 8), "hard": (3, 10)}[scenario]
    assert result["advanced"][0] > 0 and result["advanced"][1] == 0 and result["refused"] == 0


def test_the_policies_are_told_apart(play: Any) -> None:
    finished = {spec: play(spec, scenario="hard", episode=0)["finished"] for spec in ("random", "greedy", "planner")}
    assert finished["random"] < finished["greedy"] < finished["planner"]
    assert play("random", scenario="easy")["ruined"] > 0


@pytest.mark.parametrize("scenario", ["easy", "hard"])
def test_greedy_ruins_nothing_and_is_never_refused(play: Any, scenario: str) -> None:
    result = play("greedy", scenario=scenario)
    assert result["finished"] >= {"easy": 5, "hard": 3}[scenario]
    assert result["ruined"] == result["refused"] == 0


@pytest.mark.parametrize("options", [{"agents": 1}, {"agents": 3}, {"workers": 1}, {"agents": 4, "workers": 3}])
@pytest.mark.parametrize("spec", ["greedy", "planner", "selfish"])
def test_they_play_with_any_number_of_agents_and_workers(play: Any, spec: str, options: dict[str, int]) -> None:
    result = play(spec, scenario="hard", **options)
    assert result["finished"] >= 1 and result["ruined"] == result["refused"] == 0


@pytest.mark.parametrize("spec", ["greedy", "planner", "selfish"])
def test_masks_that_hide_ruin_change_nothing(play: Any, spec: str) -> None:
    assert play(spec, scenario="hard", mask="safe")["actions"] == play(spec, scenario="hard")["actions"]


@pytest.mark.parametrize("spec", ["greedy", "planner", "selfish"])
def test_words_change_nothing(play: Any, spec: str) -> None:
    alien = play(spec, env_id="AlienRush-v0", scenario="hard")
    assert alien == play(spec, scenario="hard")


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("partner", ["selfish", "greedy"])
def test_the_planner_does_not_get_into_anybodys_way(play: Any, partner: str, seat: int) -> None:
    team = [partner, partner]
    team[seat] = "planner"
    easy, hard = play(team, scenario="easy"), play(team, scenario="hard")
    assert easy["finished"] == 5 and easy["turns"] <= 5 and hard["finished"] >= 3
    assert easy["ruined"] == hard["ruined"] == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("team", [["planner", "random"], ["random", "planner"]])
def test_the_planner_makes_the_best_of_a_bad_partner(play: Any, team: list[str], seed: int) -> None:
    """What a random partner ruins is lost; what is left is finished by one alone."""
    result = play(team, seed, scenario="easy")
    assert result["finished"] + result["ruined"] == 5
    assert result["finished"] >= play("random", seed, scenario="easy")["finished"]


def test_the_planner_leaves_alone_what_a_partner_may_be_cooking() -> None:
    """The partner draws from what ruins nothing; two who cook the same order in one slot can still ruin it."""
    game = load_game("KitchenRush-v0", scenario="hard", mask="safe")
    state, out = game.alloc(1)
    state.rng[:] = 3
    game.reset(state, out, np.ones(1, np.bool_), {"episode": 0})
    policy = make_policy("planner")
    policy.reset(1, EnvInfo(game.id, game, "", ("random", "planner"), Simulator(game, state, 1)), 0)
    rng = np.random.default_rng(0)
    while not state.clock[0, Clock.OVER]:
        entry = policy.act(AgentView.of(game, state, out, 1, int(state.clock[0, Clock.T])))
        other = int(rng.choice(np.flatnonzero(out.masks[0, 0])))
        game.step(state, np.array([[other, entry]], np.int32), out)
    assert state.orders[0, :, Order.RUINED].sum() <= 1


def test_a_plan_is_made_once_and_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("KitchenRush-v0", scenario="hard")
    searches = []
    search = BeamSearch.search
    monkeypatch.setattr(BeamSearch, "search", lambda *args: searches.append(1) or search(*args))
    env = co.make("KitchenRush-v0", scenario="hard")
    env.reset(seed=0)
    together = Planner(game, (True, True))
    while env.agents:
        row = together.decide(Simulator(game, env.arrays[0], 0).fork(1, 0))
        env.step(dict(zip(env.agents, row, strict=True)))
    assert len(searches) == 1 and all(order["finished"] for order in env.scene()["orders"])


def test_other_games_are_refused() -> None:
    game = load_game("CuisineWorld-v0")
    with pytest.raises(ValueError, match="policy 'selfish' plays KitchenRush-v0, AlienRush-v0, not CuisineWorld-v0"):
        make_policy("selfish").reset(0, EnvInfo(game.id, game, "", ("selfish",) * game.n_agents), 0)
    with pytest.raises(ValueError, match="takes no parameters"):
        make_policy("selfish:3")
