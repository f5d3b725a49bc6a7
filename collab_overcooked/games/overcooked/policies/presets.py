"""Preset ``llmco``: evaluation of language agents as in the LLM-Co paper."""

from __future__ import annotations

from collab_overcooked.game_record import PresetRecord

PRESET = PresetRecord(
    {
        "agent": "choose",
        "temperature": 0.6,
        "answer": "text",
        "order": "game",
        "analysis": True,
        "predict": True,
        "patience": 0,
    },
    {"text_rules": "original"},
    {},
    "LLM-Co: temperature 0.6, directives by the public code's rules, an explanation before the action.",
)
