"""Proxy for people: another policy of the room games with some decisions replaced by random ones."""

from __future__ import annotations

from typing import Any

from collab_overcooked.games.rooms.policies.greedy import GreedyPolicy
from collab_overcooked.games.rooms.policies.planner import PlannerPolicy
from collab_overcooked.policies.noisy import NoisyPolicy, noisy_from_text

KINDS: dict[str, Any] = {"planner": PlannerPolicy, "greedy": GreedyPolicy}


def from_text(text: str) -> NoisyPolicy:
    """Create the policy of a spec such as ``"noisy:0.2"`` or ``"noisy:0.2,greedy"``; see ``noisy_from_text``."""
    return noisy_from_text(text, KINDS)
