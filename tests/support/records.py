"""Records for tests: from a few fields, as JSON values, and from these."""

from __future__ import annotations

from typing import Any

import msgspec

from collab_overcooked.core.record import SCHEMA, EpisodeRecord
from collab_overcooked.io.structs import convert
from collab_overcooked.runner.records import record_class

ACCOUNT = {
    "model": "m",
    "calls": 0,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "latencies": [],
    "dollars": None,
    "trouble": {},
    "exhausted": "",
}


def record_of(**fields: Any) -> Any:
    """Return a record with some fields given as JSON values, and the least that the others can be."""
    team = fields.get("team", {"agent_0": "random", "agent_1": "random"})
    seats = len(team)
    step = {
        "actions": [0] * seats,
        "action_texts": [""] * seats,
        "messages": [],
        "errors": [],
        "tokens": [None] * seats,
        "events": [None] * seats,
        "rewards": [0.0] * seats,
    }
    steps = [step | entry for entry in fields.get("steps", ())]
    accounts = {agent: ACCOUNT | account for agent, account in fields.get("accounts", {}).items()}
    values: dict[str, Any] = {
        "schema": SCHEMA,
        "env_id": "CollabOvercooked-v0",
        "env_kwargs": {},
        "seed": 0,
        "episode": 0,
        "team": team,
        "version": "0",
        "task": "",
        "level": None,
        "max_cycles": 1,
        "history": [[] for _ in team],
        "success": False,
        "timesteps": len(steps),
        **fields,
        "steps": steps,
        "accounts": accounts,
    }
    kind = record_class(values.get("suite") or values["env_id"])
    return convert(values, kind)


def as_json(record: EpisodeRecord) -> dict[str, Any]:
    """Return the JSON values of a record, as they stand in a file."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return values


def from_json(values: dict[str, Any]) -> Any:
    """Return the record of JSON values."""
    return convert(values, record_class(values.get("suite") or values["env_id"]))


def rush_episodes(*completed: int, seed: int = 0) -> list[Any]:
    """Return a record of Kitchen Rush for each number of completed orders."""
    none = {
        "label": "",
        "event": "COOK",
        "worker": 0,
        "reason": "OK",
        "advanced": False,
        "ruined": False,
        "finished": True,
        "turn": 0,
    }
    return [
        record_of(
            env_id="KitchenRush-v0",
            task="easy",
            episode=number,
            seed=seed,
            scenario="easy",
            max_turns=10,
            team={"agent_0": "x"},
            orders=[{"name": "a", "finished": True, "ruined": False}] * count,
            steps=[{"events": [{**none, "order": f"order {k}"}]} for k in range(count)],
        )
        for number, count in enumerate(completed)
    ]
