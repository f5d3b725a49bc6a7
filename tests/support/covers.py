"""Parameters of tests: small covers of a product for every commit, the whole product at night."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def cover(*axes: Iterable[Any], strength: int = 1, rest: Any = pytest.mark.nightly) -> list[Any]:
    """Return all combinations of values; those that a cover does not need are marked.

    Args:
        axes: Values of each argument.
        strength: 1 if every value has to occur, 2 if every pair of values of two arguments has to.
        rest: Mark of the others.
    """
    values = [list(axis) for axis in axes]
    columns = list(itertools.combinations(range(len(values)), strength))
    cases = list(itertools.product(*map(range, map(len, values))))

    def parts(case: tuple[int, ...]) -> set[tuple[Any, ...]]:
        return {(places, *(case[place] for place in places)) for places in columns}

    missing, chosen = set().union(*map(parts, cases)), set()
    while missing:  # greedy: the case with most parts that no chosen one has
        best = max(cases, key=lambda case: len(parts(case) & missing))
        chosen.add(best)
        missing -= parts(best)
    return [
        pytest.param(*(axis[k] for axis, k in zip(values, case, strict=True)), marks=() if case in chosen else rest)
        for case in cases
    ]


def first(values: Sequence[Any], count: int = 1, rest: Any = pytest.mark.nightly) -> list[Any]:
    """Return all values; those after the first ones are marked."""
    return [pytest.param(value, marks=() if k < count else rest) for k, value in enumerate(values)]
