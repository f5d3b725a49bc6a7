"""Play a batch of environments and write what learners need straight into their buffers, no loop over environments."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.policies.policy_file import PolicyFile

Array = np.ndarray
GROUPS = 16  # of environments whose first episodes end at different times
RECENT = 100  # episodes whose mean return is reported, or a quarter of the environments if that is more
PROBE_ENVIRONMENTS, PROBE_STEPS = 64, 200


def observation_scale(game: FullGame, seed: int, by_channel: bool) -> Array:
    """Return one over the largest value of each feature in some random play, so that counts and times are at most 1.

    Args:
        game: Compiled game.
        seed: Of the play.
        by_channel: One value for each first index of the observation instead of one for each number.

    Returns:
        float32, of the observation's shape or (channels, 1, 1).

    Raises:
        ValueError: If there are no channels to go by.
    """
    shape = game.single_observation_space.shape
    if by_channel and len(shape) != 3:
        raise ValueError(f"convolutions: observations must be (channels, height, width), not of shape {shape}")
    batch = BatchEnv(game, PROBE_ENVIRONMENTS)
    observations, infos = batch.reset(seed)
    rng = np.random.default_rng(seed)
    largest = np.zeros(observations.shape[2:])
    for _ in range(PROBE_STEPS):
        masks = infos["action_mask"]
        observations, _, _, _, infos = batch.step((rng.random(masks.shape) * masks).argmax(-1))
        largest = np.maximum(largest, np.abs(observations).max((0, 1)))
        if batch.over.any():
            batch.reset(which=batch.over)
    if by_channel:
        largest = largest.max((1, 2), keepdims=True)
    return (1.0 / np.maximum(largest, 1.0)).astype(np.float32)


class SeatAssignment:
    """Who sits where: the flat rows ``e * N + i`` of each learner and of each partner.

    Args:
        settings: Says whether learners share weights, and which partners there are.
        n_agents: N.

    Attributes:
        learners: Rows of each learner; ``slice(None)`` for all.
        partners: Rows of each partner.
    """

    def __init__(self, settings: TrainingSettings, n_agents: int) -> None:
        rows = np.arange(settings.environments * n_agents)
        environment, seat = rows // n_agents, rows % n_agents
        self.learners: list[Any] = [slice(None)]
        self.partners: list[Array] = []
        if settings.weights == "own":
            self.learners = [rows[seat == i] for i in range(n_agents)]
        elif settings.partners:
            if settings.environments < n_agents * len(settings.partners):
                raise ValueError(
                    f"environments must be at least {n_agents * len(settings.partners)}: "
                    f"{n_agents} seats x {len(settings.partners)} partners, not {settings.environments}"
                )
            learns = seat == environment % n_agents
            partner = environment // n_agents % len(settings.partners)
            self.learners = [rows[learns]]
            self.partners = [rows[~learns & (partner == k)] for k in range(len(settings.partners))]
        self.sizes = [len(rows[own]) for own in self.learners]


class Rollouts:
    """The environments of a training.

    Args:
        settings: What to play.
        game: Compiled game.
        partners: Policies that do not learn, as in the settings.

    Attributes:
        steps: Environment steps taken.
        returns: Of recent whole episodes: the seats' mean sum of rewards, without shaping.
    """

    def __init__(self, settings: TrainingSettings, game: FullGame, partners: Sequence[PolicyFile]) -> None:
        self.settings = settings
        self.batch = BatchEnv(game, settings.environments)
        self.seating = SeatAssignment(settings, game.n_agents)
        self.partners = partners
        self.rng = np.random.default_rng([settings.seed, 1])
        self.steps = 0
        self.sums = np.zeros(settings.environments)  # rewards of the running episodes
        self.counted = np.zeros(settings.environments, np.bool_)  # not the shortened first episodes
        self.starts = np.ones(settings.environments, np.bool_)
        self.returns: deque[float] = deque(maxlen=max(RECENT, settings.environments // 4))
        self.shaped = hasattr(self.batch.out, "shaped")
        self._begin()

    def _begin(self) -> None:
        """Start all environments, the first episodes with limits of different lengths.

        Otherwise all would be in the same phase of their episodes for ever, and no update would see the others.
        """
        batch, environments = self.batch, np.arange(self.settings.environments)
        batch.reset(self.settings.seed)
        for group in range(GROUPS):
            which = environments * GROUPS // len(environments) == group
            limit = max(1, batch.game.max_cycles * (group + 1) // GROUPS)
            if which.any() and limit < batch.game.max_cycles:
                batch.game.reset(batch.state, batch.out, which, None, limit)
        self.counted[environments * GROUPS // len(environments) == GROUPS - 1] = True

    def collect(self, learners: Sequence[Any], shaping: float) -> None:
        """Fill the learners' buffers.

        Args:
            learners: From ``make_learner``, one for each entry of ``seating.learners``.
            shaping: Weight of the game's shaped rewards.
        """
        for learner in learners:
            learner.policy.set_training_mode(False)
            learner.rollout_buffer.reset()
        with torch.inference_mode():
            for t in range(self.settings.rollout):
                self._step(learners, t, shaping)
            observations = self._rows(self.batch.out.observations)
            for learner, own in zip(learners, self.seating.learners, strict=True):
                values = learner.policy.predict_values(torch.from_numpy(observations[own]))
                learner.rollout_buffer.finish(values, self._per_row(self.starts)[own])

    def _step(self, learners: Sequence[Any], t: int, shaping: float) -> None:
        batch, out = self.batch, self.batch.out
        actions = np.empty(batch.num_envs * batch.n_agents, np.int64)
        for learner, own in zip(learners, self.seating.learners, strict=True):
            actions[own] = self._act(learner, own, t)
        for partner, own in zip(self.partners, self.seating.partners, strict=True):
            observations, masks = self._rows(out.observations)[own], self._rows(out.masks)[own]
            actions[own] = partner.network.act(observations, masks, self.rng, partner.mode)
        batch.step(actions.reshape(batch.num_envs, -1))
        self.steps += batch.num_envs
        self.sums += out.rewards.mean(1)
        rewards = out.rewards * self.settings.reward_scale
        if self.shaped and shaping:
            rewards = rewards + out.shaped * (shaping * self.settings.reward_scale)
        rewards = rewards.reshape(-1).astype(np.float32, copy=False)
        over = batch.over
        if out.truncated.any():
            self._bootstrap_truncated(learners, rewards, out.truncated & ~out.terminated)
        for learner, own in zip(learners, self.seating.learners, strict=True):
            learner.rollout_buffer.rewards[t] = rewards[own]
        self.starts = over
        if over.any():
            self._restart(over)

    def _act(self, learner: Any, own: Any, t: int) -> Array:
        """Let a learner choose, and note what it saw and thought."""
        buffer, out = learner.rollout_buffer, self.batch.out
        buffer.observations[t] = self._rows(out.observations)[own]
        buffer.episode_starts[t] = self._per_row(self.starts)[own]
        observations = torch.from_numpy(buffer.observations[t])
        if hasattr(buffer, "action_masks"):
            buffer.action_masks[t] = self._rows(out.masks)[own]
            actions, values, log_probs = learner.policy(observations, action_masks=buffer.action_masks[t])
        else:
            actions, values, log_probs = learner.policy(observations)
        buffer.actions[t], buffer.log_probs[t] = actions.numpy(), log_probs.numpy()
        buffer.values[t] = values.numpy().reshape(-1)
        return buffer.actions[t]

    def _bootstrap_truncated(self, learners: Sequence[Any], rewards: Array, cut_off: Array) -> None:
        """Add the discounted value of what an episode that was only cut off would have gone on with."""
        rows = self._per_row(cut_off)
        observations = self._rows(self.batch.out.observations)
        for learner, own in zip(learners, self.seating.learners, strict=True):
            chosen = np.zeros_like(rows)
            chosen[own] = rows[own]
            if chosen.any():
                values = learner.policy.predict_values(torch.from_numpy(observations[chosen]))
                rewards[chosen] += self.settings.gamma * values.numpy().reshape(-1)

    def _restart(self, over: Array) -> None:
        self.returns.extend(self.sums[over & self.counted].tolist())
        self.counted |= over
        self.sums[over] = 0.0
        self.batch.reset(which=over)

    def _rows(self, array: Array) -> Array:
        """Return a view with environments and agents as one axis."""
        batch = self.batch
        shape = array.shape[2:] if array is not batch.out.observations else batch.single_observation_space.shape
        return array.reshape(batch.num_envs * batch.n_agents, *shape)

    def _per_row(self, array: Array) -> Array:
        return np.repeat(array, self.batch.n_agents)

    # ---------------------------------------------------------------------------------------- going on later

    def save(self) -> dict[str, Array]:
        """Return all that changes, as arrays."""
        arrays = {f"state.{name}": array for name, array in self.batch.state._asdict().items()}
        arrays |= {f"out.{name}": array for name, array in self.batch.out._asdict().items()}
        own = {"sums": self.sums, "counted": self.counted, "starts": self.starts, "returns": np.array(self.returns)}
        return arrays | own | {"steps": np.array(self.steps)}

    def load(self, arrays: dict[str, Array]) -> None:
        """Go back to what ``save`` returned."""
        for part in ("state", "out"):
            for name, array in getattr(self.batch, part)._asdict().items():
                array[...] = arrays[f"{part}.{name}"]
        for name in ("sums", "counted", "starts"):
            getattr(self, name)[...] = arrays[name]
        self.returns.clear()
        self.returns.extend(arrays["returns"].tolist())
        self.steps = int(arrays["steps"])
