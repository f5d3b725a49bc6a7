# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "optuna>=4", "torch"]
# ///
"""Optuna looks for learning rate and entropy bonus; a sweep that was interrupted goes on with ``load_if_exists``."""

import sys
from pathlib import Path

import optuna

from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.train_logger import read_log
from collab_overcooked.baselines.training import train

FOLDER = Path("runs/sweep")
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
TRIALS = 20 if len(sys.argv) < 2 else 2


def objective(trial: optuna.Trial) -> float:
    """Train once and return the mean return of the last episodes."""
    settings = TrainingSettings(
        env="Overcooked-v0",
        options={"layout": "cramped_room", "obs": "features"},
        steps=STEPS,
        environments=min(512, STEPS // 8),
        rollout=min(64, STEPS // 16),
        batch_size=min(4096, STEPS),
        reward_scale=0.1,
        shaping_steps=STEPS // 2,
        learning_rate=trial.suggest_float("learning_rate", 1e-4, 3e-3, log=True),
        entropy=trial.suggest_float("entropy", 1e-3, 1e-1, log=True),
    )
    folder = FOLDER / f"trial_{trial.number}"
    outcome = train(settings, folder, bar=False)
    print(f"trial_{trial.number}: {outcome.steps} steps")
    return read_log(folder)[-1]["return"] or 0.0  # None before an episode has ended


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    storage = f"sqlite:///{FOLDER}/optuna.db"  # several processes may share it
    study = optuna.create_study(study_name="ppo", storage=storage, direction="maximize", load_if_exists=True)
    study.optimize(objective, n_trials=TRIALS)
    print(study.best_value, study.best_params)
