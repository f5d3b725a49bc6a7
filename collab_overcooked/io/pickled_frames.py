"""A reader of pickled pandas frames that runs nothing: opcodes are interpreted into inert values.

``pickle`` calls whatever a file names, so it is not used here. ``pickletools.genops`` yields the opcodes; the few that
frames need build lists, tuples, dicts and ``Call`` nodes, which are never executed. Columns are read only from the
nodes that frames of pandas 0.25 to 3 consist of.
"""

from __future__ import annotations

import pickletools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
MAX_BYTES = 1 << 30  # the published data have less than a tenth of it
MAX_CELLS = 50_000_000  # of all columns together

ARROW_REMEDY = "; save it again after pandas.set_option('mode.string_storage', 'python')"


class UnsafePickle(ValueError):
    """A pickle that is damaged, too large, or asks for more than a frame needs."""


class Name(NamedTuple):
    """A global name that a pickle looks up; it is never imported."""

    module: str
    name: str


@dataclass(eq=False)
class Call:
    """A call that a pickle asks for.

    Attributes:
        function: Name of the function or class.
        args: Its arguments.
        state: State for the result's ``__setstate__``; None for none.
    """

    function: Name
    args: tuple[Any, ...]
    state: Any = None


FRAMES = (Name("pandas.core.frame", "DataFrame"), Name("pandas", "DataFrame"))
MANAGERS = (Name("pandas.core.internals.managers", "BlockManager"), Name("pandas.core.internals", "BlockManager"))
BLOCK = Name("pandas._libs.internals", "_unpickle_block")
NEW_INDEX = Name("pandas.core.indexes.base", "_new_Index")
INDEXES = (
    Name("pandas", "Index"),
    Name("pandas", "RangeIndex"),
    Name("pandas.core.indexes.base", "Index"),
    Name("pandas.core.indexes.numeric", "Int64Index"),
    Name("pandas.core.indexes.range", "RangeIndex"),
)
TEXTS = (Name("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"), Name("pandas.arrays", "StringArray"))
TEXT_TYPE = Name("pandas", "StringDtype")
SLICE = Name("builtins", "slice")
ARRAY_CLASS = Name("numpy", "ndarray")
DTYPE = Name("numpy", "dtype")
ENCODE = Name("_codecs", "encode")
RECONSTRUCT = tuple(Name(f"numpy.{core}.multiarray", "_reconstruct") for core in ("core", "_core"))
FROM_BUFFER = tuple(Name(f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core"))
_ARRAY_NAMES = (*TEXTS, *RECONSTRUCT, *FROM_BUFFER, TEXT_TYPE, ARRAY_CLASS, DTYPE, ENCODE)
ALLOWED = frozenset((*FRAMES, *MANAGERS, *INDEXES, BLOCK, NEW_INDEX, SLICE, *_ARRAY_NAMES))

# ------------------------------------------------------------------------------------------- opcodes

_MARK = object()
_PUSH_ARGUMENT = frozenset(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING BINBYTES "
    "SHORT_BINBYTES BINBYTES8 BYTEARRAY8 UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8".split()
)
_CONSTANTS: Mapping[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
}


class _Machine:
    """Stack and memo of one pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        """Interpret a pickle and return its value.

        Raises:
            UnsafePickle: For an opcode or a name that frames do not use.
        """
        for opcode, argument, _ in pickletools.genops(data):
            name = opcode.name
            if name == "STOP":
                return self.pop()
            if name in _PUSH_ARGUMENT:
                self.stack.append(argument)
            elif name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name]())
            elif name in ("PROTO", "FRAME"):
                pass
            else:
                step = getattr(self, f"_{name.lower()}", None)
                if step is None:
                    raise UnsafePickle(f"it uses {name}, which no frame of games needs; refused")
                step(argument)
        raise UnsafePickle("it ends early")

    def pop(self) -> Any:
        """Pop the topmost value."""
        value = self.stack.pop()
        if value is _MARK:
            raise UnsafePickle("a mark stands where a value should")
        return value

    def pop_to_mark(self) -> list[Any]:
        """Pop everything above the topmost mark, and the mark."""
        place = len(self.stack) - 1
        while self.stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise UnsafePickle("a mark is missing")
        values = self.stack[place + 1 :]
        del self.stack[place:]
        return values

    def top(self, kind: type) -> Any:
        """Return the topmost value, which must be of the given type."""
        if not isinstance(self.stack[-1], kind):
            raise UnsafePickle(f"it puts something into a {type(self.stack[-1]).__name__}; refused")
        return self.stack[-1]

    # Each method below implements the opcode of its name.

    def _mark(self, _: Any) -> None:
        self.stack.append(_MARK)

    def _pop(self, _: Any) -> None:
        self.stack.pop()

    def _tuple(self, _: Any) -> None:
        self.stack.append(tuple(self.pop_to_mark()))

    def _tuple1(self, _: Any) -> None:
        self.stack.append((self.pop(),))

    def _tuple2(self, _: Any) -> None:
        second, first = self.pop(), self.pop()
        self.stack.append((first, second))

    def _tuple3(self, _: Any) -> None:
        third, second, first = self.pop(), self.pop(), self.pop()
        self.stack.append((first, second, third))

    def _list(self, _: Any) -> None:
        self.stack.append(self.pop_to_mark())

    def _dict(self, _: Any) -> None:
        values = self.pop_to_mark()
        self.stack.append({})
        self._put_items(values)

    def _append(self, _: Any) -> None:
        value = self.pop()
        self.top(list).append(value)

    def _appends(self, _: Any) -> None:
        values = self.pop_to_mark()
        self.top(list).extend(values)

    def _setitem(self, _: Any) -> None:
        value, key = self.pop(), self.pop()
        self._put_items([key, value])

    def _setitems(self, _: Any) -> None:
        self._put_items(self.pop_to_mark())

    def _put_items(self, values: Sequence[Any]) -> None:
        items = self.top(dict)
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, (str, int)):
                raise UnsafePickle(f"a key is a {type(key).__name__}; refused")
            items[key] = value

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self.look_up(Name(module, name))

    def _stack_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        self.look_up(Name(module, name))

    def look_up(self, name: Name) -> None:
        """Push a name that frames use.

        Raises:
            UnsafePickle: For any other.
        """
        if name.module == "__builtin__":  # as protocols below 3 call it
            name = Name("builtins", name.name)
        if not all(isinstance(part, str) for part in name) or name not in ALLOWED:
            remedy = ARROW_REMEDY if name.name == "ArrowStringArray" else ""
            raise UnsafePickle(f"it asks for {name.module}.{name.name}, which no frame of games needs; refused{remedy}")
        self.stack.append(name)

    def _reduce(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Name) or function == ARRAY_CLASS or type(arguments) is not tuple:
            raise UnsafePickle("it calls what is no function of frames; refused")
        self.stack.append(Call(function, arguments))

    _newobj = _reduce

    def _build(self, _: Any) -> None:
        state = self.pop()
        call = self.top(Call)
        if call.state is not None:
            raise UnsafePickle("it gives an object two states; refused")
        call.state = state

    def _memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _put(self, place: int) -> None:
        self.memo[int(place)] = self.stack[-1]

    def _get(self, place: int) -> None:
        self.stack.append(self.memo[int(place)])

    _binput = _long_binput = _put
    _binget = _long_binget = _get


# ------------------------------------------------------------------------------------------- frames


def read_columns(path: Path) -> dict[str, Array]:
    """Read the columns of a pickled frame without importing or calling anything.

    Args:
        path: File as written by ``pandas.DataFrame.to_pickle``, uncompressed.

    Returns:
        Arrays (R,) by column name, of numbers or of objects; columns with cells that are neither texts nor numbers are
        left out.

    Raises:
        ValueError: If the file cannot be read, is too large, damaged, not a frame, or uses other names.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path}: has more than {MAX_BYTES >> 20} MiB, more than any games of people; refused")
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # escapes that Python does not know, in damaged texts
            value = _Machine().run(data)
        if isinstance(value, Call) and value.function in FRAMES:
            return _columns_of(value)
    except (
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        OverflowError,
    ) as error:  # damaged in many ways
        raise ValueError(f"{path}: is no pickled frame of games: {error}") from None
    kind = value.function.name if isinstance(value, Call) else type(value).__name__
    raise ValueError(f"{path}: holds a {kind}, not a frame of games")


def _columns_of(frame: Call) -> dict[str, Array]:
    state = frame.state
    manager = state.get("_mgr", state.get("_data")) if isinstance(state, dict) else None
    if not isinstance(manager, Call) or manager.function not in MANAGERS:
        raise UnsafePickle("the frame holds no data")
    blocks, axes = _parts_of(manager)
    if len(axes) != 2:
        raise UnsafePickle("the frame holds no data")
    names = _labels(axes[0])
    columns: dict[str, Array] = {}
    cells = 0
    for values, places in blocks:
        rows = np.atleast_2d(_array(values))
        cells += rows.size
        if cells > MAX_CELLS:
            raise UnsafePickle(f"the frame has more than {MAX_CELLS:,} cells; refused")
        for row, place in zip(rows, _places(places, len(names)), strict=True):
            if _is_plain(row):
                columns[str(names[place])] = row
    return columns


def _parts_of(manager: Call) -> tuple[list[tuple[Any, Any]], Sequence[Any]]:
    """Return values and column indices of each block, and the axes."""
    if manager.args:
        blocks, axes = manager.args[:2]
        if not all(isinstance(block, Call) and block.function == BLOCK for block in blocks):
            raise UnsafePickle("a block of the frame is in an unknown form")
        return [block.args[:2] for block in blocks], axes
    state = manager.state  # pandas before 1.3
    if not (isinstance(state, tuple) and len(state) == 4 and isinstance(state[3], dict) and "0.14.1" in state[3]):
        raise UnsafePickle("the data of the frame are in an unknown form")
    kept = state[3]["0.14.1"]
    return [(block["values"], block["mgr_locs"]) for block in kept["blocks"]], kept["axes"]


def _labels(index: Any) -> Sequence[Any]:
    if not isinstance(index, Call):
        raise UnsafePickle("the labels of the columns are in an unknown form")
    if index.function == NEW_INDEX:
        if not isinstance(index.args[1], dict) or "data" not in index.args[1]:
            raise UnsafePickle("the columns have no names")
        labels = index.args[1]["data"]
    elif index.function in INDEXES:
        labels = index.args[0]
    else:
        raise UnsafePickle("the labels of the columns are in an unknown form")
    labels = labels if isinstance(labels, list) else _array(labels).reshape(-1).tolist()
    if not all(isinstance(label, (str, int)) for label in labels):
        raise UnsafePickle("the name of a column is no text")
    return labels


def _places(places: Any, number: int) -> Sequence[int]:
    """Return the indices of the columns of a block."""
    if isinstance(places, Call) and places.function == SLICE:
        if not all(part is None or isinstance(part, int) for part in places.args):
            raise UnsafePickle("a slice is not of integers")
        return range(*slice(*places.args).indices(number))
    indices: list[int] = _array(places).reshape(-1).tolist()
    return indices


def _array(value: Any) -> Array:
    """Return the array that a node describes.

    Raises:
        UnsafePickle: If it is not an array, or its data do not fit its shape.
    """
    if not isinstance(value, Call):
        raise UnsafePickle(f"a {type(value).__name__} stands where an array should")
    if value.function in FROM_BUFFER:
        data, kind, shape, order = value.args
        return _filled(data, kind, shape, str(order))
    if value.function in RECONSTRUCT:
        if not isinstance(value.state, tuple) or len(value.state) != 5:
            raise UnsafePickle("an array holds no data")
        _, shape, kind, by_column, data = value.state
        return _filled(data, kind, shape, "F" if by_column is True else "C")
    if value.function in TEXTS:  # the array is part of the state, the last argument or set later
        state = value.state if value.state is not None else value.args[-1]
        parts = [part for part in state if isinstance(part, Call) and part.function in (*RECONSTRUCT, *FROM_BUFFER)]
        if parts:
            return _array(parts[0])
    raise UnsafePickle(f"{value.function.name} stands where an array should")


def _filled(data: Any, kind: Any, shape: Any, order: str) -> Array:
    """Return an array of a list of objects or of the bytes of numbers."""
    if isinstance(data, Call) and data.function == ENCODE:  # encoding of bytes in protocol 2
        text, codec = data.args
        if not isinstance(text, str) or codec != "latin1":
            raise UnsafePickle("bytes are in an unknown form")
        data = text.encode("latin1")
    if type(shape) is not tuple or not all(type(size) is int and 0 <= size <= MAX_CELLS for size in shape):
        raise UnsafePickle("the shape of an array is not of integers")
    flat: Array
    if isinstance(data, list):
        flat = np.empty(len(data), object)
        for i, cell in enumerate(data):  # one by one: numpy would descend into lists, which may share parts
            flat[i] = cell
    elif isinstance(data, (bytes, bytearray)):
        flat = np.frombuffer(bytes(data), _number_type(kind))
    else:
        raise UnsafePickle(f"an array holds a {type(data).__name__}")
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _number_type(kind: Any) -> np.dtype[Any]:
    """Return a numpy dtype of numbers; object dtypes, which hold addresses, are refused."""
    text = kind.args[0] if isinstance(kind, Call) and kind.function == DTYPE and kind.args else None
    if not isinstance(text, str) or text not in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"):
        raise UnsafePickle(f"an array of bytes holds {text!r}, not numbers; refused")
    assert isinstance(kind, Call)
    order = kind.state[1] if isinstance(kind.state, tuple) and len(kind.state) > 1 else "="
    return np.dtype(text).newbyteorder(">" if order == ">" else "<")


def _is_plain(column: Array) -> bool:
    """Return whether all cells are texts, numbers or None."""
    return column.dtype != object or all(cell is None or isinstance(cell, (str, int, float)) for cell in column)
