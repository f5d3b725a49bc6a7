"""Train by PPO: collect, learn, note, keep; and go on from where it stopped, to the same result."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from collab_overcooked.baselines.actor_critic import policy_file
from collab_overcooked.baselines.checkpoints import due, keep_policy
from collab_overcooked.baselines.curves import write_curves
from collab_overcooked.baselines.partners import (
    TrainingPartner,
    met_partners,
    network_arrays,
    network_from,
    read_partners,
    read_trained,
)
from collab_overcooked.baselines.ppo import LOSSES, PPO, choose_device
from collab_overcooked.baselines.rollouts import Rollouts, observation_scale
from collab_overcooked.baselines.scores import GAMES, score
from collab_overcooked.baselines.seating import learner_rows
from collab_overcooked.baselines.settings import HOLD, TrainingSettings, load_game
from collab_overcooked.baselines.train_logger import BUSY, TrainLogger, check_services
from collab_overcooked.envs.api import clone
from collab_overcooked.io.files import MAX_MODEL, open_file, read_text, write_atomic
from collab_overcooked.policies.policy_file import Met, PolicyFile, halved, read_policy, with_met
from collab_overcooked.policies.torch_threads import torch_threads
from collab_overcooked.runner.run import only_writer

logger = logging.getLogger(__name__)

CHECKPOINT, SETTINGS, ALGORITHM = "checkpoint.pt", "settings.json", "ppo"
# Settings that a continued run may change
MAY_CHANGE = {"target_return", "checkpoint_every", "checkpoint_seconds", "steps", "evaluate_every", "evaluation_games"}
LATER = dict.fromkeys(HOLD, 0)  # settings that trainings of version 1.0.0 do not have
EVALUATION = ("eval_return", "eval_low", "eval_high")  # columns of the log
EVALUATION_SEED = 1 << 32  # far from the seeds of trainings, whose environments have seed, seed + 1, ...


@dataclass(frozen=True)
class TrainingOutcome:
    """Result of a training."""

    steps: int  # Environment steps taken
    mean_return: float | None  # Of recent episodes; None if none was finished
    seconds: tuple[float, float]  # Of collecting and of learning, those before an interruption included
    policies: tuple[Path, ...]  # The exported files
    score: Mapping[str, Any] | None  # Of these playing together (``scores.score``); None where partners do not learn
    reached: bool  # Whether the target return was reached


class Training:
    """A run in a folder.

    Attributes:
        updates: Updates so far.
    """

    def __init__(self, settings: TrainingSettings) -> None:
        self.settings = settings
        self.game = load_game(settings.env, settings.options)
        self.partners = read_partners(settings, self.game)
        device = choose_device(settings.device)
        scale = observation_scale(self.game, settings.seed, bool(settings.convolutions))
        self.generator = torch.Generator()  # of this training alone: others may be updated in turn with it
        with torch_threads(settings.threads), torch.random.fork_rng(devices=[]):  # weights are drawn on the CPU
            torch.default_generator.manual_seed(settings.seed)
            self.learners = [
                PPO(settings, self.game, rows, scale, device, self.generator)
                for rows in learner_rows(settings, self.game.n_agents)
            ]
            self.generator.set_state(torch.get_rng_state())  # goes on after the draws of initial weights
        self._known: list[Met] = []  # what the policy that the training starts from has met, and that policy
        if settings.start:
            file, met = read_trained(settings.start)
            self._known = [*file.met, met]
            for learner in self.learners:
                learner.start_from(file.network)
        if settings.copy_rate:
            copy = policy_file(self.learners[0].network.actor(), settings, self.game, ALGORITHM, "", 0)
            self.partners.append(TrainingPartner(copy, settings.partner_noise))
        self.rollouts = Rollouts(settings, self.game, self.partners)
        self._check_history()
        self.updates = 0
        self.seconds = [0.0, 0.0]
        self._saved = time.monotonic()

    def _check_history(self) -> None:
        batch = self.rollouts.batch
        if self.settings.history and not self.game.seen(clone(batch.state, 0), 0, 0).public_actions:
            raise ValueError(f"history: a seat of {self.game.id} does not see what the others do; use history=0")

    @property
    def left(self) -> float:
        """Share of the training that lies ahead, 1 to 0."""
        return max(0.0, 1.0 - self.rollouts.steps / self.settings.steps)

    @property
    def shaping(self) -> float:
        """Weight of shaped rewards now."""
        return self.settings.shaping_at(self.rollouts.steps)

    @property
    def mean_return(self) -> float | None:
        """Mean return of recent episodes; None before the first."""
        returns = self.rollouts.returns
        return float(np.mean(returns)) if returns else None

    @property
    def reached(self) -> bool:
        """True once the mean return of the last episodes reaches the target."""
        target, mean = self.settings.target_return, self.mean_return
        full = len(self.rollouts.returns) == self.rollouts.returns.maxlen
        return target is not None and mean is not None and full and mean >= target

    @property
    def over(self) -> bool:
        """True once the training is complete."""
        return self.rollouts.steps >= self.settings.steps or self.reached

    @property
    def checkpoint_due(self) -> bool:
        """True after ``checkpoint_every`` updates or ``checkpoint_seconds``."""
        waited = time.monotonic() - self._saved
        return self.updates % self.settings.checkpoint_every == 0 or waited >= self.settings.checkpoint_seconds

    def update(self) -> dict[str, Any]:
        """Collect a rollout, learn from it, and return the fields of the log line."""
        settings, began = self.settings, time.perf_counter()
        before = self.rollouts.steps
        with torch_threads(settings.threads):
            self.rollouts.collect(self.learners, self.shaping)
            collected = time.perf_counter()
            value_only = self.updates < settings.value_updates
            losses = [learner.update(self.left, value_only) for learner in self.learners]
            if settings.copy_rate:
                self.partners[-1].follow(self.learners[0].network.actor(), settings.copy_rate)
        learned = time.perf_counter()
        self.updates += 1
        self.seconds[0] += collected - began
        self.seconds[1] += learned - collected
        taken = self.rollouts.steps - before
        by_family = {
            f"return/{family}": float(np.mean(returns)) if returns else None
            for family, returns in self.rollouts.returns_by_family.items()
        }
        mean_losses = {name: round(float(np.mean([entry[name] for entry in losses])), 6) for name in LOSSES}
        return {
            "update": self.updates,
            "steps": self.rollouts.steps,
            "return": self.mean_return,
            **by_family,
            "shaping": round(self.shaping, 4),
            "steps_per_second": round(taken / (learned - began), 1),
            "collect_per_second": round(taken / (collected - began), 1),
            "learn_per_second": round(taken / (learned - collected), 1),
            **mean_losses,
        }

    def save(self, path: Path) -> None:
        """Write a checkpoint: everything that the rest of the training depends on."""
        arrays = io.BytesIO()
        kept: dict[str, Any] = self.rollouts.save()
        if self.settings.copy_rate:
            copy = self.partners[-1].file
            assert copy is not None
            kept |= network_arrays(copy.network)
        np.savez(arrays, **kept)
        content = {
            "settings": json.dumps(self.settings.to_dict(), sort_keys=True),
            "updates": self.updates,
            "met": json.dumps(met_partners(self.partners)),
            "start": json.dumps(self._known),
            "seconds": list(self.seconds),
            "rollouts": torch.frombuffer(bytearray(arrays.getvalue()), dtype=torch.uint8),
            "generators": json.dumps(self.rollouts.rng.bit_generator.state),
            "torch": self.generator.get_state(),
            "learners": [learner.state_dict() for learner in self.learners],
        }
        file = io.BytesIO()
        torch.save(content, file)  # to a full disk it would fail without a reason
        write_atomic(path, file.getvalue())
        self._saved = time.monotonic()

    def load(self, path: Path, same: bool = True) -> None:
        """Go back to a checkpoint.

        Args:
            path: Checkpoint file.
            same: Refuse one of other settings.
        """
        content = _read(path)
        with _checkpoint_errors(path):
            was = dict(json.loads(content["settings"]))
        if same:
            _compare(path, was, self.settings.to_dict())
            for name, files, read in (
                ("met", "the files of its partners", met_partners(self.partners)),
                ("start", "the file that it started from", self._known),
            ):
                now = json.dumps(read)
                if content.get(name, now) != now:
                    raise ValueError(f"{path}: {files} changed; restore what was there, or choose another folder")
        with _checkpoint_errors(path):
            with np.load(io.BytesIO(content["rollouts"].numpy().tobytes()), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            self.rollouts.load(arrays)
            if self.settings.copy_rate:
                copy = self.partners[-1]
                assert copy.file is not None
                copy.file = replace(copy.file, network=network_from(arrays, copy.file.network))
            for learner, parts in zip(self.learners, content["learners"], strict=True):
                learner.load_state_dict(parts)
            self.updates = int(content["updates"])
            self.seconds = list(content["seconds"])
            self.rollouts.rng.bit_generator.state = json.loads(content["generators"])
            self.generator.set_state(content["torch"])

    def load_weights(self, path: Path) -> None:
        """Load only networks and optimisers from a checkpoint; ``load`` restores counters and rollouts too."""
        content = _read(path)
        with _checkpoint_errors(path):
            for learner, parts in zip(self.learners, content["learners"], strict=True):
                learner.load_state_dict(parts, weights_only=True)

    def export(self, command: str = "") -> list[PolicyFile]:
        """Return the policies as they are now, one for each learner."""
        settings, steps = self.settings, self.rollouts.steps
        algorithm = "mat" if settings.weights == "joint" else ALGORITHM
        files = [
            policy_file(learner.network.actor(), settings, self.game, algorithm, command, steps)
            for learner in self.learners
        ]
        met = self._known + met_partners(self.partners)
        return [with_met(file, met) for file in files] if met else files


def _read(path: Path) -> dict[str, Any]:
    with open_file(path, MAX_MODEL) as file, _checkpoint_errors(path):
        content: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return content


@contextmanager
def _checkpoint_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{path}: is not a checkpoint of this kind of training: {reason:.300}") from None


def _compare(path: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    _refuse_changes(path, was, now, MAY_CHANGE)
    check_extension(path, was.get("steps"), now["steps"])


def _refuse_changes(path: Path, was: Mapping[str, Any], now: Mapping[str, Any], but: Collection[str] = ()) -> None:
    was, now = with_later(was, now), json.loads(json.dumps(now))
    for name in sorted({*was, *now}.difference(but)):
        if was.get(name) != now.get(name):
            raise ValueError(
                f"{path}: {name} was {was.get(name)!r}, now {now.get(name)!r}; resume with the same, or choose another "
                "folder"
            )


def with_later(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a training with defaults for settings of ``now`` that its version did not have."""
    return {name: value for name, value in LATER.items() if name in now} | dict(was)


