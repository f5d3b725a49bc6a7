"""Conformance checks of compiled games: observations of copied states, batches and compiled versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.kernels.bound import count_versions
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.testing.playing import PARTS, mask_of, random_legal, walk_in
from collab_overcooked.testing.report import Skip, Subject, expect


def check_observe(subject: Subject) -> str:
    """Check that ``observe`` shows a copied state, in a fresh out, as the environment does."""
    game, env = subject.need_game(), subject.make()
    rng = np.random.default_rng(subject.seed)
    for steps in (0, 5, 9):
        walk_in(env, rng, subject.seed, steps)
        snapshot, (_, out) = env.clone_state(), game.alloc(1)
        game.observe(snapshot.state, out)
        for name in ("observations", "masks"):
            same = np.array_equal(getattr(out, name), getattr(snapshot.out, name))
            expect(same, f"after {steps} steps, observe writes other {name} than the step did")
    return "copied states are shown as steps and resets show them"


def check_batch(subject: Subject) -> str:
    """Compare batches of several sizes and thread counts with single environments of the derived seeds."""
    game = subject.need_game()
    for size, threads, max_cycles in ((1, 1, None), (4, 1, 6), (4, 3, None), (7, 2, 9)):
        limit = subject.shell.get("max_cycles") if max_cycles is None else max_cycles
        batch = BatchEnv(game, size, threads, limit)
        singles = [ParallelEnv(game, **{**subject.shell, "max_cycles": limit}) for _ in range(size)]
        _expect_batch_equals(batch, singles, subject.seed + size)
        batch.close()
    return "environments of batches of 1, 4 and 7, with 1 to 3 threads, equal single ones of the derived seeds"


def _expect_batch_equals(batch: BatchEnv, singles: list[Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch.reset(seed)
    moments = [env.reset(seed=own) for env, own in zip(singles, derive_seeds(seed, len(singles)), strict=True)]
    for step in range(70):
        where = f"batch of {batch.num_envs} with {batch.num_threads} threads, call {step}"
        _expect_rows_equal(batch, moments, where)
        actions = random_legal(batch, rng)
        moments = _step_singles(singles, actions)
        batch.step(actions)
        _expect_rows_equal(batch, moments, where)
        again = batch.over | (rng.random(batch.num_envs) < 0.03)
        batch.reset(which=again)
        for i in np.flatnonzero(again):
            moments[i] = singles[i].reset()


def _step_singles(singles: list[Any], actions: np.ndarray) -> list[Any]:
    return [
        env.step(dict(zip(env.agents, row, strict=True))) for env, row in zip(singles, actions.tolist(), strict=True)
    ]


def _expect_rows_equal(batch: BatchEnv, moments: list[Any], where: str) -> None:
    out, shape = batch.out, batch.single_observation_space.shape
    for i, moment in enumerate(moments):
        for seat, agent in enumerate(batch.possible_agents):
            whose = f"{where}: {agent} in environment {i}"
            observation, mask = moment[0][agent], mask_of(moment[0][agent], moment[-1][agent])
            same = np.array_equal(out.observations[i, seat].reshape(shape), _plain(observation))
            expect(same, f"{whose} observes something else than in the single one")
            expect(mask is not None and np.array_equal(out.masks[i, seat], mask), f"{whose} has another mask")
            if len(moment) == len(PARTS):
                row = (float(out.rewards[i, seat]), bool(out.terminated[i]), bool(out.truncated[i]))
                single = (moment[1][agent], moment[2][agent], moment[3][agent])
                expect(row == single, f"{whose} gets {row}, in the single one {single}")


def _plain(observation: Any) -> np.ndarray:
    """Return the array of an observation that may have its mask beside it."""
    if isinstance(observation, dict):
        return next(value for key, value in observation.items() if key != "action_mask")
    return observation


def kernel_versions(game: Any) -> dict[str, int]:
    """Count the compiled versions of each kernel that steps or observes a game; empty for games without kernels."""
    if not hasattr(game, "step_calls"):
        return {}
    state, out = game.alloc(1)
    actions = np.zeros((1, game.n_agents), np.int32)
    calls = (*game.step_calls(state, actions, out), *game.observe_calls(state, out))
    return {kernel.__name__: count_versions(kernel, *given) for kernel, given in calls}


def check_signatures(subject: Subject) -> str:
    """Count the versions of each kernel that the checks compile; two mean arrays of another layout or dtype."""
    counts = kernel_versions(subject.need_game())
    if not counts:
        raise Skip("the game is not stepped by kernels")
    if not any(counts.values()):
        raise Skip("kernels are not compiled: JIT is off, or nothing was played yet")
    for name, total in counts.items():
        count = total - subject.versions.get(name, 0)
        sentence = f"{name} was compiled {count} times, so somebody passes arrays of another layout"
        expect(count <= 1, sentence)
    return f"{', '.join(counts)} were compiled once each at most"
