"""Clipping of numbers for narrow observations."""

from __future__ import annotations

import pytest

from collab_overcooked.kernels.arrays import clip_i8, clip_u8


@pytest.mark.parametrize(("value", "clipped"), [(-3, 0), (0, 0), (7, 7), (255, 255), (256, 255)])
def test_clip_u8(value, clipped):
    assert clip_u8(value) == clipped


@pytest.mark.parametrize(("value", "clipped"), [(-300, -127), (-127, -127), (0, 0), (127, 127), (128, 127)])
def test_clip_i8(value, clipped):
    assert clip_i8(value) == clipped
