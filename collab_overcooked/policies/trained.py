"""Trained policies from policy files: ``ppo:NAME`` is built-in, ``ppo:PATH`` is any other file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.encodings import observation_options, select_observation
from collab_overcooked.io.checks import differing_options
from collab_overcooked.policies.action_history import append_history
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase
from collab_overcooked.policies.batch_views import Views
from collab_overcooked.policies.observation import Observer
from collab_overcooked.policies.policy_file import (
    PolicyFile,
    TeamNetwork,
    choose,
    policy_path,
    preferences,
    read_policy,
    split_mode,
)
from collab_overcooked.policies.torch_threads import one_torch_thread

Array = np.ndarray


class NetworkPolicy(PolicyBase):
    """Plays a network in any seat of the game that it was trained on: masked, then sampled or greedy.

    Args:
        meta: ``env_id``, ``env_kwargs``, ``observation_shape`` and ``n_actions`` of the game, as in a policy file; each
            may be left out where it is unknown.
        mode: ``"sample"`` or ``"greedy"``.
    """

    name = "network"
    history = 0  # past steps whose actions are a part of its input

    def __init__(self, meta: Mapping[str, Any], mode: str) -> None:
        self.meta, self.mode = meta, mode
        self._rng = np.random.default_rng(0)
        self._seat = 0
        self._state = self.initial_state(1)
        self._played: FullGame | None = None
        self._observer: Observer | None = None

    def logits(self, observations: Array) -> Array:
        """Return unnormalised log probabilities (B, A) of observations (B, ...)."""
        raise NotImplementedError

    def initial_state(self, rows: int) -> Array:
        """Return the hidden state at the start of an episode, float32 (rows, H); H is 0 without memory."""
        return np.zeros((rows, 0), np.float32)

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        """Return unnormalised log probabilities (B, A) of observations (B, ...), and the next hidden state (B, H)."""
        return self.logits(observations), state

    @property
    def trained_on(self) -> Mapping[str, Any]:
        """Environment options of the training."""
        options: Mapping[str, Any] = self.meta.get("env_kwargs", {})
        return options

    @property
    def speaks(self) -> bool:
        """Whether it was trained with a channel; without one, it plays as if there were none."""
        return bool(self.trained_on.get("channel"))

    def observation_of(self, game: FullGame) -> Mapping[str, Any]:
        """Return the options of the observation that it was trained on."""
        return select_observation(game.id, self.trained_on)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator and the hidden state, and check that the policy was trained on the game."""
        self._rng, self._state = self.generator(seed, seat), self.initial_state(1)
        if (self._played, self._seat) != (info.game, seat):
            try:
                self._observer = self._check(info.game, seat)
            except ValueError as error:
                raise ValueError(f"policy {self.name!r}: {error}") from None
            self._played, self._seat = info.game, seat

    def _check(self, game: FullGame, seat: int) -> Observer:
        if game.id != self.meta.get("env_id", game.id):
            raise ValueError(f"it was trained on {self.meta['env_id']} and cannot play {game.id}")
        observer = Observer(game, self.observation_of(game))
        for name, is_, was in (
            ("observations of shape", list(observer.variant.single_observation_space.shape), "observation_shape"),
            ("number of actions", len(game.action_texts(seat=seat)), "n_actions"),
        ):
            expected = self.meta.get(was, is_)
            if is_ != expected:
                raise ValueError(
                    f"it was trained on another variant of {game.id}: {name} {expected} there, {is_} here"
                    f"{self._differences(game)}"
                )
        return observer

    def _differences(self, game: FullGame) -> str:
        """Return the options in which the training differs from a game, for a message; empty if it does not tell."""
        if not self.trained_on:
            return ""
        own, channel = registry.read_options(game.id, self.trained_on)
        trained, played = {**own.to_dict(), **channel.to_dict()}, {**registry.default_channel(), **game.kwargs}
        there, here = differing_options(trained, played, {*observation_options(game.id), registry.LEXICON})
        return f" ({there} there, {here} here)" if there else ""

    @staticmethod
    def generator(seed: int, seat: int) -> np.random.Generator:
        """Return the generator of an episode; seats with the same seed draw differently."""
        return np.random.default_rng([seed, seat])

    @property
    def observer(self) -> Observer:
        """Encoder of the observations that the network was trained on.

        Raises:
            ValueError: The policy was not reset.
        """
        if self._observer is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        return self._observer

    def inputs(self, views: Views, asked: Array, seat: int) -> Array:
        """Return the network's input in some episodes of a batch, given by their numbers, int64 (n,)."""
        observations: Array = views.past.append_to(views.observations(self.observer), self.history)[asked, seat]
        return observations

    def observe(self, seen: AgentView) -> Array:
        """Return the network's input without the batch axis."""
        return self.observer.observe(seen.view, seen.observation)

    @one_torch_thread()
    def probabilities(self, seen: AgentView) -> Array:
        """Return the probability of each action, float64 (A,), in a state that the network may be asked in next."""
        logits, _ = self.forward(self.observe(seen)[None], self._state)
        scores = preferences(logits, seen.mask[None, : logits.shape[1]])[0].astype(np.float64)
        if self.mode == "greedy":
            return np.eye(len(scores))[scores.argmax()]
        weights = np.exp(scores - scores.max())
        shares: Array = weights / weights.sum()
        return shares

    @one_torch_thread()
    def act(self, seen: AgentView) -> int:
        """Return the network's action."""
        logits, self._state = self.forward(self.observe(seen)[None], self._state)
        mask = seen.mask[None, : logits.shape[1]]  # the seat may have fewer actions
        return int(choose(logits, mask, self._rng, self.mode)[0])


class TrainedPolicy(NetworkPolicy):
    """Plays a policy file.

    Args:
        file: Policy file.
        mode: ``"sample"`` or ``"greedy"``; the file's default if None.
    """

    name = "ppo"

    def __init__(self, file: PolicyFile, mode: str | None = None) -> None:
        if isinstance(file.network, TeamNetwork):
            raise ValueError("the file chooses for a whole team; seat it as all=mat:FILE")
        self.file, self.history = file, file.history
        super().__init__(file.meta, mode or file.mode)

    def _check(self, game: FullGame, seat: int) -> Observer:
        history = self.meta.get("history", {})
        if history.get("agents", game.n_agents) != game.n_agents:
            raise ValueError(f"it was trained with actions of {history['agents']} agents, not of {game.n_agents}")
        return super()._check(game, seat)

    def observe(self, seen: AgentView) -> Array:
        observation, file = super().observe(seen), self.file
        if not file.history:
            return observation
        game = self.observer.variant
        return append_history(
            observation, seen.past_actions, seen.seat, game.n_agents, file.meta["n_actions"], file.history
        )

    def initial_state(self, rows: int) -> Array:
        return self.file.network.initial_state(rows)

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        return self.file.network.forward(observations, state)


def from_text(text: str) -> TrainedPolicy:
    """Create the policy of a spec such as ``"cramped_room"``, ``"runs/a/policy.npz"`` or ``"cramped_room,greedy"``.

    Raises:
        ValueError: The policy or its mode is unknown.
    """
    name, mode = split_mode("ppo", text)
    return TrainedPolicy(read_policy(policy_path(name)), mode)
