"""Games that people played, in the public format of Overcooked-AI: pickled pandas frames, read without running them.

A pickle can call any function of any module. This reader allows the few that a frame is made of, and has stand-ins for
those of pandas, which therefore needs not be installed. Anything else is refused before it is called.

A row is one timestep of one trial: ``trial_id``, ``layout_name``, ``state`` and ``joint_action`` (JSON), and
``player_0_is_human`` and ``player_1_is_human`` where programs played too.
"""

from __future__ import annotations

import ast
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked.core.grid import OFFSETS, Direction
from collab_overcooked.envs.api import Game
from collab_overcooked.games.overcooked.constants import Action

Array = np.ndarray
NEEDED = ("trial_id", "layout_name", "state", "joint_action")
LAYOUTS = {  # names of 2019
    "random0": "forced_coordination",
    "random1": "coordination_ring",
    "random3": "counter_circuit",
    "simple": "cramped_room",
    "unident_s": "asymmetric_advantages",
    "counter_circuit_o_1order": "counter_circuit",
}
FACINGS = {OFFSETS[direction]: direction.name.lower() for direction in Direction}
MOVES: Mapping[Any, int] = {  # how the data name actions
    **{OFFSETS[direction]: direction for direction in Direction},
    (0, 0): Action.STAY,
    "stay": Action.STAY,
    "interact": Action.INTERACT,
}
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError)  # what reading a row may raise


# ------------------------------------------------------------------------------------------- pickles


class Kind:
    """Stands for numpy's type of an array's cells, which by itself would take any words about what it holds."""

    def __init__(self, text: str, *_: Any) -> None:
        self.type = np.dtype(text)

    def __setstate__(self, state: Any) -> None:
        """Take the order of bytes; the rest is known from the name, or belongs to types that no frame needs."""
        self.type = self.type.newbyteorder(state[1])


class Cells:
    """Stands for an array of numpy, whose own reader can be made to take bytes for addresses of objects."""

    values: Array | None = None

    def __setstate__(self, state: Any) -> None:
        """Take the numbers or objects."""
        _, shape, kind, by_column, data = state
        self.values = _array(data, kind, shape, "F" if by_column else "C")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.values is None:
            raise pickle.UnpicklingError("an array holds no data")
        return self.values


class Texts(Cells):
    """Stands for a column of texts as pandas 3 has it."""

    def __setstate__(self, state: Any) -> None:
        """Take the array among the parts of the state."""
        self.values = next((part.values for part in state if isinstance(part, Cells)), None)


class Index:
    """Stands for pandas' labels of an axis."""

    def __init__(self, labels: Any) -> None:
        self.labels = np.asarray(labels).tolist()


class Manager:
    """Stands for what holds a frame's data: blocks of columns of one type, and the labels of both axes."""

    def __init__(self, blocks: Any = (), axes: Any = ()) -> None:
        self.blocks, self.axes = list(blocks), list(axes)

    def __setstate__(self, state: Any) -> None:
        """Take what pandas before 1.3 wrote."""
        if not (isinstance(state, tuple) and len(state) == 4 and isinstance(state[3], dict) and "0.14.1" in state[3]):
            raise pickle.UnpicklingError("the data of the frame are in an unknown form")
        kept = state[3]["0.14.1"]
        self.axes = list(kept["axes"])
        self.blocks = [(block["values"], block["mgr_locs"]) for block in kept["blocks"]]


class Frame:
    """Stands for a pandas frame."""

    manager: Manager | None = None

    def __setstate__(self, state: Any) -> None:
        """Take the manager; the rest is of no use here."""
        found = state.get("_mgr", state.get("_data")) if isinstance(state, dict) else None
        if not isinstance(found, Manager):
            raise pickle.UnpicklingError("the frame holds no data")
        self.manager = found

    def columns(self) -> dict[str, Array]:
        """Return the columns by name."""
        if self.manager is None or len(self.manager.axes) != 2:
            raise pickle.UnpicklingError("the frame holds no data")
        names = self.manager.axes[0].labels
        columns: dict[str, Array] = {}
        for values, places in self.manager.blocks:
            where = range(*places.indices(len(names))) if isinstance(places, slice) else np.asarray(places).tolist()
            for row, place in zip(np.atleast_2d(values), where, strict=True):
                columns[str(names[place])] = row
        return columns


def _index(kind: Any, values: Mapping[str, Any]) -> Index:
    if "data" in values:
        return Index(values["data"])
    return Index(range(values["start"], values["stop"], values["step"]))


def _block(values: Any, places: Any, _: int) -> tuple[Any, Any]:
    return values, places


def _texts(kind: Any, checksum: int, state: Any) -> Texts:
    texts = Texts()
    if state is not None:
        texts.__setstate__(state)
    return texts


def _kind_of_text(*words: Any) -> str:
    return "text"


def _array(data: Any, kind: Kind, shape: Any, order: Any) -> Array:
    """Return an array of a list of objects, or of bytes; numpy refuses to make objects of bytes here."""
    flat = np.fromiter(data, object, len(data)) if isinstance(data, list) else np.frombuffer(data, kind.type)
    return flat.reshape(shape, order=order)


def _frombuffer(data: Any, kind: Kind, shape: Any, order: str) -> Cells:
    cells = Cells()
    cells.values = _array(data, kind, shape, order)
    return cells


def _reconstruct(*_: Any) -> Cells:
    return Cells()


