"""Reader of Minari datasets, as ``export minari`` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from collab_overcooked.baselines.demonstrations import Choice, Demonstration
from collab_overcooked.envs.api import Game

METADATA = Path("data", "metadata.json")


def is_minari(path: Path) -> bool:
    """Return whether a folder holds a Minari dataset."""
    return (path / METADATA).is_file()


def minari_games(game: Game, path: Path, seats: Sequence[int] | None) -> Iterator[Demonstration]:
    """Yield the episodes of a dataset with the observations of all agents (N, ...) and ``action_mask`` in the infos.

    Args:
        game: The game to learn, with the observations of the dataset.
        path: Folder of the dataset, ``data/minari/collab-overcooked/NAME``.
        seats: Seats whose choices are used; all if None.

    Raises:
        ValueError: Minari is not installed, or the dataset is of another game, has no masks, or has other observations
            than the game.
    """
    try:
        from minari import MinariDataset
    except ImportError as error:
        extra = "pip install 'collab-overcooked[data]'"
        raise ValueError(f"{path}: Minari datasets need minari ({error}): {extra}") from None
    needed = (game.n_agents, *game.single_observation_space.shape)
    dataset = MinariDataset(path / "data")
    recorded = dataset.env_spec
    if recorded is not None and recorded.id.rpartition("/")[2] != game.id:
        raise ValueError(f"{path}: is of {recorded.id}, not of {game.id}")
    for episode in dataset.iterate_episodes():
        masks = np.asarray(episode.infos["action_mask"]) if "action_mask" in (episode.infos or {}) else None
        if masks is None or masks.shape[1:] != (game.n_agents, game.n_actions):
            agents = f"{game.n_agents} agents with {game.n_actions} actions"
            raise ValueError(f"{path}: has no action_mask of {agents} in infos; export minari writes it without --seat")
        observations = np.asarray(episode.observations)
        if observations.shape[1:] != needed:
            raise ValueError(f"{path}: has observations of shape {observations.shape[1:]}, the game to learn {needed}")
        choices = []
        for step, actions in enumerate(np.asarray(episode.actions)):
            for seat in range(game.n_agents) if seats is None else seats:
                action, mask = int(actions[seat]), masks[step, seat]
                if mask.sum() > 1 and 0 <= action < len(mask) and mask[action]:
                    choices.append(Choice(observations[step, seat], mask, action, seat))
        yield Demonstration(choices, float(np.sum(episode.rewards)))
