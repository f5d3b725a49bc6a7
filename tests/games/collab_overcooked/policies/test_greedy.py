from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.policies.order_work import Needs
from collab_overcooked.games.collab_overcooked.policies.scene import KitchenScene, tables_of
from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import load_game

TASKS = load_kitchen().tasks
ONE_A_LEVEL = [names[0] for names in load_kitchen().levels().values()]
STEPS = {2: 24, 3: 36, 4: 33, 5: 56, 6: 52}


def idle(item: str | None = None, plated: bool = False) -> dict[str, Any]:
    return {"holding": {"item": item, "plated": plated} if item else None, "action": None}


@pytest.fixture
def play_from(start: Any, see: Any) -> Any:
    """Let a greedy team start from a scene; returns the steps until the delivery, 0 if there is none."""

    def run(task: str, scene: dict[str, Any], limit: int = 150) -> int:
        game = load_game("CollabOvercooked-v0", task=task)
        begun = game.scene(start(game)[0], 0)
        for seat, agent in enumerate(scene.get("agents", ())):
            begun["agents"][seat] |= agent
        begun |= {key: value for key, value in scene.items() if key != "agents"}
        state, out = start(game, {"state": begun}, limit)
        policies: list[Any] = [make_policy("greedy") for _ in range(2)]
        for seat, policy in enumerate(policies):
            policy.reset(seat, EnvInfo(game.id, game, task, ("greedy",) * 2, Simulator(game, state, seat)), 0)
        for timestep in range(limit):
            actions = np.zeros((1, 2), np.int32)
            for seat, policy in enumerate(policies):
                seen = see(game, (state, out), seat, timestep)
                actions[0, seat] = 0 if seen.mask[0] else policy.act(seen)
            game.step(state, actions, out)
            if out.terminated[0]:
                return timestep + 1
        return 0

    return run


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_it_solves_every_task_of_the_paper_in_time(play: Any, task: str) -> None:
    record = play("greedy", task=task)
    expected = STEPS.get(TASKS[task].level, 17 if task.startswith("baked") else 16)
    assert record.success and record.timesteps == expected
    assert not any(step.errors for step in record.steps)


@pytest.mark.parametrize("task", ONE_A_LEVEL)
@pytest.mark.parametrize("seed", range(2))
def test_agents_on_one_floor_get_past_each_other(play: Any, task: str, seed: int) -> None:
    record = play("greedy", seed, task=task, kitchen="shared_floor", gamma=3)
    assert record.success and not any(step.errors for step in record.steps)


@pytest.mark.parametrize("task", ONE_A_LEVEL)
@pytest.mark.parametrize("seed", range(2))
def test_three_agents_share_the_work(play: Any, task: str, seed: int) -> None:
    record = play("greedy", seed, task=task, kitchen="three_agents")
    assert record.success and not any(step.errors for step in record.steps)


@pytest.mark.parametrize("kitchen", ["paper", "shared_floor", "three_agents"])
def test_it_plays_beside_anybody_and_from_its_seed_alone(play: Any, kitchen: str) -> None:
    seats = 3 if kitchen == "three_agents" else 2
    for seat in range(seats):
        team = tuple("greedy" if i == seat else "random" for i in range(seats))
        record = play(team, 1, task=ONE_A_LEVEL[5], kitchen=kitchen)
        assert not any(step.errors for step in record.steps)
        assert record == play(team, 1, task=ONE_A_LEVEL[5], kitchen=kitchen)


@pytest.mark.parametrize("kitchen", ["paper", "shared_floor", "three_agents"])
def test_it_serves_one_order_after_the_other(play: Any, kitchen: str) -> None:
    record = play("greedy", kitchen=kitchen, orders=True)
    assert sum(step.rewards[0] > 0 for step in record.steps) >= 5


def test_it_needs_medium_level_actions(play: Any) -> None:
    with pytest.raises(ValueError, match="medium-level"):
        play("greedy", action_level="primitive")


def test_needs_count_down_the_recipe_tree(start: Any) -> None:
    game = load_game("CollabOvercooked-v0", task="potato_carrot_and_onion_patty")
    names = game.compiled.names.items
    needs = Needs(KitchenScene(tables_of(game), start(game)[0]))
    assert sorted(names[item] for item, _ in needs.fetches) == ["carrot", "dish", "onion", "potato"]
    results = [names[making.product] for making in needs.makings]
    assert results[0] == "potato_carrot_and_onion_patty" and "mashed_potato" in results


@pytest.mark.parametrize(
    ("task", "scene"),
    [
        ("boiled_egg", {"utensils": {"pot0": {"contents": ["beef", "egg"]}}}),  # must be cleared: fits no recipe
        ("boiled_egg", {"agents": [idle("potato_slices"), idle("dish")]}),
        ("boiled_egg", {"agents": [idle("boiled_mushroom"), idle()]}),  # the chef may serve it to be rid of it
        ("boiled_egg", {"counters": [{"position": [2, y], "item": "beef", "plated": False} for y in (1, 2, 3)]}),
        (
            "baked_carrot_soup",
            {"utensils": {"chopping_board0": {"product": "corn_slices", "contents": ["corn"], "timer": 3, "time": 3}}},
        ),
        ("baked_carrot_soup", {"counters": [{"position": [2, 2], "item": "carrot", "plated": False}]}),
        ("baked_carrot_soup", {"utensils": {"pot0": {"contents": ["beef"]}}, "agents": [idle("dish"), idle("dish")]}),
    ],
)
def test_it_gets_out_of_others_mess(play_from: Any, task: str, scene: dict[str, Any]) -> None:
    assert play_from(task, scene) > 0


def test_what_lies_ready_is_used(play_from: Any) -> None:
    """An egg on the counter saves the helper's trip."""
    scene = {"counters": [{"position": [2, 1], "item": "egg", "plated": False}]}
    assert 0 < play_from("boiled_egg", scene) < 16
