"""Kernels bound to their arrays: they do what plain calls do, on just these arrays, and cannot go astray."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.kernels.arrays import clear_rows
from collab_overcooked.kernels.bound import RowsKernel, bind, bind_all, count_versions
from collab_overcooked.kernels.jit import is_compiled, kernel


class Moment(NamedTuple):
    counts: np.ndarray
    weights: np.ndarray
    flags: np.ndarray


@kernel
def tally(state, amounts):
    counts, weights, flags = state.counts, state.weights, state.flags
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[i, j] += amounts[i]
        weights[i] = counts[i, 0] / 2
        flags[i] = counts[i, 0] > 2


@kernel
def reach(state, amounts):
    state.counts[amounts[0], 0] += 1


def make_moment(size: int) -> tuple[Moment, np.ndarray]:
    state = Moment(np.zeros((size, 3), np.int32), np.zeros(size), np.zeros(size, np.bool_))
    return state, np.arange(size, dtype=np.int32)


def test_bound_calls_read_and_write_the_arrays_they_were_bound_to():
    (one, ones), (two, twos) = make_moment(4), make_moment(4)
    run = bind_all(bind(tally, one, ones), bind(tally, one, ones), bind(tally, two, twos))
    run()
    ones[:] = 10  # contents may change, arrays may not
    run()
    np.testing.assert_array_equal(one.counts[:, 0], 2 * np.arange(4) + 20)
    np.testing.assert_array_equal(one.weights, np.arange(4) + 10)
    np.testing.assert_array_equal(two.counts[:, 2], 2 * np.arange(4))
    assert two.flags.tolist() == [False, False, True, True]


def test_a_list_of_byte_arrays_of_any_widths_is_cleared_where_rows_are_fresh():
    fresh, widths = np.array([True, False, True]), np.array([4, 1, 40], np.int32)
    initial, arrays = np.arange(45, dtype=np.uint8), [np.full((3, width), 99, np.uint8) for width in widths]
    bind(clear_rows, fresh, initial, widths, arrays)()
    for array, expected in zip(arrays, np.split(initial, np.cumsum(widths)[:-1]), strict=True):
        np.testing.assert_array_equal(array[::2], [expected] * 2)
        assert (array[1] == 99).all()


def test_slices_are_bound_one_by_one():
    state, amounts = make_moment(6)
    bind(tally, Moment(*(array[2:4] for array in state)), amounts[2:4])()
    assert state.counts[:, 0].tolist() == [0, 0, 2, 3, 0, 0]


def test_batches_of_all_sizes_share_one_version():
    for size in (1, 2, 7):
        state, amounts = make_moment(size)
        bind(tally, state, amounts)()
        bind(tally, Moment(*(array[:1] for array in state)), amounts[:1])()
    assert count_versions(tally, *make_moment(3)) == is_compiled(tally)


def test_bound_kernels_keep_their_arrays_alive():
    kept, amounts = make_moment(2)
    run = bind(tally, Moment(*(array[:] for array in kept)), amounts[:])
    del amounts
    run()
    assert kept.counts[1].tolist() == [1, 1, 1]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_bound_kernels_refuse_copies(duplicate):
    for bound in (bind(tally, *make_moment(1)), bind_all(bind(tally, *make_moment(1)))):
        with pytest.raises(TypeError, match="belongs to its arrays"):
            duplicate(bound)


def test_bounds_are_checked_where_numba_is_told_to():
    code = (
        "import numpy as np\n"
        "from tests.kernels.test_bound import Moment, bind, make_moment, reach\n"
        "moment, amounts = make_moment(4)\n"
        "amounts[0] = 400\n"
        "bind(reach, moment, amounts)()\n"
    )
    environment = {"NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "IndexError: index is out of bounds" in done.stderr or "out of bounds" in done.stderr


# ------------------------------------------------------------------------------------------- their owners


class PaysTwice(Overcooked):
    """A subclass that changes nothing but the step."""

    def step(self, state, actions, out):
        super().step(state, actions, out)
        out.rewards[:] += 1


def test_a_game_that_overrides_step_is_not_bypassed():
    game = PaysTwice()
    state, out = game.alloc(3)
    actions = np.zeros((3, game.n_agents), np.int32)
    bound = game.bind(state, actions, out)
    bound.reset(np.ones(3, np.bool_))
    bound.step()
    assert (out.rewards == 1).all()


def test_steps_of_one_environment_do_not_reach_its_copies():
    env = collab_overcooked.make("Overcooked-v0")
    env.reset(seed=3)
    env.step({"agent_0": 1, "agent_1": 1})  # binds
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        before = twin.state()
        env.step({"agent_0": 0, "agent_1": 3})
        np.testing.assert_array_equal(twin.state(), before)
        observations = twin.step({"agent_0": 4, "agent_1": 4})[0]
        assert not any(np.shares_memory(array, env.arrays[1].observations) for array in observations.values())


def test_a_batch_goes_on_in_a_forked_process():
    code = (
        "import os, numpy as np, collab_overcooked\n"
        "batch = collab_overcooked.make_vec('Overcooked-v0', num_envs=4, num_threads=2)\n"
        "batch.reset(0)\n"
        "batch.step(np.zeros((4, 2), int))\n"
        "child = os.fork()\n"
        "batch.step(np.zeros((4, 2), int))\n"
        "batch.close()\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
        "else: os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_call_on_the_first_rows_leaves_the_others(compiled):
    state, amounts = make_moment(5)
    amounts += 1
    run = RowsKernel(tally if compiled else getattr(tally, "py_func", tally), (state, amounts), (state, amounts))
    for rows in (2, 5, 0, 1):
        run(rows)
    np.testing.assert_array_equal(state.counts[:, 1], [3, 4, 3, 4, 5])
    np.testing.assert_array_equal(state.weights, [1.5, 2, 1.5, 2, 2.5])


def test_only_batched_arguments_are_cut():
    state, amounts = make_moment(3)
    RowsKernel(reach, (state, amounts + 2), (state,))(3)
    assert state.counts[:, 0].tolist() == [0, 0, 1]
