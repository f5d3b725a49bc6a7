from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.covers import cover, first

from collab_overcooked.games.collab_overcooked.engine.constants import Clock
from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.policies.planner import best_plan
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.policies.search.simulator import Fork, Simulator
from collab_overcooked.registry import load_game

TASKS = load_kitchen().tasks
ONE_A_LEVEL = [names[0] for names in load_kitchen().levels().values()]
BEST = {2: 24, 3: 36, 4: 32, 5: 46, 6: 51}


def root_of(game: Any, state: Any) -> Fork:
    return Simulator(game, state, 0).fork(1, 0)


def best_of(task: str) -> int:
    return BEST.get(TASKS[task].level, 17 if task.startswith("baked") else 16)


@pytest.mark.parametrize("task", [task for task in ONE_A_LEVEL if TASKS[task].level < 6])
def test_the_best_times_of_levels_1_to_5_are_proved(start: Any, task: str) -> None:
    game = load_game("CollabOvercooked-v0", task=task)
    plan = best_plan(root_of(game, start(game)[0]), 5000)
    assert (plan.steps, plan.proved) == (best_of(task), True)


@pytest.mark.nightly
@pytest.mark.parametrize("task", TASKS)
def test_the_best_times_of_all_tasks_are_proved(start: Any, task: str) -> None:
    game = load_game("CollabOvercooked-v0", task=task)
    plan = best_plan(root_of(game, start(game)[0]), 20_000)
    assert (plan.steps, plan.proved) == (best_of(task), True)
    references = [reference_steps(game, number + 1) for number in range(len(TASKS[task].references))]
    assert plan.steps <= min(filter(None, references)) and plan.steps <= TASKS[task].reference_time + 1


@pytest.mark.parametrize(
    ("kitchen", "task"), cover(["paper", "shared_floor", "three_agents"], [ONE_A_LEVEL[0], ONE_A_LEVEL[3]])
)
def test_a_plan_carried_out_delivers_when_it_says(start: Any, kitchen: str, task: str) -> None:
    game = load_game("CollabOvercooked-v0", kitchen=kitchen, task=task)
    root = root_of(game, start(game)[0])
    before = [array.copy() for array in root.state]
    plan = best_plan(root, 300)
    assert all((array == saved).all() for array, saved in zip(root.state, before, strict=True))
    assert plan.actions.shape == (plan.steps, game.n_agents) and plan.steps > 0
    ahead = root.repeat([0])
    for t, actions in enumerate(plan.actions):
        assert all(ahead.masks[0, seat, action] for seat, action in enumerate(actions)), t
        assert ahead.state.clock[0, Clock.DELIVERED] == 0
        ahead.step(actions[None])
    assert ahead.state.clock[0, Clock.DELIVERED] == 1


def test_a_narrow_search_finds_a_plan_but_proves_nothing(start: Any) -> None:
    game = load_game("CollabOvercooked-v0", task=ONE_A_LEVEL[5])
    plan = best_plan(root_of(game, start(game)[0]), 50)
    assert 51 <= plan.steps <= 65 and not plan.proved


def test_where_there_is_no_time_there_is_no_plan(start: Any) -> None:
    game = load_game("CollabOvercooked-v0", task="boiled_egg")
    assert best_plan(root_of(game, start(game, limit=15)[0])).steps == 0
    assert best_plan(root_of(game, start(game, limit=16)[0])).steps == 16


def test_bad_widths_are_refused(start: Any) -> None:
    game = load_game("CollabOvercooked-v0", task="boiled_egg")
    with pytest.raises(ValueError, match="width"):
        best_plan(root_of(game, start(game)[0]), 0)


@pytest.mark.parametrize("task", first(ONE_A_LEVEL, 3))
def test_two_planners_follow_one_plan(play: Any, task: str) -> None:
    record = play("planner:width=1000", task=task)
    assert record.timesteps == best_of(task)
    assert record == play("planner:width=1000", task=task)


