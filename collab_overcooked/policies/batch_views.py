"""Observations of a batch of episodes, in the encodings of the policies that play them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.channel import quiet_arrays, talking_game
from collab_overcooked.envs.encodings import Encoder
from collab_overcooked.policies.action_history import MAX_PAST_ACTIONS, ActionHistory
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.observation import Observer
from collab_overcooked.policies.shown_game import shown_game

Array = np.ndarray


class Views:
    """Observations of a batch of episodes in the encodings of its policies, and past actions.

    Args:
        batch: The episodes, at their start.
        game: The game as policies are shown it: that of the batch, or the quiet one; that of the batch if None.

    Attributes:
        game: The game as policies are shown it.
        state: Its state.
        out: Its outputs.
        num_envs: E.
        n_agents: N.
        past: The last actions of all seats, in games in which they are public.
        joint: Actions of this step, int64 (E, N): of seats that were asked already, and of those without a choice.
    """

    def __init__(self, batch: BatchEnv, game: FullGame | None = None) -> None:
        is_quiet = game is not None and game is not batch.game
        self.game: Any = batch.game if game is None else game
        self.state: Any = quiet_arrays(batch.state) if is_quiet else batch.state
        self.out: Any = quiet_arrays(batch.out) if is_quiet else batch.out
        self._talking = talking_game(batch.game) if is_quiet else None
        self._wide_shape = batch.game.single_observation_space.shape
        self.num_envs, self.n_agents = batch.num_envs, self.game.n_agents
        self.past = ActionHistory(batch.num_envs, self.n_agents, self.game.n_actions, MAX_PAST_ACTIONS)
        self._public = self.game.seen(self.state, 0, 0).public_actions
        self._quiet = self if is_quiet or batch.game.quiet is batch.game else Views(batch, batch.game.quiet)
        self._encoders: dict[str, Encoder] = {}  # by options
        self._encoded: dict[str, Array] = {}  # observations of the present states
        self.joint = np.zeros((batch.num_envs, self.n_agents), np.int64)

    def shown_to(self, policy: Policy) -> Views:
        """Return the observations that a policy is shown: those of the quiet game unless it speaks."""
        return self if shown_game(policy, self.game) is self.game else self._quiet

    def decide(self, joint: Array) -> None:
        """Begin the decisions of a step with the actions (E, N) of seats without a choice; seats add theirs to it."""
        self.joint = self._quiet.joint = joint

    def advance(self, actions: Array) -> None:
        """Log the actions (E, N) of a step."""
        if self._public:
            self.past.push(actions % self.game.n_actions)
        self._encoded.clear()
        if self._quiet is not self:
            self._quiet.advance(actions)

    def restart(self, which: Array) -> None:
        """Forget the past of episodes, bool (E,), that begin anew."""
        self.past.clear(which)
        self._encoded.clear()
        if self._quiet is not self:
            self._quiet.restart(which)

    def own_observations(self) -> Array:
        """Return the observations of all seats (E, N, ...) as the game shows them, on the memory of the batch."""
        observations: Array = self.out.observations.reshape(self.num_envs, self.n_agents, *self._wide_shape)
        return observations if self._talking is None else self._talking.quiet_part(observations)

    def observations(self, observer: Observer) -> Array:
        """Return the observations of all seats (E, N, ...) in the encoding of an observer."""
        if observer.same:
            return self.own_observations()
        variant = observer.variant
        key = json.dumps(variant.kwargs, sort_keys=True)
        if key not in self._encoders:
            self._encoders[key] = Encoder(variant, self.state)
        if key not in self._encoded:
            self._encoded[key] = self._encoders[key].observations()
        return self._encoded[key]
