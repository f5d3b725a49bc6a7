"""Scores of one agent's actions against references: TES, ITES and, for comparison, ROUGE-L.

All scores are of one agent. ``references`` is always the list of references of that agent, each a sequence of action
strings. Actions are compared in their normal form, so blanks and the two spellings of the delivery do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collab_overcooked.metrics.sequences import match_common_subsequences, match_prefixes

BETA = 0.95
"""Weight of the history's length against the reference's, as in the paper and its code."""

_UNKNOWN = -2  # an action without match in any reference; it only lengthens the history
_PADDING = -1

Actions = Sequence[str]


@dataclass(frozen=True, slots=True)
class TesScore:
    """TES of one history with its components."""

    value: float  # TES, in [0, 1]; 1 exactly for a history equal to a reference
    completeness: float  # D/m, the share of the reference that was done in order ("similarity" in the original)
    # D/n, the share of the history that was useful, 0 for an empty history. The original publishes this number under
    # the name "redundancy".
    efficiency: float
    reference: int  # Index of the reference that gave the maximum, the first one on ties

    @property
    def redundancy(self) -> float:
        """Share of the history that did not advance the matched prefix: 1 − efficiency."""
        return 1.0 - self.efficiency


@dataclass(frozen=True, slots=True)
class TesBatch:
    """TES of H histories, each with its best reference."""

    value: NDArray[np.float64]  # float64 [H], TES
    completeness: NDArray[np.float64]  # float64 [H], D/m
    efficiency: NDArray[np.float64]  # float64 [H], D/n, 0 where n = 0
    reference: NDArray[np.int64]  # int64 [H], index of the best reference

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: int) -> TesScore:
        return TesScore(
            float(self.value[index]),
            float(self.completeness[index]),
            float(self.efficiency[index]),
            int(self.reference[index]),
        )


def normal_form(action: str) -> str:
    """Return an action string in the form that metrics compare: no blanks, delivery spelled ``deliver()``.

    Source: the original removes blanks before comparing; its logs say ``deliver_soup()`` where the paper
    says ``deliver()``. Nothing else is normalised: case and synonyms count.
    """
    return action.replace(" ", "").replace("deliver_soup()", "deliver()")


def encode(
    histories: Sequence[Actions], references: Sequence[Actions]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Convert action strings into padded arrays for the kernels.

    Args:
        histories: H action sequences, possibly empty.
        references: R non-empty action sequences.

    Returns:
        histories int32 [H, T], their lengths int32 [H], references int32 [R, M], their lengths int32 [R].
    """
    _check_references(references)
    codes: dict[str, int] = {}
    coded = [[codes.setdefault(normal_form(a), len(codes)) for a in reference] for reference in references]
    played = [[codes.get(normal_form(a), _UNKNOWN) for a in history] for history in histories]
    return (*_pad(played), *_pad(coded))


