"""Members that learn self-play together and are paid for actions that are unlikely for all of them on average (MEP).

Source: maximum entropy population-based training, Zhao et al. 2023. In each round every member is updated once, in
turn, beside the policies that the others have then. Checkpoints of all members after the same round are a state of the
population, so that a run that was stopped goes on to the same result.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch

from collab_overcooked.baselines.actor_critic import ActorCritic
from collab_overcooked.baselines.checkpoints import checkpoint_of, last_checkpoint
from collab_overcooked.baselines.ppo import RolloutBuffer
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.train_logger import TrainLogger
from collab_overcooked.baselines.training import Training, claim_folder, finish, keep_policies, logged_update

logger = logging.getLogger(__name__)

LOWEST = 1e-5  # mean probability at which the bonus is largest


class EntropyBonus:
    """Bonus of an action: minus the logarithm of its probability, averaged over the policies of all members.

    Args:
        networks: Networks of the members, read as they are when the bonus is computed.
        weight: Factor of the bonus.
    """

    def __init__(self, networks: Sequence[ActorCritic], weight: float) -> None:
        self.networks, self.weight = networks, weight

    @torch.inference_mode()
    def __call__(self, rollout: RolloutBuffer) -> np.ndarray:
        """Return the bonuses of the actions in a filled rollout, float32 (T, B)."""
        bonus = np.zeros_like(rollout.rewards)
        for t, actions in enumerate(rollout.actions):
            inputs = rollout.inputs(t)
            log_probs = torch.stack([network(inputs)[0] for network in self.networks])
            taken = np.take_along_axis(log_probs.exp().mean(0).cpu().numpy(), actions[:, None], 1).squeeze(-1)
            bonus[t] = -self.weight * np.log(np.maximum(taken, LOWEST))
        return bonus


def train_together(members: Sequence[TrainingSettings], alpha: float, folder: Path, *, command: str, bar: bool) -> None:
    """Train members in ``member_K`` on reward plus ``alpha`` times the entropy bonus; existing trainings are resumed.

    Args:
        members: Settings of each.
        alpha: Weight of the bonus beside the game's rewards, both of which ``reward_scale`` multiplies.
        folder: Folder of the population.
        command: Kept in the policy files.
        bar: Draw a progress bar of the last member on a terminal.
    """
    folders = [folder / f"member_{k}" for k in range(len(members))]
    trainings = [Training(settings) for settings in members]
    networks = [training.learners[0].network for training in trainings]
    done = last_checkpoint(folder, len(members))
    for k, training in enumerate(trainings):
        claim_folder(folders[k], training.settings.to_dict())
        training.rollouts.bonus = EntropyBonus(networks, alpha * training.settings.reward_scale)
        if done:
            training.load(checkpoint_of(folder, k, done))
        else:
            keep_policies(training, folders[k], command, -1)
    with ExitStack() as stack:
        logs = [
            stack.enter_context(TrainLogger(path, one.settings.steps, one.updates, bar and one is trainings[-1]))
            for path, one in zip(folders, trainings, strict=True)
        ]
        began, first = time.monotonic(), done
        while not all(training.over for training in trainings):
            done += 1
            for training, log, path in zip(trainings, logs, folders, strict=True):
                if not training.over:
                    logged_update(training, log, path, command)
            running = [training for training in trainings if not training.over]
            if not running or running[0].checkpoint_due:
                _save(trainings, folder, done)
                rounds_left = done * trainings[-1].left / (1 - trainings[-1].left)
                seconds = rounds_left * (time.monotonic() - began) / (done - first)
                logger.info(f"round {done}: {_returns(trainings)}; about {timedelta(seconds=round(seconds))} left")
    for training, path in zip(trainings, folders, strict=True):
        finish(training, path, command)


def _save(trainings: Sequence[Training], folder: Path, number: int) -> None:
    for k, training in enumerate(trainings):
        training.save(checkpoint_of(folder, k, number))
    for path in folder.glob("member_*/round_*.pt"):  # only now: before, the earlier ones were the last complete round
        if path.stem != f"round_{number}":
            path.unlink()


def _returns(trainings: Sequence[Training]) -> str:
    means = [training.mean_return for training in trainings]
    return "returns " + ", ".join("none" if mean is None else f"{mean:.1f}" for mean in means)
