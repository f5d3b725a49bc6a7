"""How the paper evaluated its language agents: the preset ``rush`` of Kitchen-Alien Rush."""

from __future__ import annotations

from collab_overcooked.game_record import PresetRecord

PRESET = PresetRecord(
    {"agent": "choose", "answer": "text"},
    {},
    {},
    "Kitchen-Alien Rush: observation and manual, answers in words.",
)
