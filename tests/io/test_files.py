"""Files from outside are regular and of limited size, and no file is torn under its final name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from collab_overcooked.io.files import MAX_BYTES, draft, draft_folder, file_digest, read_bytes, read_text, write_atomic

posix = pytest.mark.skipif(sys.platform == "win32", reason="of POSIX systems")


@pytest.mark.parametrize("text", ["ä\n", "\ufeffä\r\n", "\ufeffä\n"])
def test_texts_have_a_byte_order_mark_or_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert read_text(tmp_path / "a.txt") == "ä\n"


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_bytes(tmp_path / "b") == b"x"


@posix
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_regular_file_is_refused_without_being_opened(tmp_path: Path, kind: str, linked: bool) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    if linked:
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    for read in (read_bytes, read_text, file_digest):
        with pytest.raises(ValueError, match=rf"{path}: cannot be read: is (not a regular file|a folder)"):
            read(path)


def test_size_is_checked_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(ValueError, match="sparse: cannot be read: has 1,073,741,825 bytes, allowed are 1,073,741,824"):
        read_bytes(path)
    path.write_bytes(b"12345")
    with pytest.raises(KeyError, match="has 5 bytes, allowed are 4"):
        read_text(path, 4, type("Refusal", (KeyError, ValueError), {}))


def test_other_problems_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"a\xe4")
    for path, problem in (
        ("latin", "latin: not a text file: .* at byte 1"),
        ("absent", "absent: cannot be read: No such file"),
        ("a\0b", "cannot be read: .*null"),
        ("a\ud800", "cannot be read: .*surrogates"),
    ):
        with pytest.raises(ValueError, match=problem):
            read_text(tmp_path / path)


# ------------------------------------------------------------------------------------------- writing


def test_a_draft_takes_the_place_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"old")
    with draft(path) as beside:
        beside.write_bytes(b"new")
        assert path.read_bytes() == b"old" and beside.suffix == ".npz"
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomic(path, b"old")
    with pytest.raises(RuntimeError), draft(path) as beside:
        beside.write_bytes(b"torn")
        raise RuntimeError
    with pytest.raises(RuntimeError), draft_folder(tmp_path) as folder:
        (folder / "a").write_bytes(b"torn")
        raise RuntimeError
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_folders_are_made_and_errors_name_the_final_file(tmp_path: Path) -> None:
    write_atomic(tmp_path / "new" / "a.txt", b"")
    with pytest.raises(OSError, match=r"a\.txt"):
        write_atomic(tmp_path / "new" / "a.txt" / "b", b"")


@posix
def test_a_full_disk_names_the_file_and_leaves_it_as_it_was(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys; from pathlib import Path; from collab_overcooked.io.files import write_atomic\n"
    )
    code += "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    code += "write_atomic(Path(sys.argv[1]), bytes(2000))"
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == f"OSError: [Errno 27] File too large: '{path}'"
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_an_error_about_another_file_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"), draft(tmp_path / "a"):
        (tmp_path / "absent").read_bytes()


def test_a_folder_of_drafts_moves_up(tmp_path: Path) -> None:
    with draft_folder(tmp_path / "out") as folder:
        (folder / "b").mkdir()
        (folder / "b" / "c").write_bytes(b"c")
        (folder / "a").write_bytes(b"a")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["a", "b", "c"]


@posix
def test_the_next_writer_removes_drafts_of_dead_processes_only(tmp_path: Path) -> None:
    code = "import os, sys; d = f'{sys.argv[1]}/.draft-{os.getpid()}'; open(d + '-0.x', 'w'); os.mkdir(d + '-1')"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    kept = [".draft-1-0", f".draft-{os.getpid()}-x", ".draft-of-mine"]
    for name in kept:
        (tmp_path / name).touch()
    assert len(list(tmp_path.iterdir())) == 5
    write_atomic(tmp_path / "a", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "a"])
