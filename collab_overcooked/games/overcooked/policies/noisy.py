"""A stand-in for people: greedy play, some of whose decisions are replaced by random ones."""

from __future__ import annotations

from typing import Any

from collab_overcooked.games.overcooked.policies.greedy import GreedyPolicy
from collab_overcooked.games.overcooked.policies.planner import PlannerPolicy
from collab_overcooked.policies.noisy import NoisyPolicy, noisy_from_text

KINDS: dict[str, Any] = {"greedy": GreedyPolicy, "planner": PlannerPolicy}


def from_text(text: str) -> NoisyPolicy:
    """Make the policy of a spec such as ``"noisy:0.2"`` or ``"noisy:0.2,planner"``; see ``noisy_from_text``."""
    return noisy_from_text(text, KINDS)
