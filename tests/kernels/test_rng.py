from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import Rng, derive_seeds, draw, draw_below, draw_bounds, draw_weighted, seed_states

SEEDS = st.integers(0, 2**64 - 1)
WORD = 2**32


def plain_mix(word: int) -> int:
    """The two-round 32-bit mixer, in Python's integers."""
    word ^= word >> 16
    word = word * 0x21F0AAAD % WORD
    word ^= word >> 15
    word = word * 0x735A2D97 % WORD
    return word ^ (word >> 15)


def plain_draw(seed: int, count: int) -> int:
    word = plain_mix(count)
    word = plain_mix((word + (seed >> 32) % WORD) % WORD)
    return plain_mix((word + seed % WORD) % WORD)


@kernel
def many(rng, bound, out):
    for i in range(out.shape[0]):
        out[i] = draw_below(rng, bound)


def numbers(seed: int, count: int, bound: int) -> np.ndarray:
    out = np.zeros(count, np.int64)
    many(seed_states([seed])[0], bound, out)
    return out


@given(seed=SEEDS, count=st.integers(0, 2**31 - 1))
def test_draw_is_a_hash_of_seed_and_count(seed, count):
    rng = seed_states([seed])[0]
    rng[Rng.COUNT] = count
    assert draw(rng) == plain_draw(seed, count)
    assert rng[Rng.COUNT] == (count + 1) % 2**31


@given(seed=SEEDS, bound=st.integers(1, 2**24))
def test_draw_below_stays_below(seed, bound):
    drawn = numbers(seed, 50, bound)
    assert drawn.min() >= 0 and drawn.max() < bound
    assert drawn[0] == plain_draw(seed, 0) * bound // WORD


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 + 17])
@pytest.mark.parametrize("bound", [2, 3, 30])
def test_draw_below_gives_all_values_alike(seed, bound):
    count = 30_000
    share = np.bincount(numbers(seed, count, bound), minlength=bound)
    expected = count / bound
    chi2 = float(((share - expected) ** 2 / expected).sum())
    assert chi2 < bound - 1 + 5 * (2 * (bound - 1)) ** 0.5  # five standard deviations


def test_draw_below_has_no_serial_pattern():
    drawn = numbers(7, 20_000, 2)
    pairs = Counter(zip(drawn[:-1].tolist(), drawn[1:].tolist(), strict=True))
    assert all(abs(count - 5000) < 350 for count in pairs.values()) and len(pairs) == 4


def test_neighbouring_seeds_share_no_stream():
    heads = {tuple(numbers(seed, 8, 2**24)) for seed in range(2000)}
    assert len(heads) == 2000
    starts = [numbers(seed, 1, 2)[0] for seed in range(2000)]
    assert 900 < sum(starts) < 1100


def test_seed_states_keep_64_bits():
    text = seed_states([2**64 - 1, 5, 2**33])
    assert text.dtype == np.int32 and text.tolist() == [[-1, -1, 0], [5, 0, 0], [0, 2, 0]]
    assert seed_states([2**64 + 5]).tolist() == seed_states([5]).tolist()


def test_derive_seeds_counts_up_as_gymnasium_does():
    assert derive_seeds(7, 3) == [7, 8, 9]


def test_same_numbers_without_the_compiler():
    code = (
        "from collab_overcooked.kernels.rng import draw, draw_below, seed_states\n"
        "rng = seed_states([2**40 + 9])[0]\n"
        "print(*[int(draw(rng)) for _ in range(5)], *[int(draw_below(rng, 30)) for _ in range(20)])"
    )
    replies = []
    for off in ("0", "1"):
        env = dict(os.environ, NUMBA_DISABLE_JIT=off)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True, check=True
        )
        replies.append(done.stdout.split())
    assert replies[0] == replies[1] and len(replies[0]) == 25


@kernel
def many_weighted(rng, bounds, out):
    for i in range(out.shape[0]):
        out[i] = draw_weighted(rng, bounds)


@given(seed=SEEDS, weights=st.lists(st.one_of(st.just(0.0), st.floats(0.01, 100)), min_size=1, max_size=9).filter(any))
def test_a_weighted_draw_is_where_the_random_word_falls_in_the_running_sum(seed, weights):
    out = np.zeros(50, np.int64)
    many_weighted(seed_states([seed])[0], draw_bounds(weights), out)
    shares = np.cumsum(weights) / np.sum(weights)
    for count, k in enumerate(out.tolist()):
        place = plain_draw(seed, count) / WORD
        assert weights[k] > 0
        assert (shares[k - 1] if k else 0.0) - 1e-9 <= place <= shares[k] + 1e-9


@pytest.mark.parametrize("bound", [1, 3, 8, 1000])
def test_equal_weights_draw_as_draw_below(bound):
    out = np.zeros(500, np.int64)
    many_weighted(seed_states([11])[0], draw_bounds([0.7] * bound), out)
    assert np.array_equal(out, numbers(11, 500, bound))
