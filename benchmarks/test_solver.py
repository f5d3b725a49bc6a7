"""Time of the exact values of maps of rooms; off by default, run by `make bench`.

Each round starts with an empty memory of states; reading the map and compiling are not timed.
"""

from __future__ import annotations

import pytest

from collab_overcooked.games.rooms.engine.compile import compile_rooms
from collab_overcooked.games.rooms.engine.config import CaptureConfig, EscapeConfig
from collab_overcooked.games.rooms.engine.constants import Goal
from collab_overcooked.games.rooms.engine.solver import solve

ROOMS = [  # map, preset, whether from all placements
    ("nine_rooms", "code2024", False),
    ("nine_rooms", "code2024", True),
    ("ten_rooms", "code2024", False),
    ("seven_rooms", "paper2023", False),
]


@pytest.mark.parametrize(("name", "preset", "everywhere"), ROOMS)
def test_exact_values(benchmark, name: str, preset: str, everywhere: bool) -> None:
    goal, config = (Goal.CAPTURE, CaptureConfig) if name == "nine_rooms" else (Goal.ESCAPE, EscapeConfig)
    compiled = compile_rooms(goal, config(map=name, preset=preset))
    result = benchmark.pedantic(solve, (compiled, None, everywhere), rounds=5, warmup_rounds=1)
    facts = {"kind": "exact values", "map": name, "preset": preset, "everywhere": everywhere}
    benchmark.extra_info |= facts | {"states": len(result.keys), "joint_actions": len(result.actions)}
