"""Preset ``collab``: evaluation of language agents as in the Collab-Overcooked paper."""

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
