"""Draw and choose preferences: weights of events (Yu et al. 2023, hidden-utility self-play)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from collab_overcooked.envs.event_rewards import REWARD
from collab_overcooked.io.checks import OptionError

Array = np.ndarray


def draw_preferences(grid: Mapping[str, Sequence[float]], count: int, seed: int) -> list[dict[str, float]]:
    """Draw different preferences, each weight uniformly from its levels; weights of 0 are left out.

    Args:
        grid: Levels by event name.
        count: How many.
        seed: Random seed.

    Raises:
        OptionError: The levels have fewer preferences than are to be drawn.
    """
    possible = int(np.prod([len(set(levels)) for levels in grid.values()]))
    events = [levels for name, levels in grid.items() if name != REWARD]
    indifferent = possible // max(int(np.prod([len(set(levels)) for levels in events])), 1)
    possible -= indifferent if all(0 in levels for levels in events) else 0
    if count > possible:
        raise OptionError("grid", f"grid: it has {possible} combinations with a preference, fewer than {count} members")
    rng = np.random.default_rng([seed, 3])
    drawn: list[dict[str, float]] = []
    while len(drawn) < count:
        weights = {name: float(rng.choice(sorted(set(levels)))) for name, levels in grid.items()}
        weights = {name: weight for name, weight in weights.items() if weight}
        if weights not in drawn and set(weights) - {REWARD}:
            drawn.append(weights)
    return drawn


def select_diverse(rates: Array, count: int) -> list[int]:
    """Choose members whose event rates differ most: greedily, by the sum of L1 distances to chosen members.

    Args:
        rates: Mean number of each event per episode, float64 (members, events).
        count: How many to choose; all if there are no more.

    Returns:
        Indices in the order of choice; the first two are the most distant pair.
    """
    largest = np.abs(rates).max(0)
    scaled = rates / np.where(largest > 0, largest, 1.0)
    distances = np.abs(scaled[:, None] - scaled).sum(-1)
    if count >= len(rates) or len(rates) < 2:
        return list(range(len(rates)))[:count]
    chosen = [int(k) for k in np.unravel_index(distances.argmax(), distances.shape)][:count]
    while len(chosen) < count:
        gain = distances[:, chosen].sum(1)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
    return chosen
