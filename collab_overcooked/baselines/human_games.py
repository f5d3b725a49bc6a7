"""Games that people played, as pickled pandas frames: what each person saw and chose.

A row is one timestep of one trial: ``trial_id``, ``layout_name``, ``state`` and ``joint_action`` (JSON), and
``player_0_is_human`` and ``player_1_is_human`` where programs played too. How states and actions are written is the
game's business (``GameRecord.human_games``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import Game
from collab_overcooked.io.pickled_frames import read_columns

Array = np.ndarray
NEEDED = ("trial_id", "layout_name", "state", "joint_action")
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError)  # what reading a row may raise


def read_frame(path: Path) -> dict[str, Array]:
    """Read the columns of a pickled frame; nothing that the file names is run.

    Raises:
        ValueError: If the file cannot be read, is no frame, asks for anything else, or lacks a column.
    """
    columns = read_columns(path)
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise ValueError(f"{path}: has no column {', '.join(missing)}; it has {', '.join(columns)}")
    return columns


def human_choices(
    game: Game, path: Path, seats: Sequence[int] | None, note: Callable[[str], None]
) -> Iterator[tuple[Array, Array, int, int]]:
    """Yield observation, mask, action and number of the trial of everything that people chose on the game's layout.

    Args:
        game: The compiled game whose players are learned from.
        path: Pickled frame.
        seats: Whose choices; all if None.
        note: Called with how many trials and rows were of use.

    Raises:
        ValueError: For a game that is none, or a file that cannot be used.
    """
    module = registry.find(game.id).human_games
    if not module:
        known = ", ".join(record.id for record in registry.games() if record.human_games)
        raise ValueError(f"{path}: holds games of {known}; they teach no other")
    reader = importlib.import_module(module)
    try:
        layouts = reader.layout_names(game)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    columns = read_frame(path)
    names = [reader.layout_name(name) for name in columns["layout_name"].tolist()]
    rows = [row for row, name in enumerate(names) if name in layouts]
    if not rows:
        raise ValueError(f"{path}: has no game on {', '.join(sorted(layouts))}; it has {', '.join(sorted(set(names)))}")
    trials: dict[object, int] = {}
    bad = 0
    state, out = game.alloc(1)
    state.rng[:] = 1  # never drawn from: every state is given
    for row in rows:
        trial = trials.setdefault(columns["trial_id"][row], len(trials))
        try:
            actions = reader.read_actions(columns["joint_action"][row], game.n_agents)
            scene = reader.read_state(columns["state"][row], names[row])
            game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
        except DAMAGED:
            bad += 1
            continue
        for seat in range(game.n_agents) if seats is None else seats:
            human = columns.get(f"player_{seat}_is_human")
            if human is None or human[row]:
                seen = out.observations[0, seat].reshape(game.single_observation_space.shape)
                yield seen.copy(), out.masks[0, seat].copy(), actions[seat], trial
    note(f"{path}: {len(rows) - bad} of {len(rows)} rows of {len(trials)} games are of use")
