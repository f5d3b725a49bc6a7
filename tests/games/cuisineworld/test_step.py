"""Whole games of CuisineWorld: against a naive world command by command, and what must hold in every game."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games.cuisineworld.world import LEVEL, Kitchen, picture, plain_game
from support.covers import cover
from support.naive.cuisineworld import NaiveWorld

from collab_overcooked import make, make_vec
from collab_overcooked.games.cuisineworld.engine.spec import levels
from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.kernels.rng import seed_states

ODD = ["noop_agent0_pan0", "goto_agent0_nowhere", "fry_agent0_pan0", "get_agent_pan0", "goto_agent0_x_pan0", "goto"]


def chosen_command(rng: random.Random, naive: NaiveWorld, i: int) -> str:
    """Return a command that often makes sense: what is possible on the spot, or a walk."""
    agent = naive.agents[i]
    place = agent["at"]
    tool = naive.tools[place]
    useful = sorted(name for recipe in naive.recipes for name in recipe.ingredients if name in naive.base)
    possible = [
        f"{verb}_agent{i}_{place}" for verb in ("put", "activate", "get") if not naive.problems(i, verb, place, None)
    ]
    if tool["tool"].role == "storage" and not agent["item"]:
        possible.append(f"get_agent{i}_{rng.choice(useful)}_{place}")
    if possible and rng.random() < 0.8:
        return possible[0] if rng.random() < 0.7 else rng.choice(possible)
    if rng.random() < 0.15:
        verb = rng.choice(["noop", "get", "put", "activate"])
        return f"noop_agent{i}" if verb == "noop" else f"{verb}_agent{i}_{rng.choice(list(naive.tools))}"
    fitting = [
        name
        for name, other in naive.tools.items()
        if agent["item"] and name != place and other["tool"].role != "storage"
        if not naive.problems_of_put("", {**agent, "busy": 0}, other, name, None, [])
    ]
    ready = [name for name, other in naive.tools.items() if other["content"] and not agent["item"]]
    return f"goto_agent{i}_{rng.choice(fitting or ['storage0', 'storage0', *ready])}"


def commands_of(rng: random.Random, naive: NaiveWorld) -> list[str]:
    n = len(naive.agents)
    commands = [chosen_command(rng, naive, i) for i in range(n)]
    rng.shuffle(commands)
    luck = rng.random()
    if luck < 0.03:
        commands.insert(rng.randrange(n), rng.choice(ODD))
    elif luck < 0.06:
        commands = commands[: rng.randrange(1, n + 1)]
    elif luck < 0.09:
        commands.append(chosen_command(rng, naive, rng.randrange(n)).replace("agent", f"agent-{n}", 1))
        commands[-1] = commands[-1].replace(f"agent-{n}", "agent-", 1)
    return [command.replace("agent-0", f"agent-{n}") for command in commands]


def compare(game: CuisineWorld, state: Any, naive: NaiveWorld) -> None:
    actual, reference = game.scene(state, 0), naive.scene()
    assert actual["timestep"] == reference["t"]
    assert actual["timer"] == reference["timer"]
    assert [[o["name"], -1 if o["remaining"] is None else o["remaining"]] for o in actual["orders"]] == reference[
        "orders"
    ]
    assert [[a["location"], a["holding"], a["busy"]] for a in actual["agents"]] == reference["agents"]
    assert {k: [t["content"], t["busy"], t["ready"]] for k, t in actual["tools"].items()} == reference["tools"]
    counts = [actual[name] for name in ("completed", "failed", "expired", "refused", "noops")]
    assert counts == reference["counts"]
    assert actual["accomplished"] == reference["done"][-128:]


@pytest.mark.parametrize(("level", "n_agents", "alpha"), cover([*levels(), "test"], [1, 2, 4], [1.0, 2.5, None]))
def test_games_agree_with_the_naive_world(level, n_agents, alpha):
    options = {"agents": n_agents, "alpha": alpha, "beta": 4.0, "idle_error": True}
    game = plain_game(LEVEL, **options) if level == "test" else CuisineWorld(level=level, **options)
    state, out = game.alloc(1)
    seed = n_agents + 100 * levels().index(level) if level != "test" else 7
    rng, python = random.Random(seed), random.Random(seed)
    state.rng[:] = seed_states([seed])
    for _ in range(2):
        game.reset(state, out, np.ones(1, np.bool_), {}, 10**6)
        naive = NaiveWorld(game.level, n_agents, game.timing, lambda: python.choice(game.level.order_names))
        compare(game, state, naive)
        for _ in range(90):
            commands = commands_of(rng, naive)
            report, reference = game.command(state, out, commands), naive.step(commands)
            assert list(report.obeyed) == reference["ok"], commands
            assert list(report.feedback) == reference["feedback"], commands
            assert out.rewards[0].tolist() == [reference["reward"]] * n_agents, commands
            order_events = game.order_events(out, 0)
            assert [entry["order"] for entry in order_events["completed"]] == [
                name for _, name, _ in reference["served"]
            ]
            assert order_events["drawn"] == reference["drawn"]
            compare(game, state, naive)


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (["goto"], "not enough arguments for action goto"),
        (["goto_agent0_a_b_c"], "not enough arguments for action goto_agent0_a_b_c"),
        (["GOTO_agent0_pan0"], "GOTO is not in the list of supported actions"),
        (["goto_agentx_pan0"], "agent id not found"),
        (["goto_agent0_pan7"], "for agent0, tool pan7 is not in the current game level"),
        (["noop_agent0_nowhere"], "for agent0, tool nowhere is not in the current game level"),
        (["get_agent1_egg_pan7"], "for agent1, tool pan7 is not in the current game level"),
        (["goto_agent0_x_pan0"], None),
        (["noop_agent1", "goto_agent1_pan0"], "agent ids cannot be the same"),
        (["goto_agent0_pan0", "goto_agent1_x"], "for agent1, tool x is not in the current game level"),
        (["noop_agent0", "goto_agent1"], "goto of agent1 names no location"),
        (["goto_agent0_pan0", "noop_agent2"], "there is no agent2; agents are agent0 to agent1"),
        ([], "no command was given"),
    ],
)
def test_one_invalid_command_voids_the_list_and_time_passes(commands, message):
    kitchen = Kitchen("order MaxJr 5")
    report = kitchen.game.command(kitchen.state, kitchen.out, commands)
    assert report.obeyed == (False,) * len(commands)
    assert report.feedback == (() if message is None else (message,))
    assert kitchen.written() == picture("0 servingtable0\n1 servingtable0\norder MaxJr 4")
    assert kitchen.reward == -0.05
    assert kitchen.scene["refused"] == len(commands)


@pytest.mark.parametrize("name", ["agent0", "0", "agentagent0", "0agent", "agent 0", "agent-2"])
def test_agent_numbers_are_read_as_generously_as_in_the_original(name):
    kitchen = Kitchen()
    kitchen.game.command(kitchen.state, kitchen.out, [f"goto_{name}_pan0"])
    assert kitchen.scene["agents"][0]["location"] == "pan0"


@pytest.mark.parametrize("idle_error", [True, False])
def test_only_noops_are_obeyed_but_an_error_for_the_original(idle_error):
    kitchen = Kitchen(idle_error=idle_error)
    kitchen.play("noop_agent0 noop_agent1_pan0")
    assert kitchen.obeyed == (True, True)
    assert kitchen.feedback == ("None of the agents performed any actions which is not normal.",) * idle_error
    assert kitchen.scene["noops"] == 2


@pytest.mark.parametrize("kitchen", ["0 mixer0", "0 servingtable0 MaxJr\norder MaxJr 12"])
def test_collect_finish_is_signalled_in_the_step_that_completes_an_order(kitchen):
    kitchen = Kitchen(kitchen)
    reports = [kitchen.game.command(kitchen.state, kitchen.out, [command]) for command in ("noop_agent0",)]
    assert [report.collect_finish for report in reports] == [False]
    served = kitchen.game.command(kitchen.state, kitchen.out, ["put_agent0_servingtable0"])
    assert served.collect_finish is served.obeyed[0]
    assert kitchen.game.order_events(kitchen.out, 0)["collect_finish"] is served.collect_finish
    assert not kitchen.game.command(kitchen.state, kitchen.out, ["noop_agent0"]).collect_finish


def test_episode_is_cut_off_after_60_steps():
    env = make("CuisineWorld-v0", level="level_0")
    env.reset(seed=0)
    for step in range(1, 61):
        _, _, terminations, truncations, _ = env.step({"agent_0": 0, "agent_1": 0})
        assert truncations["agent_0"] == (step == 60)
        assert not terminations["agent_0"]
    assert env.agents == []
    with pytest.raises(ValueError, match="over"):
        env.command(["noop_agent0"])


def test_idle_team_on_level_4_fails_as_the_paper_counts():
    env = make("CuisineWorld-v0", level="level_4", agents=2, alpha=1.0)
    failed = expired = 0
    for episode in range(3):
        env.reset(seed=0 if episode == 0 else None)
        while env.agents:
            env.command(["noop_agent0"])
        failed, expired = failed + env.scene()["failed"], expired + env.scene()["expired"]
    assert (failed, expired) == (25, 31)


def test_orders_run_on_over_the_episodes_of_one_seed():
    env = make("CuisineWorld-v0", level="level_9", alpha=1.0)
    drawn = []
    for episode in range(3):
        env.reset(seed=0 if episode == 0 else None)
        drawn += [order["name"] for order in env.scene()["orders"]]
        while env.agents:
            env.command(["noop_agent0"])
            drawn += filter(None, [env.game.order_events(env.arrays[1], 0)["drawn"]])
    python = random.Random(0)
    assert drawn == [python.choice(["cheeseBurger", "MaxJr", "Hopper"]) for _ in drawn]
    assert drawn[:3] == ["MaxJr", "MaxJr", "cheeseBurger"]


def test_forced_orders_come_first_and_draw_nothing():
    env = make("CuisineWorld-v0", level="level_9", alpha=1.0)
    env.reset(seed=0, options={"orders": ["Hopper", "Hopper"]})
    drawn = [order["name"] for order in env.scene()["orders"]]
    while env.agents:
        env.command(["noop_agent0"])
        drawn += filter(None, [env.game.order_events(env.arrays[1], 0)["drawn"]])
    assert drawn[:5] == ["Hopper", "Hopper", "MaxJr", "MaxJr", "cheeseBurger"]


def test_queue_commands_in_turn_order():
    level = {"extends": "level_9"}
    scene = {
        "agents": [{"location": "mixer0", "holding": "sauteedBeef"}, {"location": "mixer0"}],
        "tools": {"mixer0": {"content": ["bread", "cheese"]}},
    }
    accepted = {}
    for turns in ([0, 1], [1, 0]):
        env = make("CuisineWorld-v0", level=level, agents=2, turn_order=turns)
        env.reset(seed=0, options={"state": scene})
        infos = env.step({"agent_0": env.parse("put mixer0"), "agent_1": env.parse("activate mixer0")})[4]
        accepted[turns[0]] = infos["agent_1"]["rejected"] == 0
    assert accepted == {0: True, 1: False}


def test_command_steps_one_environment_of_a_batch():
    batch = make_vec("CuisineWorld-v0", 3, level="level_0", agents=2)
    batch.reset(0)
    batch.game.command(batch.state, batch.out, ["goto_agent1_blender0"], 1)
    assert [batch.scene(i)["timestep"] for i in range(3)] == [0, 1, 0]
    assert batch.scene(1)["agents"][1]["location"] == "blender0"


def test_table_that_is_full_says_so():
    kitchen = Kitchen("0 servingtable0")
    room = 2 * 2 * 60
    for k in range(room + 1):
        kitchen.state.agents[0, 0, 1] = kitchen.game.level.items.index("MaxJr")
        kitchen.play("put_agent0_servingtable0")
        assert kitchen.obeyed == (k < room,)
    assert kitchen.feedback == ("servingtable0 reaches maximum capacity",)
