"""Figures of docs/archive/originals.md that no table or command shows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.options import CollaborationOptions
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationRun,
    PlanConversation,
    PlanMessage,
)
from collab_overcooked.games.collab_overcooked.suite.run_scores import score_run
from collab_overcooked.games.cuisineworld.suite.suite import published
from collab_overcooked.games.rooms.engine.solver import solve
from collab_overcooked.metrics.trajectory import tes
from collab_overcooked.registry import load_game


@pytest.mark.parametrize(("level", "cap"), [(5, Fraction(11, 13)), (6, Fraction(13, 15))])
def test_tes_cannot_reach_1_if_platings_are_logged_as_puts(level: int, cap: Fraction) -> None:
    for task in load_kitchen("paper").tasks.values():
        if task.level != level:
            continue
        chef = [reference[0] for reference in task.references]
        for plan in chef:
            logged = [action.replace("fill_dish_with_food", "put_obj_in_utensil") for action in plan]
            assert Fraction(tes(logged, chef).value).limit_denominator(20) == cap


def test_ic_of_one_useful_request_depends_on_the_denominator() -> None:
    task = load_kitchen("paper").tasks["baked_potato_slices"]
    message = PlanMessage(0, "A potato, please.", "request('pickup(potato,ingredient_dispenser)')")
    talk = PlanConversation(0, (message,))
    run = CollaborationRun(history=((), ()), conversations=(talk,), success=False, timesteps=1)
    shares = {}
    for denominator in ("conversations", "required"):
        options = CollaborationOptions(denominator=denominator)
        score = score_run(run, tuple(zip(*task.references, strict=True)), options=options)
        shares[denominator] = score["initiated"] / score["opportunities"]
    assert shares == {"conversations": 1.0, "required": 0.2}


@cache
def idle(level: str, alpha: float, episodes: int = 3) -> tuple[list[str], list[str], int]:
    """Do nothing in a run with order seed 0.

    Returns:
        Names of all orders, names of those that expire, and the number of steps in which any expires.
    """
    env = collab_overcooked.make("CuisineWorld-v0", level=level, agents=1, alpha=alpha)
    drawn, lost, steps = [], [], 0
    for episode in range(episodes):
        env.reset(seed=None if episode else 0)
        drawn.append(env.scene()["orders"][0]["name"])
        while env.agents:
            lost += [order["name"] for order in env.scene()["orders"] if order["remaining"] == 0]
            env.step({"agent_0": env.parse("noop")})
            new = env.game.order_events(env.arrays[1], 0)["drawn"]
            drawn += [new] if new else []
        steps += env.scene()["failed"]
    return drawn, lost, steps


@pytest.mark.slow
@pytest.mark.parametrize(("level", "steps"), [(4, [33, 33]), (5, [56, 46]), (6, [65, 61, 69, 51, 57, 53])])
def test_first_references_are_not_the_fastest(level: int, steps: list[int]) -> None:
    name = load_kitchen("paper").levels()[level][0]
    game = load_game("CollabOvercooked-v0", task=name)
    assert [reference_steps(game, number + 1) for number in range(len(steps))] == steps


@pytest.mark.slow
def test_an_idle_team_loses_as_many_orders_of_level_3_as_table_9_prints() -> None:
    assert [len(idle("level_3", alpha)[1]) for alpha in (1.0, 1.5, 2.0, 2.5, 3.0)] == [24, 15, 12, 9, 6]


@pytest.mark.slow
def test_printed_denominators_have_no_open_orders() -> None:
    impossible, with_all = [], 0
    for agents, table in published().tables.items():
        for level in table.levels:
            for alpha in table.alphas:
                drawn, _, steps = idle(level, alpha)
                cell = table.cell(level, alpha)
                with_all += cell.resolved == len(drawn)
                if cell.resolved < steps:
                    impossible.append((agents, level, alpha, str(cell), steps))
    assert impossible == [(3, "level_12", 1.0, "9/26", 32)]
    assert with_all == 2


def test_two_orders_of_level_4_expire_in_one_step() -> None:
    _, lost, steps = idle("level_4", 1.0)
    assert (len(lost), steps) == (31, 25)


def test_level_12_without_a_fryer_has_a_ceiling() -> None:
    fries, ceilings = [], []
    for alpha in (1.0, 1.5, 2.0, 2.5, 3.0):
        drawn, lost, _ = idle("level_12", alpha)
        others = sum(name != "frenchFries" for name in drawn)
        fries.append(lost.count("frenchFries"))
        ceilings.append(others / (others + fries[-1]))
    assert fries == [10, 6, 3, 1, 2]
    assert round(sum(ceilings) / 5, 3) == 0.821


def test_legal_lists_offer_refused_commands() -> None:
    refused: Counter[str] = Counter()
    for mask in ("original", "exact"):
        rng, steps = np.random.default_rng(0), 0
        for number in range(13):
            env = collab_overcooked.make("CuisineWorld-v0", level=f"level_{number}", agents=1, mask=mask)
            env.reset(seed=0)
            while env.agents:
                action = int(rng.choice(np.flatnonzero(env.action_mask("agent_0"))))
                _, _, _, _, infos = env.step({"agent_0": action})
                steps += 1
                refused[mask] += infos["agent_0"]["rejected"] != 0
        assert steps == 780
    assert (refused["original"], refused["exact"]) == (94, 0)


@pytest.mark.parametrize(("turn", "outcome"), [(0, "running"), (1, "success")])
def test_exchanging_rooms_with_the_thief_is_no_capture_in_turn_1(turn: int, outcome: str) -> None:
    env = collab_overcooked.make("CollabCapture-v0")
    scene = {"players": [{"room": "1"}, {"room": "3"}], "adversary": {"room": "2"}, "turn": turn}
    env.reset(seed=0, options={"state": scene})
    env.step({"agent_0": env.game.parse("stay"), "agent_1": env.game.parse("go to room 2")})
    assert (env.scene()["outcome"], env.scene()["adversary"]["room"]) == (outcome, "3")


def test_an_annotated_answer_of_2023_takes_4_turns_where_1_is_enough() -> None:
    game = collab_overcooked.make("CollabCapture-v0", catch_on_exchange="always").game
    solution, (state, out) = solve(game.compiled, everywhere=True), game.alloc(1)
    scene = {"players": [{"room": "7"}, {"room": "6"}], "adversary": {"room": "5"}, "doors": {"1-2": True, "3-4": True}}
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
    joint = solution.joint_values(state)
    turns = {}
    for rooms in (("8", "5"), ("5", "5")):
        pair = [game.parse(f"go to room {room}") for room in rooms]
        (turns[rooms],) = joint.turns[(joint.actions == pair).all(axis=1)]
    assert turns == {("8", "5"): 4, ("5", "5"): 1}
