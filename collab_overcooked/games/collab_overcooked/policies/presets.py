"""Presets ``collab`` and ``collab-paper``: language agents as in Collab-Overcooked's public code and in its paper."""

from __future__ import annotations

from collab_overcooked.game_record import PresetRecord

PRESET = PresetRecord(
    {"agent": "partner", "temperature": 0.7, "tokens": 4096, "answer": "text", "order": "game"}
    | {"messages": 0, "decisions": 0},
    {"action_level": "medium", "preset": "original"},
    {},
    "Collab-Overcooked: temperature 0.7, no limit of its own for answers, analysis, plan and say, nothing of earlier "
    "timesteps but the agent's own actions, rules as released.",
)

MAX_SHOWN = 1_000  # more than what happens in an episode
PAPER = PresetRecord(
    {**PRESET.switches, "messages": MAX_SHOWN, "memory": MAX_SHOWN, "plans": "public"},
    PRESET.options,
    {},
    "Collab-Overcooked's paper (section A.3) where its public code differs: the whole conversation up to now, all of "
    "the agent's own actions, and the teammate's plan, announced or not; the rest as collab.",
)
