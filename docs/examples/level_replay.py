"""A curriculum over generated kitchens: prioritised level replay (Jiang et al. 2021) around the package's PPO.

    python docs/examples/level_replay.py --out runs/level_replay              # --uniform draws all kitchens alike

After each update, kitchens on which the values were too low are drawn more often, as are those that have not been
played for long. The log of the folder has returns in training and, every tenth update, on kitchens of another seed:
``collab-overcooked plot runs/level_replay-* --column eval_return`` draws them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.baselines.scores import score
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.train_logger import TrainLogger
from collab_overcooked.baselines.training import Training, finish

HELD_OUT = {"seed": 1_000_000, "count": 100}  # kitchens of a seed that no training uses


class LevelReplay:
    """Weights of levels by rank of their last score, by staleness, and for levels never played.

    Args:
        count: Number of levels L.
        temperature: A level of rank r has priority ``r ** (-1 / temperature)``. Papers that play one level at a time
            use 0.1 to 0.3; a batch of environments needs more levels at once.
        staleness: Share of the draws that goes by the number of updates since a level was played.
    """

    def __init__(self, count: int, temperature: float = 1.0, staleness: float = 0.1) -> None:
        self.temperature, self.staleness = temperature, staleness
        self.scores = np.zeros(count)
        self.played = np.zeros(count, np.int64)  # update in which each level was played last, 0 for never
        self.updates = 0

    def add(self, levels: np.ndarray, advantages: np.ndarray) -> None:
        """Take the steps of a rollout: the level of each, and its advantage, of the same shape.

        The score of a level is its mean positive value loss: the mean of the advantages above 0 over all its steps.
        """
        self.updates += 1
        steps = np.bincount(levels.ravel(), minlength=len(self.scores))
        gains = np.bincount(levels.ravel(), np.maximum(advantages, 0).ravel(), len(self.scores))
        self.scores = np.where(steps > 0, gains / np.maximum(steps, 1), self.scores)
        self.played[steps > 0] = self.updates

    def weights(self) -> np.ndarray:
        """Return the probability of each level, float64 (L,)."""
        known = self.played > 0
        weights = np.where(known, 0.0, 1.0 / len(known))  # new levels keep their share of a uniform draw
        if known.any():
            ranks = 1 + np.argsort(np.argsort(-self.scores[known], kind="stable"))
            priorities = ranks ** (-1.0 / self.temperature)
            stale = self.updates - self.played[known] + 1e-9  # equal where all levels were played just now
            mixed = (1 - self.staleness) * priorities / priorities.sum() + self.staleness * stale / stale.sum()
            weights[known] = mixed * known.mean()
        return weights


def train(settings: TrainingSettings, uniform: bool, folder: Path) -> Training:
    """Train, with new weights of the kitchens after each update unless they stay uniform."""
    training = Training(settings)
    rollouts, unseen = training.rollouts, unseen_kitchens(settings)
    replay = LevelReplay(len(rollouts.batch.layout_names))
    folder.mkdir(parents=True, exist_ok=True)
    with TrainLogger(folder, settings.steps) as log:
        while not training.over:
            entry = training.update() | {"eval_return": None}
            advantages = training.learners[0].rollout.advantages.reshape(*rollouts.layouts.shape, -1)  # by agent
            replay.add(rollouts.layouts, advantages.mean(-1))
            weights = replay.weights()
            if not uniform:
                rollouts.batch.set_layout_weights(weights)
            if training.updates % 10 == 0 or training.over:
                entry["eval_return"] = score(unseen, [training.export("")[0]] * unseen.n_agents)["return"]
                spread = np.exp(-(weights * np.log(np.maximum(weights, 1e-12))).sum())
                print(
                    f"{entry['steps']:,} steps: {entry['eval_return']:.1f} in {HELD_OUT['count']} kitchens never seen, "
                    f"weights spread over {spread:.0f} kitchens",
                    flush=True,
                )
            log.write(entry)
    return training


def unseen_kitchens(settings: TrainingSettings) -> Any:
    """Return the game with kitchens of a seed that no training uses."""
    generator = {**settings.options["generator"], **HELD_OUT}
    return registry.load_game(settings.env, **{**settings.options, "generator": generator})


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and measure from the command line."""
    parser = argparse.ArgumentParser(description="Prioritised level replay over generated kitchens.")
    parser.add_argument("--config", default="procedural_kitchens", help="Built-in configuration or YAML file.")
    parser.add_argument("--steps", type=int, default=5_000_000, help="Environment steps.")
    parser.add_argument("--kitchens", type=int, default=200, help="Generated kitchens to train on.")
    parser.add_argument("--environments", type=int, default=512, help="Played at once.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    parser.add_argument("--uniform", action="store_true", help="Draw all kitchens alike, to compare with.")
    parser.add_argument("--out", type=Path, default=Path("runs/level_replay"), help="Folder of the policy.")
    chosen = parser.parse_args(arguments)
    values = dict(read_config(chosen.config))
    generator = values["options"]["generator"] | {"count": chosen.kitchens}
    values |= {"options": values["options"] | {"generator": generator}, "seed": chosen.seed, "memory": ""}
    values |= {"steps": chosen.steps, "environments": chosen.environments, "shaping_steps": chosen.steps * 4 // 5}
    settings = settings_from(TrainingSettings, values)
    trained = train(settings, chosen.uniform, chosen.out)
    finish(trained, chosen.out, "python docs/examples/level_replay.py")


if __name__ == "__main__":
    main()
