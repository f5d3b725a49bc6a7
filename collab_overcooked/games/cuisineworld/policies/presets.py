"""Preset ``mindagent``: language agents as evaluated in MindAgent's paper."""

from __future__ import annotations

from collab_overcooked.game_record import PresetRecord

PRESET = PresetRecord(
    {"agent": "dispatch", "temperature": 0.1, "tokens": 100, "answer": "text"},
    {},
    {"counting": "steps"},
    "MindAgent: temperature 0.1, 100 tokens, at most one failure per step.",
)
