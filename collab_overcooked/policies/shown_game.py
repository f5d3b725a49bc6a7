"""Game that a policy is shown: games with a channel are quiet to policies that do not declare that they speak."""

from __future__ import annotations

from typing import Any

from collab_overcooked.policies.api import Capabilities, Policy
from collab_overcooked.policies.per_game import PerGamePolicy


def shown_game(policy: Policy, game: Any) -> Any:
    """Return a game as a policy is shown it: without its channel unless the policy speaks, see ``Capabilities``.

    Action ids of the quiet game are those of silent actions, so answers need no translation.

    Raises:
        ValueError: The policy does not play the game.
    """
    player = policy.policy_of(game.id) if isinstance(policy, PerGamePolicy) else policy
    return game if Capabilities.of(player).speaks else game.quiet
