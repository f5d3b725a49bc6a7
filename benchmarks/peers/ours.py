"""Time our Overcooked and OvercookedV2, in the environment that runs `run.py`; prints one JSON line.

A batch in one thread, with lossless observations and masks of both players, and the PettingZoo ParallelEnv. Actions are
drawn beforehand and not timed, resets are.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

import collab_overcooked

STEPS = 400  # of one timed round: an episode
V2 = {  # layouts of OvercookedV2, with the options of its paper
    "grounded_coord_simple": {"view_radius": 2, "negative_rewards": True, "redraw_recipe": True, "random_start": True}
}


def median_rate(env: Any, actions: Sequence[Any], steps: int, seconds: float) -> float:
    """Return the median rate over episodes of an environment that takes so many steps at once."""
    env.reset(seed=0)
    env.step(actions[0])  # compiles, or loads what is compiled
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rates) < 3:
        start = time.perf_counter()
        env.reset()
        for joint in actions:
            env.step(joint)
        rates.append(steps * len(actions) / (time.perf_counter() - start))
    return statistics.median(rates)


def named(layout: str) -> tuple[str, dict[str, Any]]:
    """Return the id of a layout's game, and its options."""
    return "OvercookedV2-v0" if layout in V2 else "Overcooked-v0", {"layout": layout, **V2.get(layout, {})}


def measure_batch(layout: str, batch: int, seconds: float) -> float:
    """Return the rate of a batch."""
    env_id, options = named(layout)
    env = collab_overcooked.make_vec(env_id, num_envs=batch, num_threads=1, **options)
    actions = np.random.default_rng(0).integers(0, 6, (STEPS, batch, 2), np.int32)
    return median_rate(env, list(actions), batch, seconds)


def measure_parallel_env(layout: str, seconds: float) -> float:
    """Return the rate of the ParallelEnv."""
    env_id, options = named(layout)
    env = collab_overcooked.make(env_id, **options)
    drawn = np.random.default_rng(0).integers(0, 6, (STEPS, 2)).tolist()
    return median_rate(env, [dict(zip(env.possible_agents, joint, strict=True)) for joint in drawn], 1, seconds)


def main(layouts: list[str], batches: list[int], seconds: float) -> None:
    """Print all rates."""
    rates = []
    for layout in layouts:
        rates += [
            {"layout": layout, "batch": batch, "how": "batch", "rate": measure_batch(layout, batch, seconds)}
            for batch in batches
        ]
        parallel_env = measure_parallel_env(layout, seconds)
        rates.append({"layout": layout, "batch": 1, "how": "ParallelEnv", "rate": parallel_env})
    print(json.dumps({"versions": {name: version(name) for name in ("collab-overcooked", "numba")}, "rates": rates}))


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    main(options["layouts"], options["batches"], options["seconds"])
