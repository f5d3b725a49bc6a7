"""Game that a policy is shown: games with a channel are quiet to policies that do not declare that they speak."""

from __future__ import annotations

from typing import Any

from collab_overcooked.policies.api import Capabilities, Policy
from collab_overcooked.policies.per_game import policy_for


def shown_game(policy: Policy, game: Any) -> Any:
    """Return a game as a policy is shown it: without its channel unless the policy speaks, see ``Capabilities``.

    Action ids of the quiet game are those of silent actions, so answers need no translation.

    Raises:
        ValueError: The policy does not play the game.
    """
    return game if Capabilities.of(policy_for(policy, game.id)).speaks else game.quiet
