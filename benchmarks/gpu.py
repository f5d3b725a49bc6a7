"""Train PPO on grid observations on the CPU and on a GPU with the same seeds, and print scores and steps per second.

    python benchmarks/gpu.py --out gpu.json                                    # about five minutes; needs a GPU
    python benchmarks/gpu.py --out cpu.json --device cpu --steps 6400          # tries the script without one

It needs a GPU that torch finds: a driver, and a torch that was built for it. Two networks are trained, with
convolutions alone and with a memory behind them. Environments are stepped on the CPU in either case, so collecting and
learning are timed apart; the first update, which loads libraries and kernels, is not. Both devices draw the same
numbers, but round differently, so policies drift apart and compare by their scores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from collab_overcooked.baselines.ppo import choose_device
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.training import Training, self_play_score
from collab_overcooked.io.files import write_atomic

CONFIG = "cramped_room"
PICTURES: dict[str, Any] = {
    "options": {"layout": "cramped_room", "obs": "lossless", "axes": "chw"},
    "environments": 128,
    "rollout": 100,
    "batch_size": 3200,
    "convolutions": (16, 16),
}
TASKS: dict[str, dict[str, Any]] = {
    "pictures": {**PICTURES, "steps": 256_000},
    "pictures with memory": {**PICTURES, "steps": 256_000, "memory": "gru:64", "sequence": 20},
}
PLAYED, SEED = 100, 10_000  # games of each policy, and the seed of the first, which no training has


def measure(task: str, device: str, seed: int, steps: int | None, threads: int) -> dict[str, Any]:
    """Train and play; return what was measured."""
    values = {**read_config(CONFIG), **TASKS[task]} | ({"steps": steps} if steps else {})
    values |= {"shaping_steps": values["steps"], "seed": seed, "device": device, "threads": threads}
    training = Training(settings_from(TrainingSettings, values))
    training.update()
    before, training.seconds = training.rollouts.steps, [0.0, 0.0]
    while not training.over:
        training.update()
    timed, (collect, learn) = training.rollouts.steps - before, training.seconds
    rates = {"steps_per_second": collect + learn, "collect_per_second": collect, "learn_per_second": learn}
    result = {"task": task, "device": device, "seed": seed, "steps": training.rollouts.steps}
    result |= {name: round(timed / spent, 1) if spent else None for name, spent in rates.items()}
    return result | {"return": self_play_score(training, PLAYED, SEED)["return"]}


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    numbers = ("steps", "steps_per_second", "collect_per_second", "learn_per_second", "return")
    rows = ["| task | device | seed | steps | steps per second | collecting | learning | mean return |"]
    rows.append("|---|---|---:" + "|---:" * len(numbers) + "|")
    for result in results:
        shown = ("" if result[name] is None else f"{result[name]:,.0f}" for name in numbers)
        rows.append(f"| {result['task']} | {result['device']} | {result['seed']} | {' | '.join(shown)} |")
    return "\n".join(rows)


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON output file")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="to measure beside the CPU")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, help="of each training, to try the script")
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU")
    options = parser.parse_args()
    try:
        choose_device(options.device)
    except ValueError:
        parser.error(
            "torch finds no GPU; it needs a driver and a torch built for it (torch.cuda.is_available()). "
            "--device cpu tries the script without one"
        )
    chip = torch.cuda.get_device_name() if options.device == "cuda" else None
    machine = {"chip": chip, "cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    versions = {name: version(name) for name in ("collab-overcooked", "torch", "numba")}
    content: dict[str, Any] = {"machine": machine, "versions": versions, "threads": options.threads, "results": []}
    for task in TASKS:
        for seed in range(options.seeds):
            for device in dict.fromkeys(("cpu", options.device)):
                content["results"].append(measure(task, device, seed, options.steps, options.threads))
                write_atomic(options.out, json.dumps(content, indent=1).encode() + b"\n")
    print(f"{chip or 'no GPU'}, {options.threads} threads of torch on the CPU\n\n{table(content['results'])}")


if __name__ == "__main__":
    main()
