"""Short records of all suites with every field that records can have, for attacks on whoever reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STEPS = 12
PLANS: dict[str, dict[str, Any]] = {
    "collab-overcooked": {"tasks": ("boiled_egg",), "gamma": 0.5},
    "cuisineworld": {"levels": "level_1", "agents": (2,), "alphas": (1.0,), "runs": 1, "episodes": 1},
    "overcooked": {"layouts": "cramped_room", "max_cycles": STEPS},
    "overcooked-v2": {"layouts": "grounded_coord_simple", "max_cycles": STEPS, "episodes": 1},
    "rush": {"domain": ("kitchen",), "scenario": ("easy",), "runs": 1, "episodes": 1},
    "craft": {"levels": ("house",), "agents": (2,), "paces": (1,), "episodes": 1},
    "housework": {"tasks": ("set_table",), "episodes": 1},
    "transport": {"tasks": ("food",), "rooms": (6,), "containers": (2,), "episodes": 1},
    "collab-capture": {"episodes": 1},
    "collab-escape": {"episodes": 1},
    "questions": {"games": "CollabCapture-v0", "kinds": "own", "answers": "play", "samples": 1},
}
SHORT = ("collab-overcooked", "cuisineworld", "rush", "collab-escape", "questions")  # others with `make test-attacks`
ACCOUNT = {"model": "m", "calls": 2, "prompt_tokens": 9, "completion_tokens": 3, "seconds": 0.1, "latencies": [0.1]}
NODE = {
    "parent": -1,
    "plan": "1. wait",
    "messages": ["fine"],
    "visits": 1,
    "reward": 0.5,
    "value": 0.5,
    "solved": False,
}
LOOK = {"timestep": 1, "seat": 0, "trigger": "start", "rating": 2, "calls": 3, "characters": 99, "plan": "1. wait"}
NODES = [NODE, NODE | {"parent": 0}, NODE | {"parent": 0, "solved": True}, NODE | {"parent": 2}]
PERSON = {"id": "p-1", "interface": "browser", "clock": "turns", "seconds": 1.5}
FURTHER = {
    "plan_updates": {
        "agent_0": [LOOK | {"searched": True, "nodes": NODES, "chosen": 2, "depth": 1}, LOOK | {"searched": False}]
    },
    "people": {"agent_0": PERSON | dict.fromkeys(("decisions", "timeouts", "disconnects", "refused"), 1)},
    "feedback": ["Well done.", ""],
    "accounts": {"agent_0": {**ACCOUNT, "dollars": 0.1, "trouble": {"length": 1}, "exhausted": ""}},
    "decisions": {"agent_0": [3, 0.25], "agent_1": [3, 0.25]},
}
SAID = {
    "messages": [{"agent": 0, "conversation": 0, "say": "hi", "plan": "request('wait(1)')"}],
    "errors": [{"agent": 1, "action": "x", "code": "MASKED", "message": "no"}],
    "tokens": [5, None],
    "seconds": [0.5, None],
}


def write_records(folder: Path, records: Sequence[Any]) -> Path:
    """Write records into a new run folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return folder