def tes_table(
    histories: NDArray[np.int32],
    history_lengths: NDArray[np.int32],
    references: NDArray[np.int32],
    reference_lengths: NDArray[np.int32],
    beta: float = BETA,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the TES of every pair of history and reference, from encoded actions.

    Source: paper eq. 1 and 2 and the original's ``tes()``: TES = (1 + β²)·D / (m + β²·n), D the longest prefix of
    the reference found in order in the history, m and n the lengths. The denominator is summed here as
    (1 + β²)·D + (m − D) + β²·(n − D), which is the same number and makes TES exactly 1.0 for D = m = n.

    Args:
        histories: int32 [H, T].
        history_lengths: int32 [H].
        references: int32 [R, M].
        reference_lengths: int32 [R], all positive.
        beta: Weight of the history's length, positive.

    Returns:
        TES float64 [H, R] and D int32 [H, R].
    """
    _check_beta(beta)
    matched = np.zeros((len(histories), len(references)), np.int32)
    match_prefixes(histories, history_lengths, references, reference_lengths, matched)
    return _f_score(matched, history_lengths, reference_lengths, beta), matched


def tes_batch(histories: Sequence[Actions], references: Sequence[Actions], beta: float = BETA) -> TesBatch:
    """Return the TES of many histories of one agent, each the maximum over that agent's references.

    Source: paper eq. 1 and 2; the original keeps the first maximum on ties.

    Args:
        histories: H action sequences.
        references: R reference sequences of the same agent.
        beta: Weight of the history's length, positive.

    Returns:
        Arrays of shape [H].
    """
    played, lengths, coded, reference_lengths = encode(histories, references)
    values, matched = tes_table(played, lengths, coded, reference_lengths, beta)
    best = values.argmax(axis=1)  # argmax keeps the first maximum, like the original
    rows = np.arange(len(values))
    done = matched[rows, best].astype(np.float64)
    efficiency = done / np.maximum(lengths, 1)  # an empty history has D = 0, hence efficiency 0
    return TesBatch(values[rows, best], done / reference_lengths[best], efficiency, best)


def tes(history: Actions, references: Sequence[Actions], beta: float = BETA) -> TesScore:
    """Return the TES (Trajectory Efficiency Score) of one agent's history.

    Source: paper eq. 1 and 2, confirmed by Listing 4 (D = 3 of m = n = 5 gives 0.6).

    Args:
        history: Actions in the order they were done.
        references: Reference sequences of the same agent; the best one counts.
        beta: Weight of the history's length, positive.

    Returns:
        The score with completeness, efficiency and the index of the best reference.
    """
    return tes_batch([history], references, beta)[0]


def ites(history: Actions, added: Actions, references: Sequence[Actions], beta: float = BETA) -> float:
    """Return the ITES: the change of TES when actions are appended to a history.

    Source: paper eq. 3, incremental TES, TES(h + a) − TES(h); each of the two takes its own maximum over the
    references, as the original does.

    Args:
        history: Actions done so far.
        added: Actions to append.
        references: Reference sequences of the same agent.
        beta: Weight of the history's length, positive.

    Returns:
        The difference, in [−1, 1]: positive for useful additions.
    """
    before, after = tes_batch([history, [*history, *added]], references, beta).value
    return float(after - before)


def rouge_l(history: Actions, references: Sequence[Actions], beta: float = BETA) -> float:
    """Return ROUGE-L, the baseline of TES: common subsequence instead of matched prefix.

    Source: Lin (2004) for the longest common subsequence, paper Listing 4 for the comparison (0.8 where TES
    is 0.6). The F-measure is the one of TES with the same default beta, so that the two scores differ only in
    what counts as a match: (1 + β²)·LCS / (m + β²·n). ``beta=1`` gives the standard F1.

    Args:
        history: Actions in the order they were done.
        references: Reference sequences of the same agent; the best one counts.
        beta: Weight of the history's length, positive.

    Returns:
        A number in [0, 1], never below TES.
    """
    _check_beta(beta)
    played, lengths, coded, reference_lengths = encode([history], references)
    matched = np.zeros((1, len(coded)), np.int32)
    row = np.zeros(coded.shape[1] + 1, np.int32)
    match_common_subsequences(played, lengths, coded, reference_lengths, row, matched)
    return float(_f_score(matched, lengths, reference_lengths, beta).max())


def _f_score(
    matched: NDArray[np.int32], history_lengths: NDArray[np.int32], reference_lengths: NDArray[np.int32], beta: float
) -> NDArray[np.float64]:
    weight = beta * beta
    gain = (1.0 + weight) * matched
    missing = reference_lengths[None, :] - matched
    surplus = history_lengths[:, None] - matched
    return gain / (gain + missing + weight * surplus)


def _pad(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    lengths = np.array([len(s) for s in sequences], np.int32)
    padded = np.full((len(sequences), max(1, *lengths) if len(lengths) else 1), _PADDING, np.int32)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths


def _check_references(references: Sequence[Actions]) -> None:
    if isinstance(references, str) or any(isinstance(reference, str) for reference in references):
        raise ValueError("references: a list of action sequences is needed, got a string")
    if not len(references):
        raise ValueError("references: none given; TES needs at least one reference trajectory of the agent")
    for i, reference in enumerate(references):
        if not len(reference):
            raise ValueError(f"references[{i}]: is empty; a reference trajectory has at least one action")


def _check_beta(beta: float) -> None:
    if not beta > 0:
        raise ValueError(f"beta: got {beta}, allowed are numbers above 0 (the paper uses {BETA})")
