"""Every built-in policy that needs no files decides in each episode as if it were the first, in every game."""

from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.policies.registry import RECORDS
from collab_overcooked.testing import check_policy

SPECS = {
    "always": "always:random",
    "mcts": "mcts:simulations=4,depth=4",
    "mhp": "mhp:simulations=4",
    "noisy": "noisy:0.2",
}  # of policies whose names are none, or whose search takes long
WRAPPERS = (
    "slow:3:greedy",
    "late:5:greedy",
    "switch:9:greedy+random",
    "forgetful:0.2:greedy",
    "short_sighted:6:greedy",
    "role:picked_up+potted:greedy",
    "convention:clockwise:greedy",
)
KITCHENS = ["locked", "cramped_room", "forced_coordination", "asymmetric_advantages"]
GATES = ["gated_delivery_forced", "small_corridor", "locked_forced"]
DRAWN = {"layout": "procedural", "generator": {"count": 8, "rooms": [1, 2]}}
POOLS: dict[str, dict[str, Any]] = {
    "CollabOvercooked-v0": {"level": 3},
    "CuisineWorld-v0": {"level": "level_8"},
    "CraftKitchen-v0": {},
    "Overcooked-v0": {"layout": KITCHENS},
    "OvercookedV2-v0": {"layout": "grounded_coord_simple", "random_start": True, "redraw_recipe": True},
    "KitchenRush-v0": {"scenario": "easy"},
    "AlienRush-v0": {"scenario": "hard"},
    "Housework-v0": {},
    "Transport-v0": {},
    "CollabCapture-v0": {},
    "CollabEscape-v0": {},
}
QUICK = {("greedy", game) for game in POOLS} | {
    ("planner", "KitchenRush-v0"),
    ("selfish", "AlienRush-v0"),
    ("planner", "Overcooked-v0"),
    ("random", "Overcooked-v0"),
}
MORE: list[tuple[str | tuple[str, ...], str, dict[str, Any]]] = [
    ("greedy", "Overcooked-v0", DRAWN),
    ("greedy", "Overcooked-v0", {"layout": GATES}),
    (("greedy", "random"), "Overcooked-v0", {"layout": KITCHENS}),
    (("random", "planner"), "KitchenRush-v0", {"scenario": "easy"}),
    (("greedy",) * 3, "Overcooked-v0", {"layout": KITCHENS[:2] + KITCHENS[3:], "agents": 3}),
    ("greedy", "Overcooked-v0", {"layout": KITCHENS, "action_level": "medium"}),
]


def cases() -> list[Any]:
    """Return every scripted and searching policy in every game that has it; those that take long are marked."""
    chosen = []
    for game in registry.games():
        for record in RECORDS:
            if record.kind not in ("scripted", "search") or (record.role and record.role not in game.policies):
                continue
            if record.usage.endswith("policy]") or record.name in ("switch", "convention", "cots"):
                continue  # wrappers are below
            spec = _spec(record.name, game.id)
            quick = (record.name, game.id) in QUICK
            chosen.append(pytest.param(spec, game.id, POOLS[game.id], marks=() if quick else pytest.mark.slow))
    return chosen


def _spec(name: str, game: str) -> str:
    searches = name == "planner" and game in ("Overcooked-v0", "OvercookedV2-v0")
    return "planner:width=20,replan=5" if searches else SPECS.get(name, name)


@pytest.mark.parametrize(("policy", "game", "options"), cases())
def test_every_policy_forgets_the_last_episode(policy: str, game: str, options: dict[str, Any]) -> None:
    check_policy(policy, game, range(4), steps=40, **options)


@pytest.mark.parametrize(("policy", "game", "options"), MORE)
def test_it_does_in_other_pools_and_teams(policy: Any, game: str, options: dict[str, Any]) -> None:
    check_policy(policy, game, range(6), steps=60, **options)


@pytest.mark.parametrize("policy", WRAPPERS)
def test_wrappers_do(policy: str) -> None:
    check_policy(policy, "Overcooked-v0", range(2), steps=30, layout=KITCHENS)
