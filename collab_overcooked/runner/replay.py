"""Replay of records: the same environment, seed and actions give the same events and rewards."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.runner.episode import history_of
from collab_overcooked.runner.jobs import make_logger
from collab_overcooked.runner.record_schema import derived_fields
from collab_overcooked.runner.records import RecordError, about


@dataclass(frozen=True)
class ReplayStep:
    """State of a replayed episode."""

    timestep: int  # Steps taken; 0 is the start
    env: ParallelEnv  # The environment in this state; the iteration advances it
    events: list[dict[str, Any] | None]  # Each agent's event in the last step; empty at the start
    rewards: list[float]  # Each agent's reward for the last step
    success: bool  # Whether the episode reached its goal
    over: bool  # Whether the episode ended
    # Fields that the game's logger adds to the step; see ``episode.EpisodeLogger``
    further: dict[str, Any] = field(default_factory=dict)
    # Fields that the logger adds to the record, after the last step
    result: dict[str, Any] = field(default_factory=dict)


def replay(record: Mapping[str, Any], render_mode: str | None = None) -> Iterator[ReplayStep]:
    """Yield the start of a record and the state after each step.

    Args:
        record: See ``records.parse_record``.
        render_mode: Passed to the environment, so that ``step.env.render()`` works.
    """
    with about(record):
        env = _started(record, render_mode)
    logger = make_logger(record["env_id"])
    if logger is not None:
        logger.begin(env)
    yield ReplayStep(0, env, [], [], False, False)
    for t, step in enumerate(record["steps"], start=1):
        with about(record):
            if not env.agents:
                raise ValueError(f"timesteps: the game is over after {t - 1} steps, the record goes on")
            actions = dict(zip(env.possible_agents, step["actions"], strict=True))
            if "turn_order" in step:
                env.set_turn_order(step["turn_order"])
            _, rewards, _, _, _ = env.step(actions)
        further = logger.step(env) if logger is not None else {}
        success = env.game.is_success(env.arrays[1], 0)
        result = logger.end() if logger is not None and t == len(record["steps"]) else {}
        yield ReplayStep(t, env, env.events(), list(rewards.values()), success, not env.agents, further, result)


def _started(record: Mapping[str, Any], render_mode: str | None) -> ParallelEnv:
    limit = record["max_cycles"]
    env = registry.make(record["env_id"], **record["env_kwargs"], render_mode=render_mode)
    if env.max_cycles != limit:
        env = registry.make(record["env_id"], **record["env_kwargs"], render_mode=render_mode, max_cycles=limit)
    if len(env.possible_agents) != len(record["team"]):
        raise ValueError(f"team: the record has {len(record['team'])} seats, the game {len(env.possible_agents)}")
    count = env.game.n_actions
    for t, step in enumerate(record["steps"]):
        for seat, action in enumerate(step["actions"]):
            if action >= count:
                raise ValueError(f"steps[{t}].actions[{seat}]: got {action}, allowed are 0 to {count - 1}")
    env.reset(seed=record["seed"], options=record.get("options"))
    return env


def first_difference(record: Mapping[str, Any]) -> str | None:
    """Replay a record and compare events, rewards, action texts, history, outcome, and all fields derived from them.

    Texts of policies, accounts, team and version cannot be recomputed.

    Returns:
        The first difference as a sentence that names the field, None if there is none.
    """
    last = None
    texts: list[list[str]] = []
    try:
        for replayed_step in replay(record):
            last = replayed_step
            if replayed_step.timestep:
                difference = _step_difference(record, replayed_step, texts)
                if difference:
                    return difference
            game, state = replayed_step.env.game, replayed_step.env.arrays[0]
            texts = [game.action_texts(state, 0, seat) for seat in range(game.n_agents)]  # those of the next step
    except RecordError as error:
        return str(error)
    history = history_of(record["steps"], len(record["team"]))
    derived = {"success": last is not None and last.success, "history": history, **derived_fields(record)}
    derived |= {} if last is None else {name: value for name, value in last.result.items() if name in record}
    for name, replayed in json.loads(json.dumps(derived)).items():  # converts tuples to lists, as in records
        if record[name] != replayed and (name, record[name]) != ("level", None):
            return f"{name}: recorded {record[name]!r:.200}, replayed {replayed!r:.200}"
    if last is None or not (last.over or record.get("ends_after") == record["timesteps"]):
        return f"timesteps: the record ends after {record['timesteps']} steps, but the game goes on"
    return _metric_difference(record)


def _metric_difference(record: Mapping[str, Any]) -> str | None:
    recorded = record.get("metrics", {})
    try:
        with about(record):
            computed = game_metrics(record["env_id"]).measure(record) if recorded else {}
    except RecordError as error:
        return str(error)
    for name, value in computed.items():
        if name in recorded and not _equal(recorded[name], value):
            return f"metrics.{name}: recorded {recorded[name]!r:.200}, computed {value!r:.200}"
    return None


def _equal(recorded: Any, computed: Any) -> bool:
    if isinstance(recorded, dict) and isinstance(computed, dict):
        return recorded.keys() == computed.keys() and all(_equal(recorded[key], computed[key]) for key in computed)
    if isinstance(recorded, (list, tuple)) and isinstance(computed, (list, tuple)):
        return len(recorded) == len(computed) and all(map(_equal, recorded, computed))
    if isinstance(recorded, float) or isinstance(computed, float):
        try:
            return math.isclose(recorded, computed, rel_tol=1e-9, abs_tol=1e-12)
        except (TypeError, OverflowError):  # None, a text, or an integer beyond all floats
            return False
    return bool(recorded == computed)


def _step_difference(record: Mapping[str, Any], replayed_step: ReplayStep, texts: list[list[str]]) -> str | None:
    step, where = record["steps"][replayed_step.timestep - 1], f"steps[{replayed_step.timestep - 1}]"
    replayed: dict[str, list[Any]] = {
        "events": replayed_step.events,
        "rewards": replayed_step.rewards,
        "action_texts": [texts[seat][action] for seat, action in enumerate(step["actions"])],
    }
    for name, values in replayed.items():
        for seat, (was, now) in enumerate(zip(step[name], values, strict=True)):
            if was != now:
                return f"{where}.{name}[{seat}]: recorded {was!r}, replayed {now!r}"
    for name, value in replayed_step.further.items():
        if step.get(name) != value:
            return f"{where}.{name}: recorded {step.get(name)!r:.200}, replayed {value!r:.200}"
    return None
