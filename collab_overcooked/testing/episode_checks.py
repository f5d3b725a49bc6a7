"""Conformance checks of complete episodes: observations, rewards, ends and spaces."""

from __future__ import annotations

import math
import numbers
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.io.text import single_spaced
from collab_overcooked.testing.playing import (
    MAX_STEPS,
    PARTS,
    choose,
    episode,
    lockstep,
    masks_of,
    play_to_end,
    random_legal,
    result_difference,
    walk_in,
)
from collab_overcooked.testing.report import Skip, Subject, expect

BATCH = 32  # environments in which episodes that are terminated are looked for


def check_determinism(subject: Subject) -> str:
    """Check that two environments, one of them used before, give the same results for the same seed and actions."""
    for k in range(subject.episodes):
        seed = subject.seed + k
        rng = np.random.default_rng(seed)
        first, second = subject.make(), subject.make()
        walk_in(second, rng, seed + 1000, 5)
        result, other = first.reset(seed=seed), second.reset(seed=seed)
        mismatch = result_difference(result, other)
        expect(mismatch is None, f"two resets with seed {seed} differ: {mismatch}")
        lockstep(first, second, result, rng, 150, f"two environments with seed {seed} and the same actions diverge")
    return f"the same seed and actions give the same results, {subject.episodes} seeds, 150 calls each, across resets"


def check_observations(subject: Subject) -> str:
    """Check that every observation is in its space and has its dtype."""
    env, seen = subject.make(), 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        for step, result in enumerate(episode(env, rng, subject.seed + k)):
            for agent, observation in result[0].items():
                where = f"the observation of {agent} at step {step} of seed {subject.seed + k}"
                _expect_in_space(env.observation_space(agent), observation, where)
                seen += 1
    return f"{seen} observations of random episodes are inside their spaces and of their dtypes"


def _expect_in_space(space: Any, value: Any, where: str) -> None:
    if isinstance(space, gymnasium.spaces.Dict) and isinstance(value, dict):
        expect(value.keys() == space.keys(), f"{where} has keys {list(value)}, its space {list(space)}")
        for key in space:
            _expect_in_space(space[key], value[key], f"{where}, entry {key!r},")
        return
    if isinstance(space, gymnasium.spaces.Box):
        expect(isinstance(value, np.ndarray), f"{where} is {type(value).__name__}, not a NumPy array")
        expect(value.dtype == space.dtype, f"{where} has dtype {value.dtype}, its space {space.dtype}")
        expect(value.shape == space.shape, f"{where} has shape {value.shape}, its space {space.shape}")
    expect(space.contains(value), f"{where} is outside its space {_shortened(space)}")


