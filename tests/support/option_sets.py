"""Option sets of every environment beside its defaults: together they change every option."""

from __future__ import annotations

from typing import Any

KITCHEN = "WWCWWWW\nWA  RPW\n0     W\nB    AX\n1  W  W\nWWHWWWW"  # a grid of OvercookedV2
BELTS = "WWWWWWW\nW A>>WW\n0  WW P\nB  WWAX\nR  W  1\nWWWWWWW"  # a grid of OvercookedV2

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "CollabOvercooked-v0": [
        {"kitchen": "three_agents", "action_level": "primitive", "orders": True, "max_cycles": 40},
        {"kitchen": "shared_floor", "action_level": "primitive", "obs": "grid"},
        {"action_level": "agent_0=medium,agent_1=low", "text_info": True, "task": "boiled_egg", "show_limit": False},
        {"preset": "original", "level": [5, 6], "text_info": True},
        {"mask_in": "rllib", "knowledge": "full", "time_limit": "strict", "stuck_limit": 5},
        {"obs": "grid", "mask_in": "obs"},
        {"action_level": "primitive"},
        {"text_info": True, "level": [1, 6], "gamma": 0.5, "global_state": True, "interface": "paper"},
        {"orders": True, "max_cycles": 60, "shaping": {"PUT": 1.0}},
        {"kitchen": "shared_floor"},
        {"kitchen": "three_agents", "mask_in": "obs"},
        {"preset": "original", "kitchen": "shared_floor", "action_level": "agent_0=medium,agent_1=low"},
    ],
    "CuisineWorld-v0": [
        {"level": "level_2", "agents": 2, "alpha": 1.5, "beta": 3.0, "obs": "original64"},
        {"level": "level_4", "agents": 3, "mask": "original", "max_cycles": 70},
        {"level": "level_11", "agents": 4, "turn_order": [3, 1, 0, 2], "mask_in": "rllib", "text_info": True},
        {"level": "level_0", "agents": 1, "alpha": 1.0, "mask_in": "obs", "idle_error": True},
        {"level": "level_12_fryer", "agents": 5, "alpha": None, "max_open_orders": 2},
        {"level": "level_9", "agents": 2, "lexicon": "alien", "text_info": True, "show_lost": True},
    ],
    "CraftKitchen-v0": [
        {"level": "field", "agents": 1, "pace": 1, "mask_in": "obs", "alpha": 2.0, "items_per_fuel": 1.5},
        {
            "level": "butchery",
            "agents": 4,
            "walk": 3,
            "respawn": 3,
            "cook_steps": 2,
            "reach": "code",
            "interval": 9,
            "lifetime": 20,
            "max_cycles": 45,
            "strict_lists": False,
            "text_info": True,
        },
    ],
    "KitchenRush-v0": [
        {"scenario": "hard", "agents": 4, "mask": "safe", "episode": 2, "mask_in": "rllib", "max_cycles": 7},
        {"scenario": "hard", "agents": 1, "workers": 4, "reward": "shaped", "text_info": True},
        {"scenario": "hard", "mask_in": "obs", "order": "game", "texts": "paper"},
        {"scenario": "easy", "agents": 3, "workers": 1, "max_turns": 30, "lexicon": "alien"},
    ],
    "AlienRush-v0": [{"agents": 3, "lexicon": "kitchen"}, {"scenario": "hard", "text_info": True, "reward": "shaped"}],
    "Overcooked-v0": [
        {"layout": "locked", "text_info": True, "max_cycles": 90, "obs": "gates", "axes": "chw", "gate_reset": False},
        {"layout": ["cramped_room", "gated_delivery", "counter_circuit"], "random_start": True, "size": "9x6"},
        {"layout": "counter_circuit", "agents": 4, "dynamics": "explicit", "reward": "shaped", "mask_in": "rllib"},
        {"layout": "cramped_room", "action_level": {"agent_0": "medium"}, "text_info": True, "text_rules": "original"},
        {"layout": "cramped_room", "agents": 1, "random_start": True, "shaping": {"potting": 1}, "view_radius": 2},
        {"layout": "procedural", "generator": {"count": 2, "belts": 1, "prepared": 1}, "mask_in": "obs", "burn": 3},
        {
            "layout": "locked",
            "action_level": "medium",
            "text_rules": "original",
            "stalemate": "paper",
            "max_cycles": 60,
        },
        {"layout": ["split_left", "split_right"], "changes": 25, "notice": 8, "text_info": True, "max_cycles": 80},
        {
            "layout": ["outage_off", "outage_on"],
            "changes": {"random": [9, 20]},
            "obs": "features",
            "burn": 7,
            "burn_cost": 2,
            "order_time": 12,
        },
        {"layout": "chopping", "text_info": True, "dynamics": "explicit"},
        {"layout": "belt", "text_info": True, "action_level": {"agent_1": "medium"}},
        {"layout": ["belt", "two_soups"], "view_radius": 3, "axes": "chw"},
        {"layout": "two_soups", "order_time": 7, "order_cost": 3, "text_info": True, "max_cycles": 60},
        {"layout": ["split_left", "split_right"], "changes": {"after": "delivery"}, "notice": 3, "view_radius": 2},
        {"layout": ["passage_north", "passage_south"], "changes": {"random": [3, 9]}, "text_info": True},
        {
            "layout": ["passage_north", "passage_south"],
            "changes": {"random": [9, 20]},
            "notice": 4,
            "action_level": "medium",
            "max_cycles": 60,
        },
        {"layout": "door_rect_room", "gate_opener": "anyone", "gate_pause": False, "gate_limit": 2, "agents": 3},
    ],
    "OvercookedV2-v0": [
        {"view_radius": 2, "redraw_recipe": True, "negative_rewards": True, "random_start": True, "mask_in": "obs"},
        {"layout": "two_rooms", "dynamics": "explicit", "reward": "shaped", "mask_in": "rllib", "text_info": True},
        {"layout": "test_time_wide", "view_radius": 2, "delivery_light": True, "channels": "paper2025"},
        {"layout": "demo_cook_wide", "view_radius": 1, "random_state": True, "permuted_ingredients": [0, 1, 3]},
        {"layout": "long_room", "max_cycles": 50, "burn": 5, "burn_cost": 3, "random_state": True, "text_info": True},
        {"view_radius": 2, "order_time": 9, "order_cost": 2, "burn": 4},
        {"layout": {"name": "k", "grid": KITCHEN, "prepare": {"onion": "board", "tomato": "grill"}}, "view_radius": 2},
        {"layout": {"name": "belts", "grid": BELTS}, "view_radius": 2, "random_state": True, "text_info": True},
        {
            "layout": ["hidden_split_left", "hidden_split_right"],
            "changes": 20,
            "notice": 6,
            "view_radius": 2,
            "redraw_recipe": True,
        },
        {
            "layout": ["hidden_split_left", "hidden_split_right"],
            "changes": {"random": [9, 20]},
            "random_state": True,
            "view_radius": 1,
        },
        {
            "layout": "procedural",
            "generator": {"count": 6, "rooms": [1, 2], "belts": [1, 2], "prepared": 2},
            "view_radius": 2,
            "text_info": True,
        },
    ],
    "CollabCapture-v0": [
        {"sight": "room", "mask_in": "obs", "text_info": True},
        {"preset": "paper2023", "doors": {"1-2": True}, "reward": "timed", "mask_in": "rllib"},
        {"adversary": "distance", "catch_on_exchange": "always", "agents": 1, "menu": "numbered", "order": "game"},
        {"max_cycles": 20},
        {"map": "capture_five_turns"},
    ],
    "CollabEscape-v0": [
        {"sight": "room", "agents": 4, "loss": "all", "generators": "random", "mask_in": "obs"},
        {"preset": "paper2023", "map": "themed_rooms", "text_info": True, "reward": "timed", "max_cycles": 12},
        {"adversary": "closest", "fix_by": "player", "agents": 1, "fixes": 1, "catch_on_exchange": "always"},
        {"sight": "room", "menu": "lettered", "order": "game", "mask_in": "rllib", "agents": 3},
    ],
    "Housework-v0": [
        {"action_level": "primitive", "stepping": "tick", "mask_in": "obs", "max_ticks": 80},
        {
            "agents": 4,
            "rooms": 6,
            "items": 8,
            "preempt": True,
            "text_info": True,
            "talk": "free",
            "task": "set_table",
            "auto_open": False,
        },
    ],
    "Transport-v0": [
        {"action_level": "agent_0=medium,agent_1=low", "rooms": 8, "max_ticks": 600, "task": "stuff", "targets": 6},
        {"agents": 3, "containers": 2, "miss": 20, "container_lost": False, "max_ticks": 800, "mask_in": "rllib"},
        {"stepping": "tick", "preempt": True, "talk": "free", "max_ticks": 400},
    ],
}

CHANNELS: dict[str, dict[str, Any]] = {
    "CollabEscape-v0": {"channel": 3, "sight": "room", "channel_to": "nobody"},
    "KitchenRush-v0": {"channel": 2, "channel_noise": 0.25, "channel_cost": 0.1},
    "CollabCapture-v0": {"channel": 3, "channel_to": "ring", "channel_cost": 0.25},
    "AlienRush-v0": {"channel": 3, "channel_delay": 1},
    "Overcooked-v0": {"channel": 3, "axes": "chw", "channel_delay": 2},
    "OvercookedV2-v0": {"channel": 3, "view_radius": 2},
    "CraftKitchen-v0": {"channel": 3, "channel_noise": 0.5, "channel_delay": 2, "channel_cost": 1},
    "CuisineWorld-v0": {"channel": 3, "channel_to": "one-way"},
    "CollabOvercooked-v0": {"channel": 3, "obs": "grid"},
    "Housework-v0": {"channel": 3},
    "Transport-v0": {"channel": 3},
}
"""Options of a channel, which every game takes, by id: those that take least time first."""
