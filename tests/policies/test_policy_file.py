"""Policy files that lie about themselves are refused before they cost memory; messages name file and field."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collab_overcooked.policies import policy_file
from collab_overcooked.policies.policy_file import policy_path, read_policy

GOOD = policy_path("cramped_room")


def arrays_of_good() -> dict[str, np.ndarray]:
    with np.load(GOOD) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture
def write(tmp_path: Path):
    def write(**changes: np.ndarray | None) -> Path:
        arrays = {name: value for name, value in (arrays_of_good() | changes).items() if value is not None}
        path = tmp_path / "changed.npz"
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
        return path

    return write


def meta_with(**changes: Any) -> np.ndarray:
    return np.array(json.dumps(json.loads(str(arrays_of_good()["meta"])) | changes))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["scale", "weight_0", "bias_1"])
def test_numbers_that_are_not_finite_are_refused(write, name, value):
    array = arrays_of_good()[name].copy()
    array.reshape(-1)[0] = value
    with pytest.raises(ValueError, match=rf"changed\.npz.*{name} holds numbers that are not finite"):
        read_policy(write(**{name: array}))


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("weight_0", lambda a: a.T, "a dense layer here needs"),
        ("weight_0", lambda a: a[None], "a dense layer here needs"),
        ("weight_0", lambda a: a[:0], "a dense layer here needs"),
        ("bias_0", lambda a: a[:-1], "its weight asks for"),
        ("scale", lambda a: a[:-1], "does not fit observations"),
        ("weight_0", lambda a: a.astype(complex), "has type"),
        ("weight_0", lambda a: a.astype("U4"), "has type"),
        ("weight_0", lambda a: a != 0, "has type"),
        ("weight_1", lambda a: None, "array weight_1 is missing"),
        ("meta", lambda a: None, "array meta is missing"),
    ],
)
def test_arrays_of_other_shapes_and_types_are_refused(write, name, change, text):
    with pytest.raises(ValueError, match=rf"changed\.npz.*{text}"):
        read_policy(write(**{name: change(arrays_of_good()[name])}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("env_id", 5),
        ("env_kwargs", []),
        ("observation_shape", [0]),
        ("n_actions", True),
        ("n_actions", 10**30),
        ("mode", "x"),
        ("activation", None),
        ("layers", ["dense"] * 17),
        ("steps", -1),
        ("seed", 0.5),
        ("command", []),
    ],
)
def test_every_field_has_its_kind(write, field, value):
    with pytest.raises(ValueError, match=rf"changed\.npz.*{field.removesuffix('s')}"):
        read_policy(write(meta=meta_with(**{field: value})))


@pytest.mark.parametrize("text", ["5", "[]", "{", "[" * 100_000, '{"steps": NaN}', '{"format": "x"}'])
def test_descriptions_that_are_none_are_refused(write, text):
    with pytest.raises(ValueError, match="is not a policy file"):
        read_policy(write(meta=np.array(text)))


def with_entry(path: Path, name: str, data: bytes) -> Path:
    """Replace an entry of the good file by any bytes."""
    with zipfile.ZipFile(GOOD) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(entry, data if entry == name else old.read(entry))
        if name not in old.namelist():
            new.writestr(name, data)
    return path


def header(shape: tuple[int, ...]) -> bytes:
    """The beginning of an array that claims a shape, without its numbers."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return out.getvalue()


@pytest.mark.parametrize("name", ["weight_0.npy", "unused.npy"])
def test_files_that_unpack_to_more_than_is_allowed_are_not_unpacked(tmp_path, monkeypatch, name):
    monkeypatch.setattr(policy_file, "MAX_BYTES", 1 << 20)
    path = with_entry(tmp_path / "bomb.npz", name, bytes(2 << 20))
    assert path.stat().st_size < 200_000  # small on disk
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match=r"bomb\.npz.*at most 1,048,576 are allowed"):
        read_policy(path)


@pytest.mark.parametrize("shape", [(1 << 50,), (-1, 5), (1 << 20, 1 << 20)])
def test_shapes_that_are_claimed_but_not_there_are_refused(tmp_path, shape):
    path = with_entry(tmp_path / "claim.npz", "weight_0.npy", header(shape) + bytes(40))
    with pytest.raises(ValueError, match=r"claim\.npz.*array weight_0"):
        read_policy(path)
