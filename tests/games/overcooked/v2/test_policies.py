"""Scripted players: what they earn, and that they use a recipe only after they have seen it."""

from __future__ import annotations

import numpy as np
import pytest

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.overcooked.engine.constants import Clock
from collab_overcooked.games.overcooked.v2.engine.constants import Event
from collab_overcooked.games.overcooked.v2.engine.spec import layouts
from collab_overcooked.games.overcooked.v2.policies.recipe_belief import can_become, scene_of
from collab_overcooked.games.overcooked.v2.suite import paper_options
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import make
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

AIM = {"negative_rewards": True, "redraw_recipe": True, "random_start": True}


def score(team, layout, seed=0, **options):
    env = make("OvercookedV2-v0", layout=layout, **options)
    play_episode(env, make_team([team] * env.game.n_agents), seed=seed)
    return env.scene()["score"]


@pytest.mark.parametrize("layout", layouts())
def test_greedy_serves_everywhere_if_all_see_everything(layout):
    assert score("greedy", layout, **AIM) >= 60


def test_a_button_team_earns_20_for_a_soup_and_pays_5_for_each_recipe():
    for layout in ("grounded_coord_simple", "grounded_coord_ring"):
        env = make("OvercookedV2-v0", layout=layout, view_radius=2, **AIM)
        play_episode(env, make_team(["greedy"] * 2), seed=0)
        served, points = env.scene()["served"], env.scene()["score"]
        assert served >= 8 and 20 * served - points == 5 * (served + 1)  # each recipe costs a press, the last one too


def test_planner_serves():
    assert score("planner", "cramped_room") >= 240


@pytest.mark.nightly
def test_planner_serves_with_what_it_knows():
    assert score("planner", "grounded_coord_simple", view_radius=2, **AIM) >= 60


def test_players_decide_by_what_they_have_seen():
    """With another recipe, and other things out of view, a player that knows neither does the same."""
    env = make("OvercookedV2-v0", layout="test_time_simple", **paper_options("test_time_simple"))
    rng = np.random.default_rng(0)
    for seed in range(4):
        env.reset(seed=seed)
        game, (state, out) = env.game, env.arrays
        players = [make_policy("greedy") for _ in range(2)]
        for player in players:
            player.reset(1, EnvInfo(game.id, game, "", ("greedy", "greedy")), 5)
        other, nothing = game.alloc(1)
        for step in range(60):
            for array, values in zip(other, state, strict=True):
                array[:] = values
            game.sample_belief(other, 1, rng)
            other.clock[0, Clock.RECIPE] = game.compiled.tables.recipes[0, int(rng.integers(2))]
            game.observe(other, nothing)
            chosen = [
                int(player.act(AgentView.of(game, *arrays, 1, step)))
                for player, arrays in zip(players, ((state, out), (other, nothing)), strict=True)
            ]
            if env.scene()["players"][1]["knows_recipe"]:
                break
            assert chosen[0] == chosen[1]
            env.step({"agent_0": int(rng.choice(np.flatnonzero(env.action_mask("agent_0")))), "agent_1": chosen[0]})


@pytest.mark.parametrize(
    ("inside", "expected"), [(["onion"], True), (["onion", "onion"], False), (["tomato", "tomato"], True), ([], True)]
)
def test_can_become(inside, expected):
    assert can_become(inside, ("onion", "tomato", "tomato")) == expected


def test_scenes_of_a_recipe_leave_out_what_is_of_no_use():
    scene = {
        "timestep": 3,
        "limit": 400,
        "players": [{"position": [1, 1], "facing": "north", "holding": {"item": "carrot"}}],
        "objects": [
            {"position": [0, 0], "item": "mushroom"},
            {"position": [1, 0], "item": "soup", "ingredients": ["mushroom"], "left": 5, "ready": False},
            {"position": [2, 0], "item": "plate"},
            {"position": [3, 0], "item": "dish", "ingredients": ["onion"] * 3},
            {"position": [4, 0], "item": "onion"},
            {"position": [5, 0], "item": "soup", "ingredients": ["onion"], "left": 0, "ready": False},
        ],
    }
    recipe = ["carrot", "mushroom", "mushroom"]
    shown = scene_of(scene, recipe)
    assert shown["players"] == scene["players"]
    assert shown["objects"] == [
        *scene["objects"][:3],
        {"position": [5, 0], "item": "soup", "ingredients": recipe, "left": 20},
    ]


def test_suite_scores_layouts_and_views(tmp_path):
    options = {"layouts": "test_time_simple,grounded_coord_simple", "views": "paper,all", "max_cycles": 60}
    plan = plan_evaluation("overcooked-v2", ["all=greedy"], episodes=1, **options)
    records = evaluate(plan, tmp_path, make=make_policy)
    assert [record.task for record in records] == [
        "test_time_simple",
        "test_time_simple, all in view",
        "grounded_coord_simple",
        "grounded_coord_simple, all in view",
    ]
    assert {record.env_kwargs.get("view_radius") for record in records} == {2, None}
    labels = {event.label for record in records for step in record.steps for event in step.events if event}
    assert {"press button", "put ingredient in pot"} <= labels <= {event.label for event in Event}
