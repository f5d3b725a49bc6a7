"""Time of the proofs about built-in scenarios of Rush and maps of rooms; off by default, run by `make bench`.

Each round starts with an empty memory of states; reading the scenario or map and compiling are not timed.
"""

from __future__ import annotations

import pytest

from collab_overcooked.games.rooms.engine.compile import compile_rooms
from collab_overcooked.games.rooms.engine.config import CaptureConfig, EscapeConfig
from collab_overcooked.games.rooms.engine.constants import Goal
from collab_overcooked.games.rooms.engine.solver import solve
from collab_overcooked.games.rush.engine.compile import compile_scenario
from collab_overcooked.games.rush.engine.config import RushConfig
from collab_overcooked.games.rush.engine.search import Solver, start_of
from collab_overcooked.games.rush.engine.spec import load_scenario, scenarios


@pytest.mark.parametrize("agents", (1, 2))
@pytest.mark.parametrize("name", scenarios())
def test_proof(benchmark, name: str, agents: int) -> None:
    tables = compile_scenario(load_scenario(name), RushConfig(agents=agents)).tables
    start = start_of(tables, 0)
    results = []

    def setup() -> tuple:
        return (Solver(tables, 0, [True] * agents),), {}

    def prove(solver: Solver) -> None:
        results.append(solver.solve(start))

    benchmark.pedantic(prove, setup=setup, rounds=100, warmup_rounds=2)
    assert all(solution.is_proved and solution == results[0] for solution in results)
    benchmark.extra_info |= {"kind": "proof", "scenario": name, "agents": agents, "states": results[0].states}


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
