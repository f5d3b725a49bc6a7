"""Greedy play of OvercookedV2: Overcooked's, once the recipe is known or guessed."""

from __future__ import annotations

from collab_overcooked.games.overcooked.policies.greedy import GreedyPolicy
from collab_overcooked.games.overcooked.v2.policies.believing import BelievingPolicy
from collab_overcooked.policies.specs import refuse_text


def from_text(text: str) -> BelievingPolicy:
    """Create the policy; it takes no parameters."""
    refuse_text("greedy", text)
    return BelievingPolicy("greedy", GreedyPolicy)
