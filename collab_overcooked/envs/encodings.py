"""Observations of the same states in another encoding, for policies and trainers that read other inputs."""

from __future__ import annotations

import copy as copying
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import near_matches, quote_value

Array = np.ndarray


def observation_options(env_id: str) -> list[str]:
    """Return the options that change only the encoding of a game's observations; policies may declare them."""
    return list(registry.game_class(env_id).config_class.presentation)


def select_observation(env_id: str, env_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the observation options among the options of an environment."""
    return {name: env_kwargs[name] for name in observation_options(env_id) if name in env_kwargs}


def check_observation(env_id: str, options: Mapping[str, Any]) -> None:
    """Refuse options that are not observation options.

    Raises:
        ValueError: An option is unknown, or changes the game itself.
    """
    allowed = observation_options(env_id)
    for name in options:
        if name in allowed:
            continue
        if name in registry.game_options(env_id):
            listed = ", ".join(allowed) or "none"
            raise ValueError(
                f"observation: {quote_value(name)} changes {env_id} itself, not its observation; allowed: {listed}"
            )
        raise ValueError(f"observation: {near_matches('option', name, allowed)}")


def encoded_game(game: FullGame, options: Mapping[str, Any]) -> FullGame:
    """Return a game with other observation options; the same object if they are those that it has.

    Raises:
        ValueError: An option is unknown, changes more than observations, or has a value that is not allowed.
    """
    check_observation(game.id, options)
    if all(game.kwargs.get(name) == value for name, value in options.items()):
        return game
    return registry.load_game(game.id, **{**game.kwargs, **options})


class Encoder:
    """Observations of a batch in an encoding of its own.

    Args:
        game: The game with the options of the encoding, see ``encoded_game``.
        state: State of the batch, which the encoder reads whenever it is asked.
        rows: Returns the rows of the agents that are meant; those of all agents by default.

    Attributes:
        single_observation_space: Box of one agent's observation.
    """

    def __init__(self, game: FullGame, state: Any, rows: Callable[[Array], Array] = lambda array: array) -> None:
        self.single_observation_space = copying.deepcopy(game.single_observation_space)
        self._out: Any = game.alloc(len(state.rng))[1]
        self._observe = game.bind_observe(state, self._out)
        self._shape = (len(state.rng), game.n_agents, *game.single_observation_space.shape)
        self._rows = rows

    def observations(self) -> Array:
        """Return the observations (E, N, ...) of the present states; the next call may overwrite them."""
        self._observe()
        return self._rows(self._out.observations.reshape(self._shape))
