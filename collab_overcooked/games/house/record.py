"""Registry entry of Housework and Transport; imports nothing of the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.game_spec import VOCABULARY, GameSpec, SuiteEntry

_HOUSE: Mapping[str, Any] = {  # two ids, one engine
    "subplans": "collab_overcooked.games.house.policies.joint:HouseSubplans",
    "policies": {
        "greedy": "collab_overcooked.games.house.policies.planner:Greedy",
        "planner": "collab_overcooked.games.house.policies.planner:FullInformationPlanner",
        "mhp": "collab_overcooked.games.house.policies.planner:MonteCarloPlanner",
    },
}

RECORDS = (
    GameSpec(
        id="Housework-v0",
        menu=VOCABULARY,
        minutes=5,
        difficulty=1,
        module="collab_overcooked.envs.housework_v0",
        game="collab_overcooked.games.house.env:Housework",
        summary="Agents search a home for what a task needs and bring it to one place; each knows what it saw.",
        suites={
            "housework": SuiteEntry(
                "collab_overcooked.games.house.suite:HouseworkSuite",
                "Five families of household tasks in generated homes; steps, beside published ones.",
                "collab_overcooked.games.house.options:HOUSEWORK_OPTIONS",
            )
        },
        metrics="collab_overcooked.games.house.suite:HOUSEWORK_METRICS",
        **_HOUSE,
    ),
    GameSpec(
        id="Transport-v0",
        menu=VOCABULARY,
        minutes=12,
        difficulty=2,
        module="collab_overcooked.envs.transport_v0",
        game="collab_overcooked.games.house.env:Transport",
        summary="Agents bring ten things from many rooms to the bed, with containers, before 3000 frames are over.",
        suites={
            "transport": SuiteEntry(
                "collab_overcooked.games.house.suite:TransportSuite",
                "Food and other things in generated houses of two sizes; transport rates, beside published ones.",
                "collab_overcooked.games.house.options:TRANSPORT_OPTIONS",
            )
        },
        metrics="collab_overcooked.games.house.suite:METRICS",
        subplans=_HOUSE["subplans"],
        policies=_HOUSE["policies"] | {"rhp": "collab_overcooked.games.house.policies.planner:RulePlanner"},
    ),
)
