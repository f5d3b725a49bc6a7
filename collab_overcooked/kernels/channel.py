"""Kernels of a channel of symbols, see ``envs.channel``: acts of spoken actions, what is said, what is observed."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import copy_numbers, index
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import Rng, draw, draw_below

NOISE_DRAWS = 1 << 30  # from here on, the numbers of draws are those of noise
FEW_WORDS = 8  # of a mask: up to here, loops that are not vectorised are faster


@kernel
def split_actions(actions, numbers, acts, spoken):
    """An action is a symbol and an act. Mutates: acts, spoken."""
    for b in range(actions.shape[0]):
        for i in range(actions.shape[1]):
            symbol = actions[b, i] // numbers[0] if actions[b, i] >= numbers[0] else 0
            acts[b, i], spoken[b, i] = actions[b, i] - symbol * numbers[0], symbol


@kernel
def pass_noise(rng, number, numbers, symbol):
    """Noise replaces a symbol by a random one; draws of the game stay those without noise. Mutates: rng."""
    count = rng[Rng.COUNT]
    rng[Rng.COUNT] = NOISE_DRAWS | (count * 8192 + 2 * number) & (NOISE_DRAWS - 1)
    if draw(rng) < numbers[2]:
        symbol = 1 + draw_below(rng, numbers[1])
    rng[Rng.COUNT] = count
    return symbol


@kernel
def hear_symbols(numbers, rejected, fresh, rng, noise_steps, spoken, said):
    """Refused actions say nothing; noise replaces symbols, as all hear them. Mutates: noise_steps, spoken, said."""
    noisy = numbers[2] > 0
    for b in range(spoken.shape[0]):
        for i in range(spoken.shape[1]):
            if not fresh[b] or rejected[b, i] != 0:
                spoken[b, i] = 0
            if fresh[b]:
                said[b, i] = spoken[b, i]
                if noisy and spoken[b, i] != 0:
                    draws = noise_steps[b, 0] * spoken.shape[1] + i
                    said[b, i] = pass_noise(rng[b], draws, numbers, spoken[b, i])
        if noisy and fresh[b]:
            noise_steps[b, 0] += 1


@kernel
def charge_symbols(spoken, cost, rewards):
    """Each symbol costs all agents the same. Mutates: rewards."""
    for b in range(spoken.shape[0]):
        count = 0
        for i in range(spoken.shape[1]):
            count += spoken[b, i] > 0
        for i in range(spoken.shape[1]):
            rewards[b, i] -= cost[0] * count


@kernel
def delay_symbols(fresh, pending, said):
    """What was said becomes pending, and the oldest pending symbols are heard. Mutates: pending, said."""
    last = pending.shape[1] - 1
    for b in range(said.shape[0]):
        if fresh[b]:
            for i in range(said.shape[1]):
                symbol = said[b, i]
                said[b, i] = pending[b, 0, i]
                for k in range(last):
                    pending[b, k, i] = pending[b, k + 1, i]
                pending[b, last, i] = symbol


@kernel
def append_symbols(masks, said, fresh, form, observations, wide):
    """Observations get a number or plane for each agent and symbol, own ones first; all symbols have the same mask.

    ``form`` has the number of blocks between which planes are inserted, the length of a block, that of a plane in it,
    the number of symbols, and for each pair of agents whether the first hears the second. Games have drawn pictures
    anew, with these planes at 0; numbers behind a vector are those of the last step. Masks are words of one or more
    acts. Mutates: observations, wide.
    """
    blocks = form[0]
    inner = form[1]
    area = form[2]
    symbols = form[3]
    agents = said.shape[1]
    outer = inner + agents * symbols * area
    for b in range(fresh.shape[0]):
        if not fresh[b]:
            continue
        for i in range(agents):
            row = observations[b, i]
            if blocks == 1 and area > 1:
                fill_numbers(row[inner:outer], 0)
            for j in range(agents):
                speaker = i + j if i + j < agents else i + j - agents
                symbol = said[b, speaker] if form[4 + i * agents + speaker] else 0
                first = inner + j * symbols * area
                if blocks == 1 and area == 1:
                    for k in range(symbols):
                        row[index(first + k)] = symbol == k + 1
                elif symbol > 0:
                    mark_plane(row, first + (symbol - 1) * area, outer, area)
            repeat_mask(masks[b, i], symbols, wide[b, i])


@kernel
def mark_plane(row, first, outer, area):
    """A plane gets 1 in every block. Mutates: row."""
    for at in range(first, row.shape[0], outer):
        if area == 1:
            row[index(at)] = 1
        else:
            fill_numbers(row[at : at + area], 1)


@kernel
def fill_numbers(numbers, value):
    """A loop over a view, which the compiler vectorises. Mutates: numbers."""
    for k in range(numbers.shape[0]):
        numbers[k] = value


@kernel
def repeat_mask(mask, symbols, wide):
    """The mask of acts is repeated for each symbol. Mutates: wide."""
    words = mask.shape[0]
    if words > FEW_WORDS:
        for symbol in range(symbols + 1):
            copy_numbers(mask, wide[symbol * words : (symbol + 1) * words])
    else:
        for k in range(words):
            word, at = mask[index(k)], k
            for _ in range(symbols + 1):
                wide[index(at)] = word
                at += words
