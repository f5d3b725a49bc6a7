"""Replay of records: the same environment, seed and actions give the same events and rewards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import to_builtins

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, Step, field_types, history_of
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io.structs import convert
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.runner.episode import make_logger
from collab_overcooked.runner.records import RecordError, about, derived_fields


@dataclass(frozen=True)
class ReplayStep:
    """State of a replayed episode."""

    timestep: int  # Steps taken; 0 is the start
    env: ParallelEnv  # The environment in this state; the iteration advances it
    step: Step | None  # The last step as it was replayed, with the decisions of the record; None at the start
    success: bool  # Whether the episode reached its goal
    over: bool  # Whether the episode ended
    # Fields that the game's logger adds to the record, after the last step; see ``episode.EpisodeLogger``
    result: dict[str, Any] = field(default_factory=dict)


def replay(record: EpisodeRecord, render_mode: str | None = None) -> Iterator[ReplayStep]:
    """Yield the start of a record and the state after each step.

    Args:
        record: See ``records.parse_record``.
        render_mode: Passed to the environment, so that ``step.env.render()`` works.

    Raises:
        ValueError: The record goes on after the end of the game.
    """
    with about(record):
        env = _started(record, render_mode)
    logger = make_logger(record.env_id)
    if logger is not None:
        logger.begin(env)
    yield ReplayStep(0, env, None, False, False)
    for t, step in enumerate(record.steps, start=1):
        with about(record):
            if not env.agents:
                raise ValueError(f"timesteps: the game is over after {t - 1} steps, the record goes on")
            actions = dict(zip(env.possible_agents, step.actions, strict=True))
            if step.turn_order:
                env.set_turn_order(step.turn_order)
            _, rewards, _, _, _ = env.step(actions)
        further = logger.step(env) if logger is not None else {}
        success = env.game.is_success(env.arrays[1], 0)
        result = logger.end() if logger is not None and t == len(record.steps) else {}
        replayed = {"events": env.events(), "rewards": list(rewards.values()), **further}
        yield ReplayStep(t, env, convert(to_builtins(step) | replayed, type(step)), success, not env.agents, result)


def _started(record: EpisodeRecord, render_mode: str | None) -> ParallelEnv:
    limit = record.max_cycles
    env = registry.make(record.env_id, **record.env_kwargs, render_mode=render_mode)
    if env.max_cycles != limit:
        env = registry.make(record.env_id, **record.env_kwargs, render_mode=render_mode, max_cycles=limit)
    if len(env.possible_agents) != len(record.team):
        raise ValueError(f"team: the record has {len(record.team)} seats, the game {len(env.possible_agents)}")
    count = env.game.n_actions
    for t, step in enumerate(record.steps):
        for seat, action in enumerate(step.actions):
            if action >= count:
                raise ValueError(f"steps[{t}].actions[{seat}]: got {action}, allowed are 0 to {count - 1}")
    env.reset(seed=record.seed, options=record.options)
    return env


def first_difference(record: EpisodeRecord) -> str | None:
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
            if replayed_step.step is not None:
                step, t = replayed_step.step, replayed_step.timestep - 1
                step.action_texts = [texts[seat][action] for seat, action in enumerate(step.actions)]
                difference = _step_difference(record.steps[t], step, f"steps[{t}]")
                if difference:
                    return difference
            game, state = replayed_step.env.game, replayed_step.env.arrays[0]
            texts = [game.action_texts(state, 0, seat) for seat in range(game.n_agents)]  # those of the next step
    except RecordError as error:
        return str(error)
    history = history_of(record.steps, len(record.team))
    derived = {"success": last is not None and last.success, "history": history, **derived_fields(record)}
    types = field_types(type(record))
    derived |= {} if last is None else {name: convert(value, types[name]) for name, value in last.result.items()}
    for name, replayed in to_builtins(derived).items():
        recorded = to_builtins(getattr(record, name))
        if recorded is not None and recorded != replayed:
            return f"{name}: recorded {recorded!r:.200}, replayed {replayed!r:.200}"
    if last is None or not (last.over or record.ends_after == record.timesteps):
        return f"timesteps: the record ends after {record.timesteps} steps, but the game goes on"
    return _metric_difference(record)


def _metric_difference(record: EpisodeRecord) -> str | None:
    recorded = record.metrics
    try:
        with about(record):
            computed = game_metrics(record.env_id).measure(record) if recorded else {}
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


def _step_difference(recorded: Step, replayed: Step, where: str) -> str | None:
    for name in recorded.__struct_fields__:
        was, now = getattr(recorded, name), getattr(replayed, name)
        if was == now:
            continue
        if name not in ("events", "rewards", "action_texts"):
            return f"{where}.{name}: recorded {to_builtins(was)!r:.200}, replayed {to_builtins(now)!r:.200}"
        seat = next(seat for seat, pair in enumerate(zip(was, now, strict=True)) if pair[0] != pair[1])
        was, now = to_builtins(was[seat]), to_builtins(now[seat])
        return f"{where}.{name}[{seat}]: recorded {was!r}, replayed {now!r}"
    return None
