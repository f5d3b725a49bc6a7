"""Information of messages, its null over whole episodes, and distances of distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from collab_overcooked.metrics.communication import entropy, jensen_shannon, mutual_information, signalling


def drawn(episodes, steps, values, seed=0):
    return np.random.default_rng(seed).integers(0, values, (episodes, steps)).tolist()


def test_information_of_known_pairs():
    states = [0, 1, 2, 3] * 25
    assert mutual_information(states, [f"code {3 - state}" for state in states]) == pytest.approx(2)
    assert mutual_information(states, [state // 2 for state in states]) == pytest.approx(1)
    assert mutual_information(states, [7] * 100) == 0 and mutual_information([], []) == 0
    assert entropy(states) == pytest.approx(2) and entropy("aaab") == pytest.approx(0.811, abs=1e-3)


def test_half_noise_has_the_bits_of_its_channel():
    """A symbol of four is kept with probability 5/8, or one of the three others: 2 - H(5/8, 1/8, 1/8, 1/8) bits."""
    rng = np.random.default_rng(0)
    states = rng.integers(0, 4, 40_000)
    said = np.where(rng.random(40_000) < 0.5, states, rng.integers(0, 4, 40_000))
    expected = 2 + 5 / 8 * math.log2(5 / 8) + 3 / 8 * math.log2(1 / 8)
    assert mutual_information(said.tolist(), states.tolist()) == pytest.approx(expected, abs=0.01)


def test_states_that_last_for_an_episode_are_permuted_by_episode():
    """What is constant in an episode looks dependent if steps are permuted; by episode it does not."""
    high = 0
    for seed in range(40):
        messages = [[symbols[0]] * 50 for symbols in drawn(20, 1, 3, seed)]
        states = [[values[0]] * 50 for values in drawn(20, 1, 3, 1000 + seed)]
        one = signalling(messages, states)
        assert one.information == pytest.approx(one.null, abs=0.5)
        high += one.p <= 0.05
    assert high <= 6  # 2 are expected


@pytest.mark.parametrize(
    ("said", "bits", "is_significant"),
    [
        (lambda state, rng: 0, 0, False),
        (lambda state, rng: int(rng.integers(1, 5)), 0, False),
        (lambda state, rng: state + 1, 2, True),
    ],
    ids=["mute", "babbling", "fixed code"],
)
def test_null_cases(said, bits, is_significant):
    rng = np.random.default_rng(1)
    states = [[k % 4] * 10 for k in range(200)]
    one = signalling([[said(state, rng) for state in episode] for episode in states], states)
    assert one.information == pytest.approx(bits, abs=0.02) and (one.p < 0.01) == is_significant
    assert one.steps == 2000 and one.states == 4


def test_one_episode_has_no_null():
    one = signalling([[1, 2, 1, 2]], [["a", "b", "a", "b"]])
    assert (one.information, one.null, one.p) == (1, 1, 1)


def test_divergence_of_equal_and_disjoint_distributions():
    sure, other, even = np.array([1.0, 0]), np.array([0, 1.0]), np.array([0.5, 0.5])
    assert jensen_shannon(sure, sure) == 0 and jensen_shannon(sure, other) == pytest.approx(1)
    assert jensen_shannon(sure, even) == pytest.approx(jensen_shannon(even, sure)) == pytest.approx(0.311, abs=1e-3)
