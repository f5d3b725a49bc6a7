"""Policy and value network of PPO, and its way into policy files and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
import torch
from torch import nn

from collab_overcooked import __version__
from collab_overcooked.baselines.memory import Inputs, Memory
from collab_overcooked.baselines.settings import CRITICS, TrainingSettings
from collab_overcooked.envs.api import Game
from collab_overcooked.envs.critic_state import CriticState
from collab_overcooked.policies.action_history import history_size
from collab_overcooked.policies.policy_file import Network, PolicyFile, TeamNetwork

Array = np.ndarray
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
KINDS: dict[type[nn.Module], str] = {nn.Conv2d: "conv", nn.Linear: "dense", Memory: "gru"}  # as in policy files
MASKED = -1e8  # logit of an action outside the mask: an infinite one has no entropy


class ActorCritic(nn.Module):
    """Scaled observation, 3x3 convolutions, dense layers and memory, then a head for the policy and one for the value.

    A central critic reads the global state through dense layers of its own instead.

    Args:
        settings: Sizes of the layers.
        game: Gives the shapes of observations, actions and global state.
        scale: Factors of the observations, float32.

    Attributes:
        input_shape: Shape of an input: an observation, flat and with past actions if the network reads these.
        central_size: Size C of the global state; 0 for a critic on the features of the policy.
    """

    def __init__(self, settings: TrainingSettings, game: Game, scale: Array) -> None:
        super().__init__()
        self.activation, activation = settings.activation, ACTIVATIONS[settings.activation]
        shape = game.single_observation_space.shape
        if settings.history:
            past = history_size(settings.history, game.n_agents, game.n_actions)
            scale = np.concatenate([np.broadcast_to(scale, shape).reshape(-1), np.ones(past, np.float32)])
            shape = (prod(shape) + past,)
        self.input_shape: tuple[int, ...] = shape
        kind = CRITICS[settings.critic]
        self.central_size: int = CriticState(game, kind).space.shape[0] if kind else 0
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.tensor(scale))
        convolutions, trunk = settings.convolutions, settings.trunk
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise([shape[0], *convolutions]):
            layers += [nn.Conv2d(before, after, 3, padding=1), activation()]
        size = prod(shape[1:]) * convolutions[-1] if convolutions else prod(shape)
        self.trunk = nn.Sequential(*layers, nn.Flatten(), *_dense_layers([size, *trunk], activation))
        size = trunk[-1] if trunk else size
        self.memory = Memory(size, settings.memory_size) if settings.memory else None
        size = settings.memory_size or size
        central = [self.central_size, *trunk[:-1], size]
        self.critic = nn.Sequential(*_dense_layers(central, activation)) if self.central_size else None
        heads = [size, *settings.heads]
        self.policy_head = nn.Sequential(*_dense_layers(heads, activation), nn.Linear(heads[-1], game.n_actions))
        self.value_head = nn.Sequential(*_dense_layers(heads, activation), nn.Linear(heads[-1], 1))
        self.reads_columns = not convolutions and bool(trunk)  # the first layer is dense
        self._initialize()

    def _initialize(self) -> None:
        """Draw orthogonal weights; small ones of the last layers make all actions about as likely at the start."""
        gains = {self.policy_head[-1]: 0.01, self.value_head[-1]: 1.0}
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                nn.init.orthogonal_(module.weight, gains.get(module, sqrt(2)))
                nn.init.zeros_(module.bias)

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log probabilities (S * B, A), values (S * B,), and the hidden state (B, H) after the last step."""
        columns, state = inputs.columns, inputs.state
        if columns is None:
            features = self.trunk(inputs.observations * self.scale)
        else:
            first: Any = self.trunk[1]
            scale = self.scale.expand(self.input_shape).flatten()[columns]
            features = nn.functional.linear(inputs.observations * scale, first.weight[:, columns], first.bias)
            features = self.trunk[2:](features)
        if self.memory is not None:
            features, state = self.memory(features, inputs)
        logits = self.policy_head(features)
        if inputs.masks is not None:
            logits = logits.masked_fill(~inputs.masks, MASKED)
        values = self.value_head(features if self.critic is None else self.critic(inputs.central))
        return torch.log_softmax(logits, -1), values.squeeze(-1), state

    def actor(self) -> Network:
        """Return the layers that choose actions, as numpy arrays."""
        layers = tuple((kind, _array(module.weight), _array(module.bias)) for kind, module in self._actor_layers())
        return Network(_array(self.scale), layers, self.activation)

    def load_actor(self, network: Network) -> None:
        """Copy a network into the layers that choose actions.

        Raises:
            ValueError: Layers or activation differ from those of this network.
        """
        layers, now = list(self._actor_layers()), self.actor()
        expected, actual = ([(kind, weight.shape) for kind, weight, _ in module.layers] for module in (now, network))
        if (expected, now.activation) != (actual, network.activation):
            raise ValueError(
                f"start: its layers are {actual}, {network.activation}; those to train {expected}, {now.activation}"
            )
        with torch.no_grad():
            self.scale.copy_(torch.from_numpy(network.scale))
            for (_, module), (_, weight, bias) in zip(layers, network.layers, strict=True):
                module.weight.copy_(torch.from_numpy(weight))
                module.bias.copy_(torch.from_numpy(bias))

    def actor_parameters(self) -> list[nn.Parameter]:
        """Return the weights of the policy; the remaining weights affect only the value."""
        return [weight for _, module in self._actor_layers() for weight in (module.weight, module.bias)]

    def _actor_layers(self) -> Iterator[tuple[str, Any]]:
        for module in (*self.trunk, self.memory, *self.policy_head):
            if type(module) in KINDS:
                yield KINDS[type(module)], module


def _dense_layers(sizes: Sequence[int], activation: type[nn.Module]) -> list[nn.Module]:
    return [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), activation())]


def _array(tensor: torch.Tensor) -> Array:
    array: Array = tensor.detach().cpu().numpy().copy()
    return array


def policy_file(
    network: Network | TeamNetwork, settings: TrainingSettings, game: Game, algorithm: str, command: str, steps: int
) -> PolicyFile:
    """Return the network as a policy file without a score; see ``PolicyFile`` for the metadata."""
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
        "version": __version__,
        "score": None,
    }
    if settings.history:
        meta["history"] = {"steps": settings.history, "agents": game.n_agents}
    return PolicyFile(network, meta)