ALLOWED: Mapping[tuple[str, str], Any] = {
    ("pandas.core.frame", "DataFrame"): Frame,
    ("pandas", "DataFrame"): Frame,
    ("pandas", "Index"): Index,
    ("pandas", "RangeIndex"): Index,
    ("pandas.core.internals.managers", "BlockManager"): Manager,
    ("pandas.core.internals", "BlockManager"): Manager,
    ("pandas._libs.internals", "_unpickle_block"): _block,
    ("pandas.core.indexes.base", "_new_Index"): _index,
    ("pandas.core.indexes.base", "Index"): Index,
    ("pandas.core.indexes.numeric", "Int64Index"): Index,
    ("pandas.core.indexes.range", "RangeIndex"): Index,
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"): _texts,
    ("pandas.arrays", "StringArray"): Texts,
    ("pandas", "StringDtype"): _kind_of_text,
    ("builtins", "slice"): slice,
    ("numpy", "ndarray"): "array",  # only ever an argument
    ("numpy", "dtype"): Kind,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _reconstruct for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _frombuffer for core in ("core", "_core")},
}


class FrameReader(pickle.Unpickler):
    """Reads pickles of frames, and refuses all others."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a name.

        Raises:
            pickle.UnpicklingError: If it has no place in a frame.
        """
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no frame of games needs; refused")
        return ALLOWED[module, name]


def read_frame(path: Path) -> dict[str, Array]:
    """Read the columns of a pickled frame.

    Raises:
        ValueError: If the file cannot be read, is no frame, asks for anything else, or lacks a column.
    """
    try:
        with path.open("rb") as file:
            frame = FrameReader(file).load()
        columns = frame.columns() if isinstance(frame, Frame) else None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # damaged pickles fail in many ways
        raise ValueError(f"{path}: is no pickled frame of games: {error}") from None
    if columns is None:
        raise ValueError(f"{path}: holds a {type(frame).__name__}, not a frame of games")
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise ValueError(f"{path}: has no column {', '.join(missing)}; it has {', '.join(columns)}")
    return columns


# ------------------------------------------------------------------------------------------- games


def human_choices(
    game: Game, path: Path, seats: Sequence[int] | None, note: Callable[[str], None]
) -> Iterator[tuple[Array, Array, int, int]]:
    """Yield observation, mask, action and number of the trial of everything that people chose on the game's layout.

    Args:
        game: An Overcooked with primitive actions.
        path: Pickled frame.
        seats: Whose choices; all if None.
        note: Told how many trials and rows were of use.

    Raises:
        ValueError: For a game that is none, or a file that cannot be used.
    """
    layouts = {layout.name for layout in getattr(game, "layouts", ())}
    if game.id != "Overcooked-v0" or game.n_actions != len(Action):
        raise ValueError(f"{path}: holds games of Overcooked-v0 with its six actions; they teach no other")
    columns = read_frame(path)
    names = [LAYOUTS.get(name, name) for name in columns["layout_name"].tolist()]
    rows = [row for row, name in enumerate(names) if name in layouts]
    if not rows:
        raise ValueError(f"{path}: has no game on {', '.join(sorted(layouts))}; it has {', '.join(sorted(set(names)))}")
    trials: dict[Any, int] = {}
    bad = 0
    state, out = game.alloc(1)
    state.rng[:] = 1  # never drawn from: every state is given
    for row in rows:
        trial = trials.setdefault(columns["trial_id"][row], len(trials))
        try:
            actions = read_actions(columns["joint_action"][row], game.n_agents)
            scene = read_state(columns["state"][row], names[row])
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


def read_actions(value: Any, agents: int) -> list[int]:
    """Return each agent's action id from JSON, or from the Python text that part of the data has instead.

    Raises:
        One of ``DAMAGED``: If it is neither, or something else than an action of each.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            value = ast.literal_eval(value)
    keys = [action.lower() if isinstance(action, str) else tuple(action) for action in value]
    if len(keys) != agents:
        raise ValueError(f"actions of {len(keys)} agents, not of {agents}")
    return [MOVES[key] for key in keys]


def read_state(value: Any, layout: str) -> dict[str, Any]:
    """Return Overcooked-AI's state, of 2019 or of today, as a scene.

    Raises:
        One of ``DAMAGED``: If it is none.
    """
    given = json.loads(value) if isinstance(value, str) else value
    objects = given.get("objects") or []
    things = objects.values() if isinstance(objects, dict) else objects
    return {
        "layout": layout,
        "timestep": 0,  # people played for longer than an episode here
        "players": [
            {
                "position": list(player["position"]),
                "facing": FACINGS[tuple(player["orientation"])],
                "holding": read_thing(player.get("held_object")),
            }
            for player in given["players"]
        ],
        "objects": [{"position": list(thing["position"]), **(read_thing(thing) or {})} for thing in things],
    }


def read_thing(thing: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an object as a scene has it.

    Raises:
        One of ``DAMAGED``: If it is in an unknown form.
    """
    if thing is None or thing["name"] != "soup":
        return None if thing is None else {"item": thing["name"]}
    if "state" in thing:  # 2019: kind, number of ingredients, time cooked, which starts by itself at the third
        kind, number, time = thing["state"]
        names, tick = [kind] * number, time if number == 3 else -1
    else:
        names = [item["name"] if isinstance(item, dict) else item for item in thing["_ingredients"]]
        tick = thing.get("cooking_tick", thing.get("_cooking_tick", -1))
    return {"item": "soup", "ingredients": names, "tick": tick}
