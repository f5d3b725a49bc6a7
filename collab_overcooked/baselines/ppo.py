"""Proximal policy optimisation in plain torch: rollout buffer, advantages, gradient steps.

Rollouts fill preallocated arrays on the CPU, where environments are stepped, and go to the device of the network before
an update; minibatches are rows of them, selected by index. All random draws come from one generator on the CPU, so that
a checkpoint does not depend on the device.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from collab_overcooked.baselines.actor_critic import ActorCritic
from collab_overcooked.baselines.dense_gradient import DenseGradient
from collab_overcooked.baselines.mat import TeamTransformer
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.envs.api import Game
from collab_overcooked.policies.policy_file import Network

Array = np.ndarray
LOSSES = ("entropy_loss", "policy_gradient_loss", "value_loss", "approx_kl", "clip_fraction", "explained_variance")
ADAM_BETAS, ADAM_EPSILON = (0.9, 0.999), 1e-5  # epsilon as in Stable-Baselines3; torch's default is 1e-8


def choose_device(name: str) -> torch.device:
    """Return the device of a setting: ``"auto"`` is CUDA where it is available, otherwise the CPU.

    Raises:
        ValueError: The device is ``"cuda"``, and torch finds no GPU.
    """
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
    # Log probabilities of all actions by the policy that the training started from, float32 (S * B, A), or (S * B, 0)
    start_log_probs: torch.Tensor


class LossWeights(NamedTuple):
    """The clip range of the probability ratio, and the weights of the parts of the loss."""

    clip: float
    entropy: float
    value: float
    start: float  # Of the divergence from the policy that the training started from


class RolloutBuffer:
    """T steps of B rows, as arrays that every rollout overwrites: a write takes 1 us, to a tensor 6 us.

    Args:
        settings: Gives T, E and the discounts.
        game: Gives dtype of observations and number of actions.
        network: Gives the shapes of inputs, and the device of minibatches.
        rows: B, a multiple of E.

    Attributes:
        team: Rows that belong together: those of a whole team for a network that chooses for it, else 1.
        observations: (T, B, ...).
        masks: Accepted actions, bool (T, B, A).
        starts: True where an episode starts, bool (T, B).
        choices: True where the seat has a choice, bool (T, B).
        central: Input of a central critic, float32 (T, E, C), shared by all rows of an environment.
        states: Hidden states before each step, float32 (T, B, H).
        actions: int64 (T, B).
        log_probs, values, rewards, advantages, returns: float32 (T, B).
        start_log_probs: Log probabilities of the initial policy, float32 (T, B, A), or (T, B, 0) without one.
    """

    def __init__(
        self, settings: TrainingSettings, game: Game, network: ActorCritic | TeamTransformer, rows: int
    ) -> None:
        self.settings = settings
        self.network = network
        steps = settings.rollout
        self.team = game.n_agents if settings.weights == "joint" else 1  # rows that are learned from together
        dtype = game.single_observation_space.dtype
        dtype = dtype if np.issubdtype(dtype, np.integer) else np.dtype(np.float32)
        self.observations = np.zeros((steps, rows, *network.input_shape), dtype)
        self.masks = np.zeros((steps, rows, game.n_actions), np.bool_)
        self.starts, self.choices = np.zeros((2, steps, rows), np.bool_)
        self.central = np.zeros((steps, settings.environments, network.central_size), np.float32)
        self.states = np.zeros((steps, rows, settings.memory_size), np.float32)
        self.actions = np.zeros((steps, rows), np.int64)
        self.log_probs, self.values, self.rewards = np.zeros((3, steps, rows), np.float32)
        self.advantages, self.returns = np.zeros((2, steps, rows), np.float32)
        held = game.n_actions if settings.start_kl or settings.final_start_kl else 0
        self.start_log_probs = np.zeros((steps, rows, held), np.float32)

    def inputs(self, t: int) -> Inputs:
        """Return the inputs of all rows at step ``t``, on the device of the network."""
        device, central = self.network.scale.device, self.central[t]
        if self.network.central_size:
            central = central.repeat(self.values.shape[1] // len(central), 0)
        arrays = (self.observations[t], self.states[t], self.starts[t], self.choices[t], central, self.masks[t])
        inputs = Inputs(*(torch.from_numpy(array).to(device) for array in arrays))
        return inputs if self.settings.masks else inputs._replace(masks=None)

    def finish(self, last_values: Array, last_starts: Array) -> None:
        """Compute generalised advantages and returns, given values and episode starts (B,) after the last step."""
        gamma, decay = self.settings.gamma, self.settings.gamma * self.settings.gae_lambda
        continues = 1.0 - np.concatenate([self.starts[1:], last_starts[None]]).astype(np.float32)
        next_values = np.concatenate([self.values[1:], last_values[None]])
        deltas = self.rewards + gamma * next_values * continues - self.values
        advantage = np.zeros_like(last_values)
        for t in reversed(range(len(deltas))):
            advantage = deltas[t] + decay * continues[t] * advantage
            self.advantages[t] = advantage
        np.add(self.advantages, self.values, out=self.returns)

    def used_columns(self) -> Array | None:
        """Return which numbers of flat observations are not 0 throughout; None for networks that read whole ones.

        Weights of the others have gradients of 0 whether they are multiplied or not, and in grids they are most.
        """
        if not self.network.reads_columns:
            return None
        used = np.asarray(self.observations.reshape(self.values.size, -1).any(0))
        return None if 2 * used.sum() > used.size else np.flatnonzero(used)

    def minibatches(self, generator: torch.Generator) -> Iterator[Minibatch]:
        """Yield ``batch_size`` steps at a time in each of ``epochs`` passes, sequences in random order."""
        (steps, rows), device = self.values.shape, self.network.scale.device
        sequence = self.settings.gradient_steps
        sequences = torch.arange(steps * rows, device=device).view(-1, sequence, rows // self.team, self.team)
        sequences = sequences.transpose(1, 2).flatten(0, 1)

        def flat(array: Array) -> torch.Tensor:
            return torch.from_numpy(array).flatten(0, 1).to(device)

        used = self.used_columns()
        observations = self.observations
        states = flat(self.states)
        central = flat(self.central)
        if used is not None:
            observations = observations.reshape(steps, rows, -1)[:, :, used]
        read = flat(observations)
        columns = None if used is None else torch.from_numpy(used).to(device)
        masks = flat(self.masks) if self.settings.masks else None
        others = (self.starts, self.choices, self.actions, self.log_probs, self.advantages, self.returns)
        tensors = [flat(array) for array in (*others, self.start_log_probs)]
        for _ in range(self.settings.epochs):
            order = torch.randperm(len(sequences), generator=generator).to(device)
            for part in order.split(max(1, self.settings.batch_size // (sequence * self.team))):
                chosen = sequences[part].transpose(0, 1).flatten(1)
                every = chosen.flatten()
                starts, choices, *targets = (tensor.index_select(0, every) for tensor in tensors)
                inputs = Inputs(
                    read.index_select(0, every),
                    states.index_select(0, chosen[0]),
                    starts,
                    choices,
                    central.index_select(0, every // (rows // self.central.shape[1])),
                    None if masks is None else masks.index_select(0, every),
                    columns,
                    targets[0],
                )
                yield Minibatch(inputs, *targets)


class Adam:
    """Adam (Kingma and Ba 2015) on one vector of all parameters, so that clipping and a step take 8 operations.

    The class of torch imports its compiler when it is created, 1.2 s of processor time.

    Args:
        parameters: Parameters to optimise; their data and gradients become views of the vectors.

    Attributes:
        gradient: Gradient of all parameters, float32 (P,).
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        learned = list(parameters)
        self._weights = nn.utils.parameters_to_vector(learned).detach()
        self.gradient, self._mean, self._square = (torch.zeros_like(self._weights) for _ in range(3))
        self._steps = 0
        sizes = [parameter.numel() for parameter in learned]
        parts = zip(learned, self._weights.split(sizes), self.gradient.split(sizes), strict=True)
        for parameter, data, gradient in parts:
            parameter.data = data.view_as(parameter)
            parameter.grad = gradient.view_as(parameter)

    @torch.no_grad()
    def step(self, rate: float, max_norm: float) -> None:
        """Take a step against the gradient, cut to a norm, and set it to 0."""
        self._steps += 1
        self.gradient.mul_((max_norm / (self.gradient.norm() + 1e-6)).clamp_(max=1.0))
        first, second = ADAM_BETAS
        corrections = [1 - beta**self._steps for beta in ADAM_BETAS]
        self._mean.lerp_(self.gradient, 1 - first)
        self._square.mul_(second).addcmul_(self.gradient, self.gradient, value=1 - second)
        spread = (self._square / corrections[1]).sqrt_().add_(ADAM_EPSILON)
        self._weights.addcdiv_(self._mean, spread, value=-rate / corrections[0])
        self.gradient.zero_()

    def state_dict(self) -> dict[str, Any]:
        """Return the running means of gradients and of their squares."""
        return {"steps": self._steps, "mean": self._mean, "square": self._square}

    def load_state_dict(self, parts: Mapping[str, Any]) -> None:
        """Restore the state that ``state_dict`` returned."""
        self._steps = parts["steps"]
        self._mean.copy_(parts["mean"])
        self._square.copy_(parts["square"])


