"""Readers of human games in CSV, JSON, JSON lines or Parquet: observation and action of each person.

A row is one timestep of one trial: ``trial_id``, ``layout_name``, ``state`` and ``joint_action`` (JSON), ``layout``
(the grid) and ``reward`` where the data have them, and ``player_0_is_human`` and ``player_1_is_human`` where programs
played too. The public demo server saves rows within trajectories, ``{"uid": ..., "trajectory": [...]}``, alone or in a
list. How states and actions are written is the game's business (``GameSpec.human_games``).
"""

from __future__ import annotations

import csv
import importlib
import io
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.baselines.demonstrations import Choice, Demonstration
from collab_overcooked.envs.api import Game
from collab_overcooked.io.files import MAX_MODEL, open_file, read_bytes
from collab_overcooked.io.schema import parse_json

logger = logging.getLogger(__name__)

Array = np.ndarray
MAX_LINE = 1 << 20
NEEDED = ("trial_id", "layout_name", "state", "joint_action")
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError)  # what reading a row may raise


def is_table(path: Path) -> bool:
    """Return whether a file is a table of games of people; JSON lines are told from records by the first line."""
    if path.suffix != ".jsonl":
        return path.suffix in READERS
    if not path.is_file():
        return False
    with open_file(path, MAX_MODEL) as file:
        return b'"trial_id"' in file.readline(MAX_LINE)


def read_rows(path: Path) -> list[Mapping[str, Any]]:
    """Read a table of games; the ending of the file name is its format.

    Raises:
        ValueError: The file is not a table of games, or lacks a column.
    """
    content = read_bytes(path)
    try:
        rows = READERS[path.suffix](content)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("it is not a list of rows")
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: is not a table of games: {error}") from None
    missing = [name for name in NEEDED if any(name not in row for row in rows)]
    if missing:
        raise ValueError(f"{path}: has no column {', '.join(missing)} in some rows")
    return rows


def _read_csv(content: bytes) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


def _read_parquet(content: bytes) -> list[dict[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'collab-overcooked[data]'") from None
    try:
        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
    except pyarrow.ArrowException as error:
        raise ValueError(str(error)) from None
    return rows


def _read_json(content: bytes) -> Any:
    values = parse_json(content)
    return list(_rows_within(values, {})) or values


def _rows_within(value: Any, facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of nested trajectories, each with the fields of its trajectory and the name of the trial."""
    if isinstance(value, list) and all(isinstance(row, dict) and "state" in row for row in value):
        yield from ({**facts, **row} for row in value)
        return
    if isinstance(value, list):
        value = dict(enumerate(value))
    entries = value if isinstance(value, dict) else {}
    fields = {str(name): entry for name, entry in entries.items() if not isinstance(entry, (list, dict))}
    for name, entry in entries.items():
        if isinstance(entry, (list, dict)):
            trial = fields.get("uid", f"{facts.get('trial_id', '')}/{name}")
            yield from _rows_within(entry, {**facts, **fields, "trial_id": trial})


READERS: Mapping[str, Callable[[bytes], Any]] = {
    ".csv": _read_csv,
    ".json": _read_json,
    ".jsonl": lambda content: [parse_json(line) for line in content.splitlines()],
    ".parquet": _read_parquet,
}


def human_games(game: Game, path: Path, seats: Sequence[int] | None) -> Iterator[Demonstration]:
    """Yield what people chose in each trial on the game's layout.

    Args:
        game: The compiled game whose players are learned from.
        path: Table, see ``read_rows``.
        seats: Seats whose choices are used; all if None.

    Raises:
        ValueError: The games are of another environment or of other layouts, or a row is invalid.
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
    table = [(*reader.find_layout(game, row), row) for row in read_rows(path)]
    rows = [(name, row) for name, _, row in table if name is not None]
    others = Counter(called for name, called, _ in table if name is None)
    if not rows:
        raise ValueError(f"{path}: has no game on {', '.join(sorted(layouts))}; it has {', '.join(sorted(others))}")
    trials: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for name, row in rows:
        trials.setdefault(str(row["trial_id"]), []).append((name, row))
    used = 0
    for played in trials.values():
        scenes, refused = _scenes_of(game, reader, played)
        if refused > len(scenes):
            logger.warning(
                f"{path}: {refused} of {len(played)} states of a game on {played[0][0]} do not fit it: another layout?"
            )
            continue
        used += len(scenes)
        yield Demonstration(_choices_of(game, scenes, seats), _return_of(played))
    for called in sorted(seat for seat in others if seat.endswith("grid")):
        logger.warning(f"{path}: {others[called]} rows are of {called}, and are left out")
    logger.info(f"{path}: {used} of {len(rows)} rows of {len(trials)} games are of use")


Played = tuple[Mapping[str, Any], list[int], Mapping[str, Any]]  # a scene, what the agents did in it, and the row


def _scenes_of(game: Game, reader: Any, played: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[Played], int]:
    """Return the rows of a game as scenes, and the number of states that are impossible on its layout."""
    state, out = game.alloc(1)
    scenes: list[Played] = []
    refused = 0
    for name, row in played:
        try:
            actions = reader.read_actions(row["joint_action"], game.n_agents)
            scene = reader.read_state(row["state"], name)
        except DAMAGED:
            continue
        try:
            game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
        except DAMAGED:
            refused += 1
        else:
            scenes.append((scene, actions, row))
    return scenes, refused


def _return_of(played: Sequence[tuple[str, Mapping[str, Any]]]) -> float:
    try:
        return sum(float(row["reward"]) for _, row in played)
    except DAMAGED:
        return nan


def _choices_of(game: Game, scenes: Sequence[Played], seats: Sequence[int] | None) -> list[Choice]:
    state, out = game.alloc(1)
    choices = []
    state.rng[:] = 1  # never drawn from: every state is given
    for scene, actions, row in scenes:
        game.reset(state, out, np.ones(1, np.bool_), {"state": scene})
        for seat in range(game.n_agents) if seats is None else seats:
            if str(row.get(f"player_{seat}_is_human", True)).lower() in ("true", "1"):  # text in CSV
                seen = out.observations[0, seat].reshape(game.single_observation_space.shape)
                choices.append(Choice(seen.copy(), out.masks[0, seat].copy(), actions[seat], seat))
    return choices
