"""Registry entries of Kitchen Rush and Alien Rush; imports nothing from the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.game_spec import LEGAL, VOCABULARY, GameSpec, PresetEntry, SuiteEntry, TeacherEntry

_RUSH: Mapping[str, Any] = {  # shared by both ids
    "metrics": "collab_overcooked.games.rush.suite.scoring:METRICS",
    "suites": {
        "rush": SuiteEntry(
            "collab_overcooked.games.rush.suite.suite:RushSuite",
            "Episodes of a scenario in turn, in several vocabularies, with or without a teacher in between.",
            "collab_overcooked.games.rush.options:OPTIONS",
        )
    },
    "policies": {
        "greedy": "collab_overcooked.games.rush.policies.planner:GreedyPolicy",
        "planner": "collab_overcooked.games.rush.policies.planner:PlannerPolicy",
        "selfish": "collab_overcooked.games.rush.policies.planner:SelfishPolicy",
    },
    "prompts": "collab_overcooked.games.rush:text/prompts",
    "menu": VOCABULARY,
    "presets": {
        "rush": PresetEntry(
            {
                "agent": "choose",
                "temperature": 0.7,
                "answer": "text",
                "order": "game",
                "menu": LEGAL,
                "first": 0,
                "memory": 0,
                "earlier": False,
            },
            {"texts": "paper", "mask": "paper"},
            {},
            "Kitchen-Alien Rush: the paper's manual, the current turn and the numbered list of actions alone, with "
            "those on finished and ruined orders; answers as text, temperature 0.7 so that runs differ.",
        )
    },
    "teachers": {
        "scripted": TeacherEntry(
            "collab_overcooked.games.rush.policies.teacher:from_text",
            "scripted",
            "Names idle workers, ruined orders, refusals and unequal work in Rush; the default teacher.",
        )
    },
    "documents": ("collab_overcooked.games.rush.suite.suite:SCENARIO",),
    "recap": "collab_overcooked.games.rush.text.text:recap",
    "generator": "collab_overcooked.games.rush.suite.suite:ScenarioGenerator",
}

RECORDS = (
    GameSpec(
        id="KitchenRush-v0",
        minutes=5,
        difficulty=2,
        module="collab_overcooked.envs.kitchen_rush_v0",
        game="collab_overcooked.games.rush.env:KitchenRush",
        summary="Agents with several workers each finish orders in a limited number of turns without ruining any.",
        **_RUSH,
    ),
    GameSpec(
        id="AlienRush-v0",
        minutes=6,
        difficulty=3,
        module="collab_overcooked.envs.alien_rush_v0",
        game="collab_overcooked.games.rush.env:AlienRush",
        summary="Kitchen Rush with invented vocabulary.",
        **_RUSH,
    ),
)