def _shortened(value: object) -> str:
    text = single_spaced(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_state(subject: Subject) -> str:
    """Check that the global state is in its space at every step."""
    env = subject.make()
    space = getattr(env, "state_space", None)
    env.reset(seed=subject.seed)
    try:
        env.state()
    except (NotImplementedError, AttributeError):
        raise Skip("the environment has no state()") from None
    if space is None:
        raise Skip("the environment declares no state_space")
    rng, count = np.random.default_rng(subject.seed), 0
    for step, _ in enumerate(episode(env, rng, subject.seed)):
        _expect_in_space(space, env.state(), f"the state at step {step}")
        count += 1
    return f"{count} global states are inside state_space and of its dtype"


def check_rewards(subject: Subject) -> str:
    """Check that rewards are finite numbers."""
    env, seen = subject.make(), 0
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        for step, result in enumerate(episode(env, rng, subject.seed + k)):
            for agent, reward in result[1].items() if len(result) == len(PARTS) else ():
                number = isinstance(reward, numbers.Real) and not isinstance(reward, (bool, np.bool_))
                where = f"the reward of {agent} at step {step} of seed {subject.seed + k}"
                expect(number, f"{where} is {reward!r}, a {type(reward).__name__}, not a float")
                expect(math.isfinite(float(reward)), f"{where} is {reward!r}, not finite")
                seen += 1
    return f"{seen} rewards of random episodes are finite floats"


def check_ends(subject: Subject) -> str:
    """Check that all five dictionaries contain all agents and that all agents end in the same step."""
    env, lengths = subject.make(), []
    for k in range(subject.episodes):
        rng = np.random.default_rng(subject.seed + k)
        everyone = set(env.possible_agents)
        for step, result in enumerate(episode(env, rng, subject.seed + k)):
            where = f"at step {step} of seed {subject.seed + k}"
            for part in result:
                expect(set(part) == everyone, f"{where} a dictionary has keys {sorted(part)}, not all agents")
            if len(result) == len(PARTS):
                _expect_same_end(env, result, where)
        if env.agents:
            raise Skip(f"no episode ended within {MAX_STEPS} steps")
        lengths.append(step)
        _expect_one_reason_at_limits(subject, subject.seed + k)
    if subject.game is not None:
        _expect_one_reason_in_batches(subject.game, subject.seed)
    return f"all agents end together, in episodes of {min(lengths)} to {max(lengths)} steps"


def _expect_same_end(env: Any, result: tuple[Any, ...], where: str) -> None:
    for name, flags in zip(PARTS[2:4], result[2:4], strict=True):
        for agent, value in flags.items():
            expect(isinstance(value, (bool, np.bool_)), f"{where} {name} of {agent} is {value!r}, not a bool")
    both = [agent for agent in result[2] if result[2][agent] and result[3][agent]]
    expect(not both, f"{where} {', '.join(both)} is terminated and truncated at once; only one of them bootstraps")
    reasons = [name for name, flags in zip(PARTS[2:4], result[2:4], strict=True) if any(flags.values())]
    expect(len(reasons) < 2, f"{where} some agents are terminated and others truncated: one episode has one end")
    over = {agent: bool(result[2][agent] or result[3][agent]) for agent in result[2]}
    ended = [agent for agent, is_over in over.items() if is_over]
    going = [agent for agent, is_over in over.items() if not is_over]
    expect(not ended or not going, f"{where} {', '.join(ended)} ended but {', '.join(going)} did not")
    expect(set(env.agents) == set(going), f"{where} agents lists {env.agents}, but {going} continue")


def _expect_one_reason_at_limits(subject: Subject, seed: int) -> None:
    """Replay an episode with limits at its end, where its own end counts, and before it, where the limit does."""
    if not subject.accepts("max_cycles"):
        return
    env, rng = subject.make(), np.random.default_rng(seed)
    played: list[dict[str, Any]] = []
    result = env.reset(seed=seed)
    while env.agents and len(played) < MAX_STEPS:
        played.append(choose(env, masks_of(env, result[0], result[-1]), rng))
        result = env.step(dict(played[-1]))
    for limit in sorted({1, max(1, len(played) - 1), len(played)}):
        limited = subject.make(max_cycles=limit)
        limited.reset(seed=seed)
        for step, actions in enumerate(played[:limit], 1):
            if not limited.agents:
                break
            result = limited.step(dict(actions))
            _expect_same_end(limited, result, f"with max_cycles={limit}, at step {step} of seed {seed}")
        where = f"with max_cycles={limit}, step {limit} of seed {seed}"
        expect(not limited.agents, f"{where} does not end the episode")
        is_cut = all(result[3].values()) or limit == len(played)
        expect(is_cut, f"{where} is terminated, not truncated, although without the limit the episode goes on")


def _expect_one_reason_in_batches(game: FullGame, seed: int) -> None:
    """Look for episodes that are terminated in a batch, and replay them with their length as limit."""
    players = BatchEnv(game, BATCH)
    rng = np.random.default_rng(seed)
    played = []
    players.reset(seed)
    length, offered = np.zeros(BATCH, np.int32), np.ones(game.n_actions)
    for _ in range(MAX_STEPS):
        if players.over.all():
            break
        length += ~players.over
        offered += players.out.masks.sum(axis=(0, 1))
        played.append(random_legal(players, rng, 1 / offered))
        players.step(played[-1])
        _expect_one_reason(players, f"step {len(played)} in a batch of seed {seed}")
    for i in np.flatnonzero(players.out.terminated)[:4].tolist():
        limited = BatchEnv(game, 1, max_cycles=int(length[i]))
        limited.reset([seed + i])
        for step in range(length[i]):
            limited.step(played[step][[i]])
            _expect_one_reason(limited, f"with max_cycles={length[i]}, step {step + 1} of seed {seed + i}")


def _expect_one_reason(players: BatchEnv, where: str) -> None:
    both = np.flatnonzero(players.out.terminated & players.out.truncated)
    expect(not len(both), f"{where}: environments {both.tolist()} are terminated and truncated at once")


def check_after_end(subject: Subject) -> str:
    """Check that a step after the end revives no agent and that a reset restores all agents."""
    env, rng = subject.make(), np.random.default_rng(subject.seed)
    play_to_end(subject, env, rng, subject.seed)
    for actions in ({}, {agent: env.action_space(agent).sample() for agent in env.possible_agents}):
        try:
            result = env.step(actions)
        except Exception as error:
            outcome = f"raises {type(error).__name__}"
        else:
            outcome = "returns empty dictionaries"
            for name, part in zip(PARTS, result, strict=True):
                expect(not part, f"a step after the end returns {name} of {', '.join(part)}")
        expect(not env.agents, f"a step after the end revives {', '.join(env.agents)}")
    env.reset()
    expect(set(env.agents) == set(env.possible_agents), "a reset after the end does not restore all agents")
    return f"a step after the end {outcome}, and a reset restores all agents"


def check_spaces(subject: Subject) -> str:
    """Check that spaces, which hold their random state, are the same objects at every call."""
    env, rng = subject.make(), np.random.default_rng(subject.seed)
    first = {agent: (env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents}
    for step, _ in enumerate(episode(env, rng, subject.seed)):
        for agent, (observation_space, action_space) in first.items():
            expect(
                env.observation_space(agent) is observation_space, f"{agent} has a new observation space at step {step}"
            )
            expect(env.action_space(agent) is action_space, f"{agent} has a new action space at step {step}")
    return "observation and action spaces are the same objects throughout an episode"
