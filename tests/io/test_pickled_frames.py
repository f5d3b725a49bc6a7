"""Pickles are read without being run: what a frame needs is understood, everything else is refused."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest

from collab_overcooked.io import pickled_frames
from collab_overcooked.io.pickled_frames import read_columns


def text(message: str) -> bytes:
    data = message.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value: int) -> bytes:
    data = pickle.encode_long(value)
    return b"\x8a" + bytes([len(data)]) + data


def name(module: str, word: str) -> bytes:
    return b"c" + f"{module}\n{word}\n".encode()


def call(function: bytes, *arguments: bytes) -> bytes:
    return function + b"(" + b"".join(arguments) + b"tR"


def row(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def listed(*items: bytes) -> bytes:
    return b"](" + b"".join(items) + b"e"


def mapping(**items: bytes) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


INDEX, FRAME, DTYPE = name("pandas", "Index"), name("pandas", "DataFrame"), name("numpy", "dtype")
MANAGER, BLOCK = (
    name("pandas.core.internals.managers", "BlockManager"),
    name("pandas._libs.internals", "_unpickle_block"),
)
RECONSTRUCT, ARRAY = name("numpy._core.multiarray", "_reconstruct"), name("numpy", "ndarray")
BUFFER = name("numpy._core.numeric", "_frombuffer")


def objects(cells: list[bytes], *shape: int) -> bytes:
    state = row(number(1), row(*map(number, shape)), call(DTYPE, text("O8")), b"\x89", listed(*cells))
    return call(RECONSTRUCT, ARRAY, row(number(0)), b"C\x01b") + state + b"b"


def frame(values: bytes, labels: bytes, columns: int = 2) -> bytes:
    places = call(name("builtins", "slice"), number(0), number(columns), number(1))
    manager = call(MANAGER, row(call(BLOCK, values, places, number(2))), listed(labels, call(INDEX, listed())))
    return b"\x80\x04" + FRAME + b")\x81" + mapping(_mgr=manager) + b"b."


LABELS = call(INDEX, listed(text("a"), text("b")))


@pytest.fixture
def read(tmp_path):
    def read(data: bytes):
        path = tmp_path / "frame.pickle"
        path.write_bytes(data)
        return read_columns(path)

    return read


def test_columns_of_objects_and_of_numbers_are_read(read):
    columns = read(frame(objects([text("x"), text("y"), number(3), b"N"], 2, 2), LABELS))
    assert {key: values.tolist() for key, values in columns.items()} == {"a": ["x", "y"], "b": [3, None]}
    data = np.arange(4, dtype=">i4").tobytes()
    dtype = call(DTYPE, text("i4"), b"\x89", b"\x88") + row(number(3), text(">"), b"N", b"N", b"N") + b"b"
    numbers = call(BUFFER, b"B" + struct.pack("<I", len(data)) + data, dtype, row(number(2), number(2)), text("C"))
    assert {key: values.tolist() for key, values in read(frame(numbers, LABELS)).items()} == {"a": [0, 1], "b": [2, 3]}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_frames_of_the_installed_pandas_are_read(read, protocol):
    pandas = pytest.importorskip("pandas", reason="writes a frame with pandas, which the package itself does not need")
    values = {"a": ["x", "y"], "b": [1, 2], "c": [True, False], "d": [0.5, 1.5]}
    with pandas.option_context("mode.string_storage", "python"):
        columns = read(pickle.dumps(pandas.DataFrame(values), protocol=protocol))
    assert {key: column.tolist() for key, column in columns.items()} == values


def test_frames_whose_strings_are_those_of_pyarrow_are_refused_with_the_remedy(read):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    with pandas.option_context("mode.string_storage", "pyarrow"):
        saved = pickle.dumps(pandas.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"pandas.set_option\('mode.string_storage', 'python'\)"):
        read(saved)


def test_columns_of_anything_else_are_left_out(read):
    cells = [listed(text("x")), text("y"), text("z"), text("w")]
    assert list(read(frame(objects(cells, 2, 2), LABELS))) == ["b"]


def shared_lists(levels: int) -> bytes:
    """A list of lists that share their parts: 10 ** levels cells for whoever looks into all."""
    code = listed(number(1)) + b"\x94"
    for level in range(levels):
        code += b"0](" + (b"h" + bytes([level])) * 10 + b"e\x94"
    return code


ADDRESS = mapping(version=number(3), typestr=text("<i8"), shape=row(number(1)), data=row(number(8), b"\x88"))
FORGED = call(INDEX, listed()) + mapping(__array_interface__=ADDRESS) + b"b"
HOSTILE = {
    "a function": (call(name("os", "system"), text("true")) + b".", "asks for os.system"),
    "a dotted name": (text("numpy") + text("dtype.__class__") + b"\x93.", "asks for numpy.dtype.__class__"),
    "an instance of protocol 0": (b"(" + text("x") + b"ios\nsystem\n.", "uses INST"),
    "an extension": (b"\x82\x01.", "uses EXT1"),
    "a persistent id": (b"Pname\n.", "uses PERSID"),
    "an attribute of a class": (INDEX + mapping(x=number(1)) + b"b.", "into a Name"),
    "the array class called": (call(ARRAY, text("x")) + b".", "no function of frames"),
    "addresses as labels": (frame(objects([text("x")], 1, 1), FORGED, 1), "shorter"),
    "addresses as a block": (frame(FORGED, LABELS), "Index stands where an array should"),
    "objects made of bytes": (
        frame(call(BUFFER, b"C\x08AAAAAAAA", call(DTYPE, text("O8")), row(number(1)), text("C")), LABELS, 1),
        "not numbers",
    ),
    "lists that share parts": (frame(objects([text("x")], 1, 1), call(INDEX, shared_lists(12)), 1), "no text"),
    "a shape that does not fit": (frame(objects([text("x")], 1, 10**12), LABELS, 1), "shape of an array"),
    "a key that is a list": (b"}" + listed() + number(1) + b"s.", "a key is a list"),
    "a missing mark": (number(1) + b"t.", "mark"),
    "many levels": (b"]" * 100_000 + b"a" * 99_999 + b".", "holds a list"),
    "nothing": (b"", "exhausted"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_everything_else_is_refused_and_nothing_is_run(read, kind):
    data, message = HOSTILE[kind]
    with pytest.raises(ValueError, match=message):
        read(data)


def test_every_beginning_of_a_frame_is_refused(read):
    full = frame(objects([text("x"), text("y")], 2, 1), LABELS)
    for length in range(len(full)):
        with pytest.raises(ValueError):
            read(full[:length])


def test_files_that_are_too_large_are_not_read(read, monkeypatch):
    monkeypatch.setattr(pickled_frames, "MAX_BYTES", 10)
    with pytest.raises(ValueError, match="refused"):
        read(frame(objects([text("x")], 1, 1), LABELS, 1))
