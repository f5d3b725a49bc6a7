"""Time PPO to a mean return of 200 on cramped_room, here and with JaxMARL's IPPO, one after the other on this machine.

python benchmarks/time_to_score.py                                                    # ours alone, printed only
python benchmarks/time_to_score.py --jaxmarl CHECKOUT --python VENV/bin/python         # and JaxMARL's beside it

JaxMARL's package leaves its training scripts out, so CHECKOUT is a copy of its repository; VENV has `jaxmarl[algs]`
from the package index. Its script runs with its own configuration except for the layout. Both sides count from the
start of their process, with the time before the first step (JaxMARL's: up to its first line of the log) beside it.
JaxMARL compiles anew, our kernels are compiled unless they are on disk. The return is the mean over the episodes that
ended last; shaped rewards are in none of the numbers. `make_tables.py` writes the table of the results.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

STARTED = time.perf_counter()
ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "time_to_score.json"
TARGET = 200.0
LAYOUT = "cramped_room"
SCRIPT = Path("baselines") / "IPPO" / "ippo_ff_overcooked.py"
SETTINGS = SCRIPT.parent / "config" / "ippo_ff_overcooked.yaml"


def ours(seed: int, lossless: bool, steps: int | None) -> dict[str, Any]:
    """Train by the built-in configuration of the layout until the target is reached.

    Args:
        seed: Of the training.
        lossless: Show the pictures that JaxMARL shows, instead of the configuration's features.
        steps: Environment steps at most, the configuration's if None.
    """
    from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
    from collab_overcooked.baselines.training import Training

    values = {**read_config(LAYOUT), "seed": seed, "target_return": TARGET}
    if lossless:
        values["options"] = {"layout": LAYOUT, "obs": "lossless", "axes": "chw"}
    if steps is not None:
        values["steps"] = steps
    training = Training(settings_from(TrainingSettings, values))
    ready = time.perf_counter()
    while not training.over:
        training.update()
    collect, learn = training.seconds
    return {
        "reached": training.reached,
        "steps": training.rollouts.steps,
        "seconds": time.perf_counter() - STARTED,
        "before_first_step": ready - STARTED,
        "collect_per_second": training.rollouts.steps / collect,
        "learn_per_second": training.rollouts.steps / learn,
        "versions": {name: version(name) for name in ("collab-overcooked", "torch", "numba")},
    }


def theirs(checkout: Path, seed: int) -> NoReturn:
    """Run JaxMARL's script until what it logs reaches the target, print that and leave; runs in its own environment."""
    import jax
    import wandb
    import yaml
    from jaxmarl.environments.overcooked import overcooked_layouts

    spec = importlib.util.spec_from_file_location("ippo", checkout / SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    config = yaml.safe_load((checkout / SETTINGS).read_text())
    # YAML 1.1 takes 5e6 for a text, unlike the reader that the script itself uses
    config = {name: float(v) if isinstance(v, str) and v[:1].isdigit() else v for name, v in config.items()}
    config["ENV_KWARGS"]["layout"] = overcooked_layouts[LAYOUT]
    config["TOTAL_TIMESTEPS"] = int(config["TOTAL_TIMESTEPS"])
    first: list[float] = []

    def log(metric: dict[str, Any]) -> None:
        now = time.perf_counter()
        first.append(now)
        mean, steps = float(metric["returned_episode_returns"]), int(metric["env_step"])
        if mean >= TARGET or steps >= config["TOTAL_TIMESTEPS"] - config["NUM_STEPS"] * config["NUM_ENVS"]:
            results = {
                "reached": mean >= TARGET,
                "steps": steps,
                "seconds": now - STARTED,
                "before_first_step": first[0] - STARTED,
                "steps_per_second": steps / (now - first[0]),
                "versions": {name: version(name) for name in ("jaxmarl", "jax", "jaxlib")},
            }
            print("\n" + json.dumps(results), flush=True)
            os._exit(0)  # the compiled loop would go on to its end

    wandb.log = log
    jax.block_until_ready(jax.jit(script.make_train(config))(jax.random.PRNGKey(seed)))
    raise RuntimeError("the script ended without logging its last update")


def run(python: str, message: list[str]) -> dict[str, Any]:
    """Run a side in a process of its own and return what it prints last."""
    done = subprocess.run([python, __file__, *message], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jaxmarl", type=Path, help="copy of JaxMARL's repository")
    parser.add_argument("--python", default=sys.executable, help="Python that has jaxmarl[algs]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="environment steps of ours at most, to try the script")
    parser.add_argument("--out", type=Path, help=f"file of the results; {RESULTS.name} with --jaxmarl")
    parser.add_argument("--side", choices=("ours", "ours_lossless", "theirs"), help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    value = parser.parse_args()
    if value.side:
        if value.side == "theirs":
            theirs(value.jaxmarl, value.seed)
        print(json.dumps(ours(value.seed, value.side == "ours_lossless", value.steps)))
        return
    results: dict[str, Any] = {
        "target": TARGET,
        "layout": LAYOUT,
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()},
    }
    for side in ("ours", "ours_lossless"):
        texts = ["--side", side, *(() if value.steps is None else ("--steps", str(value.steps)))]
        results[side] = [run(sys.executable, [*texts, "--seed", str(k)]) for k in range(value.seeds)]
    if value.jaxmarl:
        texts = ["--side", "theirs", "--jaxmarl", str(value.jaxmarl)]
        results["jaxmarl"] = [run(value.python, [*texts, "--seed", str(k)]) for k in range(value.seeds)]
    if out := value.out or (RESULTS if value.jaxmarl else None):
        out.write_text(json.dumps(results, indent=1) + "\n")
    for side in ("ours", "ours_lossless", "jaxmarl"):
        for result in results.get(side, ()):
            print(f"{side}: {result['seconds']:.1f} s, {result['steps']:,} steps, reached: {result['reached']}")


if __name__ == "__main__":
    main()
