"""The last actions of all seats as observation features, for policies that adapt to their partners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray
MAX_PAST_ACTIONS = 16  # steps, in a seat's ``AgentView`` and in policy files
NONE = -1  # no action: before the start of the episode


def history_size(steps: int, n_agents: int, n_actions: int) -> int:
    """Return the number of features that a history of ``steps`` steps adds to an observation."""
    return steps * n_agents * n_actions


class ActionHistory:
    """The last joint actions of a batch of environments.

    A seat's features are one-hot actions (steps, agents, actions): oldest step first, in each step the seat itself
    first and then the others in seat order, cyclically. Steps before the start of an episode are zeros.

    Args:
        num_envs: E.
        n_agents: N.
        n_actions: A.
        steps: K, the number of steps that are kept.

    Attributes:
        actions: int32 (E, K, N), oldest first, ``NONE`` before the start of an episode.
    """

    def __init__(self, num_envs: int, n_agents: int, n_actions: int, steps: int) -> None:
        self.actions = np.full((num_envs, steps, n_agents), NONE, np.int32)
        seats = np.arange(n_agents)
        self._order = (seats[:, None] + seats) % n_agents  # row: a seat, then those after it
        self._one_hot = np.eye(n_actions + 1, n_actions, dtype=np.uint8)  # the last row, of NONE, is zeros

    def push(self, actions: Array) -> None:
        """Add the joint actions (E, N) of a step."""
        if self.actions.shape[1]:
            self.actions[:, :-1] = self.actions[:, 1:]
            self.actions[:, -1] = actions

    def clear(self, which: Array) -> None:
        """Forget the actions of environments, bool (E,), that start an episode."""
        self.actions[which] = NONE

    def append_to(self, observations: Array, steps: int) -> Array:
        """Append the features of the last ``steps`` steps to the observations of all seats.

        Args:
            observations: (E, N, ...).
            steps: At most K; with 0 the observations are returned as they are.

        Returns:
            (E, N, L) of the same dtype, observations flattened.
        """
        if not steps:
            return observations
        envs, agents = observations.shape[:2]
        recent = self.actions[:, self.actions.shape[1] - steps :]
        features = self._one_hot[recent[:, :, self._order]]  # (E, steps, seat, agents, A)
        by_seat = features.transpose(0, 2, 1, 3, 4).reshape(envs, agents, -1)
        flat = observations.reshape(envs, agents, -1)
        return np.concatenate([flat, by_seat.astype(flat.dtype)], axis=-1)


def append_history(
    observation: Array, past_actions: Sequence[Sequence[int]], seat: int, n_agents: int, n_actions: int, steps: int
) -> Array:
    """Append a seat's history to its observation, as in ``ActionHistory``.

    Args:
        observation: Observation of the seat.
        past_actions: Joint actions of earlier steps of the episode, oldest first.
        seat: Index of the agent.
        n_agents: N.
        n_actions: A.
        steps: Number of steps that the policy was trained with.

    Returns:
        Flat array of the same dtype.
    """
    history = ActionHistory(1, n_agents, n_actions, steps)
    for actions in past_actions[-steps:]:
        history.push(np.asarray(actions)[None])
    everyone = np.broadcast_to(observation.reshape(-1), (1, n_agents, observation.size))
    joined: Array = history.append_to(everyone, steps)[0, seat]
    return joined
