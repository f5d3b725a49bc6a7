"""Seats of many episodes that are played at once, with the same decisions as if played one by one.

A network decides for all episodes in one forward pass. Sums of a batch are rounded differently from those of a single
row, so choices between nearly equal actions are repeated with the row alone. All randomness derives from the episode's
seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from collab_overcooked.envs.api import FullGame, rows
from collab_overcooked.policies.api import EnvInfo, Policy, Seen
from collab_overcooked.policies.policy_file import preferences
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.trained import NetworkPolicy

Array = np.ndarray
CLOSE = 1e-4  # preferences nearer than this, relative to the largest logit, are computed again
ROWS = 32  # of a forward pass; larger products get threads of BLAS, which compete with the other workers
DRAWS = 64  # decisions for which an episode's noise is drawn at once
ALONE = -1  # instead of an action: this episode has to be played by itself


class Seat(Protocol):
    """Seat of a batch of episodes."""

    def act(self, asked: Array, observations: Array, masks: Array, timestep: int) -> Array:
        """Return the actions of some episodes.

        Args:
            asked: Numbers of the episodes, int64 (n,).
            observations: The seat's observations in all episodes (E, ...).
            masks: Its action masks, int8 (E, A).
            timestep: Steps taken so far.

        Returns:
            int64 (n,), ``ALONE`` where the answer is no action of the mask.
        """


class NetworkSeat:
    """A network in one seat of all episodes.

    Args:
        policy: The network, after a reset for this seat.
        state: State of the batch.
        seat: Index of the agent.
        seeds: Seed of the policy in each episode.
    """

    def __init__(self, policy: NetworkPolicy, state: Any, seat: int, seeds: Sequence[int]) -> None:
        self._policy, self._state, self._seat = policy, state, seat
        self._rngs = [policy.generator(seed, seat) for seed in seeds]
        self._noise: Array | None = None  # (E, DRAWS, A)
        self._drawn = np.full(len(seeds), DRAWS)  # draws used of each row
        observer = policy.observer
        self._variant = None if observer.same else observer.variant
        self._out = None if observer.same else observer.variant.alloc(len(seeds))[1]

    def act(self, asked: Array, observations: Array, masks: Array, timestep: int) -> Array:
        """Choose by one forward pass; see ``Seat``."""
        if self._variant is not None:
            self._variant.observe(self._state, self._out)
            shape = self._variant.single_observation_space.shape
            observations = self._out.observations[:, self._seat].reshape(-1, *shape)  # type: ignore[union-attr]
        seen = observations[asked]
        logits = np.concatenate([self._policy.logits(seen[k : k + ROWS]) for k in range(0, len(seen), ROWS)])
        allowed = masks[asked, : logits.shape[1]]
        noise = self._draw(asked, logits.shape[1]) if self._policy.mode == "sample" else None
        scores = preferences(logits, allowed, noise)
        highest = np.partition(scores, -2, axis=1)[:, -2:]
        margin = CLOSE * max(1.0, float(np.abs(logits).max()))
        for row in np.flatnonzero(highest[:, 1] - highest[:, 0] <= margin).tolist():
            row_noise = None if noise is None else noise[row : row + 1]
            scores[row] = preferences(self._policy.logits(seen[row : row + 1]), allowed[row : row + 1], row_noise)[0]
        return scores.argmax(-1)

    def _draw(self, asked: Array, n_actions: int) -> Array:
        """Return the next noise of each episode, (n, A)."""
        if self._noise is None:
            self._noise = np.empty((len(self._rngs), DRAWS, n_actions), np.float32)
        for episode in asked[self._drawn[asked] == DRAWS].tolist():
            self._noise[episode] = self._rngs[episode].gumbel(size=(DRAWS, n_actions))
            self._drawn[episode] = 0
        drawn: Array = self._noise[asked, self._drawn[asked]]
        self._drawn[asked] += 1
        return drawn


class PolicySeat:
    """A policy that decides for each episode by itself, such as one whose decisions are a kernel's.

    Args:
        policies: One for each episode, after their resets.
        game: Compiled game.
        state: State of the batch.
        seat: Index of the agent.
    """

    def __init__(self, policies: Sequence[Policy], game: FullGame, state: Any, seat: int) -> None:
        self._policies, self._game, self._state, self._seat = policies, game, state, seat

    def act(self, asked: Array, observations: Array, masks: Array, timestep: int) -> Array:
        """Ask one policy after the other; see ``Seat``."""
        chosen = np.full(len(asked), ALONE)
        for row, episode in enumerate(asked.tolist()):
            view = self._game.seen(self._state, episode, self._seat)
            mask = masks[episode]
            answer = self._policies[episode].act(Seen(self._seat, timestep, observations[episode], mask.copy(), view))
            if isinstance(answer, (int, np.integer)) and 0 <= answer < len(mask) and mask[answer]:
                chosen[row] = answer
        return chosen


def make_seat(
    make: Callable[[], Policy], game: FullGame, state: Any, seat: int, names: tuple[str, ...], seeds: Sequence[int]
) -> Seat | None:
    """Return a seat of a batch of episodes.

    Args:
        make: Returns a new policy.
        game: Compiled game.
        state: State of the batch, at its start.
        seat: Index of the agent.
        names: Names of all policies, by seat.
        seeds: Seed of the policy in each episode.

    Returns:
        None for a policy that does not say that it can play so, see ``Policy``.

    Raises:
        ValueError: If the policy cannot play the game.
    """

    def begin(policy: Policy, episode: int) -> Policy:
        needs = getattr(policy, "needs_simulator", False)
        simulator = Simulator(game, rows(state, episode, episode + 1), seat) if needs else None
        policy.reset(seat, EnvInfo(game.id, game, "", names, simulator), seeds[episode])
        return policy

    first = begin(make(), 0)
    if isinstance(first, NetworkPolicy) and type(first).act is NetworkPolicy.act:
        # Past actions are in a seat's ``Seen`` of a single episode only.
        return None if first.reads_history else NetworkSeat(first, state, seat, seeds)
    if not getattr(first, "batched", False):
        return None
    return PolicySeat([first, *(begin(make(), k) for k in range(1, len(seeds)))], game, state, seat)
