"""Behaviour cloning: supervised learning of the actions in records of any policy or of people."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import ceil, isnan
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta

from collab_overcooked import registry
from collab_overcooked.baselines.actor_critic import ActorCritic, policy_file
from collab_overcooked.baselines.demonstrations import Choice, Demonstration
from collab_overcooked.baselines.human_games import human_games, is_table
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.baselines.minari_games import is_minari, minari_games
from collab_overcooked.baselines.rollouts import observation_scale
from collab_overcooked.baselines.scores import GAMES, score
from collab_overcooked.baselines.settings import Sizes, TrainingSettings, load_game
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.api import Game
from collab_overcooked.envs.encodings import observation_options
from collab_overcooked.io.checks import OptionError
from collab_overcooked.io.files import check_distinct_files
from collab_overcooked.io.structs import Count, NonNegative, Positive, check_fields
from collab_overcooked.metrics.registry import episode_return
from collab_overcooked.policies.policy_file import Activation, Mode, PolicyFile, halved
from collab_overcooked.policies.torch_threads import torch_threads
from collab_overcooked.runner.records import RECORDS, about, read_records
from collab_overcooked.runner.replay import replay

Array = np.ndarray


@dataclass(frozen=True)
class Cloning:
    """A training by behaviour cloning."""

    env: str  # Registered id
    # Run folders or record files (``.jsonl``), tables of people's games (see ``human_games``), or folders of Minari
    # datasets
    data: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)  # Options of the environment
    seats: Sequence[Count] | None = None  # Whose choices are learned; all if None
    # Share of episodes that are learned from, those with the highest returns (filtered cloning)
    best: Annotated[float, Meta(gt=0, le=1)] = 1.0
    seed: Count = 0  # Of weights, order and the choice of held-out episodes
    epochs: Positive = 30  # Passes over the data; the weights of the pass with the smallest held-out loss are kept
    batch_size: Positive = 256  # Choices of a gradient step
    learning_rate: NonNegative = 1e-3  # Of Adam
    held_out: Annotated[float, Meta(ge=0, lt=1)] = 0.15  # Share of episodes that the loss is watched on
    trunk: Sizes = (64,)  # Sizes of the dense layers
    heads: Sizes = (64,)  # Sizes of further dense layers
    convolutions: Sizes = ()  # As in ``TrainingSettings``
    activation: Activation = "relu"  # Between layers, ``"relu"`` or ``"tanh"``
    memory: str = ""  # As in ``TrainingSettings``; gradients go back to the start of an episode
    mode: Mode = "sample"  # How the policy plays by default, ``"sample"`` or ``"greedy"``

    def __post_init__(self) -> None:
        if not self.data:
            raise OptionError("data", "data is missing: name run folders, record files or tables of people's games")
        check_fields(self)
        self.network_settings()  # checks the network

    def network_settings(self) -> TrainingSettings:
        """Return PPO settings of the same network, whose actor is trained by cloning."""
        shared = ("env", "options", "seed", "epochs", "batch_size", "learning_rate", "trunk", "heads")
        values = {name: getattr(self, name) for name in (*shared, "convolutions", "activation", "memory", "mode")}
        return TrainingSettings(**values, steps=1, rollout=1, environments=1, sequence=1)


@dataclass(frozen=True)
class Choices:
    """Observations, legal actions and chosen actions of agents."""

    observations: Array  # (n, ...)
    masks: Array  # bool (n, A)
    actions: Array  # int64 (n,)
    episodes: Array  # int64 (n,), the episode that each is from
    seats: Array  # int64 (n,), the agent that chose; its choices of an episode follow in their order

    def __len__(self) -> int:
        return len(self.actions)

    def of_episodes(self, chosen: Array) -> Choices:
        """Return the choices of some episodes, bool (episodes,)."""
        rows = chosen[self.episodes]
        return Choices(*(getattr(self, item.name)[rows] for item in fields(self)))

    def sequences(self) -> list[Array]:
        """Return the rows of each seat's choices in an episode."""
        _, numbers = np.unique(self.episodes * (self.seats.max() + 1) + self.seats, return_inverse=True)
        order = numbers.argsort(kind="stable")
        return np.split(order, np.bincount(numbers).cumsum()[:-1])


