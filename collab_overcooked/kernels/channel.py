"""Kernels of a channel of symbols, see ``envs.channel``: acts of spoken actions, what is said, what is observed."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import Rng, draw, draw_below

NOISE_DRAWS = 1 << 30  # from here on, the numbers of draws are those of noise


@kernel
def split_actions(actions, numbers, acts):
    """Acts are actions without their symbols. Mutates: acts."""
    for b in range(actions.shape[0]):
        for i in range(actions.shape[1]):
            acts[b, i] = actions[b, i] % numbers[0]


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
def charge_symbols(actions, numbers, rejected, fresh, cost, spoken, rewards):
    """Each symbol costs all agents the same; refused actions say nothing. Mutates: spoken, rewards."""
    for b in range(actions.shape[0]):
        count = 0
        for i in range(actions.shape[1]):
            spoken[b, i] = actions[b, i] // numbers[0] if fresh[b] and rejected[b, i] == 0 else 0
            count += spoken[b, i] > 0
        for i in range(actions.shape[1]):
            rewards[b, i] -= cost[0] * count


@kernel
def hear_symbols(actions, numbers, rejected, fresh, rng, noise_steps, said):
    """Refused actions say nothing; noise replaces symbols, as all hear them. Mutates: noise_steps, said."""
    for b in range(actions.shape[0]):
        if fresh[b]:
            for i in range(actions.shape[1]):
                symbol = actions[b, i] // numbers[0]
                if rejected[b, i] != 0:
                    symbol = 0
                elif symbol != 0 and numbers[2] > 0:
                    symbol = pass_noise(rng[b], noise_steps[b, 0] * actions.shape[1] + i, numbers, symbol)
                said[b, i] = symbol
            if numbers[2] > 0:
                noise_steps[b, 0] += 1


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
def append_symbols(source, masks, said, fresh, form, target, wide):
    """Observations get a number or plane for each agent and symbol, own ones first; all symbols have the same mask.

    ``form`` has the number of blocks between which planes are inserted, the length of a block, that of a plane in it,
    the number of symbols, and for each pair of agents whether the first hears the second. Mutates: target, wide.
    """
    blocks, inner, area, symbols = form[0], form[1], form[2], form[3]
    agents, acts = said.shape[1], masks.shape[2]
    outer = inner + agents * symbols * area
    for b in range(fresh.shape[0]):
        if fresh[b]:
            for i in range(agents):
                tail = target[b, i, inner:outer]
                for k in range(tail.shape[0]):
                    tail[k] = 0
                for j in range(agents):
                    speaker = (i + j) % agents
                    symbol = said[b, speaker]
                    if symbol > 0 and form[4 + i * agents + speaker]:
                        start = (j * symbols + symbol - 1) * area
                        for k in range(area):
                            tail[start + k] = 1
                copy_numbers(source[b, i, :inner], target[b, i, :inner])
                for p in range(1, blocks):
                    start = p * outer
                    copy_numbers(source[b, i, p * inner : (p + 1) * inner], target[b, i, start : start + inner])
                    copy_numbers(tail, target[b, i, start + inner : start + outer])
                for symbol in range(symbols + 1):
                    copy_numbers(masks[b, i], wide[b, i, symbol * acts : (symbol + 1) * acts])
