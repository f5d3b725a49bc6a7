"""Registry entries of CollabCapture and CollabEscape; imports nothing from the games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.game_spec import VOCABULARY, GameSpec, SuiteEntry

_ROOMS: Mapping[str, Any] = {  # shared by both ids
    "metrics": "collab_overcooked.games.rooms.suite:METRICS",
    "policies": {
        "greedy": "collab_overcooked.games.rooms.policies.greedy:GreedyPolicy",
        "planner": "collab_overcooked.games.rooms.policies.planner:PlannerPolicy",
    },
    "prompts": "collab_overcooked.games.rooms:text/prompts",
    "documents": ("collab_overcooked.games.rooms.suite:MAP",),
}

RECORDS = (
    GameSpec(
        id="CollabCapture-v0",
        menu=VOCABULARY,
        minutes=3,
        difficulty=1,
        questions="collab_overcooked.games.rooms.questions.source:CAPTURE_QUESTIONS",
        module="collab_overcooked.envs.collab_capture_v0",
        game="collab_overcooked.games.rooms.env:CollabCapture",
        suites={
            "collab-capture": SuiteEntry(
                "collab_overcooked.games.rooms.suite:CaptureSuite",
                "Turns until a thief is caught, against several kinds of thieves.",
                "collab_overcooked.games.rooms.options:OPTIONS",
            )
        },
        summary="Players catch a thief on a graph of rooms, where buttons open doors far away.",
        generator="collab_overcooked.games.rooms.suite:CaptureGenerator",
        **_ROOMS,
    ),
    GameSpec(
        id="CollabEscape-v0",
        minutes=4,
        difficulty=2,
        questions="collab_overcooked.games.rooms.questions.source:ESCAPE_QUESTIONS",
        module="collab_overcooked.envs.collab_escape_v0",
        game="collab_overcooked.games.rooms.env:CollabEscape",
        suites={
            "collab-escape": SuiteEntry(
                "collab_overcooked.games.rooms.suite:EscapeSuite",
                "Escapes from a killer, and the turns that they take.",
                "collab_overcooked.games.rooms.options:OPTIONS",
            )
        },
        summary="Survivors repair generators and escape, while a killer chases one of them.",
        generator="collab_overcooked.games.rooms.suite:EscapeGenerator",
        **_ROOMS,
    ),
)
