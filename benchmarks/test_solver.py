"""Time of the proofs that certify the shipped scenarios of Rush; off by default, run by `make bench`.

Each round starts with an empty memory of states; reading the scenario and compiling are not timed.
"""

from __future__ import annotations

import pytest

from collab_overcooked.games.rush.compile import compile_scenario
from collab_overcooked.games.rush.config import RushConfig
from collab_overcooked.games.rush.search import Solver, start_of
from collab_overcooked.games.rush.spec import load_scenario, scenarios


@pytest.mark.parametrize("agents", (1, 2))
@pytest.mark.parametrize("name", scenarios())
def test_proof(benchmark, name: str, agents: int) -> None:
    tables = compile_scenario(load_scenario(name), RushConfig(agents=agents)).tables
    start = start_of(tables, 0)
    found = []

    def setup() -> tuple:
        return (Solver(tables, 0, [True] * agents),), {}

    def prove(solver: Solver) -> None:
        found.append(solver.solve(*start))

    benchmark.pedantic(prove, setup=setup, rounds=100, warmup_rounds=2)
    assert all(solution.is_proved and solution == found[0] for solution in found)
    benchmark.extra_info |= {"kind": "proof", "scenario": name, "agents": agents, "states": found[0].states}