def gather(episodes: Iterable[Sequence[Choice]]) -> Choices:
    """Put the choices of episodes together.

    Raises:
        ValueError: No agent had a choice at any time.
    """
    rows = [(*choice, number) for number, chosen in enumerate(episodes) for choice in chosen]
    if not rows:
        raise ValueError("data: no choice to learn from: no agent had more than one action at any time")
    observations, masks, actions, seats, numbers = zip(*rows, strict=True)
    return Choices(
        np.stack(observations),
        np.stack(masks).astype(np.bool_),
        np.array(actions, np.int64),
        np.array(numbers, np.int64),
        np.array(seats, np.int64),
    )


def recorded_games(
    game: Game, records: Iterable[EpisodeRecord], seats: Sequence[int] | None
) -> Iterator[Demonstration]:
    """Replay records and yield the observations and actions of agents that had a choice.

    Args:
        game: Gives the observations; the records may have been made with others.
        records: Records of one game and variant; tasks may differ.
        seats: Seats whose choices are used; all if None.

    Raises:
        ValueError: A record is of another game, or of options with another observation or other
            actions.
    """
    observing = {*observation_options(game.id), "view_radius"}  # a clone may see less than the recorded agents
    for record in records:
        if record.env_id != game.id:
            raise ValueError(f"data: a record is of {record.env_id}, not of {game.id}")
        observed = {name: value for name, value in game.kwargs.items() if name in observing}
        with about(record):
            variant = registry.load_game(game.id, **{**record.env_kwargs, **observed})
        was, needed = variant.single_observation_space.shape, game.single_observation_space.shape
        if (was, variant.n_actions) != (needed, game.n_actions):
            raise ValueError(
                f"data: a record of {record.env_kwargs} has observations of shape {was} and {variant.n_actions} "
                f"actions, the game to learn {needed} and {game.n_actions}"
            )
        _, out = variant.alloc(1)
        choices = []
        for replayed in replay(record):
            if replayed.timestep == len(record.steps):
                break
            variant.observe(replayed.env.arrays[0], out)
            for seat in range(variant.n_agents) if seats is None else seats:
                action, mask = record.steps[replayed.timestep].actions[seat], out.masks[0, seat]
                if mask.sum() > 1 and action < len(mask) and mask[action]:
                    choices.append(Choice(out.observations[0, seat].reshape(needed).copy(), mask.copy(), action, seat))
        yield Demonstration(choices, episode_return([step.rewards for step in record.steps]))


def read_choices(game: Game, paths: Sequence[str], seats: Sequence[int] | None, best: float = 1.0) -> Choices:
    """Read all data of a training.

    Args:
        game: Gives the observations.
        paths: As ``Cloning.data``.
        seats: Seats whose choices are used; all if None.
        best: Share of episodes that are used, those with the highest returns; of equal ones the first.

    Raises:
        ValueError: A file cannot be read, is of another game, or has no returns although ``best`` is below 1.
    """
    check_distinct_files("data", paths, within=RECORDS)
    episodes: list[Demonstration] = []
    for path in paths:
        played: Iterable[Demonstration]
        if is_table(Path(path)):
            played = human_games(game, Path(path), seats)
        elif is_minari(Path(path)):
            played = minari_games(game, Path(path), seats)
        else:
            played = recorded_games(game, read_records(path), seats)
        for demonstration in played:
            if best < 1 and isnan(demonstration.points):
                raise OptionError("best", f"best={best:g} goes by returns, and {path} has no column reward")
            episodes.append(demonstration)
    if best < 1:
        ranked = sorted(range(len(episodes)), key=lambda number: -episodes[number].points)
        episodes = [episodes[number] for number in sorted(ranked[: ceil(best * len(episodes))])]
    return gather(episode.choices for episode in episodes)


@dataclass(frozen=True)
class Copy:
    """A cloned policy."""

    file: PolicyFile  # The policy, with its score in the game
    # For each epoch: losses and the share of choices that are the likeliest action, on both parts of the data
    log: tuple[Mapping[str, float], ...]
    choices: int  # Number of choices learned from


