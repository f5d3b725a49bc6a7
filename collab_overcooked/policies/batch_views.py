"""Observations of a batch of episodes, in the encodings of the policies that play them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.policies.action_history import MAX_PAST_ACTIONS, ActionHistory
from collab_overcooked.policies.observation import Observer

Array = np.ndarray


class Views:
    """Observations of a batch of episodes in the encodings of its policies, and past actions.

    Args:
        batch: The episodes, at their start.

    Attributes:
        batch: The episodes.
        n_agents: N.
        past: The last actions of all seats, in games in which they are public.
        joint: Actions of this step, int64 (E, N): of seats that were asked already, and of those without a choice.
    """

    def __init__(self, batch: BatchEnv) -> None:
        self.batch = batch
        self.n_agents = batch.game.n_agents
        self.past = ActionHistory(batch.num_envs, self.n_agents, batch.game.n_actions, MAX_PAST_ACTIONS)
        self._public = batch.game.seen(batch.state, 0, 0).public_actions
        self._encodings: dict[str, _Encoding] = {}  # by options
        self.joint = np.zeros((batch.num_envs, self.n_agents), np.int64)

    def advance(self, actions: Array) -> None:
        """Log the actions (E, N) of a step."""
        if self._public:
            self.past.push(actions)
        self._forget()

    def restart(self, which: Array) -> None:
        """Forget the past of episodes, bool (E,), that begin anew."""
        self.past.clear(which)
        self._forget()

    def _forget(self) -> None:
        for encoding in self._encodings.values():
            encoding.fresh = False

    def observations(self, observer: Observer) -> Array:
        """Return the observations of all seats (E, N, ...) in the encoding of an observer."""
        batch, variant = self.batch, observer.variant
        if observer.same:
            out = batch.out
        else:
            key = json.dumps(variant.kwargs, sort_keys=True)
            encoding = self._encodings.get(key)
            if encoding is None:
                encoding = self._encodings[key] = _Encoding(batch, variant)
            out = encoding.current()
        shape = variant.single_observation_space.shape
        observations: Array = out.observations.reshape(batch.num_envs, self.n_agents, *shape)
        return observations


class _Encoding:
    """Observations of a batch as another game encodes them."""

    def __init__(self, batch: BatchEnv, variant: FullGame) -> None:
        self.fresh = False
        self._out = variant.alloc(batch.num_envs)[1]
        self._observe = variant.bind_observe(batch.state, self._out)

    def current(self) -> Any:
        """Return the arrays with the observations of the present state."""
        if not self.fresh:
            self._observe()
            self.fresh = True
        return self._out
