"""Menus of CraftKitchen and homes: what the current order needs comes first, and nothing stands there twice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from play.world import first_legal, play

from collab_overcooked import registry
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.play.menus import without_duplicates

CRAFT: dict[str, Any] = {"suite": "craft", "agents": (2,), "paces": (5,), "episodes": 1}
HOME: dict[str, Any] = {"suite": "housework", "tasks": ("wash_dishes",), "episodes": 1, "options": {"max_cycles": 5}}


def test_who_takes_the_first_suggestion_of_craft_serves_orders(make_session) -> None:
    session = make_session(["all=person"], **CRAFT)
    players = play(session, first_legal)
    (record,) = session.records
    completed = sum(len(step.orders.completed) for step in record.steps)
    expired = sum(len(step.orders.expired) for step in record.steps)
    assert completed > expired, "the pace at which people start can be served"
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
    assert without_duplicates(actions, "goto(pig12)")[0] == "goto(pig12)"
    assert without_duplicates(actions) == ["goto(pig)", "go to room 6", "go to room 5", "say", "put pot0"]


def test_homes_offer_no_action_that_only_pays_for_talk(make_session) -> None:
    session = make_session(["all=person"], **HOME)
    players = play(session, first_legal)
    assert not [a for question in players[0].of_type("ask") for a in question["actions"] if a.startswith("say")]
