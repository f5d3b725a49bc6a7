"""Writers of datasets: NumPy archives in the layout of OG-MARL's vaults, Parquet, and Minari."""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from collab_overcooked import __version__
from collab_overcooked.export.trajectories import Trajectory
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.structs import encode

EXTRA = "pip install 'collab-overcooked[data]'"
LICENCE = "mit"
ROOT = "MINARI_DATASETS_PATH"


Description = dict[str, Any]
"""What a dataset says of an episode: ``Trajectory.about``, and its ``steps``."""


def write_npz(path: Path, episodes: Iterable[Trajectory], seat: int | None) -> list[Description]:
    """Write ``data.npz`` with the arrays of an OG-MARL vault (B=1, all steps in a row), and ``dataset.json``.

    Arrays: ``observations`` (1, T, N, ...), ``actions``, ``rewards``, ``terminals``, ``truncations`` (1, T, N),
    ``infos.state`` (1, T, S), ``infos.legals`` (1, T, N, A).
    """
    described: list[Description] = []
    with ExitStack() as opened:
        rows: dict[str, _Spool] = {}
        for episode in episodes:
            for name, array in _arrays(episode, seat).items():
                if name not in rows:
                    rows[name] = _Spool(opened.enter_context(TemporaryFile(dir=path)), array)
                rows[name].append(array)
            described.append(_describe(episode))
        with zipfile.ZipFile(path / "data.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, written in rows.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    written.copy_to(file)
    _write_description(path, described, seat)
    return described


def _arrays(episode: Trajectory, seat: int | None) -> dict[str, np.ndarray]:
    seats = _seats(episode, seat)
    arrays = {
        "observations": episode.observations[:-1, seats],
        "actions": episode.actions[:, seats],
        "rewards": episode.rewards[:, seats],
        "terminals": _ends(episode, episode.terminated, seats),
        "truncations": _ends(episode, episode.truncated, seats),
        "infos.legals": episode.masks[:-1, seats],
    }
    if seat is None:  # the global state is more than one seat knows
        arrays["infos.state"] = episode.states[:-1]
    return arrays


class _Spool:
    """Rows of an array, on disk until their number is known.

    Args:
        file: Temporary file of the rows.
        like: Some of the rows, (T, ...).
    """

    def __init__(self, file: IO[bytes], like: np.ndarray) -> None:
        self._file = file
        self._dtype = like.dtype
        self._shape = like.shape[1:]
        self._count = 0

    def append(self, rows: np.ndarray) -> None:
        """Append rows (T, ...)."""
        self._file.write(np.ascontiguousarray(rows, self._dtype).tobytes())
        self._count += len(rows)

    def copy_to(self, file: IO[bytes]) -> None:
        """Write all rows as an ``.npy`` file with shape (1, T, ...)."""
        shape = (1, self._count, *self._shape)
        described = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": described, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        self._file.seek(0)
        shutil.copyfileobj(self._file, file)


ENDS = ("terminated", "truncated")


def _seats(episode: Trajectory, seat: int | None) -> list[int]:
    return list(range(episode.game.n_agents)) if seat is None else [seat]


def _ends(episode: Trajectory, ended: bool, seats: Sequence[int]) -> np.ndarray:
    flags = np.zeros((len(episode), len(seats)), np.bool_)
    flags[-1] = ended
    return flags


def _describe(episode: Trajectory) -> Description:
    return episode.about | {"steps": len(episode)}


def _write_description(path: Path, described: Sequence[Description], seat: int | None) -> None:
    view = "central" if seat is None else f"agent_{seat}"
    write_atomic(
        path / "dataset.json", json.dumps({"version": __version__, "view": view, "episodes": list(described)}).encode()
    )


def write_parquet(path: Path, episodes: Iterable[Trajectory], seat: int | None) -> list[Description]:
    """Write ``data.parquet``, a row for each agent and step.

    Raises:
        ValueError: If pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(f"format parquet needs pyarrow ({error}): {EXTRA}") from None
    remaining = iter(episodes)
    first = next(remaining)
    cell = pyarrow.uint8() if first.observations.dtype == np.uint8 else pyarrow.float32()
    schema = pyarrow.schema(
        {
            "episode": pyarrow.int32(),
            "t": pyarrow.int32(),
            "agent": pyarrow.int8(),
            "observation": pyarrow.list_(cell),
            "mask": pyarrow.list_(pyarrow.bool_()),
            "action": pyarrow.int32(),
            "action_text": pyarrow.string(),
            "reward": pyarrow.float32(),
            "event": pyarrow.string(),
            "said": pyarrow.string(),
            "terminated": pyarrow.bool_(),
            "truncated": pyarrow.bool_(),
        }
    )
    file, described = path / "data.parquet", list[Description]()
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for number, episode in enumerate(chain([first], remaining)):
            rows = list(_rows(number, episode, _seats(episode, seat)))
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
            described.append(_describe(episode))
    _write_description(path, described, seat)
    return described


def _rows(number: int, episode: Trajectory, seats: Sequence[int]) -> Any:
    last = len(episode) - 1
    for t, step in enumerate(episode.record.steps):
        messages = {message.agent: message.say for message in step.messages}
        for seat in seats:
            event = step.events[seat]
            yield {
                "episode": number,
                "t": t,
                "agent": seat,
                "observation": episode.observations[t, seat].ravel().tolist(),
                "mask": episode.masks[t, seat].tolist(),
                "action": int(episode.actions[t, seat]),
                "action_text": step.action_texts[seat],
                "reward": float(episode.rewards[t, seat]),
                "event": None if event is None else encode(event).decode(),
                "said": messages.get(seat),
                "terminated": episode.terminated and t == last,
                "truncated": episode.truncated and t == last,
            }


def _teams(described: Iterable[Description]) -> str:
    return "; ".join(sorted({" + ".join(episode["team"].values()) for episode in described}))


def write_minari(path: Path, episodes: Iterable[Trajectory], seat: int | None) -> list[Description]:
    """Write a Minari dataset below a folder; ``MINARI_DATASETS_PATH`` set to the folder makes it loadable.

    The central view has stacked observations (N, ...), one action per agent, the mean of the rewards, and in ``infos``
    the ``action_mask`` and ``rewards`` by agent; ``recover_environment`` returns the Gymnasium environment. One seat's
    view has its own observations, actions and rewards; the metadata name its partners.

    Raises:
        ValueError: If Minari is not installed, or if the options of the game differ between episodes.
    """
    try:
        import gymnasium
        from minari import create_dataset_from_buffers
        from minari.data_collector.episode_buffer import EpisodeBuffer
    except ImportError as error:
        raise ValueError(f"format minari needs minari ({error}): {EXTRA}") from None
    remaining, described = iter(episodes), list[Description]()
    first = next(remaining)

    def buffers() -> Iterator[EpisodeBuffer]:
        for number, episode in enumerate(chain([first], remaining)):
            if episode.game.kwargs != first.game.kwargs:
                raise ValueError(
                    f"format minari: the options of episodes differ ({episode.record.env_kwargs} and "
                    f"{first.record.env_kwargs}); export each setting by itself, with --tasks"
                )
            described.append(_describe(episode))
            yield EpisodeBuffer(id=number, seed=episode.record.seed, **_buffer(episode, seat))

    limit: dict[str, Any] = {"max_cycles": first.record.max_cycles} if first.record.max_cycles_given else {}
    env: Any = gymnasium.make(f"collab_overcooked/{first.record.env_id}", **first.game.kwargs, **limit)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    if seat is not None:
        space = first.game.single_observation_space
        spaces = {"observation_space": space, "action_space": gymnasium.spaces.Discrete(first.game.n_actions)}
    with _root(path), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # author and links to code are for the owner of the data to add
        dataset = create_dataset_from_buffers(
            dataset_id(first, seat),
            buffers(),  # read one by one
            env=env if seat is None else None,
            eval_env=env if seat is None else None,
            **spaces,
            requirements=[f"collab-overcooked=={__version__}"],
            data_format="arrow",
            jpeg_encoding=False,
        )
        about = [{name: value for name, value in episode.items() if name != "steps"} for episode in described]
        dataset.storage.update_metadata({"algorithm_name": _teams(described), "description": json.dumps(about)})
    env.close()
    return described


@contextmanager
def _root(path: Path) -> Iterator[None]:
    before = os.environ.get(ROOT)
    os.environ[ROOT] = str(path.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ[ROOT]
        else:
            os.environ[ROOT] = before


def dataset_id(episode: Trajectory, seat: int | None) -> str:
    """Return the Minari id of the dataset that begins with an episode."""
    view = "central" if seat is None else f"agent{seat}"
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{episode.record.env_id.removesuffix('-v0')}-{episode.record.task}")
    return f"collab-overcooked/{name.strip('-')}-{view}-v0"


def _buffer(episode: Trajectory, seat: int | None) -> dict[str, Any]:
    steps = len(episode)
    ends = {name: [False] * (steps - 1) + [vars(episode)[name]] for name in ENDS}
    values: dict[str, Any] = {"terminations": ends["terminated"], "truncations": ends["truncated"]}
    if seat is not None:
        return values | {
            "observations": episode.observations[:, seat],
            "actions": episode.actions[:, seat],
            "rewards": episode.rewards[:, seat].astype(np.float64),
            "infos": {"action_mask": episode.masks[:, seat].astype(np.int8)},
        }
    by_agent = np.concatenate([np.zeros((1, episode.game.n_agents), np.float32), episode.rewards])
    return values | {
        "observations": episode.observations,
        "actions": episode.actions,
        "rewards": episode.rewards.mean(1).astype(np.float64),
        "infos": {"action_mask": episode.masks.astype(np.int8), "rewards": by_agent},
    }


FORMATS: Mapping[str, Callable[[Path, Iterable[Trajectory], int | None], list[Description]]] = {
    "npz": write_npz,
    "parquet": write_parquet,
    "minari": write_minari,
}
