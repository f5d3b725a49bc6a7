"""Python's random generator in kernels: ``random.Random(seed).choice`` draw by draw, for games that are based on it.

It is the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), seeded from the 32-bit words of an integer as
Python does it. A stream is 624 words and the position of the next one. All arithmetic stays below 2**63 in int64.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.jit import kernel

WORDS = 624
STREAM = WORDS + 1  # uint32 columns of a stream; the last is the position
_SHIFT = 397
_WORD = 0xFFFFFFFF


@kernel
def word_at(stream, k):
    """A word of a stream as int64, so that arithmetic neither wraps nor turns negative."""
    return np.int64(stream[k])


@kernel
def seed_stream(stream, low, high):
    """Start the stream of the seed whose lowest 32 bits and next 32 bits are given. Mutates: stream."""
    low, high = np.int64(low) & _WORD, np.int64(high) & _WORD
    stream[0] = 19650218
    for k in range(1, WORDS):
        before = word_at(stream, k - 1)
        stream[k] = (1812433253 * (before ^ (before >> 30)) + k) & _WORD
    at, n_keys = 1, 1 if high == 0 else 2
    for k in range(WORDS):
        before, part = word_at(stream, at - 1), k % n_keys
        key = low if part == 0 else high
        stream[at] = ((word_at(stream, at) ^ ((before ^ (before >> 30)) * 1664525)) + key + part) & _WORD
        at = _next(stream, at)
    for _ in range(WORDS - 1):
        before = word_at(stream, at - 1)
        stream[at] = ((word_at(stream, at) ^ ((before ^ (before >> 30)) * 1566083941)) - at) & _WORD
        at = _next(stream, at)
    stream[0] = 0x80000000
    stream[WORDS] = WORDS


@kernel
def _next(stream, at):
    if at + 1 < WORDS:
        return at + 1
    stream[0] = stream[WORDS - 1]
    return 1


@kernel
def _twist(stream):
    for k in range(WORDS):
        word = (word_at(stream, k) & 0x80000000) | (word_at(stream, (k + 1) % WORDS) & 0x7FFFFFFF)
        far = word_at(stream, (k + _SHIFT) % WORDS)
        stream[k] = far ^ (word >> 1) ^ (0x9908B0DF if word & 1 else 0)
    stream[WORDS] = 0


@kernel
def draw_word(stream):
    """Draw 32 random bits. Mutates: stream."""
    if stream[WORDS] >= WORDS:
        _twist(stream)
    word = word_at(stream, word_at(stream, WORDS))
    stream[WORDS] += 1
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    return word ^ (word >> 18)


@kernel
def choose(stream, bound):
    """Draw an index from 0 to bound - 1 as ``random.choice`` does: as few bits as needed, until they fit.

    Mutates: stream.
    """
    bits = 0
    while bound >> bits:
        bits += 1
    drawn = draw_word(stream) >> (32 - bits)
    while drawn >= bound:
        drawn = draw_word(stream) >> (32 - bits)
    return drawn


@kernel
def choose_again(stream, low, high, count, bound):
    """Restore a stream to its state after ``count`` choices; all zeros for none. Mutates: stream."""
    stream[:] = 0
    if count > 0:
        seed_stream(stream, low, high)
    for _ in range(count):
        choose(stream, bound)