class PPO:
    """Learner with a network, its optimiser and its rollout.

    Args:
        settings: Settings of the training.
        game: Gives the spaces.
        rows: Rows B of its rollouts.
        scale: Factors of the observations, float32.
        device: Where the network and minibatches are.
        generator: CPU generator of actions and of the order of minibatches.

    Attributes:
        network: Policy and value.
        optimizer: Adam.
        dense_gradient: Differentiates the loss of networks that it covers; None for autograd.
        rollout: Observations, actions and rewards since the last update.
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
        self.settings = settings
        self.device = device
        self.generator = generator
        network = TeamTransformer.of if settings.weights == "joint" else ActorCritic
        self.network: ActorCritic | TeamTransformer = network(settings, game, scale).to(device)
        self.optimizer = Adam(self.network.parameters())
        # None where autograd differentiates the loss
        self.dense_gradient = DenseGradient(self.network) if DenseGradient.covers(self.network) else None
        self.rollout = RolloutBuffer(settings, game, self.network, rows)
        self.state = np.zeros((rows, settings.memory_size), np.float32)
        self._start: ActorCritic | None = None  # what the policy is held to
        self._start_state = np.zeros_like(self.state)

    def start_from(self, network: Network) -> None:
        """Take the policy from a file, and hold on to it if the settings say so."""
        assert isinstance(self.network, ActorCritic)
        self.network.load_actor(network)
        if self.rollout.start_log_probs.size:
            self._start = copy.deepcopy(self.network).requires_grad_(False)

    def act(self, t: int, observations: Array, masks: Array, starts: Array, choices: Array, central: Array) -> Array:
        """Draw actions, int64 (B,), and write step ``t`` of the rollout, all but its rewards.

        Args:
            t: Step of the rollout.
            observations: (B, ...).
            masks: Accepted actions, (B, A).
            starts: bool (B,), True where an episode starts.
            choices: bool (B,), True where the seat has a choice.
            central: Input of a central critic, float32 (E, C).
        """
        rollout = self.rollout
        rollout.observations[t], rollout.masks[t], rollout.central[t] = observations, masks, central
        rollout.starts[t], rollout.choices[t] = starts, choices
        rollout.states[t] = self.state
        inputs, team = rollout.inputs(t), self.rollout.team
        for seat in range(team):  # all rows at once, but for a network of whole teams
            log_probs, values, state = (tensor.cpu() for tensor in self.network(inputs))
            rows = slice(seat, None, team)
            actions = _draw(log_probs[rows], self.generator)
            rollout.log_probs[t, rows] = log_probs[rows].gather(-1, actions).squeeze(-1).numpy()
            rollout.actions[t, rows] = actions.squeeze(-1).numpy()
            if team > 1:
                inputs = inputs._replace(actions=torch.from_numpy(rollout.actions[t]).to(self.device))
        if self._start is not None:
            remembered = torch.from_numpy(self._start_state).to(self.device)
            log_probs, _, start_state = self._start(inputs._replace(state=remembered))
            rollout.start_log_probs[t] = log_probs.cpu().numpy()
            self._start_state[...] = start_state.cpu().numpy()
        self.state[...], rollout.values[t] = state.numpy(), values.numpy()
        return rollout.actions[t]

    def values(self, observations: Array, starts: Array, central: Array, rows: Array | slice = slice(None)) -> Array:
        """Return values, float32 (n,), of observations (n, ...), with the hidden states of some rows of the rollout."""
        arrays = (observations.astype(self.rollout.observations.dtype, copy=False), self.state[rows], starts)
        read = (torch.from_numpy(array).to(self.device) for array in (*arrays, np.ones_like(starts), central))
        values: Array = self.network(Inputs(*read))[1].cpu().numpy()
        return values

    def update(self, left: float, value_only: bool = False) -> dict[str, float]:
        """Learn from the rollout.

        Args:
            left: Share of the training that lies ahead, 1 to 0, by which learning rate, entropy bonus and the weight of
                the divergence from the start go.
            value_only: Leave the policy as it is.

        Returns:
            Means over all gradient steps, by the names in ``LOSSES``.
        """
        settings = self.settings
        rate = linear_schedule(settings.final_learning_rate, settings.learning_rate, left)
        entropy_weight = linear_schedule(settings.final_entropy, settings.entropy, left)
        start_weight = linear_schedule(settings.final_start_kl, settings.start_kl, left)
        parts = [
            self._gradient_step(batch, rate, entropy_weight, start_weight, value_only)
            for batch in self.rollout.minibatches(self.generator)
        ]
        errors, targets = self.rollout.returns - self.rollout.values, self.rollout.returns
        with np.errstate(divide="ignore", invalid="ignore"):  # a rollout may have no reward
            explained = 1.0 - float(errors.var() / targets.var())
        means = [*torch.stack(parts).mean(0).tolist(), explained]
        return dict(zip(LOSSES, means, strict=True))

    def _gradient_step(
        self, batch: Minibatch, rate: float, entropy_weight: float, start_weight: float, value_only: bool
    ) -> torch.Tensor:
        advantages, settings = batch.advantages, self.settings
        if len(advantages) > 1:  # the last minibatch may be a single step, which has no spread
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        weights = LossWeights(settings.clip, entropy_weight, settings.value_weight, start_weight)
        if self.dense_gradient is not None:
            losses = self.dense_gradient.backward(batch, advantages, weights)
        else:
            loss, losses = ppo_loss(self.network, batch, advantages, weights)
            loss.backward()
        if value_only:
            assert isinstance(self.network, ActorCritic)
            for weight in self.network.actor_parameters():
                assert weight.grad is not None
                weight.grad.zero_()
        self.optimizer.step(rate, settings.max_grad_norm)
        return losses

    def state_dict(self) -> dict[str, Any]:
        """Return network, optimiser and hidden states."""
        parts = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        return parts | {"state": torch.from_numpy(self.state), "start_state": torch.from_numpy(self._start_state)}

    def load_state_dict(self, parts: Mapping[str, Any], weights_only: bool = False) -> None:
        """Restore the state that ``state_dict`` returned, or only network and optimiser."""
        self.network.load_state_dict(parts["network"])
        self.optimizer.load_state_dict(parts["optimizer"])
        if not weights_only:
            self.state[...] = parts["state"].numpy()
            if self._start is not None:
                self._start_state[...] = parts["start_state"].numpy()


def ppo_loss(
    network: ActorCritic | TeamTransformer, batch: Minibatch, advantages: torch.Tensor, weights: LossWeights
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of a minibatch for autograd; ``DenseGradient`` computes its gradient without autograd.

    Args:
        network: Network that is trained.
        batch: Minibatch of B rows.
        advantages: Normalised advantages, float32 (B,).
        weights: Weights of the terms of the loss.

    Returns:
        The loss, and the detached ``LOSSES`` of a minibatch except the explained variance, float32 (5,).
    """
    all_log_probs, values, _ = network(batch.inputs)
    log_ratio = all_log_probs.gather(-1, batch.actions[:, None]).squeeze(-1) - batch.log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - weights.clip, 1 + weights.clip)
    policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
    value_loss = nn.functional.mse_loss(values, batch.returns)
    # A refused action's probability is 0 in float32, so it adds nothing to the entropy
    entropy_loss = (all_log_probs.exp() * all_log_probs).sum(-1).mean()
    loss = policy_loss + weights.entropy * entropy_loss + weights.value * value_loss
    if weights.start:
        away = batch.start_log_probs - all_log_probs
        loss = loss + weights.start * (batch.start_log_probs.exp() * away).sum(-1).mean()
    with torch.no_grad():
        divergence = (ratio - 1 - log_ratio).mean()
        clip_fraction = ((ratio - 1).abs() > weights.clip).float().mean()
        return loss, torch.stack([entropy_loss, policy_loss, value_loss, divergence, clip_fraction])


def _draw(log_probs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return actions (B, 1) drawn by log probabilities (B, A)."""
    cumulated = log_probs.exp().cumsum_(-1)
    # Below the sum also where it is rounded up, so that an action of probability 0 is never drawn
    drawn = torch.rand(len(cumulated), 1, generator=generator) * (cumulated[:, -1:] * (1 - 1e-6))
    return (cumulated <= drawn).sum(-1, keepdim=True)


def linear_schedule(end: float, start: float, left: float) -> float:
    """Return a value that goes from start to end while ``left`` goes from 1 to 0."""
    return end + (start - end) * left
