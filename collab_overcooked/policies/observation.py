"""Observations for policies that were trained on another encoding than the environment's."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.encodings import encoded_game, observation_options
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.checks import quote_value
from collab_overcooked.policies.api import Capabilities, Policy

Array = np.ndarray


class Observer:
    """Encodes observations as in a policy's training, independent of the environment's encoding.

    Args:
        game: The current game.
        options: Observation options, see ``observation_options``; defaults for missing ones.

    Attributes:
        variant: The game with these options.
    """

    def __init__(self, game: FullGame, options: Mapping[str, Any]) -> None:
        config = registry.game_class(game.id).config_class()
        defaults = {name: getattr(config, name) for name in observation_options(game.id)}
        self.variant = encoded_game(game, defaults | dict(options))
        self.same = self.variant is game

    def observe(self, view: SeatView, observation: Array) -> Array:
        """Return the observation of a seat, unchanged if the environment uses the same encoding."""
        if self.same:
            return observation
        return view.observed_by(self.variant, self.variant.alloc(1)[1])  # new memory: policies may be asked in threads


def observer_of(policy: Policy, game: FullGame) -> Observer | None:
    """Return the observer of a policy with an attribute ``observation``; None for the environment's encoding.

    Raises:
        ValueError: The game has no such observation.
    """
    options, played = Capabilities.of(policy).observation, cast("Hashable", game)
    if not isinstance(options, Mapping):
        return None
    try:
        return _observer(played, json.dumps(dict(options), sort_keys=True))
    except (ValueError, TypeError) as error:
        raise ValueError(f"policy {quote_value(policy.name)}: {error}") from None


@lru_cache(maxsize=64)
def _observer(game: Hashable, options: str) -> Observer:
    return Observer(cast("FullGame", game), json.loads(options))
