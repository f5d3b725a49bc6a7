# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "benchmarl>=1.5.2,<2", "torch"]
# ///
"""BenchMARL's MAPPO and IPPO on the native batch: masked, with one policy for all agents.

BenchMARL writes logs and checkpoints below ``save_folder``. ``Shaping`` pays shaped rewards, which fall to 0 before the
end of the training; the environments that evaluate pay the game's rewards alone.
"""

import sys
import tempfile
from typing import Any

from benchmarl.algorithms import IppoConfig, MappoConfig
from benchmarl.experiment import Callback, Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig

from collab_overcooked.adapters.benchmarl import CollabTask

ENVS = 8


class Shaping(Callback):
    """Weight of the shaped rewards, from 1 to 0 in the first half of the training."""

    def on_setup(self) -> None:
        """Start with weight 1."""
        self._set(1.0)

    def on_batch_collected(self, batch: Any) -> None:
        """Lower the weight."""
        self._set(max(0.0, 1 - 2 * self.experiment.total_frames / self.experiment.config.max_n_frames))

    def _set(self, weight: float) -> None:
        self.experiment.collector.env.batch.set_shaping(weight)


def train(env_id: str, timesteps: int, algorithm: Any, callbacks: list[Callback], folder: str, **options: Any) -> int:
    """Train and return the steps taken."""
    config = ExperimentConfig.get_from_yaml()
    config.max_n_frames = timesteps
    config.on_policy_n_envs_per_worker = ENVS
    config.on_policy_collected_frames_per_batch = min(timesteps, 400 * ENVS)
    config.on_policy_n_minibatch_iters, config.on_policy_minibatch_size = 4, 800
    config.lr = 5e-4
    config.evaluation_interval = 10 * config.on_policy_collected_frames_per_batch
    config.evaluation_deterministic_actions = False  # the most likely actions alone get stuck early in a training
    config.render = False
    config.loggers = ["csv"]
    config.save_folder = folder
    task, model = CollabTask(env_id, options), MlpConfig.get_from_yaml()
    experiment = Experiment(task, algorithm.get_from_yaml(), model, 0, config, callbacks=callbacks)
    experiment.run()
    return int(experiment.total_frames)


if __name__ == "__main__":
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    with tempfile.TemporaryDirectory() as runs:
        options = {"layout": "cramped_room", "obs": "features", "state": "global"}
        taken = train("Overcooked-v0", budget, MappoConfig, [Shaping()], runs, **options)
        print(f"\nOvercooked-v0: {taken} steps")
        taken = train("CuisineWorld-v0", budget, IppoConfig, [], runs, level="level_1")
        print(f"\nCuisineWorld-v0: {taken} steps")
