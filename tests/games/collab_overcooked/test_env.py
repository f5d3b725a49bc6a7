"""Options of the game, options of reset, and scenes that cannot be."""

from __future__ import annotations

import math

import pytest

import collab_overcooked

NAME = "CollabOvercooked-v0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "boiled_eg"}, "boiled_egg"),
        ({"task": ["boiled_egg"]}, "unknown task"),
        ({"level": 7}, "unknown level 7"),
        ({"task": "boiled_egg", "level": 1}, "only one of task, level and orders"),
        ({"orders": {}}, "orders must name at least one task"),
        ({"orders": ["boiled_egg"]}, "orders must be True or map tasks to weights"),
        ({"orders": {"boiled_egg": 0}}, "boiled_egg must be above 0"),
        ({"orders": {"boild_egg": 1}}, "boiled_egg"),
        ({"gamma": math.inf}, "gamma must be"),
        ({"gamma": 0.001, "time_limit": "strict"}, "leaves no time for boiled_egg"),
        ({"time_limit": "loose"}, "inclusive"),
        ({"action_level": "high"}, "medium"),
        ({"stuck_limit": -1}, "stuck_limit must be"),
        ({"shaping": ["PUT"]}, "shaping must be a mapping"),
        ({"shaping": {"PUTT": 1.0}}, "PUT"),
        ({"kitchen": "papr"}, "paper"),
        ({"max_cycles": 0}, "max_cycles must be"),
    ],
)
def test_bad_options_are_refused_with_field_and_value(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        collab_overcooked.make(NAME, **options)


def test_a_level_named_twice_counts_once() -> None:
    twice = collab_overcooked.make(NAME, level=[1, 1]).game.pool.tasks
    assert twice == collab_overcooked.make(NAME, level=1).game.pool.tasks


def test_many_orders_are_replaced_and_run_to_the_horizon() -> None:
    env = collab_overcooked.make(NAME, orders={"boiled_egg": 3, "boiled_mushroom": 1})
    env.reset(seed=0)
    assert env.max_cycles == 400
    assert len(env.scene()["orders"]) == 3
    ready = {"utensils": {"pot0": {"contents": ["egg"], "product": "boiled_egg", "timer": 3, "time": 3}}}
    env.reset(seed=0, options={"orders": ["boiled_egg", "boiled_mushroom", "boiled_egg"], "state": ready})
    for text in ("pickup(boiled_egg,pot0)", "deliver()"):
        env.step({"agent_0": env.parse(text), "agent_1": env.parse("wait(1)")})
        while not env.check("agent_0", "wait(1)")[0] == "OK":
            _, rewards, *_ = env.step({"agent_0": 0, "agent_1": env.parse("wait(1)")})
    assert rewards == {"agent_0": 20.0, "agent_1": 20.0}
    assert env.agents and len(env.scene()["orders"]) == 3
    assert env.scene()["orders"][:2] == ["boiled_mushroom", "boiled_egg"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"taks": "boiled_egg"}, "task"),
        ({"task": "boiled_eg"}, "boiled_egg"),
        ({"task": "boiled_egg", "orders": ["boiled_egg"]}, "exclude each other"),
        ({"orders": ["boiled_egg"] * 9}, "lists 9 orders; it must list 1 to 8"),
        ({"state": {"agnts": []}}, "agents"),
        ({"state": {"agents": [{}]}}, "lists 1 agents; it must list 2"),
        ({"state": {"agents": [{"position": [0, 0]}, {}]}}, "not on the floor"),
        ({"state": {"agents": [{"position": [1, 2]}, {}]}}, "both stand at"),
        ({"state": {"agents": [{"facing": "up"}, {}]}}, "facing"),
        ({"state": {"agents": [{"holding": {"item": "egggg"}}, {}]}}, "egg"),
        ({"state": {"agents": [{"holding": {}}, {}]}}, "item is missing"),
        ({"state": {"agents": [{"holding": {"item": "dish", "plated": True}}, {}]}}, "dish cannot lie on a dish"),
        ({"state": {"agents": [{"action": "jump()"}, {}]}}, "unknown action"),
        ({"state": {"counters": [{"position": [3, 0], "item": "egg"}]}}, "not a counter"),
        ({"state": {"counters": [{"position": [2, 1], "item": "egg"}] * 2}}, "listed twice"),
        ({"state": {"utensils": {"pot9": {}}}}, "pot0"),
        ({"state": {"utensils": {"pot0": {"contents": ["egg"] * 4}}}}, "pot0 takes 3 items"),
        ({"state": {"utensils": {"pot0": {"product": "corn_slices", "timer": 3}}}}, "cannot be made in pot0"),
        ({"state": {"utensils": {"pot0": {"product": "boiled_egg"}}}}, "timer must be an integer"),
        ({"state": {"timestep": -1}}, "timestep must be"),
    ],
)
def test_bad_reset_options_are_refused(options: dict, message: str) -> None:
    env = collab_overcooked.make(NAME)
    with pytest.raises(ValueError, match=message):
        env.reset(seed=0, options=options)


def test_foreign_reset_options_are_ignored() -> None:
    collab_overcooked.make(NAME).reset(seed=0, options={"options": 1})


def test_the_scene_of_a_finished_game_can_be_written_back() -> None:
    env = collab_overcooked.make(NAME)
    env.reset(seed=0, options={"state": {"orders": []}})
    assert env.scene()["orders"] == []


def test_scenes_with_the_former_name_of_a_reason_are_read() -> None:
    env = collab_overcooked.make(NAME)
    env.reset(seed=0)
    scene = env.scene()
    scene["memory"][1]["reason"] = "PICK_CHEF_DISPENSER"
    env.reset(options={"state": scene})
    assert env.scene()["memory"][1]["reason"] == "PICK_UNREACHABLE"
