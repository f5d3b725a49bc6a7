"""Registry entry of CuisineWorld; imports nothing from the game."""

from __future__ import annotations

from collab_overcooked.game_spec import GameSpec, PresetEntry, SuiteEntry

RECORDS = (
    GameSpec(
        id="CuisineWorld-v0",
        minutes=6,
        difficulty=2,
        module="collab_overcooked.envs.cuisineworld_v0",
        game="collab_overcooked.games.cuisineworld.env:CuisineWorld",
        metrics="collab_overcooked.games.cuisineworld.suite.scoring:METRICS",
        summary="Any number of cooks serve a queue of orders before they expire; 33 dishes in 14 levels.",
        suites={
            "cuisineworld": SuiteEntry(
                "collab_overcooked.games.cuisineworld.suite.suite:CuisineWorldSuite",
                "Orders with deadlines at several paces for teams of several sizes; collaboration scores.",
                "collab_overcooked.games.cuisineworld.options:OPTIONS",
            )
        },
        policies={"greedy": "collab_overcooked.games.cuisineworld.policies.greedy:GreedyPolicy"},
        prompts="collab_overcooked.games.cuisineworld:text/prompts",
        language_agents={"dispatch": "collab_overcooked.games.cuisineworld.policies.commands:Commands"},
        presets={
            "mindagent": PresetEntry(
                {
                    "agent": "dispatch",
                    "temperature": 0.1,
                    "tokens": 100,
                    "answer": "text",
                    "lists": "whole",
                    "times": False,
                },
                {"idle_error": True, "show_lost": True},
                {"counting": "steps"},
                "MindAgent: temperature 0.1, 100 tokens, lists of commands voided as a whole, no working times, lost "
                "orders shown at lifetime 0, at most one failure per step.",
            )
        },
        generator="collab_overcooked.games.cuisineworld.suite.suite:LevelGenerator",
        documents=("collab_overcooked.games.cuisineworld.suite.suite:LEVEL",),
        subplans="collab_overcooked.games.cuisineworld.policies.joint:CuisineWorldSubplans",
    ),
)
