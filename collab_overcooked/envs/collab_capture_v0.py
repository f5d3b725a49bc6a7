"""CollabCapture in PettingZoo's module form: ``env``, ``raw_env`` and ``parallel_env``."""

from __future__ import annotations

from typing import Any

from collab_overcooked.envs.aec import to_aec
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.registry import make_parallel


def parallel_env(**kwargs: Any) -> ParallelEnv:
    """Return the ParallelEnv; options of ``CollabCapture`` and of ``ParallelEnv``."""
    return make_parallel("CollabCapture-v0", kwargs, ParallelEnv)


def raw_env(**kwargs: Any) -> Any:
    """Return the AEC form, in which players choose one after the other by the same moment, without wrappers."""
    return to_aec(parallel_env(**kwargs), wrapped=False)


def env(**kwargs: Any) -> Any:
    """Return the AEC form with PettingZoo's order-enforcing wrapper."""
    return to_aec(parallel_env(**kwargs), wrapped=True)
