"""Games under attack, each with options that make different kernels and keys of scenes run."""

from __future__ import annotations

from typing import Any

import pytest

GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "home": ("Housework-v0", {"agents": 3}),
    "house": ("Transport-v0", {"action_level": "agent_0=medium,agent_1=low"}),
    "capture": ("CollabCapture-v0", {"doors": {"1-2": True}}),
    "capture-room": ("CollabCapture-v0", {"sight": "room", "preset": "paper2023", "agents": 3}),
    "escape": ("CollabEscape-v0", {"adversary": "closest", "loss": "all"}),
    "escape-room": ("CollabEscape-v0", {"sight": "room", "agents": 3, "loss": "all", "generators": "random"}),
    "escape-paper": ("CollabEscape-v0", {"sight": "room", "preset": "paper2023"}),
    "collab": ("CollabOvercooked-v0", {"task": "boiled_egg"}),
    "collab-orders": ("CollabOvercooked-v0", {"orders": True, "action_level": "agent_0=medium,agent_1=low"}),
    "collab-shared": ("CollabOvercooked-v0", {"kitchen": "shared_floor", "obs": "grid"}),
    "collab-primitive": ("CollabOvercooked-v0", {"action_level": "primitive", "obs": "grid"}),
    "collab-three": ("CollabOvercooked-v0", {"kitchen": "three_agents"}),
    "cuisine-1": ("CuisineWorld-v0", {"level": "level_1"}),
    "cuisine-12": ("CuisineWorld-v0", {"level": "level_12", "agents": 4}),
    "cuisine-64": ("CuisineWorld-v0", {"level": "level_3", "agents": 2, "obs": "original64", "mask": "original"}),
    "craft": ("CraftKitchen-v0", {"level": "house", "agents": 3, "pace": 1}),
    "craft-slow": ("CraftKitchen-v0", {"level": "butchery", "walk": 2, "respawn": 4, "cook_steps": 3, "reach": "code"}),
    "overcooked": ("Overcooked-v0", {"layout": "counter_circuit", "reward": "shaped"}),
    "overcooked-four": ("Overcooked-v0", {"layout": "counter_circuit", "agents": 4, "action_level": "medium"}),
    "overcooked-gates": ("Overcooked-v0", {"layout": "locked", "obs": "gates", "action_level": "medium"}),
    "overcooked-pool": (
        "Overcooked-v0",
        {
            "layout": ["cramped_room", "soup_passing", "asymmetric_advantages"],
            "action_level": "medium",
            "text_rules": "original",
            "dynamics": "explicit",
        },
    ),
    "overcooked-features": ("Overcooked-v0", {"layout": "gated_delivery", "obs": "features"}),
    "recipes": ("OvercookedV2-v0", {"layout": "grounded_coord_ring", "view_radius": 2, "dynamics": "explicit"}),
    "recipes-permuted": ("OvercookedV2-v0", {"layout": "two_rooms", "permuted_ingredients": [0, 1], "view_radius": 1}),
    "rush": ("KitchenRush-v0", {"scenario": "hard"}),
    "rush-alien": ("AlienRush-v0", {"scenario": "easy", "agents": 3, "workers": 4, "reward": "shaped"}),
}

# With the other tests; `make test-attacks` runs all.
SHORT = ("collab-three", "craft-slow", "cuisine-12", "escape-room", "overcooked-four", "rush")
PARAMS = [pytest.param(name, id=name, marks=() if name in SHORT else pytest.mark.nightly) for name in GAMES]
