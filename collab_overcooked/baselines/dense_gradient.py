"""Gradient of the PPO loss by hand, for networks of dense layers on the CPU.

The loss is the one of ``ppo.ppo_loss``, which autograd differentiates for all other networks. Here activations and
gradients stay in memory that every minibatch uses again, and one kernel computes the loss and its gradient with respect
to logits and values.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import torch
from torch import nn

from collab_overcooked.baselines.actor_critic import MASKED, ActorCritic
from collab_overcooked.baselines.mat import TeamTransformer
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.kernels.jit import kernel

if TYPE_CHECKING:
    from collab_overcooked.baselines.ppo import LossWeights, Minibatch

Array = np.ndarray


class Targets(NamedTuple):
    """Targets of the loss for log probabilities and values; arrays as in ``ppo.Minibatch``."""

    actions: Array
    log_probs: Array
    advantages: Array  # Normalized
    returns: Array
    start_log_probs: Array


@kernel
def differentiate_loss(weights, targets, log_probs, values, sums):
    """The gradients of ``ppo.ppo_loss`` with respect to logits and values take the place of these.

    Mutates: log_probs (B, A), values (B, 1), sums (5,), which get the losses that ``ppo.ppo_loss`` returns.
    """
    one, clip = np.float32(1.0), weights.clip
    share = one / np.float32(log_probs.shape[0])
    sums[:] = 0.0
    for b in range(log_probs.shape[0]):
        action, advantage = targets.actions[b], targets.advantages[b]
        log_ratio = log_probs[b, action] - targets.log_probs[b]
        ratio = exp(log_ratio)
        gain = advantage * ratio
        clipped_gain = advantage * min(max(ratio, one - clip), one + clip)
        # Of a logit: this much less for the action, and shared out over all by their probabilities
        pull = share * gain if gain <= clipped_gain else np.float32(0.0)
        entropy_loss = differentiate_policy(weights, targets.start_log_probs[b], log_probs[b], share, pull)
        log_probs[b, action] -= pull
        error = values[b, 0] - targets.returns[b]
        values[b, 0] = 2 * share * weights.value * error
        sums[0] += share * entropy_loss
        sums[1] -= share * min(gain, clipped_gain)
        sums[2] += share * error * error
        sums[3] += share * (ratio - one - log_ratio)
        sums[4] += share * (abs(ratio - one) > clip)


@kernel
def differentiate_policy(weights, start, log_probs, share, pull):
    """The gradients of entropy bonus and divergence take the place of a row's log probabilities.

    Mutates: log_probs (A,).

    Returns:
        The mean of the log probabilities.
    """
    entropy_loss = np.float32(0.0)
    for a in range(log_probs.shape[0]):
        entropy_loss += exp(log_probs[a]) * log_probs[a]
    for a in range(log_probs.shape[0]):
        probability = exp(log_probs[a])
        slope = pull + share * weights.entropy * (log_probs[a] - entropy_loss)
        log_probs[a] = probability * slope
        if weights.start > 0:
            log_probs[a] += share * weights.start * (probability - exp(start[a]))
    return entropy_loss


@kernel
def stop_at_zero(gradient, outputs):
    """No gradient passes a rectifier that gave 0. Mutates: gradient (n,)."""
    for k in range(gradient.shape[0]):
        gradient[k] = gradient[k] if outputs[k] > 0 else np.float32(0.0)


class DenseGradient:
    """Writes the gradient of the loss of a minibatch into the gradients of a network's parameters.

    Args:
        network: Network that is trained; see ``covers``.
    """

    def __init__(self, network: ActorCritic) -> None:
        self._network = network
        self._trunk, self._policy, self._value = map(
            _dense_layers, (network.trunk, network.policy_head, network.value_head)
        )
        self._memory: dict[tuple[str, int], torch.Tensor] = {}
        self._sums = np.zeros(5, np.float64)

    @staticmethod
    def covers(network: ActorCritic | TeamTransformer) -> TypeGuard[ActorCritic]:
        """Return whether a network is on the CPU and has dense layers alone, with rectifiers in between."""
        if isinstance(network, TeamTransformer) or network.scale.device.type != "cpu":
            return False
        if network.memory is not None or network.critic is not None or network.activation != "relu":
            return False
        return not any(isinstance(module, nn.Conv2d) for module in network.trunk)

    @torch.no_grad()
    def backward(self, batch: Minibatch, advantages: torch.Tensor, weights: LossWeights) -> torch.Tensor:
        """Set the gradients of all parameters, which are 0 before.

        Args:
            batch: Minibatch of B rows.
            advantages: Normalized, float32 (B,).
            weights: Weights of the terms of the loss.

        Returns:
            The losses that ``ppo.ppo_loss`` returns, float32 (5,).
        """
        inputs = batch.inputs
        features = self._forward("trunk", self._trunk, self._read(inputs), len(self._trunk), inputs.columns)
        last = features[-1]
        of_policy = self._forward("policy", self._policy, last, len(self._policy) - 1)
        of_value = self._forward("value", self._value, last, len(self._value) - 1)
        logits = of_policy[-1]
        if inputs.masks is not None:
            logits.masked_fill_(~inputs.masks, MASKED)
        log_probs = torch.log_softmax(logits, -1, out=self._buffer("log_probs", *logits.shape))
        targets = (batch.actions, batch.log_probs, advantages, batch.returns, batch.start_log_probs)
        single: Any = map(np.float32, weights)  # the kernel computes in single precision
        differentiate_loss(
            type(weights)(*single),
            Targets(*(target.numpy() for target in targets)),
            log_probs.numpy(),
            of_value[-1].numpy(),
            self._sums,
        )
        of_policy[-1] = log_probs  # by now their gradient
        gradient = self._buffer("features", *last.shape).zero_() if self._trunk else None
        self._backward("policy", self._policy, of_policy, gradient)
        self._backward("value", self._value, of_value, gradient)
        if gradient is not None:
            _stop_at_zero(gradient, last)
            self._backward("trunk", self._trunk, [*features[:-1], gradient], None, inputs.columns)
        return torch.from_numpy(self._sums.astype(np.float32))

    def _read(self, inputs: Inputs) -> torch.Tensor:
        """Return the scaled observations (B, K)."""
        observations, scale = inputs.observations.flatten(1), self._network.scale
        scale = scale.expand(self._network.input_shape).flatten()
        if inputs.columns is not None:
            scale = scale[inputs.columns]
        return torch.mul(observations, scale, out=self._buffer("read", *observations.shape))

    def _forward(
        self,
        name: str,
        layers: list[nn.Linear],
        read: torch.Tensor,
        rectified: int,
        columns: torch.Tensor | None = None,
    ) -> list[torch.Tensor]:
        """Return the input and the outputs (B, n) of all layers; the first layers are followed by ReLU."""
        outputs = [read]
        for k, layer in enumerate(layers):
            weight = layer.weight if columns is None or k > 0 else layer.weight[:, columns]
            kept = self._buffer(name, len(read), len(layer.bias), k)
            outputs.append(torch.addmm(layer.bias, outputs[-1], weight.T, out=kept))
            if k < rectified:
                outputs[-1].relu_()
        return outputs

    def _backward(
        self,
        name: str,
        layers: list[nn.Linear],
        outputs: list[torch.Tensor],
        of_input: torch.Tensor | None,
        columns: torch.Tensor | None = None,
    ) -> None:
        """Set the gradients of layers; the last array of ``outputs`` holds the gradient of the output.

        The gradient with respect to their input is added to ``of_input`` (B, n).
        """
        gradient = outputs[-1]
        for k in range(len(layers) - 1, -1, -1):
            layer, read = layers[k], outputs[k]
            torch.sum(gradient, 0, out=layer.bias.grad)
            if k > 0 or columns is None:
                torch.mm(gradient.T, read, out=layer.weight.grad)
            else:
                layer.weight.grad[:, columns] = gradient.T @ read
            if k > 0:
                gradient = torch.mm(gradient, layer.weight, out=self._buffer(f"of {name}", len(read), read.shape[1], k))
                _stop_at_zero(gradient, read)
            elif of_input is not None:
                of_input.addmm_(gradient, layer.weight)

    def _buffer(self, name: str, rows: int, columns: int, layer: int = 0) -> torch.Tensor:
        """Return an array of shape (rows, columns) that all minibatches share; it holds values of earlier ones."""
        memory = self._memory.get((name, layer))
        if memory is None or len(memory) < rows * columns:
            memory = self._memory[name, layer] = torch.zeros(rows * columns)
        return memory[: rows * columns].view(rows, columns)


def _dense_layers(modules: Iterable[Any]) -> list[nn.Linear]:
    return [module for module in modules if isinstance(module, nn.Linear)]


def _stop_at_zero(gradient: torch.Tensor, outputs: torch.Tensor) -> None:
    stop_at_zero(gradient.view(-1).numpy(), outputs.view(-1).numpy())
