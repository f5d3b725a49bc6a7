"""Multi-agent transformer (Wen et al. 2022): one network for a whole team, which chooses seat by seat.

An encoder attends over the observations of all seats, whose values it gives. A decoder attends over the actions of the
seats before, so that the last seat knows what all others do. As in the paper there is one block with one head in each;
seats have learned vectors in addition, since observations here are of a seat's own view. Execution is central: to play,
a seat reads the observations of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.batched import Seat, Views
from collab_overcooked.policies.observation import Observer, select_observation
from collab_overcooked.policies.policy_file import MODES, PolicyFile, TeamNetwork, choose, read_policy

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
    """The network, in place of an ``ActorCritic``; rows are seats, those of a team one after the other.

    Args:
        shape: Of a seat's observation.
        n_actions: A.
        agents: N.
        width: Size W of all vectors.
        activation: Between layers, ``"relu"`` or ``"tanh"``.
        scale: What observations are multiplied by, float32.
    """

    central_size, reads_columns = 0, False  # see ``ActorCritic``

    def __init__(
        self, shape: Sequence[int], n_actions: int, agents: int, width: int, activation: str, scale: Array
    ) -> None:
        super().__init__()
        self.input_shape, self.n_actions, self.agents = tuple(shape), n_actions, agents
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
        """Return what is known of each seat, (B, N, W), for observations (B * N, ...)."""
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
        """Return the network of a policy file."""
        (_, weights, size), meta = file.network.layers[0], file.meta
        width, agents = (int(number) for number in size)
        if not 0 < width * prod(meta["observation_shape"]) <= len(weights):  # before memory is taken
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


class TransformerPolicy(Silent):
    """Plays a policy file of a multi-agent transformer in all seats of a team.

    Args:
        file: Policy file.
        mode: ``"sample"`` or ``"greedy"``; the file's default if None.
    """

    name = "mat"
    needs_simulator = batched = True

    def __init__(self, file: PolicyFile, mode: str | None = None) -> None:
        self.file, self.mode = file, mode or file.mode
        self._network = TeamTransformer.from_file(file)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Prepare for an episode; all seats must be held by this policy."""
        meta, game = self.file.meta, info.game
        if game.id != meta["env_id"] or game.n_agents != self._network.agents:
            raise ValueError(
                f"policy {self.name!r}: it was trained on {meta['env_id']} with {self._network.agents} agents and "
                f"cannot play {game.id} with {game.n_agents}"
            )
        if others := sorted({name for name in info.team if name != self.name}):
            raise ValueError(f"policy {self.name!r} plays all seats of a team; {others[0]!r} cannot sit beside it")
        observer = Observer(game, select_observation(game.id, meta["env_kwargs"]))
        variant = observer.variant
        shape, actions = list(variant.single_observation_space.shape), variant.n_actions
        if (shape, actions) != (meta["observation_shape"], meta["n_actions"]):
            raise ValueError(
                f"policy {self.name!r}: it was trained on another variant of {game.id}: observations of shape "
                f"{meta['observation_shape']} and {meta['n_actions']} actions there, {shape} and {actions} here"
            )
        self.observer, self._simulator = observer, simulator_of(info, self.name)
        self._turn = _TURNS.setdefault(self._simulator.env, _Turn())
        if self._turn.timestep >= 0:  # of an episode before in the same environment
            self._turn.timestep, self._turn.actions = -1, {}
        self._out, self._rng = variant.alloc(1)[1], self.generator(seed, seat)

    @staticmethod
    def generator(seed: int, seat: int) -> np.random.Generator:
        """Return the generator of an episode."""
        return np.random.default_rng([seed, seat])

    def logits(self, observations: Array, joint: Array, seat: int) -> Array:
        """Return logits (B, A) of a seat for observations (B, N, ...) and actions (B, N), later ones arbitrary."""
        network = self._network
        with torch.inference_mode():
            read = torch.from_numpy(observations.astype(np.float32)).view(-1, *network.input_shape)
            logits: Array = network.decode(network.encode(read), torch.from_numpy(joint))[:, seat].numpy()
        return logits

    def seat_of(self, views: Views, seat: int, seeds: Mapping[int, int]) -> Seat:
        """Return the policy in one seat of a batch of episodes."""
        return TransformerSeat(self, views, seat, seeds)

    def act(self, seen: Seen) -> int:
        """Return the seat's action, given those that the seats before have chosen in this step."""
        turn, fork = self._turn, self._simulator.fork(1, 0, cheat=True)
        if turn.timestep != seen.timestep:
            turn.timestep, turn.actions = seen.timestep, {}
        only = fork.masks[0].argmax(-1)  # of seats without a choice
        joint = np.array([[turn.actions.get(seat, int(action)) for seat, action in enumerate(only)]])
        self.observer.variant.bind_observe(fork.state, self._out)()
        logits = self.logits(self._out.observations, joint, seen.seat)
        chosen = choose(logits, seen.mask[None], self._rng, self.mode)
        turn.actions[seen.seat] = int(chosen[0])
        return int(chosen[0])


class TransformerSeat:
    """The policy in one seat of a batch of episodes, see ``batched.Seat``.

    Args:
        policy: The policy, after a reset for this seat.
        views: Observations of the episodes.
        seat: Index of the agent.
        seeds: Seed of the policy by episode.
    """

    def __init__(self, policy: TransformerPolicy, views: Views, seat: int, seeds: Mapping[int, int]) -> None:
        self._policy, self._views, self._seat = policy, views, seat
        self._rngs = {episode: policy.generator(seed, seat) for episode, seed in seeds.items()}

    def restart(self, episode: int, seed: int) -> None:
        """Draw from another generator."""
        self._rngs[episode] = self._policy.generator(seed, self._seat)

    def act(self, asked: Array, masks: Array, timesteps: Array) -> Array:
        """Choose in all episodes at once, given what the seats before have chosen."""
        policy, views = self._policy, self._views
        logits = policy.logits(views.observations(policy.observer)[asked], views.joint[asked], self._seat)
        chosen = [
            choose(logits[k : k + 1], masks[episode][None], self._rngs[episode], policy.mode)[0]
            for k, episode in enumerate(asked.tolist())
        ]
        return np.array(chosen)


def from_text(text: str) -> TransformerPolicy:
    """Create the policy of a spec such as ``"runs/mat/policy.npz"`` or ``"runs/mat/policy.npz,greedy"``."""
    name, _, mode = text.partition(",")
    if mode and mode not in MODES:
        raise ValueError(f"policy 'mat': {near_matches('mode', mode, MODES)}")
    if not name.strip():
        raise ValueError("policy 'mat' needs a file, for example 'mat:runs/mat/policy.npz'")
    file = read_policy(Path(name.strip()))
    if not isinstance(file.network, TeamNetwork):
        raise ValueError(f"{name}: chooses for one seat; use ppo:{name}")
    return TransformerPolicy(file, mode or None)
