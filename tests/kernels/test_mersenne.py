"""Python's own generator in kernels, word by word and choice by choice."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab_overcooked.kernels.mersenne import STREAM, choose, draw_word, seed_stream


def stream_of(seed):
    stream = np.zeros(STREAM, np.uint32)
    text = np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint32).view(np.int32)
    seed_stream(stream, text[0], text[1])
    return stream


@given(st.integers(0, 2**64 - 1))
def test_stream_starts_like_pythons(seed):
    stream, python = stream_of(seed), random.Random(seed)
    assert [int(draw_word(stream)) for _ in range(5)] == [python.getrandbits(32) for _ in range(5)]


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32, 2**64 - 1])
def test_stream_goes_on_like_pythons_past_its_own_length(seed):
    stream, python = stream_of(seed), random.Random(seed)
    for _ in range(1500):
        assert int(draw_word(stream)) == python.getrandbits(32)


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_choose_takes_pythons_choices(seed, bounds):
    stream, python = stream_of(seed), random.Random(seed)
    assert [int(choose(stream, bound)) for bound in bounds] == [python.choice(range(bound)) for bound in bounds]
