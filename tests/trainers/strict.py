"""Run a script with environments that fail on any action outside its mask: ``python strict.py SCRIPT [ARGUMENTS]``."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from typing import Any

from collab_overcooked.envs.parallel import ParallelEnv

lenient = ParallelEnv.step


def step(self: ParallelEnv, actions: Mapping[str, Any]) -> Any:
    """Advance if every mask allows it: a trainer that ignores masks does not get far."""
    for agent, action in actions.items():
        if not self.action_mask(agent)[int(action)]:
            raise AssertionError(f"{agent} took action {int(action)}, which its mask forbids")
    return lenient(self, actions)


if __name__ == "__main__":
    ParallelEnv.step = step  # type: ignore[method-assign]
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
