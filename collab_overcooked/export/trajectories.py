"""Trajectories: observations, masks, states, actions and rewards of recorded episodes, computed by replaying them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import to_builtins

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, unpack
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.encodings import check_observation
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.runner.records import about
from collab_overcooked.runner.replay import replay

Array = np.ndarray

EPISODE_FIELDS = ("env_id", "task", "episode", "seed", "team", "version", "success", "timesteps")
"""Fields of a record that datasets name; ids of people are in none of them."""


@dataclass(frozen=True)
class Trajectory:
    """Episode with T steps of N agents."""

    record: EpisodeRecord  # Record of the episode
    game: FullGame  # Game with the encoding of the observations
    # (T + 1, N, ...), with the dtype of the game's observations; the last one follows the last step
    observations: Array
    masks: Array  # Legal actions, bool (T + 1, N, A)
    states: Array  # Global state as environments return it, float32 (T + 1, S)
    actions: Array  # int64 (T, N)
    rewards: Array  # float32 (T, N)
    terminated: bool  # Whether the episode ended by a rule of the game
    truncated: bool  # Whether it ended by its time limit, or because it was stopped

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def about(self) -> dict[str, Any]:
        """Return the metadata of the episode for datasets: fields of its record and environment options."""
        values = {name: value for name, value in to_builtins(self.record).items() if name in EPISODE_FIELDS}
        return {**values, "env_kwargs": dict(self.record.env_kwargs)}


def read_trajectory(record: EpisodeRecord, observation: Mapping[str, Any]) -> Trajectory:
    """Replay a record.

    Args:
        record: See ``records.parse_record``.
        observation: Observation options, see ``policies.observation``; the record's own where missing.
    """
    env_id = record.env_id
    with about(record):
        check_observation(env_id, observation)
        game = registry.load_game(env_id, **{**record.env_kwargs, **observation})
    _, out = game.alloc(1)
    observations, masks, states = [], [], []
    for step in replay(record):
        state = step.env.arrays[0]
        game.observe(state, out)
        observations.append(out.observations[0].reshape(game.n_agents, *game.single_observation_space.shape).copy())
        masks.append(out.masks[0].astype(np.bool_))
        states.append(step.env.state())
    terminated = bool(step.env.arrays[1].terminated[0])
    return Trajectory(
        record=record,
        game=game,
        observations=np.stack(observations),
        masks=np.stack(masks),
        states=np.stack(states),
        actions=np.array([entry.actions for entry in record.steps], np.int64),
        rewards=np.array([entry.rewards for entry in record.steps], np.float32),
        terminated=terminated,
        truncated=not terminated,
    )


def check_people(records: Iterable[EpisodeRecord], people: bool) -> None:
    """Check that no episode has people, unless ``people`` is true.

    Raises:
        ValueError: A person takes part in an episode.
    """
    for record in records:
        if not people and (record.people or PERSON in record.team.values()):
            raise ValueError(
                f"{_name(record)}: a person takes part; --people exports such episodes, without ids, for which the "
                "participants must have consented to publication"
            )


def read_trajectories(
    records: Iterable[EpisodeRecord], observation: Mapping[str, Any], people: bool = False
) -> Iterator[Trajectory]:
    """Replay records of one game with equal shapes.

    Args:
        records: Records.
        observation: See ``read_trajectory``.
        people: Include episodes with people, who must have consented to publication.

    Yields:
        Trajectories in the order of the records.

    Raises:
        ValueError: The shapes of two records differ.
    """
    first: Trajectory | None = None
    for record in records:
        check_people([record], people)
        trajectory = read_trajectory(unpack(record), observation)
        first = first or trajectory
        for name in ("observations", "masks", "states"):
            shape, expected = (vars(item)[name].shape[1:] for item in (trajectory, first))
            if record.env_id != first.record.env_id or shape != expected:
                raise ValueError(
                    f"{_name(record)}: {name} have shape {shape}, those of {_name(first.record)} {expected}; "
                    "export each setting by itself, with --tasks"
                )
        yield trajectory


def _name(record: EpisodeRecord) -> str:
    return f"{record.env_id} {record.task} episode {record.episode}"
