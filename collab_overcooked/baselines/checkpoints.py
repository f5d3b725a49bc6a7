"""Policies saved during a training, selection of policies that differ in skill, and checkpoints of members."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from collab_overcooked.baselines.scores import score
from collab_overcooked.envs.api import FullGame
from collab_overcooked.policies.policy_file import PolicyFile, halved, read_policy

FOLDER = "policies"


def due(before: int, now: int, total: int, count: int) -> bool:
    """Return whether a policy is to be kept after the steps since ``before``.

    Args:
        before: Environment steps before the update; -1 before the first.
        now: Environment steps now.
        total: Steps of the whole training.
        count: Policies to keep at equal distances, the first at 0 steps and the last at ``total``.
    """
    marks = [total * k / max(count - 1, 1) for k in range(count)]
    return any(before < mark <= now for mark in marks)


def keep_policy(file: PolicyFile, folder: Path) -> None:
    """Write a policy into the folder of a training, named after its steps."""
    path = folder / FOLDER / f"{file.meta['steps']:010d}.npz"
    halved(file).save(path)


def kept_policies(folder: Path) -> list[Path]:
    """Return the files of the kept policies of a training, the least trained first."""
    return sorted((folder / FOLDER).glob("*.npz"))


def self_play_returns(game: FullGame, files: Sequence[Path], games: int, seed: int) -> list[float]:
    """Return the mean return of each policy in all seats."""
    policies = [read_policy(path) for path in files]
    return [float(score(game, [policy] * game.n_agents, games, seed)["return"]) for policy in policies]


def choose_skills(returns: Sequence[float]) -> dict[str, int]:
    """Choose the untrained policy, the one whose return is nearest to half of the last one's, and the last.

    The choice of ZSC-Eval for fictitious co-play (Strouse et al. 2021). Ties are resolved for the earlier policy.

    Args:
        returns: Mean return of each kept policy, the least trained first; at least one.

    Returns:
        Indices by skill: ``untrained``, ``middle``, ``last``; each index once.
    """
    last = len(returns) - 1
    between = range(1, last) if last > 1 else range(0)
    chosen = {"untrained": 0} if last else {}
    if between:
        chosen["middle"] = min(between, key=lambda k: abs(returns[k] - returns[last] / 2))
    return chosen | {"last": last}


def checkpoint_of(folder: Path, member: int, number: int) -> Path:
    """Return the checkpoint file of a member after a round of a population."""
    return folder / f"member_{member}" / f"round_{number}.pt"


def last_checkpoint(folder: Path, members: int) -> int:
    """Return the last round after which all members have a checkpoint; 0 for none."""
    numbers = (int(path.stem.removeprefix("round_")) for path in folder.glob("member_0/round_*.pt"))
    complete = (n for n in numbers if all(checkpoint_of(folder, k, n).exists() for k in range(members)))
    return max(complete, default=0)
