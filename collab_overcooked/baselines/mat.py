"""Multi-agent transformer (Wen et al. 2022): one network for a whole team, which chooses seat by seat.

An encoder attends over the observations of all seats, whose values it gives. A decoder attends over the actions of the
seats before, so that the last seat knows what all others do. As in the paper there is one block with one head in each;
seats have learned vectors in addition, since observations here are of a seat's own view. Execution is central: to play,
a seat reads the observations of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import torch
from torch import nn

from collab_overcooked.baselines.actor_critic import ACTIVATIONS, MASKED
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.envs.api import Game
from collab_overcooked.policies.api import AgentView, EnvInfo, simulator_of
from collab_overcooked.policies.batch_views import Views
from collab_overcooked.policies.policy_file import PolicyFile, TeamNetwork, read_policy, split_mode
from collab_overcooked.policies.trained import NetworkPolicy

Array = np.ndarray


class Attention(nn.Module):
    """Scaled dot-product attention with one head, between the seats of a team.

    Args:
        width: Size W of all vectors.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, asking: torch.Tensor, asked: torch.Tensor, earlier: bool) -> torch.Tensor:
        """Return (B, N, W) for two tensors of this shape; with ``earlier`` seat i reads seats 0 to i only."""
        read = nn.functional.scaled_dot_product_attention(
            self.query(asking), self.key(asked), self.value(asked), is_causal=earlier
        )
        attended: torch.Tensor = self.output(read)
        return attended


