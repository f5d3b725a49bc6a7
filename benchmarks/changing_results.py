"""Train PPO with and without memory in kitchens that change, and write scores by phase and steps to recover.

    python benchmarks/changing_results.py                                       # all, five seeds, runs/changing
    python benchmarks/changing_results.py --kitchen split --notice 20 --seeds 1  # a stage

Each training is a folder below the output folder and continues from its checkpoint; what is finished is not trained
again. The policies then play games with seeds of their own. ``results.jsonl`` gets a line for each training, and
``--keep FILE`` copies the lines to where the page of the documentation reads them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import collab_overcooked
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.training import is_finished, train
from collab_overcooked.games.overcooked.scoring import measure_recovery, points_by_phase
from collab_overcooked.games.overcooked.suite import CHANGING
from collab_overcooked.io.files import write_atomic

CONFIG = "coordination_ring"
STEPS = 2_400_000
EVERY = 100  # steps between two changes
MEMORIES = {"ppo": "", "ppo with memory": "gru:64"}
PLAYED, SEED = 50, 10_000  # games of each policy, and the seed of the first, which no training has

Key = tuple[str, int, str, int]  # kitchen, notice, network, seed


def trained(folder: Path, keys: list[Key], steps: int) -> Iterator[dict[str, Any]]:
    """Train what is missing, seed by seed; yield the result lines."""
    for kitchen, notice, network, seed in keys:
        layouts = CHANGING[kitchen].split("+")
        changes = {
            "options": {"layout": layouts, "changes": EVERY, "notice": notice, "obs": "features"},
            "steps": steps,
            "shaping_steps": steps * 3 // 4,
            "memory": MEMORIES[network],
            "sequence": 20,
            "seed": seed,
        }
        settings = settings_from(TrainingSettings, {**read_config(CONFIG), **changes})
        run = folder / f"{kitchen}-{notice}-{network.replace(' ', '_')}-{seed}"
        if not is_finished(settings, run):
            train(settings, run, command="python benchmarks/changing_results.py", bar=False)
        line = {"kitchen": kitchen, "notice": notice, "network": network, "seed": seed, "steps": steps}
        yield line | played(run / "policy.npz", CHANGING[kitchen], notice)


def played(policy: Path, layouts: str, notice: int) -> dict[str, Any]:
    """Play a policy in both seats, with actions sampled as in training; return mean points by phase and recovery."""
    records = list(
        collab_overcooked.evaluate(
            "overcooked",
            team=f"all=ppo:{policy}",
            layouts=layouts,
            episodes=PLAYED,
            seed=SEED,
            options={"changes": EVERY, "notice": notice},
        )
    )
    recovered = [steps for record in records if (steps := measure_recovery(record)) is not None]
    return {"phases": points_by_phase(records), "recovery": fmean(recovered) if recovered else None, "games": PLAYED}


def main() -> None:
    """Train, play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kitchen", nargs="+", choices=CHANGING, default=[*CHANGING])
    parser.add_argument("--notice", nargs="+", type=int, default=[20, 0])
    parser.add_argument("--network", nargs="+", choices=MEMORIES, default=[*MEMORIES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=STEPS, help="of each training")
    parser.add_argument("--out", type=Path, default=Path("runs/changing"))
    parser.add_argument("--keep", type=Path, help="also write the lines to this file")
    options = parser.parse_args()
    path = options.out / "results.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = {(line["kitchen"], line["notice"], line["network"], line["seed"]): line for line in known}
    keys = [
        (kitchen, notice, network, seed)
        for seed, notice, network, kitchen in product(
            range(options.seeds), options.notice, options.network, options.kitchen
        )
    ]
    for line in trained(options.out, [key for key in keys if key not in lines], options.steps):
        lines[line["kitchen"], line["notice"], line["network"], line["seed"]] = line
        text = "".join(json.dumps(lines[key]) + "\n" for key in sorted(lines)).encode()
        for target in (path, options.keep):
            if target is not None:
                write_atomic(target, text)
        phases = " ".join(f"{score:.0f}" for score in line["phases"])
        print(*(line[name] for name in ("kitchen", "notice", "network", "seed")), phases, line["recovery"], flush=True)


if __name__ == "__main__":
    main()
