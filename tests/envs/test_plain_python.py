"""Every environment in every option set as plain Python, where numpy checks each index of a kernel.

Run without the compiler (`make test`), which would compile every kernel a second time to check the same indices.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.option_sets import CHANNELS, OPTIONS

from collab_overcooked import make, registered
from collab_overcooked.kernels.arrays import clear_rows
from collab_overcooked.kernels.jit import is_compiled

STEPS = 30  # of each episode
SEEDS = (0, 1)
CASES = [(env_id, options) for env_id in registered() for options in ({}, *OPTIONS[env_id], CHANNELS[env_id])]


def named(case):
    return "-".join([case[0], *(f"{name}={value}" for name, value in case[1].items())])


@pytest.mark.skipif(is_compiled(clear_rows), reason="kernels are compiled, so that no index is checked")
@pytest.mark.parametrize("case", CASES, ids=named)
def test_no_kernel_reads_or_writes_past_an_array(case):
    """Steps with actions that are legal, and with any, from the start and again after a reset."""
    env_id, options = case
    env, rng = make(env_id, **options), np.random.default_rng(5)
    for seed in SEEDS:
        env.reset(seed=seed)
        for _ in range(STEPS):
            if not env.agents:
                break
            env.step({agent: int(rng.choice(choices(env, agent, rng))) for agent in env.agents})
            env.scene()


def choices(env, agent, rng):
    if rng.random() < 0.3:
        return np.arange(env.action_space(agent).n)
    return np.flatnonzero(env.action_mask(agent))