class TeamTransformer(nn.Module):
    """Transformer over the seats of a team, in place of an ``ActorCritic``; rows are seats, team by team.

    Args:
        shape: Shape of a seat's observation.
        n_actions: A.
        agents: N.
        width: Size W of all vectors.
        activation: Between layers, ``"relu"`` or ``"tanh"``.
        scale: Factors of the observations, float32.
    """

    central_size, reads_columns = 0, False  # see ``ActorCritic``

    def __init__(
        self, shape: Sequence[int], n_actions: int, agents: int, width: int, activation: str, scale: Array
    ) -> None:
        super().__init__()
        self.input_shape = tuple(shape)
        self.n_actions = n_actions
        self.agents = agents
        self.width, self.activation = width, activation
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.tensor(scale))
        bend = ACTIVATIONS[activation]

        def dense(inputs: int) -> nn.Sequential:
            return nn.Sequential(nn.Linear(inputs, width), bend(), nn.LayerNorm(width))

        self.seats = nn.Parameter(torch.zeros(agents, width))
        self.observed, self.encoder = dense(prod(shape)), Attention(width)
        self.encoded = nn.ModuleList([nn.LayerNorm(width), nn.Sequential(dense(width), nn.Linear(width, width))])
        self.acted = nn.Embedding(n_actions + 1, width)  # the first stands for no action yet
        self.decoder = nn.ModuleList([Attention(width), Attention(width)])
        self.decoded = nn.ModuleList([nn.LayerNorm(width) for _ in range(4)])
        self.mixed = nn.Sequential(dense(width), nn.Linear(width, width))
        self.policy_head = nn.Sequential(dense(width), nn.Linear(width, n_actions))
        self.value_head = nn.Sequential(dense(width), nn.Linear(width, 1))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.orthogonal_(module.weight, sqrt(2) if module.out_features == width else 1.0)
                nn.init.zeros_(module.bias)
        nn.init.orthogonal_(self.policy_head[-1].weight, 0.01)
        nn.init.normal_(self.acted.weight, std=0.1)
        nn.init.normal_(self.seats, std=0.1)

    @classmethod
    def of(cls, settings: TrainingSettings, game: Game, scale: Array) -> TeamTransformer:
        """Return the network of a training with ``weights="joint"``."""
        shape, width = game.single_observation_space.shape, settings.trunk[-1]
        return cls(shape, game.n_actions, game.n_agents, width, settings.activation, scale)

    def encode(self, observations: torch.Tensor) -> torch.Tensor:
        """Encode observations (B * N, ...) of whole teams; return an embedding of each seat, (B, N, W)."""
        x = self.observed((observations * self.scale).flatten(1)).view(-1, self.agents, self.width) + self.seats
        norm, mixed = self.encoded
        x = norm(x + self.encoder(x, x, False))
        encoded: torch.Tensor = x + mixed(x)
        return encoded

    def decode(self, encoded: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Return logits (B, N, A) of each seat, given the actions (B, N) of the seats before it."""
        before = nn.functional.pad(actions[:, :-1] + 1, (1, 0))
        alone, across = self.decoder
        first, second, third, fourth = self.decoded
        x = first(self.acted(before) + self.seats)
        x = second(x + alone(x, x, True))
        x = third(encoded + across(encoded, x, True))
        logits: torch.Tensor = self.policy_head(fourth(x + self.mixed(x)))
        return logits

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log probabilities (B * N, A), values (B * N,) and the hidden state, which is empty."""
        encoded = self.encode(inputs.observations)
        actions = encoded.new_zeros(len(inputs.observations), dtype=torch.int64)
        actions = (actions if inputs.actions is None else inputs.actions).view(-1, self.agents)
        logits = self.decode(encoded, actions).flatten(0, 1)
        if inputs.masks is not None:
            logits = logits.masked_fill(~inputs.masks, MASKED)
        return torch.log_softmax(logits, -1), self.value_head(encoded).flatten(), inputs.state

    def actor(self) -> TeamNetwork:
        """Return all weights as one vector, values included."""
        weights = nn.utils.parameters_to_vector(self.parameters()).detach().cpu().numpy()
        size = np.array([self.width, self.agents], np.float32)
        return TeamNetwork(self.scale.cpu().numpy(), (("transformer", weights, size),), self.activation)

    @classmethod
    def from_file(cls, file: PolicyFile) -> TeamTransformer:
        """Return the network of a policy file.

        Raises:
            ValueError: The number of weights does not belong to the width.
        """
        (_, weights, size), meta = file.network.layers[0], file.meta
        width, agents = (int(number) for number in size)
        largest = max(width, prod(meta["observation_shape"]), meta["n_actions"])
        if not 0 < width * largest <= len(weights):  # before memory is taken
            raise ValueError(f"its transformer has {len(weights):,} weights, too few for width {width}")
        network = cls(
            meta["observation_shape"], meta["n_actions"], agents, width, file.network.activation, file.network.scale
        )
        expected = sum(parameter.numel() for parameter in network.parameters())
        if len(weights) != expected:
            raise ValueError(f"its transformer of width {width} has {expected:,} weights, the file {len(weights):,}")
        nn.utils.vector_to_parameters(torch.from_numpy(weights), network.parameters())
        return network.requires_grad_(False)


class _Turn:
    """Actions that the seats of an episode have chosen in one of its steps."""

    def __init__(self) -> None:
        self.timestep, self.actions = -1, dict[int, int]()


_TURNS: WeakValueDictionary[int, _Turn] = WeakValueDictionary()  # by ``Simulator.env``


class TransformerPolicy(NetworkPolicy):
    """Plays a policy file of a multi-agent transformer in all seats of a team.

    Its input are the observations of all seats, then the actions of the seats before.

    Args:
        file: Policy file.
        mode: ``"sample"`` or ``"greedy"``; the file's default if None.
    """

    name = "mat"
    needs_simulator = True

    def __init__(self, file: PolicyFile, mode: str | None = None) -> None:
        super().__init__(file.meta, mode or file.mode)
        self._network = TeamTransformer.from_file(file)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Prepare for an episode; all seats must be held by this policy.

        Raises:
            ValueError: The team has another size, or another policy holds a seat.
        """
        super().reset(seat, info, seed)
        if info.game.n_agents != self._network.agents:
            raise ValueError(
                f"policy {self.name!r}: trained with {self._network.agents} agents, here are {info.game.n_agents}"
            )
        if others := sorted({name for name in info.team if name != self.name}):
            raise ValueError(f"policy {self.name!r} plays all seats of a team; {others[0]!r} cannot sit beside it")
        self._simulator, self._out = simulator_of(info, self.name), self.observer.variant.alloc(1)[1]
        self._turn = _TURNS.setdefault(self._simulator.env, _Turn())
        self._turn.timestep = -1  # there may have been an episode before in the same environment

    def inputs(self, views: Views, asked: Array, seat: int) -> Array:
        return self._joined(views.observations(self.observer)[asked], views.joint[asked])

    def observe(self, seen: AgentView) -> Array:
        turn, fork = self._turn, self._simulator.fork(1, 0, cheat=True)
        if turn.timestep != seen.timestep:
            turn.timestep, turn.actions = seen.timestep, {}
        only = fork.masks[0].argmax(-1)  # of seats without a choice
        joint = np.array([[turn.actions.get(seat, int(action)) for seat, action in enumerate(only)]])
        self.observer.variant.bind_observe(fork.state, self._out)()
        row: Array = self._joined(self._out.observations, joint)[0]
        return row

    @staticmethod
    def _joined(observations: Array, joint: Array) -> Array:
        return np.concatenate([observations.reshape(len(joint), -1).astype(np.float32), joint.astype(np.float32)], 1)

    def forward(self, observations: Array, state: Array) -> tuple[Array, Array]:
        network, inputs = self._network, torch.from_numpy(observations)
        with torch.inference_mode():
            encoded = network.encode(inputs[:, : -network.agents].reshape(-1, *network.input_shape))
            logits = network.decode(encoded, inputs[:, -network.agents :].long())[:, self._seat]
        return logits.numpy(), state

    def act(self, seen: AgentView) -> int:
        """Return the seat's action, which the seats after it read."""
        self._turn.actions[seen.seat] = action = super().act(seen)
        return action


def from_text(text: str) -> TransformerPolicy:
    """Create the policy of a spec such as ``"runs/mat/policy.npz"`` or ``"runs/mat/policy.npz,greedy"``.

    Raises:
        ValueError: The file or its mode is missing or unknown, or the network chooses for one seat.
    """
    name, mode = split_mode("mat", text)
    if not name:
        raise ValueError("policy 'mat' needs a file, for example 'mat:runs/mat/policy.npz'")
    file = read_policy(Path(name))
    if not isinstance(file.network, TeamNetwork):
        raise ValueError(f"{name}: chooses for one seat; use ppo:{name}")
    return TransformerPolicy(file, mode)
