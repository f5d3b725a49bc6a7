"""Policies that remember earlier episodes are found."""

from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked.policies.api import PolicyBase
from collab_overcooked.policies.registry import register_policy
from collab_overcooked.testing import ConformanceError, check_policy


class Counting(PolicyBase):
    """Remembers the last episode on purpose: it waits in the first only."""

    name = "counting"

    def __init__(self) -> None:
        self.episodes = 0

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.episodes += 1

    def act(self, seen: Any) -> int:
        return int(seen.idle_action if self.episodes == 1 else 0)


def test_a_policy_that_remembers_is_found() -> None:
    register_policy("counting", Counting)
    with pytest.raises(ConformanceError, match="seed 1 after other episodes differs from a new environment at step 0"):
        check_policy("counting", "Overcooked-v0", (0, 1), steps=3)


def test_a_policy_that_forgets_passes_in_every_seat() -> None:
    report = check_policy("greedy", "Overcooked-v0", (0, 1), steps=3, layout="cramped_room")
    assert report.ok and report.results
