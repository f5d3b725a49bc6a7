"""Train PPO by the gradient by hand and by autograd with the same seeds, and print what the policies earn.

    python benchmarks/gradient_results.py                                       # all tasks, five seeds, runs/gradients
    python benchmarks/gradient_results.py --task features_ring --seeds 1        # a stage

Each training is a folder below the output folder and continues from its checkpoint; what is finished is not trained
again. The policies then play games with seeds of their own; ``results.jsonl`` gets a line for each training. Both
gradients are equal but for rounding, so two trainings with one seed drift apart, and only means over seeds compare.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import nullcontext
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from unittest.mock import patch

from collab_overcooked import registry
from collab_overcooked.baselines.dense_gradient import DenseGradient
from collab_overcooked.baselines.scores import score
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.training import is_finished, train
from collab_overcooked.io.files import write_atomic
from collab_overcooked.policies.policy_file import read_policy

# Configuration, and what is changed of it; about half a minute of one core each
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "features": ("cramped_room", {"steps": 400_000, "shaping_steps": 300_000}),
    "features_ring": ("coordination_ring", {"steps": 800_000, "shaping_steps": 600_000}),
    "pictures": (
        "cramped_room",
        {
            "steps": 400_000,
            "shaping_steps": 300_000,
            "options": {"layout": "cramped_room", "obs": "lossless", "axes": "chw"},
        },
    ),
}
GRADIENTS = ("hand", "autograd")
PLAYED, SEED = 100, 10_000  # games of each policy, and the seed of their batch, which no training has


def trained(folder: Path, tasks: list[str], seeds: int, steps: int | None) -> Iterator[dict[str, Any]]:
    """Train what is missing, seed by seed, so that a stopped run has pairs; yield the result lines."""
    for seed in range(seeds):
        for task in tasks:
            config, changes = TASKS[task]
            values = {**read_config(config), **changes, "seed": seed, "device": "cpu"}
            settings = settings_from(TrainingSettings, values | ({"steps": steps} if steps else {}))
            for gradient in GRADIENTS:
                run = folder / f"{task}-{gradient}-{seed}"
                if not is_finished(settings, run):
                    by_hand = gradient == "hand"
                    with nullcontext() if by_hand else patch.object(DenseGradient, "covers", return_value=False):
                        train(settings, run, command="python benchmarks/gradient_results.py", bar=False)
                file = read_policy(run / "policy.npz")
                game = registry.load_game(settings.env, **settings.options)
                measured = score(game, [file] * game.n_agents, PLAYED, SEED)
                line = {"task": task, "gradient": gradient, "seed": seed, "steps": file.meta["steps"]}
                yield line | {"return": measured["return"]}


def table(lines: list[dict[str, Any]]) -> str:
    """Return the mean returns of each seed and the mean of their differences with its standard error, as Markdown."""
    earned = {(line["task"], line["gradient"], line["seed"]): line["return"] for line in lines}
    rows = [
        "| task | steps | by hand | by autograd | mean difference | standard error |",
        "|---|---:|---|---|---:|---:|",
    ]
    for task in dict.fromkeys(line["task"] for line in lines):
        seeds = {gradient: {key[2] for key in earned if key[:2] == (task, gradient)} for gradient in GRADIENTS}
        both = sorted(set.intersection(*seeds.values()))
        if not both:
            continue
        hand, autograd = ([earned[task, gradient, seed] for seed in both] for gradient in GRADIENTS)
        differences = [a - b for a, b in zip(hand, autograd, strict=True)]
        error = f"{stdev(differences) / sqrt(len(both)):.1f}" if len(both) > 1 else "one seed"
        steps = max(line["steps"] for line in lines if line["task"] == task)
        each = " | ".join(", ".join(f"{one:.0f}" for one in of) for of in (hand, autograd))
        rows.append(f"| {task} | {steps:,} | {each} | {mean(differences):.1f} | {error} |")
    return "\n".join(rows)


def main() -> None:
    """Train, play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, help="of each training, to try the script")
    parser.add_argument("--out", type=Path, default=Path("runs/gradients"))
    options = parser.parse_args()
    path = options.out / "results.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = {(line["task"], line["gradient"], line["seed"]): line for line in known}
    for line in trained(options.out, options.task, options.seeds, options.steps):
        lines[line["task"], line["gradient"], line["seed"]] = line
        write_atomic(path, "".join(json.dumps(lines[key]) + "\n" for key in sorted(lines)).encode())
    print(table(list(lines.values())))


if __name__ == "__main__":
    main()
