"""Registry entry of CraftKitchen; imports nothing from the game."""

from __future__ import annotations

from collab_overcooked.game_spec import VOCABULARY, GameSpec, SuiteEntry

RECORDS = (
    GameSpec(
        id="CraftKitchen-v0",
        menu=VOCABULARY,
        minutes=8,
        difficulty=2,
        module="collab_overcooked.envs.craft_kitchen_v0",
        game="collab_overcooked.games.craft.env:CraftKitchen",
        summary="Agents with bags fetch meat and logs, cook in furnaces and fill a chest, all at the same time.",
        suites={
            "craft": SuiteEntry(
                "collab_overcooked.games.craft.suite:CraftSuite",
                "Orders with deadlines at five paces for one to four agents; collaboration scores and a proven bound.",
                "collab_overcooked.games.craft.options:OPTIONS",
            )
        },
        metrics="collab_overcooked.games.craft.suite:METRICS",
        policies={
            "greedy": "collab_overcooked.games.craft.policies.planner:GreedyPolicy",
            "planner": "collab_overcooked.games.craft.policies.planner:PlannerPolicy",
        },
        prompts="collab_overcooked.games.craft:text/prompts",
        language_agents={"dispatch": "collab_overcooked.games.craft.policies.commands:Commands"},
        documents=("collab_overcooked.games.craft.suite:LEVEL",),
        generator="collab_overcooked.games.craft.suite:LevelGenerator",
    ),
)
