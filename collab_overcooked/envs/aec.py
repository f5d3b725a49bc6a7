"""The agent-by-agent form of a ParallelEnv, made by PettingZoo's own conversion."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.conversions import parallel_to_aec, parallel_to_aec_wrapper

from collab_overcooked.envs.api import ParallelEnv


def to_aec(env: ParallelEnv, wrapped: bool) -> Any:
    """Return the AEC form; all agents choose on the same moment, the kitchen moves after the last one.

    Args:
        env: Environment to convert.
        wrapped: Enforce the order of calls.
    """
    return parallel_to_aec(env) if wrapped else parallel_to_aec_wrapper(env)
