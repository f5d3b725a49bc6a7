"""Registry entry of Overcooked; imports nothing of the game."""

from __future__ import annotations

from collab_overcooked.game_spec import GameSpec, PresetEntry, SuiteEntry

RECORDS = (
    GameSpec(
        id="Overcooked-v0",
        minutes=1,
        difficulty=1,
        module="collab_overcooked.envs.overcooked_v0",
        game="collab_overcooked.games.overcooked.env:Overcooked",
        metrics="collab_overcooked.games.overcooked.scoring:METRICS",
        summary="Overcooked-AI's onion soup kitchens, and kitchens whose gates need a helping hand; 22 layouts.",
        suites={
            "overcooked": SuiteEntry(
                "collab_overcooked.games.overcooked.suite:OvercookedSuite",
                "Soups for 400 steps on many layouts, both ways to seat a team; scores beside published ones.",
                "collab_overcooked.games.overcooked.options:OPTIONS",
            )
        },
        policies={
            "greedy": "collab_overcooked.games.overcooked.policies.greedy:GreedyPolicy",
            "planner": "collab_overcooked.games.overcooked.policies.planner:PlannerPolicy",
            "proxy": "collab_overcooked.games.overcooked.policies.proxy:from_text",
        },
        prompts="collab_overcooked.games.overcooked:text/prompts",
        presets={
            "llmco": PresetEntry(
                {
                    "agent": "choose",
                    "temperature": 0.6,
                    "answer": "text",
                    "order": "game",
                    "analysis": True,
                    "predict": True,
                    "patience": 0,
                },
                {"text_rules": "original", "stalemate": "paper"},
                {},
                "LLM-Co: temperature 0.6, directives by the public code's rules, an explanation before the action.",
            )
        },
        documents=("collab_overcooked.games.overcooked.documents:LAYOUT",),
        generator="collab_overcooked.games.overcooked.documents:LayoutGenerator",
        human_games="collab_overcooked.games.overcooked.human_games",
        questions="collab_overcooked.games.overcooked.questions.source:SOURCE",
        subplans="collab_overcooked.games.overcooked.policies.subplans:OvercookedSubplans",
    ),
    GameSpec(
        id="OvercookedV2-v0",
        minutes=1,
        difficulty=3,
        module="collab_overcooked.envs.overcooked_v2_v0",
        game="collab_overcooked.games.overcooked.v2.env:OvercookedV2",
        summary="Kitchens where an indicator or a paid button shows the recipe to those who see it; 27 layouts.",
        metrics="collab_overcooked.games.overcooked.scoring:SOUP_METRICS",
        suites={
            "overcooked-v2": SuiteEntry(
                "collab_overcooked.games.overcooked.v2.suite:OvercookedV2Suite",
                "Soups of recipes that not all players know; the paper's layouts and options.",
                "collab_overcooked.games.overcooked.v2.options:OPTIONS",
            )
        },
        prompts="collab_overcooked.games.overcooked:text/prompts",
        policies={
            "greedy": "collab_overcooked.games.overcooked.v2.policies.recipe_belief:greedy_from_text",
            "planner": "collab_overcooked.games.overcooked.v2.policies.recipe_belief:planner_from_text",
        },
        documents=("collab_overcooked.games.overcooked.v2.documents:LAYOUT",),
        generator="collab_overcooked.games.overcooked.v2.documents:HiddenRecipeGenerator",
    ),
)
