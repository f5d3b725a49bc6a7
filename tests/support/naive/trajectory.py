"""Slow, obvious versions of the trajectory scores, written apart from the package as an oracle for tests."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations


def is_subsequence(short: Sequence[str], long: Sequence[str]) -> bool:
    """Try every choice of positions."""
    return any(
        all(long[place] == expected for place, expected in zip(places, short, strict=True))
        for places in combinations(range(len(long)), len(short))
    )


def longest_prefix(history: Sequence[str], reference: Sequence[str]) -> int:
    return max(k for k in range(len(reference) + 1) if is_subsequence(reference[:k], history))


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    if not first or not second:
        return 0
    if first[0] == second[0]:
        return 1 + longest_common(first[1:], second[1:])
    return max(longest_common(first[1:], second), longest_common(first, second[1:]))


def f_score(matched: int, history: int, reference: int, beta: str = "0.95") -> Fraction:
    weight = Fraction(beta) ** 2
    return (1 + weight) * matched / (reference + weight * history)


def tes(history: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[Fraction, int]:
    """Exact TES and the first reference that reaches it."""
    scores = [f_score(longest_prefix(history, ref), len(history), len(ref)) for ref in references]
    return max(scores), scores.index(max(scores))


def rouge_l(history: Sequence[str], references: Sequence[Sequence[str]]) -> Fraction:
    return max(f_score(longest_common(history, ref), len(history), len(ref)) for ref in references)
