"""Measure batches that may use two threads beside batches of one, in turn, and write `results/threads.json`.

python benchmarks/threads.py                                       # what `make bench-threads` does
python benchmarks/threads.py --games Overcooked-v0 --sizes 1 8192  # a part; the rest of the file stays

A pass is as many steps as fit into some milliseconds; passes of both ways take turns, and the median over all passes is
compared. Trials of the choice between the ways are in the time. Actions are drawn beforehand, resets are in the time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import collab_overcooked

RESULTS = Path(__file__).resolve().parent / "results" / "threads.json"
SIZES = (1, 8, 64, 512, 1024, 8192, 65536)
PASSES = 15  # of each way
SETTLED = 16  # steps before the first pass, in which batches try their ways


def play(env: Any, actions: np.ndarray, steps: int) -> float:
    """Take steps and return their seconds."""
    start = time.perf_counter()
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(actions)
        if (over := terminated | truncated).any():
            env.reset(which=over)
    return time.perf_counter() - start


def measure(env_id: str, size: int, seconds: float) -> dict[str, Any]:
    """Return steps per second of a batch with one thread, and how many times as many it takes with two."""
    envs = [collab_overcooked.make_vec(env_id, num_envs=size, num_threads=threads) for threads in (1, 2)]
    masks, _ = (env.reset(seed=0)[1]["action_mask"] for env in envs)
    actions = (np.random.default_rng(0).random(masks.shape, dtype=np.float32) * masks).argmax(-1)
    settled = [play(env, actions, SETTLED) for env in envs]
    steps = max(1, round(seconds / PASSES / (settled[0] / SETTLED)))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(PASSES):
        for env, passes in zip(envs, times, strict=True):
            passes.append(play(env, actions, steps))
    one, two = map(statistics.median, times)
    return {"env": env_id, "batch": size, "rate": size * steps / one, "ratio": one / two}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", nargs="+", default=list(collab_overcooked.registered()))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="of batches")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement, for each of both ways")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    old = json.loads(options.out.read_text())["rows"] if options.out.exists() else []
    rows = {(row["env"], row["batch"]): row for row in old}
    for env_id in options.games:
        for size in options.sizes:
            row = rows[env_id, size] = measure(env_id, size, options.seconds)
            print(f"{env_id}, batch of {size}: {row['ratio']:.2f}", file=sys.stderr, flush=True)
            facts = {"date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(), "rows": list(rows.values())}
            options.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
