"""Trained policies from policy files: ``ppo:NAME`` is built-in, ``ppo:PATH`` is any other file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import EnvInfo, Seen, Silent
from collab_overcooked.policies.policy_file import MODES, PolicyFile, find_policy, read_policy

OBSERVING = ("obs", "axes", "view_radius")  # options that change only the encoding of observations

Array = np.ndarray


class Encoder:
    """Encodes observations as in a policy's training, independent of the environment's encoding.

    Args:
        game: The current game.
        meta: Description in the policy file.
        seat: Index of the agent; seats can have different actions.

    Raises:
        ValueError: If the policy was trained on another game, or on a variant with other observations or actions.
    """

    def __init__(self, game: FullGame, meta: Mapping[str, Any], seat: int = 0) -> None:
        if game.id != meta["env_id"]:
            raise ValueError(f"it was trained on {meta['env_id']} and cannot play {game.id}")
        options = {name: value for name, value in meta["env_kwargs"].items() if name in OBSERVING}
        same = all(game.kwargs.get(name) == value for name, value in options.items())
        self.played, self.seat = game, seat
        self.game = game if same else registry.load_game(game.id, **{**game.kwargs, **options})
        self._out = None if same else self.game.alloc(1)[1]
        for name, is_, was in (
            ("observations of shape", list(self.game.single_observation_space.shape), meta["observation_shape"]),
            ("number of actions", len(game.action_texts(seat=seat)), meta["n_actions"]),
        ):
            if is_ != was:
                raise ValueError(f"it was trained on another variant of {game.id}: {name} {was} there, {is_} here")

    def observation(self, seen: Seen) -> Array:
        """Return the seat's observation in the policy's encoding."""
        if self._out is None:
            return seen.observation
        return seen.view.observed_by(self.game, self._out)


class TrainedPolicy(Silent):
    """Plays a policy file in any seat of its game.

    Args:
        file: Policy file.
        mode: ``"sample"`` or ``"greedy"``; the file's default if None.
    """

    name = "ppo"

    def __init__(self, file: PolicyFile, mode: str | None = None) -> None:
        self.file = file
        self.mode = mode or file.mode
        self._rng = np.random.default_rng(0)
        self._encoder: Encoder | None = None

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Options of the environment in training."""
        options: Mapping[str, Any] = self.file.meta["env_kwargs"]
        return options

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator and check that the policy was trained on the game.

        Raises:
            ValueError: If it was trained on another game or variant.
        """
        self._rng = np.random.default_rng([seed, seat])
        if self._encoder is None or (self._encoder.played, self._encoder.seat) != (info.game, seat):
            try:
                self._encoder = Encoder(info.game, self.file.meta, seat)
            except ValueError as error:
                raise ValueError(f"policy {self.name!r}: {error}") from None

    def act(self, seen: Seen) -> int:
        """Return the network's action."""
        if self._encoder is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        observation = self._encoder.observation(seen)
        mask = seen.mask[None, : self.file.meta["n_actions"]]  # the seat may have fewer actions
        return int(self.file.network.act(observation[None], mask, self._rng, self.mode)[0])


def from_text(text: str) -> TrainedPolicy:
    """Create the policy of a spec such as ``"cramped_room"``, ``"runs/a/policy.npz"`` or ``"cramped_room,greedy"``.

    Raises:
        ValueError: For an unknown name or mode, or an invalid file.
    """
    name, _, mode = text.partition(",")
    if mode and mode not in MODES:
        raise ValueError(f"policy 'ppo': {near_matches('mode', mode, MODES)}")
    return TrainedPolicy(read_policy(find_policy(name.strip())), mode or None)
