"""Kernels that compare action sequences: padded int32 arrays, histories × references.

Shapes: H histories, R references, T longest history, M longest reference. An array of sequences is padded
on the right; explicit lengths mark the ends of sequences, so the padding value is never read.
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel


@kernel
def matched_prefix(history, history_length, reference, reference_length):
    """The matched prefix grows by one whenever the history shows the reference's next action.

    This single pass gives the longest prefix of ``reference`` that is a subsequence of ``history``: taking
    the earliest occurrence of each action never prevents a later match.

    Returns:
        D, the length of that prefix (paper eq. 2).
    """
    matched = 0
    for i in range(history_length):
        if matched == reference_length:
            break
        if history[i] == reference[matched]:
            matched += 1
    return matched


@kernel
def match_prefixes(histories, history_lengths, references, reference_lengths, matched):
    """Every history is compared with every reference. Mutates: matched."""
    for h in range(histories.shape[0]):
        for r in range(references.shape[0]):
            matched[h, r] = matched_prefix(histories[h], history_lengths[h], references[r], reference_lengths[r])


@kernel
def common_subsequence(history, history_length, reference, reference_length, row):
    """The longest common subsequence may skip actions on both sides. Mutates: row.

    Standard dynamic programming, one row at a time: ``row[j]`` is the result for the history read so far and
    the first j actions of the reference.

    Returns:
        Length of the longest common subsequence.
    """
    row[:] = 0
    for i in range(history_length):
        diagonal = row[0]
        for j in range(reference_length):
            above = row[j + 1]
            if history[i] == reference[j]:
                row[j + 1] = diagonal + 1
            elif row[j] > above:
                row[j + 1] = row[j]
            diagonal = above
    return row[reference_length]


@kernel
def match_common_subsequences(histories, history_lengths, references, reference_lengths, row, matched):
    """Every history is compared with every reference, skips allowed. Mutates: row, matched."""
    for h in range(histories.shape[0]):
        for r in range(references.shape[0]):
            matched[h, r] = common_subsequence(
                histories[h], history_lengths[h], references[r], reference_lengths[r], row
            )
