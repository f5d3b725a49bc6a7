"""Proximal policy optimisation in plain torch: rollout buffer, advantages, gradient steps.

Rollouts fill preallocated tensors on the device of the network; minibatches are rows of these, selected by index. All
random draws come from one generator on the CPU, so that a checkpoint does not depend on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from collab_overcooked.baselines.actor_critic import ActorCritic
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.envs.api import Game

Array = np.ndarray
LOSSES = ("entropy_loss", "policy_gradient_loss", "value_loss", "approx_kl", "clip_fraction", "explained_variance")
ADAM_EPSILON = 1e-5  # as in Stable-Baselines3; torch's default is 1e-8


def choose_device(name: str) -> torch.device:
    """Return the device of a setting: ``"auto"`` is CUDA where it is available, otherwise the CPU."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: 'cuda' is not available, torch finds no GPU; use device=cpu or device=auto")
    return torch.device("cuda" if name == "auto" and torch.cuda.is_available() else name.replace("auto", "cpu"))


class Minibatch(NamedTuple):
    """Rows of a rollout, S successive steps of B rows, flattened."""

    inputs: Inputs
    actions: torch.Tensor  # int64 (S * B,)
    log_probs: torch.Tensor  # Of the actions when they were drawn, float32 (S * B,)
    advantages: torch.Tensor  # float32 (S * B,)
    returns: torch.Tensor  # Targets of the values, float32 (S * B,)


