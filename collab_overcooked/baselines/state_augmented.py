"""State-augmented self-play (SA): seeds that start their episodes from states that any pair of them reaches.

Source: Gessler et al. 2025 (OvercookedV2). Before each round all ordered pairs of the seeds, each with itself included,
play some games; states at equal distances fill a buffer, from which every episode of the round starts. Each seed then
goes on with its own self-play, its optimiser and schedules with it.

A round is a function of the checkpoints of the one before, so that a run that was stopped goes on to the same result.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked.baselines.checkpoints import checkpoint_of, last_checkpoint
from collab_overcooked.baselines.scores import play_games
from collab_overcooked.baselines.settings import TrainingSettings, load_game, split_settings
from collab_overcooked.baselines.train_logger import BUSY, read_log, write_log
from collab_overcooked.baselines.training import Training, claim_folder, finish
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import OptionError
from collab_overcooked.io.documents import placed
from collab_overcooked.io.structs import Positive, check_fields
from collab_overcooked.policies.policy_file import PolicyFile, halved
from collab_overcooked.runner.run import only_writer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RoundSettings:
    """Rounds of state-augmented self-play."""

    seeds: Positive = 5  # Policies that are trained; each gets the ``steps`` of the training
    rounds: Positive = 10  # Parts of the training, each with a buffer of its own
    buffer_games: Positive = 10  # Games of each ordered pair before a round
    every: Positive = 10  # Steps between two states that are kept

    def __post_init__(self) -> None:
        check_fields(self)


def read_round_settings(values: Mapping[str, Any]) -> tuple[RoundSettings, TrainingSettings]:
    """Return settings of the rounds and of the trainings, from names and values of both.

    Raises:
        OptionError: A setting is invalid, or does not belong to these trainings.
    """
    with placed(values):
        rounds, settings = split_settings(RoundSettings, values)
        for name in ("partners", "pool", "copy_rate", "preferences", "target_return", "kept_policies"):
            if getattr(settings, name):
                raise OptionError(name, f"{name}: means nothing to state-augmented self-play")
        if settings.weights == "own":
            raise OptionError("weights", "weights: state-augmented self-play needs weights='shared'")
    return rounds, settings


def collect_states(game: FullGame, files: Sequence[PolicyFile], rounds: RoundSettings, seed: int) -> tuple[Any, Any]:
    """Play all ordered pairs of policies, the first in seat 0 and the second in all other seats.

    Args:
        game: Compiled game.
        files: Policies.
        rounds: Games of each pair, and how many of their states are kept.
        seed: Seed of the games.

    Returns:
        The states as one batch, and the mean return of each pair, float64 (policies, policies).
    """
    kept: list[Any] = []
    returns = np.zeros((len(files), len(files)))

    def watch(t: int, state: Any, over: np.ndarray) -> None:
        if t % rounds.every == 0:
            kept.append(type(state)(*(array[~over] for array in state)))

    for i, j in product(range(len(files)), repeat=2):
        team = [files[i]] + [files[j]] * (game.n_agents - 1)
        returns[i, j] = play_games(
            game, team, rounds.buffer_games, seed + i * len(files) + j, watch=watch
        ).returns.mean()
    states = type(kept[0])(*(np.concatenate(arrays) for arrays in zip(*kept, strict=True)))
    return states, returns


def run_rounds(rounds: RoundSettings, settings: TrainingSettings, folder: Path, *, command: str = "") -> list[Path]:
    """Train in a folder: ``member_K/policy.npz`` of each seed, ``settings.json``, ``log.jsonl`` with a line per round.

    What is there is continued from the last member that finished a round.

    Args:
        rounds: Number of seeds, rounds and states.
        settings: Settings of each seed's training.
        folder: Made if it does not exist.
        command: Kept in the policy files.

    Returns:
        The policy files.
    """
    with only_writer(folder, BUSY):
        values = {**settings.to_dict(), **{item.name: getattr(rounds, item.name) for item in fields(rounds)}}
        claim_folder(folder, values)
        game = load_game(settings.env, settings.options)
        trainings = [Training(settings.with_values({"seed": settings.seed * 1000 + k})) for k in range(rounds.seeds)]
        done = last_checkpoint(folder, rounds.seeds)
        for k, training in enumerate(trainings if done else ()):
            training.load(checkpoint_of(folder, k, done))
        log = read_log(folder, done) if done else []
        began = time.monotonic()
        for number in range(done + 1, rounds.rounds + 1):
            files = [halved(training.export(command)[0]) for training in trainings]
            states, returns = collect_states(game, files, rounds, settings.seed + number)
            log.append(_entry(number, trainings[0].rollouts.steps, returns))
            write_log(folder, log)
            for k, training in enumerate(trainings):
                training.rollouts.starts_from = states
                advance(training, settings.steps * number // rounds.rounds, checkpoint_of(folder, k, number))
                checkpoint_of(folder, k, number - 2).unlink(missing_ok=True)
            left = (rounds.rounds - number) * (time.monotonic() - began) / (number - done)
            others = "" if len(files) == 1 else f", {log[-1]['cross_play']:.1f} with each other"
            logger.info(
                f"round {number} of {rounds.rounds}, which began at {log[-1]['return']:.1f} with itself{others}; "
                f"about {timedelta(seconds=round(left))} left"
            )
        paths: list[Path] = []
        for k, training in enumerate(trainings):
            paths += finish(training, folder / f"member_{k}", command).policies
        return paths


def _entry(number: int, steps: int, returns: np.ndarray) -> dict[str, Any]:
    size = len(returns)
    others = returns[~np.eye(size, dtype=np.bool_)]
    return {
        "round": number,
        "steps": steps,
        "return": round(float(np.diag(returns).mean()), 3),
        "cross_play": round(float(others.mean()), 3) if size > 1 else None,
        "worst_pair": round(float(others.min()), 3) if size > 1 else None,
    }


def advance(training: Training, steps: int, path: Path) -> None:
    """Train to a number of steps and write the checkpoint, or load an existing one."""
    if path.exists():
        training.load(path)
        return
    while training.rollouts.steps < steps:
        training.update()
    training.save(path)
