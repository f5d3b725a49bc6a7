"""Random legal play and comparison of moments, for conformance checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.testing.report import Skip, Subject, expect

PARTS = ("observations", "rewards", "terminations", "truncations", "infos")


MAX_STEPS = 1000  # steps after which an episode counts as endless


def mask_of(observation: Any, info: Any) -> np.ndarray | None:
    """Return an agent's action mask from its observation or its info, None if there is none."""
    for place in (observation, info):
        if isinstance(place, dict) and "action_mask" in place:
            return np.asarray(place["action_mask"])
    return None


def masks_of(env: Any, observations: Any, infos: Any) -> dict[str, np.ndarray | None]:
    """Return the masks of all living agents."""
    return {agent: mask_of(observations[agent], infos.get(agent)) for agent in env.agents}


def choose(env: Any, masks: dict[str, np.ndarray | None], rng: np.random.Generator) -> dict[str, Any]:
    """Return a random action of every living agent, inside its mask if it has one."""
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
        moment = env.step(choose(env, masks_of(env, observations, infos), rng))
        observations, infos = moment[0], moment[4]
        yield moment


def play_to_end(subject: Subject, env: Any, rng: np.random.Generator, seed: int | None = None) -> int:
    """Play an episode and return its length; skip if it does not end."""
    length = sum(1 for _ in episode(env, rng, seed)) - 1
    if env.agents:
        raise Skip(f"no episode of {subject.name} ended within {MAX_STEPS} steps")
    return length


def difference(first: Any, second: Any, path: str) -> str | None:
    """Return where two results differ, in words; None if they are equal to the bit."""
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


def moment_difference(first: tuple[Any, ...], second: tuple[Any, ...]) -> str | None:
    """Return where two moments differ; moments are what reset (two parts) or step (five parts) returns."""
    names = PARTS if len(first) == len(PARTS) else ("observations", "infos")
    found = (difference(a, b, name) for name, a, b in zip(names, first, second, strict=True))
    return next(filter(None, found), None)


def lockstep(
    first: Any, second: Any, moment: tuple[Any, ...], rng: np.random.Generator, steps: int, complaint: str
) -> None:
    """Play two environments with the same actions and expect the same of both, over ends and unseeded resets."""
    for step in range(steps):
        if first.agents:
            actions = choose(first, masks_of(first, moment[0], moment[-1]), rng)
            moment, other = first.step(dict(actions)), second.step(dict(actions))
        else:
            moment, other = first.reset(), second.reset()
        found = moment_difference(moment, other)
        expect(found is None, f"{complaint}; {step + 1} calls on, {found}")
        expect(first.agents == second.agents, f"{complaint}; {step + 1} calls on, the living agents differ")


def walk_in(env: Any, rng: np.random.Generator, seed: int, steps: int) -> tuple[Any, ...]:
    """Play some steps of an episode and return the last moment with living agents."""
    moment: tuple[Any, ...] = env.reset(seed=seed)
    for _ in range(steps):
        following = env.step(choose(env, masks_of(env, moment[0], moment[-1]), rng))
        if not env.agents:
            return env.reset(seed=seed)
        moment = following
    return moment


def random_legal(batch: BatchEnv, rng: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
    """Return random legal actions (E, N) of a batch.

    Args:
        batch: Environments with at least one legal action for each agent.
        rng: Source of chance.
        weights: float (A,), how likely actions are beside each other; all alike if None. Small weights of common
            actions lead to states that evenly random play hardly ever reaches.
    """
    masks = batch.out.masks
    # The shortest of exponential waits is a draw by rate (Efraimidis and Spirakis, 2006).
    waits = rng.exponential(size=masks.shape) / (1.0 if weights is None else weights)
    return np.where(masks == 1, waits, np.inf).argmin(axis=2)
