"""Menus of CraftKitchen and homes: what the current order needs comes first, and nothing stands there twice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from play.world import first_legal, play
from support.hidden import reach

from collab_overcooked import registry
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.play.menus import late_last, without_duplicates
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.play.shown import question_of
from collab_overcooked.policies.api import AgentView
from collab_overcooked.registry import load_game, make

CRAFT: dict[str, Any] = {"suite": "craft", "agents": (2,), "paces": (5,), "episodes": 1}
HOME: dict[str, Any] = {"suite": "housework", "tasks": ("wash_dishes",), "episodes": 1, "options": {"max_cycles": 5}}


def test_menus_of_craft_name_each_kind_once(make_session) -> None:
    session = make_session(["all=person"], **CRAFT)
    players = play(session, first_legal)
    for question in players[0].of_type("ask"):
        kinds = [re.sub(r"\d+\)$", ")", action) for action in question["actions"]]
        assert len(kinds) == len(set(kinds)), "each kind once"
        assert set(question["actions"]) <= set(question["legal"])


def test_people_start_craft_at_the_slowest_pace() -> None:
    matches: Any = plan_evaluation("craft", ["all=greedy"], agents=(2,)).matches
    ordered = registry.load_suite("craft").order_for_people(matches)
    assert [match.env_kwargs["pace"] for match in ordered] == [5, 4, 3, 2, 1]
    assert replace(ordered[0], team=matches[0].team) in matches


def test_a_numbered_action_is_left_out_only_beside_the_same_without_a_number() -> None:
    actions = ["goto(pig)", "goto(pig1)", "goto(pig12)", "go to room 6", "go to room 5", "say", "say 2", "put pot0"]
    assert without_duplicates(actions) == ["goto(pig)", "go to room 6", "go to room 5", "say", "put pot0"]


def test_homes_offer_no_action_that_only_pays_for_talk(make_session) -> None:
    session = make_session(["all=person"], **HOME)
    players = play(session, first_legal)
    assert not [a for question in players[0].of_type("ask") for a in question["actions"] if a.startswith("say")]


def test_menus_keep_the_order_of_the_game_but_for_what_spoils_and_for_waiting() -> None:
    actions = ["noop", "wait(3)", "get pork storage0", "put storage0", "get rice storage0"]
    assert late_last(actions, {"put storage0"}) == [
        "get pork storage0", "get rice storage0", "put storage0", "noop", "wait(3)",
    ]  # fmt: skip


def test_menus_of_rush_offer_no_cooking_that_ruins_an_order_first() -> None:
    env = make("KitchenRush-v0")
    env.reset(seed=1)

    def asked() -> dict[str, Any]:
        question = question_of(AgentView.of(env.game, *env.arrays, 0, 0), "act", 0, PlaySettings())
        assert question["legal"][-1] == "do nothing" and question["legal"][-2] in question["late"]
        return question

    ruins = [text for text in asked()["legal"] if text.startswith("cook ")]
    assert asked()["legal"][0] == "take the ingredients of Fettucine Alfredo at pantry" and asked()["late"] == ruins
    env.step({"agent_0": env.game.parse(asked()["legal"][0]), "agent_1": 0})
    assert asked()["late"] == [text for text in ruins if text != "cook Fettucine Alfredo at stove"]


def test_menus_of_alien_rush_do_not_tell_what_ruins_an_order() -> None:
    game = load_game("AlienRush-v0")
    assert not AgentView.of(game, *reach(game, 1, 0), 0, 0).view.unlikely


def test_menus_of_cuisineworld_list_what_serves_an_order_before_what_does_not() -> None:
    env = make("CuisineWorld-v0", level="level_3", agents=2)
    env.reset(seed=1, options={"orders": ["salmonSushi"]})
    for action in (
        "goto storage0", "get salmon storage0", "goto chopboard0", "put chopboard0", "activate chopboard0",
        "get chopboard0", "goto mixer0", "put mixer0", "goto storage0", "get rice storage0", "goto pot0", "put pot0",
        "activate pot0", *["noop"] * 3, "get pot0", "goto mixer0", "put mixer0", "activate mixer0", "noop",
        "get mixer0", "goto servingtable0", "put servingtable0",
    ):  # fmt: skip
        seen = AgentView.of(env.game, *env.arrays, 0, 0)
        menu = question_of(seen, "act", 0, PlaySettings())["legal"]
        likely = [text for text in menu if env.game.parse(text) not in seen.view.unlikely and text != "noop"]
        assert action == "noop" or (action in likely and menu[: len(likely)] == likely), (action, menu)
        env.step({"agent_0": env.game.parse(action), "agent_1": 0})
    assert env.scene()["accomplished"] == ["salmonSushi"]


def test_menus_of_cuisineworld_throw_away_only_what_no_order_needs() -> None:
    env = make("CuisineWorld-v0", level="level_1", agents=2)
    env.reset(seed=1, options={"orders": ["salmonMeatcake"]})

    def menu_after(*actions: str) -> list[str]:
        for action in actions:
            env.step({"agent_0": env.game.parse(action), "agent_1": 0})
        return list(question_of(AgentView.of(env.game, *env.arrays, 0, 0), "act", 0, PlaySettings())["legal"])

    menu = menu_after("goto storage0", "get salmon storage0")
    assert menu[0].startswith("goto blender") and menu.index("put storage0") > menu.index("goto blender1")
    assert menu_after("put storage0", "get beef storage0")[0] == "put storage0"
    assert menu_after("goto blender0")[0] == "goto storage0"
