"""Run a script with environments that fail on any action outside its mask: ``python strict.py SCRIPT [ARGUMENTS]``."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.parallel import ParallelEnv

lenient, lenient_batch = ParallelEnv.step, BatchEnv.step


def step(self: ParallelEnv, actions: Mapping[str, Any]) -> Any:
    """Advance if every mask allows it: a trainer that ignores masks does not get far."""
    for agent, action in actions.items():
        if not self.action_mask(agent)[int(action)]:
            raise AssertionError(f"{agent} took action {int(action)}, which its mask forbids")
    return lenient(self, actions)


def step_batch(self: BatchEnv, actions: Any, copy: bool = False) -> Any:
    """Advance if the masks of all running environments allow it."""
    allowed = np.take_along_axis(self.action_masks(), np.asarray(actions)[..., None], axis=-1)[..., 0]
    if not (allowed | self.over[:, None]).all():
        raise AssertionError(f"actions {actions} include one that its mask forbids")
    return lenient_batch(self, actions, copy)


if __name__ == "__main__":
    ParallelEnv.step, BatchEnv.step = step, step_batch  # type: ignore[method-assign]
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
