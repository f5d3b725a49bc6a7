"""Cross-play and records of networks, in batches and one episode after the other, in the same run on this machine.

python benchmarks/batched_play.py                                    # 20 networks, 100 episodes of 400 steps each
python benchmarks/batched_play.py --pool 4 --episodes 10             # fewer

The pool is the built-in policy of a layout with different noise on its weights. The unbatched path plays the first
``--single`` episodes of the first pair only, whose returns and records must be those of the batch.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies.policy_file import PolicyFile, policy_path, read_policy
from collab_overcooked.registry import make
from collab_overcooked.runner.batched import play_returns
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.run_plans import jobs_of
from collab_overcooked.runner.teams import make_team

NOISE = 0.02  # standard deviation, relative to that of a layer's weights


def write_pool(layout: str, size: int, folder: Path) -> list[str]:
    """Write networks of the same shape and different weights, and return their specs."""
    file = read_policy(policy_path(layout))
    for number in range(size):
        rng = np.random.default_rng(number)
        layers = tuple(
            (kind, weight + NOISE * weight.std() * rng.normal(size=weight.shape).astype(np.float32), bias)
            for kind, weight, bias in file.network.layers
        )
        PolicyFile(replace(file.network, layers=layers), file.meta).save(folder / f"{number}.npz")
    return [f"p{number}=ppo:{folder}/{number}.npz" for number in range(size)]


def measure_rates(layout: str, size: int, episodes: int, single: int, steps: int, workers: int) -> dict[str, Any]:
    """Return seconds of the whole cross-play, and environment steps per second of both paths for one pair."""
    options = {"layout": layout, "max_cycles": steps}
    with tempfile.TemporaryDirectory() as folder:
        pool = write_pool(layout, size, Path(folder))
        team = [pool[0].partition("=")[2]] * 2
        env, seeds = make("Overcooked-v0", **options), derive_seeds(0, max(single, episodes))
        play_returns("Overcooked-v0", options, team, seeds[:1])  # loads kernels and files
        began = time.perf_counter()
        records = [play_episode(env, make_team(team), seed) for seed in seeds[:single]]
        alone = single * steps / (time.perf_counter() - began)
        began = time.perf_counter()
        together = play_returns("Overcooked-v0", options, team, seeds[:episodes])
        batched = episodes * steps / (time.perf_counter() - began)
        kind = Match(env_id="Overcooked-v0", env_kwargs=options, team=tuple(team), task="")
        matches = [replace(kind, seed=seed, first=seed) for seed in seeds[:episodes]]
        began = time.perf_counter()
        written = [record for one in jobs_of(None, matches, [make_team(team)]) for _, record in one.run()]
        recorded = episodes * steps / (time.perf_counter() - began)
        for record, value, other in zip(records, together, written, strict=False):
            assert measure(record, ["return"])["return"] == value
            assert record.steps == other.steps
        began = time.perf_counter()
        cross_play("Overcooked-v0", pool, options=options, episodes=episodes, workers=workers)
        seconds = time.perf_counter() - began
    return {
        "pool": size,
        "episodes": episodes,
        "workers": workers,
        "seconds": round(seconds, 1),
        "steps_per_second": round(size * size * episodes * steps / seconds),
        "pair_unbatched": round(alone),
        "pair_batched": round(batched),
        "ratio": round(batched / alone, 1),
        "pair_records": round(recorded),
        "ratio_records": round(recorded / alone, 1),
    }


def main() -> None:
    """Measure, and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("pool", 20), ("episodes", 100), ("single", 2), ("steps", 400), ("workers", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--layout", default="cramped_room")
    text = parser.parse_args()
    result = measure_rates(text.layout, text.pool, text.episodes, text.single, text.steps, text.workers)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
