"""What observations are written and actions are read with, in all games."""

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


@kernel
def copy_actions(given, n_actions, actions):
    """Actions (E, N) are copied up to the first one outside its space; tells how many were. Mutates: actions."""
    copied = 0
    for i in range(given.shape[0]):
        for seat in range(given.shape[1]):
            if given[i, seat] < 0 or given[i, seat] >= n_actions:
                return copied
            actions[i, seat] = given[i, seat]
            copied += 1
    return copied
