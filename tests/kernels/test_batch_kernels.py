"""The loops over a batch: what a game's kernels for one environment come to."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest

from collab_overcooked.kernels.arrays import Array, BasicOut, allocate, array_of
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.jit import kernel

B, LIMIT = 4, 2


class State(NamedTuple):
    clock: Array = array_of(2)  # steps, limit


@kernel
def is_over(env):
    return env.clock[0] >= env.clock[1]


@kernel
def never_over():
    return False


@kernel
def step_env(env, actions, out):
    env.clock[0] += 1
    for seat in range(2):
        out.events[seat, 0], out.rewards[seat] = actions[seat], env.clock[0]
    return actions[0] == 7, is_over(env)


@kernel
def reset_env(env, limit):
    env.clock[0], env.clock[1] = 0, limit


@kernel
def observe_env(env, out):
    for seat in range(2):
        out.observations[seat, 0] = env.clock[0] + seat


@kernel
def why_refused(action, seat):
    return action == seat


Clock = IntEnum("Clock", "T OVER LIMIT", start=0)


class TimedState(NamedTuple):
    clock: Array = array_of(Clock)


class TimedOut(NamedTuple):
    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    terminated: Array = array_of(dtype=np.bool_)
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", 3, fill={0: 0, 2: -1})
    drawn: Array = array_of(2, fill=5)
    scratch: Array = array_of("N", fill=None)
    fresh: Array = array_of(dtype=np.bool_)


@kernel
def count_up(env):
    env.clock[Clock.T] += 1
    env.clock[Clock.OVER] = env.clock[Clock.T] >= 2
    return False, env.clock[Clock.OVER] == 1


@kernel
def step_unread(env, other):
    return False, False


def batch():
    sizes = {"N": 2, "A": 3, "numbers": 1, "columns": 2, "scratch": 0}
    return allocate(State, sizes, B), allocate(BasicOut, sizes, B)


def test_each_environment_steps_until_it_is_over_and_is_observed_where_it_changed():
    batch_kernels, tables = (
        BatchKernels(step_env, reset_env, observe_env, is_over=is_over, why_refused=why_refused),
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


def test_declarations_say_when_an_episode_is_over_and_what_a_step_gives_then():
    batch_kernels, sizes = BatchKernels(count_up, reset_env, observe_env), {"N": 2, "numbers": 1}
    state, out = allocate(TimedState, sizes, 2), allocate(TimedOut, sizes, 2)
    state.clock[1, Clock.T] = 1
    for _ in range(2):
        for array in (out.observations, out.events, out.drawn, out.scratch):
            array[:] = 9
        batch_kernels.step(np.zeros(1), state, np.zeros((2, 2), np.int32), out)
    assert state.clock[:, Clock.T].tolist() == [2, 2] and out.fresh.tolist() == [True, False]
    assert out.events[0].tolist() == [[9, 9, 9]] * 2 and out.events[1].tolist() == [[0, 0, -1]] * 2
    assert out.drawn.tolist() == [[9, 9], [5, 5]] and out.truncated.tolist() == [True, True]
    assert (out.observations == 9).all() and (out.scratch == 9).all()


def test_a_state_without_a_column_for_the_end_needs_a_kernel():
    state, out = batch()
    with pytest.raises(Exception, match="State has no column OVER; give is_over"):
        BatchKernels(step_env, reset_env, observe_env).step(np.zeros(1), state, np.zeros((B, 2), np.int32), out)


def test_kernels_have_no_parameters_that_nobody_passes():
    with pytest.raises(TypeError, match=r"step_unread: .* are tables, env, actions, out, not .*'other'"):
        BatchKernels(step_unread, reset_env, observe_env)


def test_courses_that_share_a_step_do_not_share_compiled_kernels():
    for _ in range(2):  # compiled, and from the cache
        for over, steps in ((is_over, 0), (never_over, 1)):
            batch_kernels = BatchKernels(step_env, reset_env, observe_env, is_over=over)
            state, out = batch()
            batch_kernels.step(np.zeros(1), state, np.zeros((B, 2), np.int32), out)
            assert state.clock[:, 0].tolist() == [steps] * B
