"""Conformance checks of how episodes start: nothing of the episode before lasts, and seeds matter."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.gymnasium import VectorEnv
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.testing.knowledge_checks import expect_same_arrays
from collab_overcooked.testing.playing import (
    MAX_STEPS,
    choose,
    difference,
    episode,
    mask_of,
    masks_of,
    random_legal,
    result_difference,
)
from collab_overcooked.testing.report import Subject, expect

EARLIER = (1, 7, None, None)  # steps of the episodes before a reset; None for a whole one
STARTS = 20  # seeds whose first observations are compared with those of a reset without a seed
SEEDS = 8  # compared with the first one
TOGETHER = 150  # steps for which episodes of two seeds may look the same
STARTED = ("observations", "masks", "rewards", "terminated", "truncated")  # of ``Out``, written by resets


def check_resets(subject: Subject) -> str:
    """Check that a reset returns the same as in a new environment with the seed, whatever was played before."""
    if subject.game is not None:  # arrays of batches say most about what is left
        _expect_new_batches(subject, subject.game)
        _expect_observed_resets(subject, subject.game)
        for mode in ("NextStep", "SameStep"):
            _expect_autoresets(subject, subject.game, mode)
    _expect_new_starts(subject)
    _expect_no_old_observations(subject)
    _expect_new_starts_in_turns(subject)
    kinds = "in parallel and in turns" if subject.game is None else "alone, in turns, in batches and with autoreset"
    return f"resets return what new environments with the same seeds do, {kinds}"


def _expect_new_starts(subject: Subject) -> None:
    used, rng = subject.make(), np.random.default_rng(subject.seed)
    for k, steps in enumerate(EARLIER):
        seed = subject.seed + 1000 + k
        what = _play(used, rng, subject.seed + k, steps)
        result, fresh = used.reset(seed=seed), subject.make()
        mismatch = result_difference(fresh.reset(seed=seed), result)
        expect(mismatch is None, f"a reset with seed {seed} after {what} differs from a new environment: {mismatch}")
        for step in range(10):
            if not used.agents:
                break
            actions = choose(used, masks_of(used, result[0], result[-1]), rng)
            result, other = used.step(dict(actions)), fresh.step(dict(actions))
            mismatch = result_difference(other, result)
            what_else = f"{step + 1} steps after a reset with seed {seed}, something of {what} before is left"
            expect(mismatch is None, f"{what_else}: {mismatch}")


def _play(env: Any, rng: np.random.Generator, seed: int | None, steps: int | None) -> str:
    """Play an episode, or its first steps, and return a description for messages."""
    for step, _ in enumerate(episode(env, rng, seed)):
        if step == steps:
            break
    return f"{steps} steps" if env.agents and steps is not None else "a whole episode"


def _expect_no_old_observations(subject: Subject) -> None:
    """Without a seed there is nothing to compare with, but a start is no state of the last episode."""
    env, rng = subject.make(), np.random.default_rng(subject.seed)
    old: list[tuple[str, Any]] = []
    starts = [subject.make().reset(seed=subject.seed + k)[0] for k in range(STARTS)]
    for k in range(1 + subject.episodes):
        seen = [copy.deepcopy(result[0]) for result in episode(env, rng, None if k else subject.seed + 500)]
        if env.agents:
            return  # it does not end
        for name, observations in old:
            is_old = difference(observations, seen[0], "start") is None
            is_start = any(difference(observations, start, "start") is None for start in starts)
            expect(
                is_start or not is_old, f"a reset without a seed returns the {name} observations of the last episode"
            )
        old = [("first", seen[0]), ("last", seen[-1])]


def _expect_new_starts_in_turns(subject: Subject) -> None:
    used = subject.make_aec()
    rng = np.random.default_rng(subject.seed)
    seed = subject.seed + 2000
    for steps in (3, MAX_STEPS):
        used.reset(seed=subject.seed)
        _play_in_turns(used, rng, steps)
        fresh, (observations, _) = subject.make_aec(), subject.make().reset(seed=seed)
        for env in (used, fresh):
            env.reset(seed=seed)
        what = f"{steps} turns" if steps < MAX_STEPS else "a whole episode"
        where = f"a reset in turns with seed {seed} after {what}"
        expect(used.agents == fresh.agents, f"{where} has agents {used.agents}, a new environment {fresh.agents}")
        for agent in used.agents:
            pairs = {
                "observation": (used.observe(agent), fresh.observe(agent)),
                "observation in parallel": (used.observe(agent), observations[agent]),
                "info": (used.infos[agent], fresh.infos[agent]),
                "reward": (used.rewards[agent], fresh.rewards[agent]),
                "end": (used.terminations[agent] or used.truncations[agent], False),
            }
            for name, pair in pairs.items():
                mismatch = difference(*pair, f"the {name} of {agent}")
                expect(mismatch is None, f"{where} differs from a new environment: {mismatch}")


def _play_in_turns(env: Any, rng: np.random.Generator, turns: int) -> None:
    for _ in range(turns):
        if not env.agents:
            return
        observation, _, terminated, truncated, info = env.last()
        space, mask = env.action_space(env.agent_selection), mask_of(observation, info)
        if terminated or truncated:
            env.step(None)
        elif mask is not None and mask.any():
            env.step(int(rng.choice(np.flatnonzero(mask)) + space.start))
        else:
            space.seed(int(rng.integers(2**31)))
            env.step(space.sample())


def _expect_new_batches(subject: Subject, game: Any) -> None:
    count = 4
    seeds = [subject.seed + 1000 + k for k in range(count)]
    rng = np.random.default_rng(subject.seed)
    for limit, steps in ((None, 1), (None, 7), (None, 60), (3, 3), (11, 11)):
        fresh = BatchEnv(game, count, max_cycles=limit)
        used = BatchEnv(game, count, max_cycles=limit)
        used.reset(subject.seed)
        for _ in range(steps):
            used.step(random_legal(used, rng))
            if limit is None:
                used.reset(which=used.over)
        used.out.rewards[:] = 1  # as if the last step had paid
        used.reset(seeds)
        fresh.reset(seeds)
        what = f"a reset with seed {seeds[0]} after {steps} steps"
        kept_between_episodes: tuple[str, ...] = ()
        if isinstance(inner := plain(game), CompiledGame):
            kept_between_episodes = inner.kept_between_episodes
            for i in range(count):
                complaint = f"a reset with seed {seeds[i]} after {steps} steps keeps something of the episode before"
                expect_same_arrays(inner, fresh.clone(i).state, used.clone(i).state, complaint, kept_between_episodes)
        for name in () if kept_between_episodes else STARTED:  # what is handed on may be seen
            same = np.array_equal(getattr(used.out, name), getattr(fresh.out, name))
            expect(same, f"{what} leaves other {name} than in a new environment")
        _expect_observed(used, what)


def _expect_observed_resets(subject: Subject, game: Any) -> None:
    """Reset some environments of a batch without a seed, some after whole episodes and some during an episode."""
    for limit in (4, None):
        batch, rng = BatchEnv(game, 6, max_cycles=limit), np.random.default_rng(subject.seed)
        batch.reset(subject.seed)
        for step in range(40):
            batch.step(random_legal(batch, rng))
            batch.reset(which=batch.over & (rng.random(6) < 0.6) | (rng.random(6) < 0.1))
            _expect_observed(batch, f"a reset of some environments at step {step}")


def _expect_observed(batch: BatchEnv, what: str) -> None:
    """Expect the observations and masks of a batch that observing its present states writes."""
    state, (_, out) = batch.state, batch.game.alloc(batch.num_envs)
    batch.game.observe(type(state)(*(array.copy() for array in state)), out)
    for name in STARTED[:2]:
        wrong = (getattr(batch.out, name) != getattr(out, name)).reshape(batch.num_envs, -1).any(1)
        places = ", ".join(map(str, np.flatnonzero(wrong)))
        expect(not wrong.any(), f"{what} returns other {name} than its states have, in environments {places}")


def _expect_autoresets(subject: Subject, game: Any, mode: str) -> None:
    batch = BatchEnv(game, 5, max_cycles=4)
    env, rng = VectorEnv(batch, mode), np.random.default_rng(subject.seed)
    env.reset(seed=subject.seed)
    for step in range(14):
        observations, _, _, _, infos = env.step(random_legal(batch, rng).reshape(-1))
        where = f"autoreset {mode}, step {step},"
        _expect_observed(batch, where)
        same = np.array_equal(observations, batch.out.observations.reshape(observations.shape))
        expect(same, f"{where} returns other observations than the batch holds")
        same = np.array_equal(infos["action_mask"], batch.out.masks.reshape(infos["action_mask"].shape))
        expect(same, f"{where} returns other masks than the batch holds")


def check_draws(subject: Subject) -> str:
    """Check that episodes of different seeds differ, or that ``metadata["deterministic"]`` says that they do not."""
    declared = bool(getattr(subject.make(), "metadata", {}).get("deterministic", False))
    for k in range(1, 1 + SEEDS):
        seeds = f"seeds {subject.seed} and {subject.seed + k}"
        mismatch = _seed_difference(subject, subject.seed, subject.seed + k)
        if mismatch is not None:
            expect(not declared, f"the environment declares itself deterministic, but {seeds} differ: {mismatch}")
            return f"episodes of {seeds} differ"
    sentence = f"the same actions lead to the same in episodes of {1 + SEEDS} seeds"
    expect(
        declared, f"{sentence}: a game without chance declares deterministic = True, others metadata['deterministic']"
    )
    return sentence


def _seed_difference(subject: Subject, seed: int, other_seed: int) -> str | None:
    one = subject.make()
    other = subject.make()
    rng = np.random.default_rng(other_seed)
    result, other_result = one.reset(seed=seed), other.reset(seed=other_seed)
    for step in range(TOGETHER):
        mismatch = result_difference(result, other_result)
        if mismatch is not None or one.agents != other.agents:
            return mismatch or f"the live agents differ after {step} steps"
        if one.agents:
            actions = choose(one, masks_of(one, result[0], result[-1]), rng)
            result, other_result = one.step(dict(actions)), other.step(dict(actions))
        else:
            result, other_result = one.reset(), other.reset()
    return None
