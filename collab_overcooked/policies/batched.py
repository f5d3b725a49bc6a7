"""Policies in many parallel episodes, with the same decisions as in single episodes.

A network decides for all episodes in one forward pass. Sums of a batch are rounded differently from those of a single
row, so choices between nearly equal actions are repeated with the row alone. Observations in another encoding than the
environment's are computed once a step for all seats that read it. All randomness derives from the episode's seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from collab_overcooked.envs.api import rows
from collab_overcooked.policies.api import AgentView, Capabilities, EnvInfo, Policy, ReportsUsage, TeamAware
from collab_overcooked.policies.batch_views import Views
from collab_overcooked.policies.per_game import policy_for
from collab_overcooked.policies.policy_file import preferences
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.torch_threads import one_torch_thread
from collab_overcooked.policies.trained import NetworkPolicy
from collab_overcooked.policies.wrappers import WrappedPolicy

Array = np.ndarray
CLOSE = 1e-4  # preferences nearer than this, relative to the largest logit, are computed again
ROWS = 32  # of a forward pass; larger products get threads of BLAS, which compete with the other workers
DRAWS = 64  # decisions for which an episode's noise is drawn at once
ALONE = -1  # instead of an action: this episode has to be played by itself


class Seat(Protocol):
    """Seat of a batch of episodes.

    Attributes:
        n_actions: A of the game as the seat's policy is shown it.
    """

    n_actions: int

    def restart(self, episode: int, seed: int) -> None:
        """Begin an episode anew, with another seed."""

    def act(self, asked: Array, masks: Array, timesteps: Array) -> Array:
        """Return the actions of some episodes.

        Args:
            asked: Numbers of the episodes, int64 (n,).
            masks: The seat's action masks in all episodes, int8 (E, A), of ``n_actions``.
            timesteps: Steps taken so far, int64 (E,).

        Returns:
            int64 (n,), ``ALONE`` for an answer that is not an action of the mask.
        """


class NetworkSeat:
    """A network in one seat of all episodes.

    Args:
        policy: The network, after a reset for this seat.
        views: Observations of the episodes.
        seat: Index of the agent.
        seeds: Seed of the policy by episode.
    """

    def __init__(self, policy: NetworkPolicy, views: Views, seat: int, seeds: Mapping[int, int]) -> None:
        self._policy = policy
        self._views = views
        self._seat = seat
        self._rngs = {episode: policy.generator(seed, seat) for episode, seed in seeds.items()}
        self.n_actions = views.game.n_actions
        self._states = policy.initial_state(views.num_envs)
        self._noise: Array | None = None  # (E, DRAWS, A)
        self._drawn = np.full(views.num_envs, DRAWS)  # draws used of each row

    def restart(self, episode: int, seed: int) -> None:
        """Forget the hidden state and draw from another generator."""
        self._rngs[episode] = self._policy.generator(seed, self._seat)
        self._drawn[episode] = DRAWS
        self._states[episode] = self._policy.initial_state(1)[0]

    @one_torch_thread()
    def act(self, asked: Array, masks: Array, timesteps: Array) -> Array:
        """Choose by one forward pass, or by one for each episode with memory, where roundings would add up."""
        seen = self._policy.inputs(self._views, asked, self._seat)
        states = self._states[asked]
        size = 1 if states.shape[1] else ROWS
        parts = [self._policy.forward(seen[k : k + size], states[k : k + size]) for k in range(0, len(seen), size)]
        logits, self._states[asked] = map(np.concatenate, zip(*parts, strict=True))
        allowed = masks[asked, : logits.shape[1]]
        noise = self._draw(asked, logits.shape[1]) if self._policy.mode == "sample" else None
        scores = preferences(logits, allowed, noise)
        highest = np.partition(scores, -2, axis=1)[:, -2:]
        margin = CLOSE * max(1.0, float(np.abs(logits).max()))
        for row in np.flatnonzero(highest[:, 1] - highest[:, 0] <= margin).tolist():
            row_noise = None if noise is None else noise[row : row + 1]
            row_logits, _ = self._policy.forward(seen[row : row + 1], states[row : row + 1])
            scores[row] = preferences(row_logits, allowed[row : row + 1], row_noise)[0]
        return scores.argmax(-1)

    def _draw(self, asked: Array, n_actions: int) -> Array:
        if self._noise is None:
            self._noise = np.empty((len(self._drawn), DRAWS, n_actions), np.float32)
        for episode in asked[self._drawn[asked] == DRAWS].tolist():
            self._noise[episode] = self._rngs[episode].gumbel(size=(DRAWS, n_actions))
            self._drawn[episode] = 0
        drawn: Array = self._noise[asked, self._drawn[asked]]
        self._drawn[asked] += 1
        return drawn


class PolicySeat:
    """A policy that decides for each episode by itself, such as one whose decisions are a kernel's.

    Args:
        begin: Returns a new policy, after its reset, for an episode and a seed.
        policies: The policies by episode.
        views: Observations of the episodes.
        seat: Index of the agent.
    """

    def __init__(
        self, begin: Callable[[int, int], Policy], policies: Mapping[int, Policy], views: Views, seat: int
    ) -> None:
        self._begin = begin
        self._policies = dict(policies)
        self._views = views
        self._seat = seat
        self.n_actions = views.game.n_actions

    def restart(self, episode: int, seed: int) -> None:
        """Play an episode with a new policy."""
        self._policies[episode] = self._begin(episode, seed)

    @one_torch_thread()
    def act(self, asked: Array, masks: Array, timesteps: Array) -> Array:
        """Ask the policies one by one; see ``Seat``."""
        chosen, views = np.full(len(asked), ALONE), self._views
        observations = views.own_observations()
        for row, episode in enumerate(asked.tolist()):
            view, mask = views.game.seen(views.state, episode, self._seat), masks[episode]
            seen = AgentView(self._seat, int(timesteps[episode]), observations[episode, self._seat], mask.copy(), view)
            answer = self._policies[episode].act(seen)
            if isinstance(answer, (int, np.integer)) and 0 <= answer < len(mask) and mask[answer]:
                chosen[row] = answer
        return chosen


def ask_seat(seat: Seat, number: int, playing: Array, masks: Array, timesteps: Array, actions: Array) -> None:
    """Write the actions that a seat chooses where it has a choice; ``ALONE`` where its answer is no legal action.

    Args:
        seat: The policies of the seat.
        number: Index of the agent.
        playing: Episodes in which the seat decides, bool (E,).
        masks: Action masks (E, N, A).
        timesteps: Timestep of each episode, int64 (E,).
        actions: Actions of all seats, int64 (E, N); changed.
    """
    mask = masks[:, number, : seat.n_actions]
    asked = np.flatnonzero((np.count_nonzero(mask, axis=1) > 1) & playing)
    if len(asked):
        actions[asked, number] = seat.act(asked, mask, timesteps)


def plays_in_batches(policy: Policy, env_id: str) -> bool:
    """Return whether a policy can play many episodes of a game at once, see ``Policy``."""
    policy = policy_for(policy, env_id)
    if isinstance(policy, WrappedPolicy):  # wrapped policies get no team, which batched scripts do not need
        programs = all(plays_in_batches(player, env_id) and not _is_network(player) for player in policy.players)
        return programs and not policy.reads_history
    if isinstance(policy, (TeamAware, ReportsUsage)):
        return False
    return _is_network(policy) or Capabilities.of(policy).batched


def _is_network(policy: Policy) -> bool:
    """Return whether a policy is a network whose decisions are ``NetworkPolicy.act`` of its inputs."""
    kind: Any = type(policy)
    known = isinstance(policy, NetworkPolicy)
    return known and (kind.act is NetworkPolicy.act or kind.inputs is not NetworkPolicy.inputs)


def make_seat(
    make: Callable[[], Policy], views: Views, seat: int, names: tuple[str, ...], seeds: Mapping[int, int]
) -> Seat:
    """Return a seat of a batch of episodes.

    Args:
        make: Returns a new policy for which ``plays_in_batches`` holds.
        views: Observations of the episodes, at their start.
        seat: Index of the agent.
        names: Names of all policies, by seat.
        seeds: Seed of the policy by episode.
    """

    def begin(episode: int, seed: int) -> Policy:
        policy = make()
        shown = views.shown_to(policy)
        game, state = shown.game, shown.state
        needs = Capabilities.of(policy).needs_simulator
        simulator = Simulator(game, rows(state, episode, episode + 1), seat) if needs else None
        policy.reset(seat, EnvInfo(game.id, game, "", names, simulator), seed)
        return policy

    first, *others = seeds.items()
    policy = begin(*first)
    shown = views.shown_to(policy)
    if isinstance(policy, NetworkPolicy) and _is_network(policy):
        return NetworkSeat(policy, shown, seat, seeds)
    return PolicySeat(begin, {first[0]: policy} | {k: begin(k, seed) for k, seed in others}, shown, seat)
