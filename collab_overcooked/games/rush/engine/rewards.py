"""The reward of a slot, the same for every agent."""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.rush.engine.constants import EventColumn, Reward
from collab_overcooked.kernels.jit import kernel

TENTHS = 10  # per point


@kernel
def team_reward(events, reward):
    """A finished order pays 1, a ruined one costs 1; the shaped reward adds a tenth for each step towards an order."""
    tenths = 0
    for i in range(events.shape[0]):
        tenths += TENTHS * (events[i, EventColumn.FINISHED] - events[i, EventColumn.RUINED])
        if reward == Reward.SHAPED:
            tenths += events[i, EventColumn.TENTHS]
    return np.float32(tenths / TENTHS)
