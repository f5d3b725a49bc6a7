from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.games.collab_overcooked.suite.run_scores import run_from_record, score_run
from collab_overcooked.registry import load_game
from collab_overcooked.runner.episode import Limits

# Env steps until the delivery when both agents carry a reference out greedily, measured on the public code.
STEPS = {2: (24,), 3: (36,), 4: (33, 33), 5: (56, 46), 6: (65, 61, 69, 51, 57, 53)}
TASKS = load_kitchen().tasks
ONE_A_LEVEL = [names[0] for names in load_kitchen().levels().values()]


def texts(record: dict[str, Any], seat: int) -> list[str]:
    return [step.action_texts[seat] for step in record.steps]


def score(record: dict[str, Any]) -> dict[str, Any]:
    references = TASKS[record.task].references
    by_agent = tuple(tuple(reference[seat] for reference in references) for seat in range(2))
    return score_run(run_from_record(record), by_agent)


@pytest.mark.parametrize("task", TASKS)
def test_references_take_the_published_steps(task: str) -> None:
    game = load_game("CollabOvercooked-v0", task=task)
    count = len(TASKS[task].references)
    expected = STEPS.get(TASKS[task].level, (17,) if task.startswith("baked") else (16,))
    assert tuple(reference_steps(game, number) for number in range(1, count + 1)) == expected


@pytest.mark.parametrize("task", ONE_A_LEVEL)
def test_references_score_one_in_everything(play: Any, task: str) -> None:
    for number in range(1, len(TASKS[task].references) + 1):
        record = play(f"reference:{number}", task=task)
        result = score(record)
        assert (result["success"], result["pc"], result["codes"]) == (True, 1.0, [0])
        assert record.timesteps == reference_steps(load_game("CollabOvercooked-v0", task=task), number)
        assert not any(step.errors for step in record.steps)


def test_the_chef_asks_for_everything_in_one_conversation(play: Any) -> None:
    record = play("reference", task="boiled_egg")
    talks = [step.messages for step in record.steps]
    assert talks[0] and not any(talks[1:])
    opening, answer = talks[0][:2]
    assert opening.agent == 0 and answer.agent == 1
    assert opening.plan.startswith(
        "request('pickup(egg,ingredient_dispenser)'); request('place_obj_on_counter()'); pickup(egg,counter); "
    )
    assert answer.plan == "pickup(egg,ingredient_dispenser); place_obj_on_counter()"


@pytest.mark.parametrize("max_turns", [1, 2, 3])
def test_a_conversation_cut_short_costs_no_time(play: Any, max_turns: int) -> None:
    """Where the helper's whole plan is queued, refused actions tell it where it is."""
    record = play("reference", task=ONE_A_LEVEL[5], limits=Limits(max_messages=max_turns))
    assert record.timesteps == STEPS[6][0] and score(record)["pc"] == 1.0


def test_a_reference_helps_a_silent_chef(play: Any) -> None:
    record = play(("greedy", "reference"), task="boiled_egg")
    assert record.success and not any(step.messages for step in record.steps)


def test_orders_in_turn_are_each_followed(play: Any) -> None:
    weights = {"boiled_egg": 1.0, "baked_carrot_soup": 1.0}
    record = play("reference", orders=weights)
    served = [event for step in record.steps for event in step.events if event and event.event == "DELIVER"]
    assert {event.item for event in served} == set(weights)
    talks = [step.messages for step in record.steps if step.messages]
    assert len(talks) in (len(served), len(served) + 1)


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("reference:2", {"task": "boiled_egg"}, "references 1 to 1"),
        ("reference", {"kitchen": "three_agents", "task": "boiled_egg"}, "no reference trajectories"),
        ("reference", {"action_level": "primitive"}, "medium-level"),
    ],
)
def test_what_has_no_reference_is_refused(play: Any, spec: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        play(spec, **options)


def test_metrics_fall_with_the_number_of_mistakes(play: Any) -> None:
    rows = []
    for p in (0.0, 0.2, 1.0):
        runs = [score(play(f"noisy:{p}:reference", seed, task=task)) for task in ONE_A_LEVEL for seed in range(2)]
        rows.append([np.mean([run[name] for run in runs]) for name in ("success", "pc")])
    table = np.array(rows)
    assert (np.diff(table, axis=0) <= 0).all() and (np.diff(table[:, 1]) < 0).all()
    assert table[0].tolist() == [1, 1] and table[-1].max() < 0.2
