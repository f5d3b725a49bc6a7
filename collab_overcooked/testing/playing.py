"""Random legal play and comparison of results, for conformance checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.testing.report import Skip, Subject, expect

PARTS = ("observations", "rewards", "terminations", "truncations", "infos")


MAX_STEPS = 1000  # steps after which an episode counts as endless


def has_snapshots(env: Any) -> bool:
    """Return whether an environment has snapshots, as ``ParallelEnv`` has."""
    return hasattr(env, "clone_state") and hasattr(env, "restore_state")


def mask_of(observation: Any, info: Any) -> np.ndarray | None:
    """Return an agent's action mask from its observation or its info, None if there is none."""
    for place in (observation, info):
        if isinstance(place, dict) and "action_mask" in place:
            return np.asarray(place["action_mask"])
    return None


def masks_of(env: Any, observations: Any, infos: Any) -> dict[str, np.ndarray | None]:
    """Return the masks of all live agents."""
    return {agent: mask_of(observations[agent], infos.get(agent)) for agent in env.agents}


def choose(env: Any, masks: dict[str, np.ndarray | None], rng: np.random.Generator) -> dict[str, Any]:
    """Return a random action of every live agent, within its mask if it has one."""
    actions = {}
    for agent in env.agents:
        space, mask = env.action_space(agent), masks[agent]
        if isinstance(space, gymnasium.spaces.Discrete) and mask is not None and mask.any():
            actions[agent] = int(rng.choice(np.flatnonzero(mask)) + space.start)
        else:
            space.seed(int(rng.integers(2**31)))
            actions[agent] = space.sample()
    return actions


def episode(env: Any, rng: np.random.Generator, seed: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Play an episode of random legal actions.

    Yields:
        Observations and infos of the reset, then the five dictionaries of each step.
    """
    observations, infos = env.reset(seed=seed)
    yield observations, infos
    for _ in range(MAX_STEPS):
        if not env.agents:
            return
        result = env.step(choose(env, masks_of(env, observations, infos), rng))
        observations, infos = result[0], result[4]
        yield result


def play_to_end(subject: Subject, env: Any, rng: np.random.Generator, seed: int | None = None) -> int:
    """Play an episode and return its length; skip if it does not end."""
    length = sum(1 for _ in episode(env, rng, seed)) - 1
    if env.agents:
        raise Skip(f"no episode of {subject.name} ended within {MAX_STEPS} steps")
    return length


def difference(first: Any, second: Any, path: str) -> str | None:
    """Describe the first difference of two values; None if they are bitwise equal."""
    if type(first) is not type(second):
        return f"{path} is {type(first).__name__} in one and {type(second).__name__} in the other"
    if isinstance(first, dict):
        if first.keys() != second.keys():
            return f"{path} has keys {sorted(map(str, first))} in one and {sorted(map(str, second))} in the other"
        return next(filter(None, (difference(first[key], second[key], f"{path}[{key!r}]") for key in first)), None)
    if isinstance(first, (list, tuple)):
        if len(first) != len(second):
            return f"{path} has length {len(first)} in one and {len(second)} in the other"
        pairs = enumerate(zip(first, second, strict=True))
        return next(filter(None, (difference(a, b, f"{path}[{i}]") for i, (a, b) in pairs)), None)
    if isinstance(first, np.ndarray):
        return None if _same_array(first, second) else f"{path} differs"
    return None if first == second or first != first else f"{path} is {first!r} in one and {second!r} in the other"


def _same_array(first: np.ndarray, second: np.ndarray) -> bool:
    inexact = first.dtype.kind in "fc"
    return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=inexact)


def result_difference(first: tuple[Any, ...], second: tuple[Any, ...]) -> str | None:
    """Describe the first difference of two results of reset (two parts) or step (five parts)."""
    names = PARTS if len(first) == len(PARTS) else ("observations", "infos")
    differences = (difference(a, b, name) for name, a, b in zip(names, first, second, strict=True))
    return next(filter(None, differences), None)


def lockstep(
    first: Any, second: Any, result: tuple[Any, ...], rng: np.random.Generator, steps: int, complaint: str
) -> None:
    """Play two environments with the same actions and expect equal results, across ends and unseeded resets."""
    for step in range(steps):
        if first.agents:
            actions = choose(first, masks_of(first, result[0], result[-1]), rng)
            result, other = first.step(dict(actions)), second.step(dict(actions))
        else:
            result, other = first.reset(), second.reset()
        mismatch = result_difference(result, other)
        expect(mismatch is None, f"{complaint}; {step + 1} calls later, {mismatch}")
        expect(first.agents == second.agents, f"{complaint}; {step + 1} calls later, the live agents differ")


def walk_in(env: Any, rng: np.random.Generator, seed: int, steps: int) -> tuple[Any, ...]:
    """Play some steps of an episode and return the last result with live agents."""
    result: tuple[Any, ...] = env.reset(seed=seed)
    for _ in range(steps):
        following = env.step(choose(env, masks_of(env, result[0], result[-1]), rng))
        if not env.agents:
            return env.reset(seed=seed)
        result = following
    return result


def random_legal(batch: BatchEnv, rng: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
    """Return random legal actions (E, N) of a batch.

    Args:
        batch: Environments with at least one legal action for each agent.
        rng: Random generator.
        weights: float (A,), relative probabilities of actions; uniform if None. Small weights of common actions lead to
            states that uniformly random play rarely reaches.
    """
    masks = batch.out.masks
    # The shortest of exponential waits is a draw by rate (Efraimidis and Spirakis, 2006).
    waits = rng.exponential(size=masks.shape) / (1.0 if weights is None else weights)
    return np.where(masks == 1, waits, np.inf).argmin(axis=2)
