"""The memory of a policy: a GRU that is reset where an episode starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn


class Inputs(NamedTuple):
    """Input of a policy: S successive steps of B rows, and the hidden state before them."""

    observations: torch.Tensor  # (S * B, ...), step after step
    state: torch.Tensor  # Hidden state before the first step, float32 (B, H)
    starts: torch.Tensor  # (S * B,), nonzero where an episode starts
    choices: torch.Tensor  # bool (S * B,), True where the seat has a choice
    central: torch.Tensor  # What a central critic reads, float32 (S * B, C); C is 0 without one
    masks: torch.Tensor | None = None  # Accepted actions, bool (S * B, A); None for all
    # Which numbers of the flat observation stand in ``observations``, (S * B, K), all others being 0; None for all
    columns: torch.Tensor | None = None
    # Of each row, int64 (S * B,); what a network of whole teams reads of the seats before. None while they are chosen
    actions: torch.Tensor | None = None


class Memory(nn.Module):
    """GRU whose state is unchanged in steps without a choice, as policies are not asked in such steps.

    Args:
        features: Size F of its input.
        size: Size H of its state.
    """

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(3 * size, features + size))  # as in a policy file
        self.bias = nn.Parameter(torch.zeros(6 * size))
        for gate in self.weight.data.split(size):
            for part in gate.split([features, size], 1):
                part.copy_(nn.init.orthogonal_(torch.empty_like(part)))

    def forward(self, features: torch.Tensor, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return outputs (S * B, H) for features (S * B, F), and the state after the last step."""
        shape, size = (-1, len(inputs.state), 1), self.size
        from_features = torch.addmm(self.bias[: 3 * size], features, self.weight[:, :-size].T)
        outputs, state = _Recurrence.apply(
            from_features.view(-1, len(inputs.state), 3 * size),
            inputs.state,
            inputs.starts.bool().view(shape),
            inputs.choices.view(shape),
            self.weight[:, -size:],
            self.bias[3 * size :],
        )
        return outputs.flatten(0, 1), state


class _Recurrence(torch.autograd.Function):
    """Steps of a GRU, with a gradient by hand: one product for the gradient of the weights instead of one a step."""

    @staticmethod
    def forward(ctx: Any, x: Any, state: Any, starts: Any, choices: Any, weight: Any, bias: Any) -> Any:
        size, kept, outputs = state.shape[1], [], []
        for x_t, start, choice in zip(x, starts, choices, strict=True):
            state = state.masked_fill(start, 0.0)
            from_state = torch.addmm(bias, state, weight.T)
            gates = (x_t[:, : 2 * size] + from_state[:, : 2 * size]).sigmoid_()
            reset, update = gates.split(size, 1)
            candidate = torch.addcmul(x_t[:, 2 * size :], reset, from_state[:, 2 * size :]).tanh_()
            outputs.append(torch.lerp(candidate, state, update))
            kept.append((state, from_state[:, 2 * size :], reset, update, candidate))
            state = torch.where(choice, outputs[-1], state)
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(starts, choices, weight, *map(torch.stack, zip(*kept, strict=True)))
        ctx.mark_non_differentiable(state)
        return torch.stack(outputs), state

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        starts, choices, weight, state, from_state, reset, update, candidate = ctx.saved_tensors
        of_candidate = (1 - update) * (1 - candidate**2)
        of_gates = state.new_empty(*state.shape[:2], 3, state.shape[2])  # slopes, then gradients in their place
        torch.mul(of_candidate * from_state, reset * (1 - reset), out=of_gates[:, :, 0])
        torch.mul(state - candidate, update * (1 - update), out=of_gates[:, :, 1])
        torch.mul(of_candidate, reset, out=of_gates[:, :, 2])
        of_outputs, of_state = gradients[0].clone(), torch.zeros_like(gradients[0][0])
        for t in range(len(state) - 1, -1, -1):
            of_outputs[t] += of_state * choices[t]
            of_gates[t] *= of_outputs[t][:, None]
            passed = torch.addcmul(of_state.masked_fill_(choices[t], 0.0), of_outputs[t], update[t])
            of_state = passed.addmm_(of_gates[t].flatten(1), weight).masked_fill_(starts[t], 0.0)
        flat = of_gates.flatten(2).flatten(0, 1)
        of_weight, of_bias = flat.T @ state.flatten(0, 1), flat.sum(0)
        # Gradient of the input: the reset gate scales the candidate's recurrent part only
        torch.mul(of_outputs, of_candidate, out=of_gates[:, :, 2])
        return of_gates.flatten(2), of_state, None, None, of_weight, of_bias
