"""Time our Overcooked, in the environment that runs `run.py`; prints one JSON line.

A batch in one thread, with lossless observations and masks of both players, and the PettingZoo ParallelEnv. Actions are
drawn beforehand and not timed, resets are.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from importlib.metadata import version

import numpy as np

import collab_overcooked

STEPS = 400  # of one timed round: an episode


def measure_batch(layout: str, batch: int, seconds: float, threads: int = 1) -> float:
    """Return the median rate over episodes of a batch."""
    env = collab_overcooked.make_vec("Overcooked-v0", num_envs=batch, num_threads=threads, layout=layout)
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 6, (STEPS, batch, 2), np.int32)
    env.step(actions[0])  # compiles, or loads what is compiled
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rates) < 3:
        start = time.perf_counter()
        env.reset()
        for joint in actions:
            env.step(joint)
        rates.append(STEPS * batch / (time.perf_counter() - start))
    return statistics.median(rates)


def measure_parallel_env(layout: str, seconds: float) -> float:
    """Return the median rate over episodes of the ParallelEnv."""
    env = collab_overcooked.make("Overcooked-v0", layout=layout)
    env.reset(seed=0)
    drawn = np.random.default_rng(0).integers(0, 6, (STEPS, 2)).tolist()
    actions = [dict(zip(env.possible_agents, joint, strict=True)) for joint in drawn]
    env.step(actions[0])
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rates) < 3:
        start = time.perf_counter()
        env.reset()
        for joint in actions:
            env.step(joint)
        rates.append(STEPS / (time.perf_counter() - start))
    return statistics.median(rates)


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
    given = json.loads(sys.argv[1])
    main(given["layouts"], given["batches"], given["seconds"])