def clone_policy(settings: Cloning, command: str = "", games: int = GAMES) -> Copy:
    """Train a network to predict recorded actions.

    Args:
        settings: Data and hyperparameters.
        command: Kept in the policy file.
        games: Games that the score is of.

    Raises:
        ValueError: A seat does not exist, or no agent had a choice.
    """
    game = load_game(settings.env, settings.options)
    if settings.seats and max(settings.seats) >= game.n_agents:
        raise ValueError(f"seats must be from 0 to {game.n_agents - 1}, not {settings.seats!r}")
    choices = read_choices(game, settings.data, settings.seats, settings.best)
    rng = np.random.default_rng(settings.seed)
    known, unseen = split(choices, settings.held_out, rng)
    like = settings.network_settings()
    scale = observation_scale(game, settings.seed, bool(settings.convolutions))
    with torch_threads(1), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(settings.seed)
        network = ActorCritic(like, game, scale)
        log = learn(network, settings, known, unseen)
        file = halved(policy_file(network.actor(), like, game, "bc", command, len(choices)))
        measured = score(game, [file] * game.n_agents, games, settings.seed)
    return Copy(dataclasses.replace(file, meta={**file.meta, "score": measured}), tuple(log), len(choices))


def split(choices: Choices, held_out: float, rng: np.random.Generator) -> tuple[Choices, Choices]:
    """Return choices of most episodes, and of those that are held out; of one episode, nothing is."""
    episodes = int(choices.episodes.max()) + 1
    number = min(round(episodes * held_out), episodes - 1)
    chosen = np.zeros(episodes, np.bool_)
    chosen[rng.permutation(episodes)[:number]] = True
    return choices.of_episodes(~chosen), choices.of_episodes(chosen)


def learn(network: ActorCritic, settings: Cloning, known: Choices, unseen: Choices) -> list[dict[str, float]]:
    """Train a network in place and leave it with the weights of the best epoch; return the log."""
    optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate)
    log: list[dict[str, float]] = []
    best, kept = float("inf"), network.state_dict()
    for epoch in range(1, settings.epochs + 1):
        for rows in _batches(known, settings):
            optimizer.zero_grad()
            _loss(network, known, rows)[0].backward()
            optimizer.step()
        entry: dict[str, float] = {"epoch": epoch}
        for name, part in (("known", known), ("unseen", unseen)):
            if len(part):
                with torch.no_grad():
                    loss, agreement = _loss(network, part, _in_order(part, settings))
                entry |= {f"{name}_loss": round(loss.item(), 5), f"{name}_agreement": round(agreement.item(), 5)}
        log.append(entry)
        watched = entry.get("unseen_loss", entry["known_loss"])
        if watched < best:
            best = watched
            kept = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(kept)
    return log


def _in_order(choices: Choices, settings: Cloning) -> Array:
    """Return all rows as (S, B): without memory one step of each choice, with memory whole sequences, -1 after each."""
    if not settings.memory:
        return np.arange(len(choices))[None]
    sequences = choices.sequences()
    rows = np.full((max(map(len, sequences)), len(sequences)), -1)
    for column, sequence in enumerate(sequences):
        rows[: len(sequence), column] = sequence
    return rows


def _batches(choices: Choices, settings: Cloning) -> Iterator[Array]:
    """Yield the columns of ``_in_order`` in random order, about ``batch_size`` choices at a time."""
    rows = _in_order(choices, settings)
    size = max(1, settings.batch_size * rows.shape[1] // len(choices))
    for columns in torch.randperm(rows.shape[1]).split(size):
        yield rows[:, columns.numpy()]


def _loss(network: ActorCritic, choices: Choices, rows: Array) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mean loss and the share of choices that are likeliest, of rows (S, B) as of ``_in_order``."""
    known, every = rows.ravel() >= 0, rows.ravel()
    starts = np.zeros(rows.shape, np.bool_)
    starts[0] = True
    inputs = Inputs(
        torch.from_numpy(choices.observations[every]),
        torch.zeros(rows.shape[1], network.memory.size if network.memory is not None else 0),
        torch.from_numpy(starts.ravel()),
        torch.from_numpy(known),
        torch.zeros(len(every), 0),
        torch.from_numpy(choices.masks[every]),
    )
    log_probs, _, _ = network(inputs)
    log_probs = log_probs[torch.from_numpy(known)]
    actions = torch.from_numpy(choices.actions[every[known]])
    return -log_probs.gather(-1, actions[:, None]).mean(), (log_probs.argmax(-1) == actions).float().mean()