def check_extension(path: Path, was: Any, now: int) -> None:
    """Refuse fewer steps than a training in a folder was begun with; it may be extended."""
    if not isinstance(was, int) or now < was:
        raise ValueError(f"{path}: steps was {was!r}, now {now}; it can only be extended")


def _read_settings(path: Path) -> dict[str, Any]:
    with _checkpoint_errors(path):
        return dict(json.loads(read_text(path)))


def _claim(settings: TrainingSettings, folder: Path) -> bool:
    path = folder / SETTINGS
    if (folder / CHECKPOINT).exists():
        return True  # its own settings are compared when it is loaded
    if path.exists():  # stopped before the first checkpoint, or a training of another kind
        _compare(path, _read_settings(path), settings.to_dict())
    elif others := sorted(path.name for path in folder.glob("policy*.npz")):
        raise ValueError(f"{folder}: holds {others[0]} of something else; choose another folder")
    return False


def claim_folder(folder: Path, values: Mapping[str, Any]) -> None:
    """Write the settings of a run into its folder, or check that an existing run has equal settings."""
    path = folder / SETTINGS
    if path.exists():
        _refuse_changes(path, _read_settings(path), values)
    write_atomic(path, json.dumps(values, indent=1).encode() + b"\n")


def train(
    settings: TrainingSettings, folder: Path, *, command: str = "", bar: bool = True, services: Sequence[str] = ()
) -> TrainingOutcome:
    """Train in a folder: ``settings.json``, logs (see ``TrainLogger``), ``checkpoint.pt``, ``policy*.npz``.

    Beside partners also ``curves.csv`` and ``curves.svg``, returns by their family; with ``kept_policies`` the folder
    ``policies/``. A training that is there is continued from its checkpoint, to the same result as without the
    interruption, but for programs as partners, which begin anew. With more steps than it was begun with it is extended:
    schedules then go by the new number of steps.

    Args:
        settings: Settings of the training.
        folder: Made if it does not exist.
        command: Kept in the policy file.
        bar: Draw a progress bar on a terminal.
        services: Names of logging services; see ``TrainLogger``.

    Raises:
        ValueError: The folder holds another training.
        BlockingIOError: If another training writes to the folder.
    """
    check_services(services)
    with only_writer(folder, BUSY):
        there = _claim(settings, folder)
        training = Training(settings)
        if there:
            training.load(folder / CHECKPOINT)
            more = "it is finished, more --steps extend it" if training.over else "continuing"
            logger.info(f"{folder}: {training.rollouts.steps:,} of {settings.steps:,} steps are there, {more}")
        write_atomic(folder / SETTINGS, json.dumps(settings.to_dict(), indent=1).encode() + b"\n")
        if not training.updates and settings.kept_policies:
            keep_policies(training, folder, command, -1)
        log = TrainLogger(folder, settings.steps, training.updates, bar, services, settings.to_dict())
        with log:
            while not training.over:
                logged_update(training, log, folder, command)
                if training.checkpoint_due or training.over:
                    training.save(folder / CHECKPOINT)
        if training.rollouts.returns_by_family:
            write_curves(folder)
        return finish(training, folder, command)


