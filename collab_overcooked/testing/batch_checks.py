"""Conformance checks of compiled games: observations of copied states, batches and compiled versions."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np

from collab_overcooked.envs import threads as threading
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.kernels.bound import count_versions
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.testing.playing import PARTS, mask_of, random_legal, walk_in
from collab_overcooked.testing.report import Skip, Subject, expect


def check_observe(subject: Subject) -> str:
    """Check that ``observe`` of a copied state equals the environment's observations."""
    game, env = subject.need_game(), subject.make()
    rng = np.random.default_rng(subject.seed)
    for steps in (0, 5, 9):
        walk_in(env, rng, subject.seed, steps)
        snapshot, (_, out) = env.clone_state(), game.alloc(1)
        game.observe(snapshot.state, out)
        for name, observed in (("observations", out.observations), ("masks", out.masks)):
            same = np.array_equal(observed, snapshot.out._asdict()[name])
            expect(same, f"after {steps} steps, observe and step write different {name}")
    return "observe of copied states equals the results of steps and resets"


def check_batch(subject: Subject) -> str:
    """Compare batches of several sizes and thread counts with single environments of the derived seeds."""
    game = subject.need_game()
    with mock.patch.multiple(threading, WORTH=0.0, PERIOD=2):  # threads step small batches, too
        _check_sizes(subject, game)
    return "environments in batches of 1, 4 and 7, with 1 to 3 threads, equal single ones of the derived seeds"


def _check_sizes(subject: Subject, game: Any) -> None:
    for size, threads, max_cycles in ((1, 1, None), (4, 1, 6), (4, 3, None), (7, 2, 9)):
        limit = subject.wrapper.get("max_cycles") if max_cycles is None else max_cycles
        batch = BatchEnv(game, size, threads, limit)
        singles = [ParallelEnv(game, **{**subject.wrapper, "max_cycles": limit}) for _ in range(size)]
        _expect_batch_equals(batch, singles, subject.seed + size)
        batch.close()


def _expect_batch_equals(batch: BatchEnv, singles: list[Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch.reset(seed)
    results = [env.reset(seed=s) for env, s in zip(singles, derive_seeds(seed, len(singles)), strict=True)]
    for step in range(70):
        where = f"batch of {batch.num_envs} with {batch.num_threads} threads, call {step}"
        _expect_rows_equal(batch, results, where)
        actions = random_legal(batch, rng)
        results = _step_singles(singles, actions)
        batch.step(actions)
        _expect_rows_equal(batch, results, where)
        again = batch.over | (rng.random(batch.num_envs) < 0.03)
        batch.reset(which=again)
        for i in np.flatnonzero(again):
            results[i] = singles[i].reset()


def _step_singles(singles: list[Any], actions: np.ndarray) -> list[Any]:
    return [
        env.step(dict(zip(env.agents, row, strict=True))) for env, row in zip(singles, actions.tolist(), strict=True)
    ]


def _expect_rows_equal(batch: BatchEnv, results: list[Any], where: str) -> None:
    out, shape = batch.out, batch.single_observation_space.shape
    for i, result in enumerate(results):
        for seat, agent in enumerate(batch.possible_agents):
            whose = f"{where}: {agent} in environment {i}"
            observation, mask = result[0][agent], mask_of(result[0][agent], result[-1][agent])
            same = np.array_equal(out.observations[i, seat].reshape(shape), _plain(observation))
            expect(same, f"{whose} has another observation than in the single environment")
            expect(mask is not None and np.array_equal(out.masks[i, seat], mask), f"{whose} has another mask")
            if len(result) == len(PARTS):
                row = (float(out.rewards[i, seat]), bool(out.terminated[i]), bool(out.truncated[i]))
                single = (result[1][agent], result[2][agent], result[3][agent])
                expect(row == single, f"{whose} gets {row}, in the single environment {single}")


def _plain(observation: Any) -> np.ndarray:
    if isinstance(observation, dict):
        return next(value for key, value in observation.items() if key != "action_mask")
    return observation


def kernel_versions(game: FullGame) -> dict[str, int]:
    """Count the compiled versions of each kernel that steps or observes a game; empty without kernels."""
    game = plain(game)
    if not isinstance(game, CompiledGame):
        return {}
    state, out = game.alloc(1)
    actions = np.zeros((1, game.n_agents), np.int32)
    calls = (*game.step_calls(state, actions, out), *game.observe_calls(state, out))
    return {kernel.__name__: count_versions(kernel, *arguments) for kernel, arguments in calls}


def check_signatures(subject: Subject) -> str:
    """Check that each kernel is compiled once; two versions mean arrays of different layouts or dtypes."""
    counts = kernel_versions(subject.need_game())
    if not counts:
        raise Skip("the game has no kernels")
    if not any(counts.values()):
        raise Skip("kernels are not compiled: JIT is disabled, or no step was taken")
    for name, total in counts.items():
        count = total - subject.versions.get(name, 0)
        sentence = f"{name} was compiled {count} times, so it is called with arrays of different layouts"
        expect(count <= 1, sentence)
    return f"{', '.join(counts)} were compiled at most once each"
