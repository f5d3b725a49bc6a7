"""The loops over a batch: what a game's kernels for one environment come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import Array, BasicOut, allocate, array_of
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.jit import kernel

B, LIMIT = 4, 2


class State(NamedTuple):
    clock: Array = array_of(2)  # steps, limit


@kernel
def is_over(tables, env):
    return env.clock[0] >= env.clock[1]


@kernel
def never_over(tables, env):
    return False


@kernel
def step_env(tables, env, actions, out):
    env.clock[0] += 1
    for seat in range(2):
        out.events[seat, 0], out.rewards[seat] = actions[seat], env.clock[0]
    return actions[0] == 7, is_over(tables, env)


@kernel
def reset_env(tables, env, out, limit):
    env.clock[0], env.clock[1] = 0, limit


@kernel
def observe_env(tables, env, out):
    for seat in range(2):
        out.observations[seat, 0] = env.clock[0] + seat


@kernel
def why_refused(tables, env, seat, action):
    return action == seat


def batch():
    sizes = {"N": 2, "A": 3, "numbers": 1, "columns": 2, "scratch": 0}
    return allocate(State, sizes, B), allocate(BasicOut, sizes, B)


def test_each_environment_steps_until_it_is_over_and_is_observed_where_it_changed():
    batch_kernels, tables = (
        BatchKernels(is_over, step_env, reset_env, observe_env, why_refused=why_refused),
        np.zeros(1),
    )
    state, out = batch()
    batch_kernels.reset(tables, state, out, np.array([True, True, True, False]), LIMIT)
    assert state.clock.tolist() == [[0, 2], [0, 2], [0, 2], [0, 0]]  # the last one is over, as it was
    state.clock[1, 0] = 1
    batch_kernels.step(tables, state, np.array([[7, 1], [2, 1], [3, 1], [4, 1]], np.int32), out)
    assert state.clock[:, 0].tolist() == [1, 2, 1, 0]
    assert out.fresh.tolist() == [True, True, True, False]
    assert out.terminated.tolist() == [True, False, False, False]
    assert out.truncated.tolist() == [False, True, False, False]
    assert out.rewards.tolist() == [[1, 1], [2, 2], [1, 1], [0, 0]]
    batch_kernels.observe(tables, state, out)
    assert out.observations[:, :, 0].tolist() == [[1, 2], [2, 3], [1, 2], [0, 0]]
    assert out.masks[0].tolist() == [[0, 1, 1], [1, 0, 1]] and not out.masks[3].any()
    out.events[:] = 9
    batch_kernels.step(tables, state, np.zeros((B, 2), np.int32), out)
    assert out.rewards[1].tolist() == [0, 0] and not out.events[1].any()  # nothing happens after the end
    assert out.rewards[0].tolist() == [2, 2]


def test_courses_that_share_a_step_do_not_share_compiled_kernels():
    for _ in range(2):  # compiled, and from the cache
        for over, steps in ((is_over, 0), (never_over, 1)):
            batch_kernels = BatchKernels(over, step_env, reset_env, observe_env)
            state, out = batch()
            batch_kernels.step(np.zeros(1), state, np.zeros((B, 2), np.int32), out)
            assert state.clock[:, 0].tolist() == [steps] * B