def logged_update(training: Training, log: TrainLogger, folder: Path, command: str) -> None:
    """Update a training, write the line of the log, and keep policies if they are due."""
    before = training.rollouts.steps
    entry = training.update()
    log.write(entry | evaluation(training, before))
    keep_policies(training, folder, command, before)


def evaluation(training: Training, before: int) -> dict[str, float | None]:
    """Return the mean return in games of its own with its interval, if one is due after the steps since ``before``.

    It takes nothing from the generators of the training, which goes on as without it.
    """
    settings, now = training.settings, training.rollouts.steps
    every = settings.evaluate_every
    if not every:
        return {}
    if before // every == now // every and not training.over:
        return dict.fromkeys(EVALUATION)
    result = self_play_score(training, settings.evaluation_games, EVALUATION_SEED)
    interval = result["interval"] or (None, None)
    return dict(zip(EVALUATION, (result["return"], *interval), strict=True))


def keep_policies(training: Training, folder: Path, command: str, before: int) -> None:
    """Keep the policies of a training if they are due after the steps since ``before``; -1 before the first."""
    settings, now = training.settings, training.rollouts.steps
    if due(before, min(now, settings.steps), settings.steps, settings.kept_policies):
        for file in training.export(command):
            keep_policy(file, folder)


def is_finished(settings: TrainingSettings, folder: Path) -> bool:
    """Return whether a folder holds a finished training of the same settings."""
    path = folder / SETTINGS
    files = list(folder.glob("policy*.npz"))
    if not path.exists() or not files or read_policy(files[0]).meta["steps"] < settings.steps:
        return False
    now = json.loads(json.dumps(settings.to_dict()))
    return with_later(_read_settings(path), now) == now


