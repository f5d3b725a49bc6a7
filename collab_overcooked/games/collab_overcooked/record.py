"""Registry entry of Collab-Overcooked; imports nothing of the game."""

from __future__ import annotations

from collab_overcooked.game_spec import GameSpec, PresetEntry, SuiteEntry

PRESET = PresetEntry(
    {"agent": "partner", "temperature": 0.7, "tokens": 4096, "answer": "text", "order": "game"}
    | {"messages": 0, "decisions": 0},
    {"action_level": "medium", "preset": "original"},
    {},
    "Collab-Overcooked: temperature 0.7, no limit of its own for answers, analysis, plan and say, nothing of earlier "
    "timesteps but the agent's own actions, rules as released.",
)

MAX_SHOWN = 1_000  # more than what happens in an episode
PAPER = PresetEntry(
    {**PRESET.switches, "messages": MAX_SHOWN, "memory": MAX_SHOWN, "plans": "public"},
    {**PRESET.options, "interface": "paper", "show_limit": False},
    {},
    "Collab-Overcooked's paper (sections A.3, E) where its public code differs: the whole conversation up to now, all "
    "of the agent's own actions, the teammate's plan, announced or not, the printed lists of actions, and neither time "
    "limit nor private counters in the text; the rest as collab.",
)

RECORDS = (
    GameSpec(
        id="CollabOvercooked-v0",
        minutes=8,
        difficulty=2,
        module="collab_overcooked.envs.collab_overcooked_v0",
        game="collab_overcooked.games.collab_overcooked.env:CollabOvercooked",
        metrics="collab_overcooked.games.collab_overcooked.suite.scoring:METRICS",
        summary="Chef and helper share recipe knowledge and utensils unequally; 30 tasks in 6 levels.",
        suites={
            "collab-overcooked": SuiteEntry(
                "collab_overcooked.games.collab_overcooked.suite.suite:CollabOvercookedSuite",
                "One order at a time; success, and process metrics against reference trajectories.",
                "collab_overcooked.games.collab_overcooked.options:TASK_OPTIONS",
            ),
            "initiations": SuiteEntry(
                "collab_overcooked.games.collab_overcooked.suite.initiations:InitiationSuite",
                "What a chef asks for when an action of its teammate is due.",
                "collab_overcooked.games.collab_overcooked.options:INITIATION_OPTIONS",
            ),
        },
        policies={
            "greedy": "collab_overcooked.games.collab_overcooked.policies.greedy:GreedyPolicy",
            "planner": "collab_overcooked.games.collab_overcooked.policies.planner:PlannerPolicy",
            "reference": "collab_overcooked.games.collab_overcooked.policies.reference:reference_from_text",
        },
        prompts="collab_overcooked.games.collab_overcooked:text/prompts",
        language_agents={"partner": "collab_overcooked.games.collab_overcooked.policies.instructions:Instructions"},
        presets={"collab": PRESET, "collab-paper": PAPER},
        documents=("collab_overcooked.games.collab_overcooked.suite.suite:KITCHEN",),
        subplans="collab_overcooked.games.collab_overcooked.policies.greedy:CollabOvercookedSubplans",
    ),
)