class RolloutBuffer:
    """T steps of B rows, as tensors that every rollout overwrites.

    Args:
        settings: Gives T, E and the discounts.
        game: Gives dtype of observations and number of actions.
        network: Gives the shapes of inputs.
        rows: B, a multiple of E.
        device: Where the tensors are.

    Attributes:
        observations: (T, B, ...).
        masks: Accepted actions, bool (T, B, A).
        starts: True where an episode starts, bool (T, B).
        choices: True where the seat has a choice, bool (T, B).
        central: What a central critic reads, float32 (T, E, C), once for all rows of an environment.
        states: Hidden states before each step, float32 (T, B, H).
        actions: int64 (T, B).
        log_probs, values, rewards, advantages, returns: float32 (T, B).
    """

    def __init__(
        self, settings: TrainingSettings, game: Game, network: ActorCritic, rows: int, device: torch.device
    ) -> None:
        self.settings, steps = settings, settings.rollout
        dtype = game.single_observation_space.dtype
        integers = torch.from_numpy(np.zeros(0, dtype if np.issubdtype(dtype, np.integer) else np.float32)).dtype

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.zeros(steps, *shape, dtype=dtype, device=device)

        self.observations = zeros(rows, *network.input_shape, dtype=integers)
        self.masks = zeros(rows, game.n_actions, dtype=torch.bool)
        self.starts, self.choices = zeros(rows, dtype=torch.bool), zeros(rows, dtype=torch.bool)
        self.central = zeros(settings.environments, network.central_size)
        self.states = zeros(rows, settings.memory_size)
        self.actions = zeros(rows, dtype=torch.int64)
        self.log_probs, self.values, self.rewards = zeros(rows), zeros(rows), zeros(rows)
        self.advantages, self.returns = zeros(rows), zeros(rows)
        self.reads_columns = network.reads_columns

    def inputs(self, t: int) -> Inputs:
        """Return what all rows read before step ``t``."""
        central = self.central[t].repeat_interleave(self.values.shape[1] // self.central.shape[1], 0)
        masks = self.masks[t] if self.settings.masks else None
        return Inputs(self.observations[t], self.states[t], self.starts[t], self.choices[t], central, masks)

    def finish(self, last_values: torch.Tensor, last_starts: torch.Tensor) -> None:
        """Compute generalised advantages and returns, given values and episode starts (B,) after the last step."""
        gamma, decay = self.settings.gamma, self.settings.gamma * self.settings.gae_lambda
        continues = 1.0 - torch.cat([self.starts[1:], last_starts[None]]).float()
        next_values = torch.cat([self.values[1:], last_values[None]])
        deltas = self.rewards + gamma * next_values * continues - self.values
        advantage = torch.zeros_like(last_values)
        for t in reversed(range(len(deltas))):
            advantage = deltas[t] + decay * continues[t] * advantage
            self.advantages[t] = advantage
        torch.add(self.advantages, self.values, out=self.returns)

    def used_columns(self) -> torch.Tensor | None:
        """Return which numbers of flat observations are not 0 throughout; None for networks that read whole ones.

        Weights of the others have gradients of 0 whether they are multiplied or not, and in pictures they are most.
        """
        if not self.reads_columns:
            return None
        used = self.observations.flatten(2).any(0).any(0)
        return None if 2 * int(used.sum()) > used.numel() else used.nonzero().squeeze(1)

    def minibatches(self, generator: torch.Generator) -> Iterator[Minibatch]:
        """Yield ``batch_size`` steps at a time in each of ``epochs`` passes, sequences in random order."""
        steps, rows = self.values.shape
        sequence, device = self.settings.gradient_steps, self.values.device
        sequences = torch.arange(steps * rows, device=device).view(-1, sequence, rows).transpose(1, 2).flatten(0, 1)
        columns = self.used_columns()
        observations, states, central = (x.flatten(0, 1) for x in (self.observations, self.states, self.central))
        if columns is not None:
            observations = observations.flatten(1).index_select(1, columns)
        masks = self.masks.flatten(0, 1) if self.settings.masks else None
        others = (self.starts, self.choices, self.actions, self.log_probs, self.advantages, self.returns)
        flat = [tensor.flatten(0, 1) for tensor in others]
        for _ in range(self.settings.epochs):
            order = torch.randperm(len(sequences), generator=generator).to(device)
            for part in order.split(self.settings.batch_size // sequence):
                chosen = sequences[part].T
                every = chosen.flatten()
                starts, choices, *targets = (tensor.index_select(0, every) for tensor in flat)
                inputs = Inputs(
                    observations.index_select(0, every),
                    states.index_select(0, chosen[0]),
                    starts,
                    choices,
                    central.index_select(0, every // (rows // self.central.shape[1])),
                    None if masks is None else masks.index_select(0, every),
                    columns,
                )
                yield Minibatch(inputs, *targets)


class PPO:
    """Learner with a network, its optimiser and its rollout.

    Args:
        settings: What to learn with.
        game: Gives the spaces.
        rows: Rows B of its rollouts.
        scale: What observations are multiplied by, float32.
        device: Where network and rollout are.
        generator: CPU generator of actions and of the order of minibatches.

    Attributes:
        network: Policy and value.
        optimizer: Adam.
        rollout: What the learner has met and done since the last update.
        state: Hidden state of each row, float32 (B, H).
    """

    def __init__(
        self,
        settings: TrainingSettings,
        game: Game,
        rows: int,
        scale: Array,
        device: torch.device,
        generator: torch.Generator,
    ) -> None:
        self.settings, self.device, self.generator = settings, device, generator
        self.network = ActorCritic(settings, game, scale).to(device)
        fused = device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=ADAM_EPSILON, fused=fused)
        self.rollout = RolloutBuffer(settings, game, self.network, rows, device)
        self.state = torch.zeros(rows, settings.memory_size, device=device)

    def act(self, t: int, observations: Array, masks: Array, starts: Array, choices: Array, central: Array) -> Array:
        """Draw actions, int64 (B,), and write step ``t`` of the rollout, all but its rewards.

        Args:
            t: Step of the rollout.
            observations: (B, ...).
            masks: Accepted actions, (B, A).
            starts: bool (B,), True where an episode starts.
            choices: bool (B,), True where the seat has a choice.
            central: What a central critic reads, float32 (E, C).
        """
        rollout = self.rollout
        for tensor, array in (
            (rollout.observations, observations),
            (rollout.masks, masks),
            (rollout.starts, starts),
            (rollout.choices, choices),
            (rollout.central, central),
        ):
            if tensor.numel():  # a critic without global state reads none
                tensor[t] = torch.from_numpy(array)
        if self.network.memory is not None:
            rollout.states[t] = self.state
        log_probs, rollout.values[t], state = self.network(rollout.inputs(t))
        drawn = torch.multinomial(log_probs.exp().cpu(), 1, generator=self.generator)
        actions = drawn.to(self.device)
        rollout.actions[t], rollout.log_probs[t] = actions.squeeze(-1), log_probs.gather(-1, actions).squeeze(-1)
        if self.network.memory is not None:
            self.state.copy_(state)
        chosen: Array = drawn.squeeze(-1).numpy()
        return chosen

    def values(
        self, observations: Array, starts: Array, central: Array, rows: Array | slice = slice(None)
    ) -> torch.Tensor:
        """Return values, float32 (n,), of observations (n, ...), with the hidden states of some rows of the rollout."""
        dtype = self.rollout.observations.dtype
        read = torch.from_numpy(observations).to(self.device, dtype)
        start, global_state = (torch.from_numpy(array).to(self.device) for array in (starts, central))
        choices = torch.ones_like(start)  # the next hidden state is of no interest
        values: torch.Tensor = self.network(Inputs(read, self.state[rows], start, choices, global_state))[1]
        return values

    def update(self, left: float) -> dict[str, float]:
        """Learn from the rollout.

        Args:
            left: Share of the training that lies ahead, 1 to 0, by which learning rate and entropy bonus go.

        Returns:
            Means over all gradient steps, by the names in ``LOSSES``.
        """
        settings = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = linear_schedule(settings.final_learning_rate, settings.learning_rate, left)
        entropy_weight = linear_schedule(settings.final_entropy, settings.entropy, left)
        parts = [self._gradient_step(batch, entropy_weight) for batch in self.rollout.minibatches(self.generator)]
        errors, targets = self.rollout.returns - self.rollout.values, self.rollout.returns
        explained = 1.0 - errors.var() / targets.var()
        means = [*torch.stack(parts).mean(0).tolist(), explained.item()]
        return dict(zip(LOSSES, means, strict=True))

    def _gradient_step(self, batch: Minibatch, entropy_weight: float) -> torch.Tensor:
        settings = self.settings
        all_log_probs, values, _ = self.network(batch.inputs)
        log_probs = all_log_probs.gather(-1, batch.actions[:, None]).squeeze(-1)
        advantages = batch.advantages
        if len(advantages) > 1:  # the last minibatch may be a single step, which has no spread
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        log_ratio = log_probs - batch.log_probs
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
        policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
        value_loss = nn.functional.mse_loss(values, batch.returns)
        # A refused action's probability is 0 in float32, so it adds nothing to the entropy
        entropy_loss = (all_log_probs.exp() * all_log_probs).sum(-1).mean()
        loss = policy_loss + entropy_weight * entropy_loss + settings.value_weight * value_loss
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), settings.max_grad_norm)
        self.optimizer.step()
        with torch.no_grad():
            divergence = (ratio - 1 - log_ratio).mean()
            clip_fraction = ((ratio - 1).abs() > settings.clip).float().mean()
            return torch.stack([entropy_loss, policy_loss, value_loss, divergence, clip_fraction])

    def state_dict(self) -> dict[str, Any]:
        """Return network, optimiser and hidden states."""
        parts = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        return parts | {"state": self.state}

    def load_state_dict(self, parts: Mapping[str, Any], weights_only: bool = False) -> None:
        """Go back to what ``state_dict`` returned, or take network and optimiser alone from it."""
        self.network.load_state_dict(parts["network"])
        self.optimizer.load_state_dict(parts["optimizer"])
        if not weights_only:
            self.state.copy_(parts["state"])


def linear_schedule(end: float, start: float, left: float) -> float:
    """Return a value that goes from start to end while ``left`` goes from 1 to 0."""
    return end + (start - end) * left
