"""What a slot pays: the same to every agent."""

from __future__ import annotations

import numpy as np

from collab_overcooked._jit import kernel
from collab_overcooked.games.rush.constants import Deed, Reward

TENTHS = 10  # in a whole


@kernel
def team_reward(deeds, reward):
    """A finished order pays 1, a ruined one costs 1; the shaped reward adds a tenth for each step towards an order."""
    tenths = 0
    for i in range(deeds.shape[0]):
        tenths += TENTHS * (deeds[i, Deed.FINISHED] - deeds[i, Deed.RUINED])
        if reward == Reward.SHAPED:
            tenths += deeds[i, Deed.TENTHS]
    return np.float32(tenths / TENTHS)
