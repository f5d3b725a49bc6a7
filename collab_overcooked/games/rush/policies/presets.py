"""Preset ``rush``: language agents as evaluated in the paper on Kitchen Rush and Alien Rush."""

from __future__ import annotations

from collab_overcooked.game_record import PresetRecord

PRESET = PresetRecord(
    {"agent": "choose", "answer": "text", "order": "game"},
    {},
    {},
    "Kitchen-Alien Rush: observation and manual, answers as text.",
)
