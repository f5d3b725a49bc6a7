"""The library's learners, fed with whole arrays: buffers without copies, a trunk that policy and value share.

Almost all time should go into matrix products; on one core with 196 features and 128 units it was less than half. What
these classes remove is the rest: Stable-Baselines3 allocates its buffers anew for each rollout, transposes them before
the first minibatch, keeps masks as float32, and its distributions normalise and check the same logits several times.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import RolloutBufferSamples
from torch import nn

from collab_overcooked.baselines.memory import Inputs, Memory
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.envs.api import Game
from collab_overcooked.envs.critic_state import CriticState
from collab_overcooked.policies.action_history import history_size
from collab_overcooked.policies.policy_file import Network, PolicyFile

Array = np.ndarray
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}

MASKED = -1e8  # logit of an action outside the mask, as in sb3-contrib: an infinite one has no entropy


class Trunk(BaseFeaturesExtractor):
    """Scaled observation, 3x3 convolutions, dense layers, memory; and the dense layers of a central critic.

    Args:
        observation_space: Box; (channels, height, width) if there are convolutions.
        scale: What observations are multiplied by.
        convolutions: Channels of each.
        dense: Sizes of each.
        activation: After each layer.
        memory: Size of the hidden state; 0 for no memory.
        central: Size C of the global state; 0 for a critic on the same features.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        scale: Array,
        convolutions: Sequence[int],
        dense: Sequence[int],
        activation: type[nn.Module],
        memory: int,
        central: int,
    ) -> None:
        shape = observation_space.shape
        layers: list[nn.Module] = []
        if convolutions:
            for before, after in zip([shape[0], *convolutions], convolutions, strict=False):
                layers += [nn.Conv2d(before, after, 3, padding=1), activation()]
        layers.append(nn.Flatten())
        size = int(np.prod(shape[1:])) * convolutions[-1] if convolutions else int(np.prod(shape))
        layers += _dense_layers([size, *dense], activation)
        size = dense[-1] if dense else size
        super().__init__(observation_space, memory or size)
        self.shape = shape
        self.layers = nn.Sequential(*layers)
        self.memory = Memory(size, memory) if memory else None
        sizes = [central, *dense[:-1], memory or size]
        self.critic = nn.Sequential(*_dense_layers(sizes, activation)) if central else None
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.from_numpy(scale))

    def initial_state(self, rows: int) -> torch.Tensor:
        """Return the hidden state at the start of an episode, zeros, float32 (rows, H)."""
        return torch.zeros(rows, self.memory.size if self.memory else 0)

    def scale_of(self, columns: torch.Tensor | None) -> torch.Tensor:
        """Return the scale of some numbers of the flat observation, or of whole observations."""
        return self.scale if columns is None else self.scale.expand(self.shape).flatten()[columns]

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return features (S * B, F) of policy and of value, and the hidden state after the last step."""
        features, state, columns = inputs.observations * self.scale_of(inputs.columns), inputs.state, inputs.columns
        if columns is None:
            features = self.layers(features)
        else:
            first = self.layers[1]
            features = self.layers[2:](nn.functional.linear(features, first.weight[:, columns], first.bias))
        if self.memory:
            features, state = self.memory(features, inputs)
        return features, self.critic(inputs.central) if self.critic else features, state


def _dense_layers(sizes: Sequence[int], activation: type[nn.Module]) -> list[nn.Module]:
    return [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), activation())]


KINDS: dict[type[nn.Module], str] = {nn.Conv2d: "conv", nn.Linear: "dense", Memory: "gru"}  # as in policy files


class _Lean(nn.Module):
    """Mixin of both policies: one log-softmax instead of distribution objects."""

    def judge(self, inputs: Inputs, masks: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log probabilities (S * B, A), values (S * B, 1), and the hidden state after the last step."""
        policy: Any = self
        of_policy, of_value, state = policy.features_extractor(inputs)
        logits = policy.action_net(policy.mlp_extractor.forward_actor(of_policy))
        if masks is not None:
            logits = logits.masked_fill(~torch.as_tensor(masks), MASKED)
        values = policy.value_net(policy.mlp_extractor.forward_critic(of_value))
        return torch.log_softmax(logits, -1), values, state

    def forward(
        self, inputs: Inputs, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions (S * B,), values (S * B, 1), log probabilities (S * B,), and the hidden state."""
        log_probs, values, state = self.judge(inputs, action_masks)
        actions = torch.multinomial(log_probs.exp(), 1).squeeze(-1)
        return actions, values, log_probs.gather(-1, actions[:, None]).squeeze(-1), state

    def predict_values(self, inputs: Inputs) -> torch.Tensor:
        """Return values (S * B, 1)."""
        return self.judge(inputs, None)[1]

    def evaluate_actions(  # masks may be left out, as in PPO
        self, inputs: Inputs, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return values (S * B, 1), log probabilities (S * B,) and entropies (S * B,)."""
        log_probs, values, _ = self.judge(inputs, action_masks)
        # A refused action's probability is 0 in float32, so it adds nothing to the entropy.
        return values, log_probs.gather(-1, actions[:, None]).squeeze(-1), -(log_probs.exp() * log_probs).sum(-1)


class ActorCritic(_Lean, ActorCriticPolicy):
    """Policy and value of PPO."""


class MaskedPolicy(_Lean, MaskableActorCriticPolicy):
    """Policy and value of masked PPO."""


class _Kept:
    """Mixin of both buffers: allocate once, and return rows without transposing first."""

    names: tuple[str, ...] = ("actions", "values", "log_probs", "advantages", "returns")
    observations: Array  # (T, B, ...)
    episode_starts: Array  # float32 (T, B), nonzero where an episode starts
    states: Array  # Hidden states before each step, float32 (T, B, H)
    choices: Array  # bool (T, B), True where the seat has a choice
    central: Array  # float32 (T, E, C), once for all rows of an environment; see ``Inputs``
    all_columns: bool  # True for convolutions, which read observations with all their numbers
    sequence: int  # Successive steps of a row that stay together in minibatches; divides T
    buffer_size: int
    n_envs: int
    full: bool
    pos: int

    def reset(self) -> None:
        """Start a new rollout in the same memory."""
        if not hasattr(self, "log_probs"):
            super().reset()  # type: ignore[misc]
            self.actions = np.zeros((self.buffer_size, self.n_envs), np.int64)
        self.pos, self.full = 0, False

    def inputs(self, t: int) -> Inputs:
        """Return what all rows read before step ``t``."""
        central = self.central[t].repeat(self.n_envs // self.central.shape[1], 0)
        read = (self.observations[t], self.states[t], self.episode_starts[t], self.choices[t], central)
        return Inputs(*map(torch.from_numpy, read))

    def finish(self, last_values: torch.Tensor, dones: Array) -> None:
        """Say that all rows are written, and compute advantages and returns."""
        self.pos, self.full = self.buffer_size, True
        self.compute_returns_and_advantage(last_values, dones)  # type: ignore[attr-defined]

    def used_columns(self) -> torch.Tensor | None:
        """Return which numbers of flat observations are not 0 throughout; None for networks that read whole ones.

        Weights of the others have gradients of 0 whether they are multiplied or not, and in pictures they are most.
        """
        used = None if self.all_columns else np.flatnonzero(self.observations.any((0, 1)))
        return None if used is None or 2 * used.size > self.observations[0, 0].size else torch.from_numpy(used)

    def batches(self, batch_size: int | None) -> Iterator[list[Any]]:
        """Yield inputs and the arrays in ``names``, sequences in random order, ``batch_size`` steps at a time."""
        rows = torch.arange(self.buffer_size * self.n_envs).view(-1, self.sequence, self.n_envs)
        sequences = rows.transpose(1, 2).flatten(0, 1)
        tensors = {
            name: torch.from_numpy(getattr(self, name)).flatten(0, 1)
            for name in ("observations", "states", "episode_starts", "choices", *self.names)
        }
        columns = self.used_columns()
        if columns is not None:
            tensors["observations"] = tensors["observations"].flatten(1).index_select(1, columns)
        for order in torch.randperm(len(sequences)).split((batch_size or rows.numel()) // self.sequence):
            chosen = sequences[order].T
            first, every = tensors["states"].index_select(0, chosen[0]), chosen.flatten()
            central = torch.from_numpy(self.central).flatten(0, 1)
            central = central.index_select(0, every // (self.n_envs // self.central.shape[1]))
            observations, starts, choices, *others = (
                tensor.index_select(0, every) for name, tensor in tensors.items() if name != "states"
            )
            yield [Inputs(observations, first, starts, choices, central, columns), *others]


class Buffer(_Kept, RolloutBuffer):
    """Rollout buffer of PPO."""

    def get(self, batch_size: int | None = None) -> Iterator[RolloutBufferSamples]:
        """Yield minibatches."""
        for tensors in self.batches(batch_size):
            yield RolloutBufferSamples(*tensors)


class MaskedBuffer(_Kept, MaskableRolloutBuffer):
    """Rollout buffer of masked PPO; masks are bool."""

    names = (*_Kept.names, "action_masks")
    action_masks: np.ndarray

    def reset(self) -> None:
        first = not hasattr(self, "log_probs")
        super().reset()
        if first:
            self.action_masks = self.action_masks.astype(np.bool_)

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:
        """Yield minibatches."""
        for tensors in self.batches(batch_size):
            yield MaskableRolloutBufferSamples(*tensors)


def input_space(settings: TrainingSettings, game: Game) -> spaces.Box:
    """Return the space of a learner's inputs: observations, flat and with past actions if it reads these."""
    space = game.single_observation_space
    if not settings.history:
        return space
    extra = history_size(settings.history, game.n_agents, game.n_actions)
    low = np.concatenate([space.low.reshape(-1), np.zeros(extra, space.dtype)])
    high = np.concatenate([space.high.reshape(-1), np.ones(extra, space.dtype)])
    return spaces.Box(low, high, dtype=space.dtype.type)


def input_scale(scale: Array, settings: TrainingSettings, game: Game) -> Array:
    """Return the scale of a learner's inputs for that of observations: past actions are 0 or 1 as they are."""
    if not settings.history:
        return scale
    flat = np.broadcast_to(scale, game.single_observation_space.shape).reshape(-1)
    extra = history_size(settings.history, game.n_agents, game.n_actions)
    return np.concatenate([flat, np.ones(extra, np.float32)])


def central_size(settings: TrainingSettings, game: Game) -> int:
    """Return the size of what a central critic reads; 0 without one."""
    return CriticState(game).space.shape[0] if settings.critic == "central" else 0


def make_learner(settings: TrainingSettings, game: Game, rows: int, scale: Array) -> Any:
    """Make a learner that is fed from outside: it has no environment of its own.

    Args:
        settings: What to learn with.
        game: Gives the spaces.
        rows: Rows of its rollout buffer.
        scale: What observations are multiplied by, float32.

    Returns:
        A PPO or a MaskablePPO whose ``rollout_buffer`` is a ``Buffer`` or a ``MaskedBuffer``.
    """
    space = input_space(settings, game)
    masked = settings.learner == "maskable-ppo"
    kind: Any = MaskablePPO if masked else PPO
    learner = kind(
        MaskedPolicy if masked else ActorCritic,
        None,
        learning_rate=lambda left: linear_schedule(settings.final_learning_rate, settings.learning_rate, left),
        n_steps=settings.rollout,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.entropy,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_grad_norm,
        rollout_buffer_class=MaskedBuffer if masked else Buffer,
        policy_kwargs=_policy_kwargs(settings, input_scale(scale, settings, game), central_size(settings, game)),
        device="cpu",
        _init_setup_model=False,
    )
    learner.observation_space, learner.action_space = space, game.single_action_space
    learner.n_envs = rows
    learner._setup_model()
    buffer = learner.rollout_buffer
    buffer.states = np.zeros((settings.rollout, rows, settings.memory_size), np.float32)
    buffer.choices = np.zeros((settings.rollout, rows), np.bool_)
    buffer.central = np.zeros((settings.rollout, settings.environments, central_size(settings, game)), np.float32)
    buffer.all_columns = bool(settings.convolutions) or not settings.trunk
    buffer.sequence = settings.gradient_steps
    learner.set_logger(Logger(folder=None, output_formats=[]))  # the training reads what it keeps
    return learner


def _policy_kwargs(settings: TrainingSettings, scale: Array, central: int) -> dict[str, Any]:
    activation = ACTIVATIONS[settings.activation]
    return {
        "net_arch": {"pi": list(settings.heads), "vf": list(settings.heads)},
        "activation_fn": activation,
        "features_extractor_class": Trunk,
        "features_extractor_kwargs": {
            "scale": scale,
            "convolutions": list(settings.convolutions),
            "dense": list(settings.trunk),
            "activation": activation,
            "memory": settings.memory_size,
            "central": central,
        },
        "normalize_images": False,
        "optimizer_kwargs": {"eps": 1e-5, "fused": True},
    }


def linear_schedule(end: float, start: float, left: float) -> float:
    """Return a value that goes from start to end while ``left`` goes from 1 to 0."""
    return end + (start - end) * left


def actor_of(policy: ActorCriticPolicy, activation: str) -> Network:
    """Return the layers that choose actions, as numpy arrays."""
    layers = tuple((kind, _array(module.weight), _array(module.bias)) for kind, module in _layers_of(policy))
    trunk: Any = policy.features_extractor
    return Network(_array(trunk.scale), layers, activation)


def policy_file(
    policy: ActorCriticPolicy, settings: TrainingSettings, game: Game, algorithm: str, command: str, steps: int
) -> PolicyFile:
    """Return a policy as it is now, without a score; see ``PolicyFile`` for what is kept with it."""
    meta = {
        "env_id": game.id,
        "env_kwargs": game.kwargs,
        "observation_shape": list(game.single_observation_space.shape),
        "n_actions": game.n_actions,
        "mode": settings.mode,
        "algorithm": algorithm,
        "command": command,
        "seed": settings.seed,
        "steps": steps,
        "score": None,
    }
    if settings.history:
        meta["history"] = {"steps": settings.history, "agents": game.n_agents}
    return PolicyFile(actor_of(policy, settings.activation), meta)


def load_weights(policy: ActorCriticPolicy, network: Network, activation: str) -> None:
    """Copy a network into the layers that choose actions."""
    modules = list(_layers_of(policy))
    expected = [(kind, tuple(module.weight.shape)) for kind, module in modules]
    actual = [(kind, weight.shape) for kind, weight, _ in network.layers]
    if (expected, activation) != (actual, network.activation):
        raise ValueError(
            f"start: its layers are {actual}, {network.activation}; those to train {expected}, {activation}"
        )
    trunk: Any = policy.features_extractor
    with torch.no_grad():
        trunk.scale.copy_(torch.from_numpy(network.scale))
        for (_, module), (_, weight, bias) in zip(modules, network.layers, strict=True):
            module.weight.copy_(torch.from_numpy(weight))
            module.bias.copy_(torch.from_numpy(bias))


def _layers_of(policy: ActorCriticPolicy) -> Iterator[tuple[str, Any]]:
    trunk: Any = policy.features_extractor
    for module in (*trunk.layers, trunk.memory, *policy.mlp_extractor.policy_net, policy.action_net):
        if type(module) in KINDS:
            yield KINDS[type(module)], module


def _array(tensor: Any) -> Array:
    return tensor.detach().numpy().copy()