@pytest.mark.parametrize(("team", "task"), cover([("planner", "greedy"), ("greedy", "planner")], ONE_A_LEVEL))
def test_it_plans_anew_beside_a_teammate_of_another_kind(play: Any, team: tuple[str, str], task: str) -> None:
    record = play(team, task=task)
    assert record.success and not any(step.errors for step in record.steps)


# Without three_agents at level 5: where three agents block each other's ways, chance breaks the plans of long tasks.
@pytest.mark.parametrize(
    ("kitchen", "task"),
    [("shared_floor", ONE_A_LEVEL[0]), ("shared_floor", ONE_A_LEVEL[4]), ("three_agents", ONE_A_LEVEL[0])],
)
def test_it_plays_the_other_kitchens(play: Any, kitchen: str, task: str) -> None:
    record = play("planner:width=300", task=task, kitchen=kitchen, gamma=3)
    assert record.success and not any(step.errors for step in record.steps)


def test_it_goes_on_with_the_next_order(play: Any) -> None:
    record = play("planner:width=100", orders={"boiled_egg": 1.0, "baked_potato_slices": 1.0})
    assert sum(step.rewards[0] > 0 for step in record.steps) >= 18


@pytest.mark.parametrize("seat", [0, 1])
def test_it_bears_a_random_teammate(play: Any, seat: int) -> None:
    team = ("planner", "random") if seat == 0 else ("random", "planner")
    record = play(team, 3, task="baked_carrot_soup")
    assert not any(step.errors for step in record.steps)


def everything(game: Any, state: Any, out: Any, raw: list[str], limit: int, nodes: list[int]) -> int:
    """Return the earliest delivery over all accepted actions, with dispensers cut down to some ingredients."""
    names = game.action_texts()
    spare = {f"pickup({item},ingredient_dispenser)" for item in game.kitchen.ingredients if item not in raw}
    tried = np.array([text not in spare and (not text.startswith("wait") or text == "wait(1)") for text in names])
    seen: set[bytes] = set()
    arrays = [array.copy() for array in state]
    masks = out.masks.copy()
    for t in range(1, limit + 1):
        choices = [np.nonzero(masks[:, seat] * tried) for seat in range(2)]
        rows, actions = [], []
        for node in range(len(masks)):
            results = [[int(a) for a in acts[at == node]] for at, acts in choices]
            pairs = [(a, b) for a in results[0] for b in results[1]]
            rows += [node] * len(pairs)
            actions += pairs
        batch, result = game.alloc(len(rows))
        for array, value in zip(batch, arrays, strict=True):
            array[:] = value[rows]
        game.step(batch, np.array(actions, np.int32), result)
        if result.terminated.any():
            return t
        tiles = batch.tiles.copy()
        tiles[:, :, 2] = 0  # running numbers of placements
        agents = batch.agents.copy()
        agents[:, :, 5:] = 0  # timers and reasons; only wait(1) is tried
        keep = []
        for i, (a, b) in enumerate(zip(agents, tiles, strict=True)):
            key = a.tobytes() + b.tobytes()
            if key not in seen:
                seen.add(key)
                keep.append(i)
        arrays = [array[keep] for array in batch]
        masks = result.masks[keep]
        nodes.append(len(keep))
    return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "raw", "best"),
    [
        ("boiled_egg", ["egg", "beef"], 16),
        ("baked_bell_pepper", ["bell_pepper", "beef"], 17),
        ("boiled_corn_slices", ["corn"], 24),
    ],
)
def test_no_useless_action_ever_saves_time(start: Any, task: str, raw: list[str], best: int) -> None:
    """The search leaves out what it takes for useless; trying everything finds nothing faster."""
    game = load_game("CollabOvercooked-v0", task=task)
    nodes: list[int] = []
    assert everything(game, *start(game), raw, best, nodes) == best
    assert sum(nodes) > 1000
