"""Measures of messages in a channel: what they say of what only the sender knows, and how far answers change."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS = 199
_SEED = 20250101  # any constant: the same messages always get the same null


@dataclass(frozen=True, slots=True)
class Signalling:
    """Mutual information of the messages of a sender and a part of its private state.

    Attributes:
        steps: Number of messages, silence included.
        symbols: Number of symbols used; silence is one.
        states: Number of values of the private state.
        entropy: Entropy of the symbols in bits.
        information: Mutual information in bits, as counted: few messages make it too high.
        null: Mean mutual information in bits with the states of other episodes.
        p: Share of such nulls at least as high; 1 if one symbol or one state occurs.
    """

    steps: int
    symbols: int
    states: int
    entropy: float
    information: float
    null: float
    p: float


def entropy(values: Sequence[Hashable]) -> float:
    """Return the entropy of the frequencies of values, in bits."""
    counts = np.unique(_numbers(values), return_counts=True)[1]
    return _bits(counts / counts.sum())


def mutual_information(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return the mutual information of the frequencies of pairs, in bits."""
    return _information(_numbers(one), _numbers(other))


def signalling(messages: Sequence[Sequence[int]], states: Sequence[Sequence[Hashable]]) -> Signalling:
    """Measure what messages say of states.

    The null pairs the messages of whole episodes with the states of others, since both persist within an episode.

    Args:
        messages: Symbols of a sender by episode and step, 0 for silence.
        states: States of the sender when it chose them, of the same lengths.
    """
    said = np.array([symbol for episode in messages for symbol in episode], np.int64)
    numbers = _numbers([state for episode in states for state in episode])
    ends = np.cumsum([len(episode) for episode in messages])
    by_episode = np.split(numbers, ends[:-1]), np.split(said, ends[:-1])
    raw, rng = _information(said, numbers), np.random.default_rng(_SEED)
    nulls = [_permuted(*by_episode, rng) for _ in range(PERMUTATIONS)] if len(messages) > 1 else []
    used, values = len(np.unique(said)), len(np.unique(numbers))
    as_high = sum(null >= raw - 1e-12 for null in nulls)
    decided = used > 1 and values > 1
    return Signalling(
        steps=len(said),
        symbols=used,
        states=values,
        entropy=entropy(said.tolist()),
        information=raw,
        null=float(np.mean(nulls)) if nulls else raw,
        p=(1 + as_high) / (1 + len(nulls)) if decided else 1.0,
    )


def jensen_shannon(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the Jensen-Shannon divergence of two distributions (A,), in bits, at most 1."""
    return max(0.0, _bits((one + other) / 2) - (_bits(one) + _bits(other)) / 2)


def _permuted(
    states: Sequence[NDArray[np.int64]], messages: Sequence[NDArray[np.int64]], rng: np.random.Generator
) -> float:
    pairs = zip(messages, (states[k] for k in rng.permutation(len(states))), strict=True)
    cut = [(said[: len(known)], known[: len(said)]) for said, known in pairs]
    one, other = (np.concatenate(parts) for parts in zip(*cut, strict=True))
    return _information(one, other)


def _numbers(values: Sequence[Hashable]) -> NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)


def _information(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    if not len(one):
        return 0.0
    _, rows = np.unique(one, return_inverse=True)
    _, columns = np.unique(other, return_inverse=True)
    joint = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(joint, (rows, columns), 1.0 / len(one))
    return max(0.0, _bits(joint.sum(0)) + _bits(joint.sum(1)) - _bits(joint.reshape(-1)))


def _bits(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return max(0.0, float(-(positive * np.log2(positive)).sum()))
