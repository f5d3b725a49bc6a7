"""Trained policies from policy files: ``ppo:NAME`` comes with the package, ``ppo:PATH`` is any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import EnvInfo, Seen, Silent
from collab_overcooked.policies.policy_file import MODES, PolicyFile, find_policy, read_policy

OBSERVING = ("obs", "axes", "view_radius")  # options that change what agents see and nothing else

Array = np.ndarray


class Encoder:
    """Shows a policy the observations that it was trained on, whatever the environment shows.

    Args:
        game: Game that is played.
        meta: Of the policy file.
        seat: Who plays; seats can have different actions.

    Raises:
        ValueError: If the policy belongs to another game, or to a variant with other observations or actions.
    """

    def __init__(self, game: FullGame, meta: Mapping[str, Any], seat: int = 0) -> None:
        if game.id != meta["env_id"]:
            raise ValueError(f"it was trained on {meta['env_id']} and cannot play {game.id}")
        own = {name: value for name, value in meta["env_kwargs"].items() if name in OBSERVING}
        same = all(game.kwargs.get(name) == value for name, value in own.items())
        self.played, self.seat = game, seat
        self.game = game if same else registry.load_game(game.id, **{**game.kwargs, **own})
        self._out = None if same else self.game.alloc(1)[1]
        for name, is_, was in (
            ("observations of shape", list(self.game.single_observation_space.shape), meta["observation_shape"]),
            ("number of actions", len(game.action_texts(seat=seat)), meta["n_actions"]),
        ):
            if is_ != was:
                raise ValueError(f"it was trained on another variant of {game.id}: {name} {was} there, {is_} here")

    def observation(self, seen: Seen) -> Array:
        """Return the seat's observation as the policy knows it."""
        if self._out is None:
            return seen.observation
        return seen.view.observed_by(self.game, self._out)


class TrainedPolicy(Silent):
    """Plays a policy file in any seat of its game.

    Args:
        file: What to play.
        mode: ``"sample"`` or ``"greedy"``; the file's own if None.
    """

    name = "ppo"

    def __init__(self, file: PolicyFile, mode: str | None = None) -> None:
        self.file = file
        self.mode = mode or file.mode
        self._rng = np.random.default_rng(0)
        self._encoder: Encoder | None = None

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Options of the environment that it was trained on."""
        options: Mapping[str, Any] = self.file.meta["env_kwargs"]
        return options

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Start the generator anew and check that the game is the policy's.

        Raises:
            ValueError: If it is another one.
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
        mask = seen.mask[None, : self.file.meta["n_actions"]]  # no longer than the seat's actions
        return int(self.file.network.act(observation[None], mask, self._rng, self.mode)[0])


def from_text(text: str) -> TrainedPolicy:
    """Make the policy of a spec such as ``"cramped_room"``, ``"runs/a/policy.npz"`` or ``"cramped_room,greedy"``.

    Raises:
        ValueError: For an unknown name, mode, or a file that is none of ours.
    """
    name, _, mode = text.partition(",")
    if mode and mode not in MODES:
        raise ValueError(f"policy 'ppo': {near_matches('mode', mode, MODES)}")
    return TrainedPolicy(read_policy(find_policy(name.strip())), mode or None)
