"""What the observations of all games are written with."""

from __future__ import annotations

from collab_overcooked._jit import kernel


@kernel
def clip_u8(value):
    """Counts and times are capped at 0 and 255."""
    return min(max(value, 0), 255)


@kernel
def clip_i8(value):
    """Numbers are capped to fit a signed byte."""
    return min(max(value, -127), 127)


@kernel
def copy_numbers(source, target):
    """Numbers are copied as whole views: with offsets in the loop the compiler would not vectorise it, 15 times slower.

    Mutates: target.
    """
    for k in range(target.shape[0]):
        target[k] = source[k]
