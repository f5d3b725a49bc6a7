"""Collab-Overcooked in PettingZoo's module form: ``env``, ``raw_env`` and ``parallel_env``."""

from __future__ import annotations

from typing import Any

from collab_overcooked.envs.aec import to_aec
from collab_overcooked.envs.api import ParallelEnv, split_options
from collab_overcooked.envs.collab_overcooked.env import CollabOvercooked


def parallel_env(**kwargs: Any) -> ParallelEnv:
    """Return the ParallelEnv; options of ``CollabOvercooked`` and of ``ParallelEnv``."""
    shell, game = split_options(kwargs)
    return ParallelEnv(CollabOvercooked(**game), **shell)


def raw_env(**kwargs: Any) -> Any:
    """Return the AEC form without wrappers."""
    return to_aec(parallel_env(**kwargs), wrapped=False)


def env(**kwargs: Any) -> Any:
    """Return the AEC form with PettingZoo's order-enforcing wrapper."""
    return to_aec(parallel_env(**kwargs), wrapped=True)