def exported(training: Training, command: str) -> list[PolicyFile]:
    """Return the policies with their score, as they will play once they are read from a file again."""
    files = [halved(file) for file in training.export(command)]
    if training.partners:
        return files  # a score belongs to a pair; cross-play measures those
    measured = self_play_score(training, GAMES, training.settings.seed)
    return [PolicyFile(file.network, {**file.meta, "score": measured}) for file in files]


def self_play_score(training: Training, games: int, seed: int) -> dict[str, Any]:
    """Return the score of the policies as they are now, in games of these seeds; see ``scores.score``."""
    files, n_agents = [halved(file) for file in training.export()], training.game.n_agents
    with torch_threads(training.settings.threads):
        return score(training.game, files if len(files) == n_agents else files * n_agents, games, seed)


def finish(training: Training, folder: Path, command: str) -> TrainingOutcome:
    """Score the policies, write them, and return how it went."""
    files = exported(training, command)
    paths = [folder / (f"policy_{seat}.npz" if len(files) > 1 else "policy.npz") for seat in range(len(files))]
    for file, path in zip(files, paths, strict=True):
        file.save(path)
    collect, learn = training.seconds
    measured = files[0].meta["score"]
    return TrainingOutcome(
        training.rollouts.steps, training.mean_return, (collect, learn), tuple(paths), measured, training.reached
    )
