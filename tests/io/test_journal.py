"""A journal gives complete lines once, drops a torn one, and goes on after it."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from collab_overcooked.io.journal import JournalFile, has_lines
from collab_overcooked.io.schema import SchemaError, integer
from collab_overcooked.play.recording import INPUTS, PlayFolder


def test_readers_get_each_complete_line_once(tmp_path: Path) -> None:
    writer, reader = (JournalFile(tmp_path / "a", integer()) for _ in range(2))
    assert list(reader.read()) == []
    writer.append(1)
    writer.append(2)
    assert list(reader.read()) == [1, 2] and list(reader.read()) == []
    with writer.path.open("ab") as file:
        file.write(b"3")
    assert list(reader.read()) == []
    writer.append_line(b"4\n")
    assert list(reader.read()) == [34]
    writer.path.write_bytes(b"5\n")
    assert list(reader.read()) == [5], "the file was replaced"


@pytest.mark.parametrize(("content", "kept"), [(b"", b""), (b"1\n", b"1\n"), (b"1\n2", b"1\n"), (b"1", b"")])
def test_a_torn_line_is_dropped(tmp_path: Path, content: bytes, kept: bytes, caplog: pytest.LogCaptureFixture) -> None:
    journal = JournalFile(tmp_path / "a")
    journal.drop_torn_line("it is missing")
    journal.path.write_bytes(content)
    journal.drop_torn_line("it is missing")
    sentence = f"{journal.path}: dropped an unfinished last line; it is missing"
    assert journal.path.read_bytes() == kept and caplog.messages == ([sentence] if kept != content else [])


def test_lines_are_checked(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path / "a", integer(), mode=0o600)
    with pytest.raises(SchemaError):
        journal.append(-1)
    journal.append_line(b"1\n-1\n")
    assert journal.path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(SchemaError, match="a, line 2: must be an integer"):
        list(JournalFile(journal.path, integer()).read())


def test_a_missing_file_is_empty_or_refused(tmp_path: Path) -> None:
    assert list(JournalFile(tmp_path / "a").read()) == []
    with pytest.raises(ValueError, match="a: cannot be read: No such file"):
        list(JournalFile(tmp_path / "a", missing_ok=False).read())


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """Files of this process grow to this many bytes; what is beyond fails as on a full disk, after a part of it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_line_that_cannot_be_written_leaves_the_file_as_before(tmp_path: Path) -> None:
    journal, line = JournalFile(tmp_path / "a"), b'{"text": "0123456789"}\n'
    journal.append_line(line)
    for room in range(len(line), 2 * len(line)):  # at every byte of the next line
        with full_disk(room), pytest.raises(OSError, match="too large") as failed:
            journal.append_line(line)
        assert failed.value.filename == str(journal.path) and journal.path.read_bytes() == line
    journal.append_line(line)
    assert journal.path.read_bytes() == 2 * line and len(list(JournalFile(journal.path).read())) == 2


def test_games_go_on_when_there_is_no_room_and_lose_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = PlayFolder(tmp_path / "run", "collab-escape")
    folder.add_input({"number": 0})
    full = (folder.path / INPUTS).stat().st_size + 5
    with full_disk(full):
        for number in range(1, 4):
            folder.add_input({"number": number})
    assert (
        len(caplog.messages) == 1
        and INPUTS in caplog.messages[0]
        and "it is written as soon as that is possible" in caplog.messages[0]
    )
    folder.add_input({"number": 4})
    entries = [json.loads(line) for line in (folder.path / INPUTS).read_text().splitlines()]
    assert [entry["number"] for entry in entries] == [0, 1, 2, 3, 4]
    folder.close()


@pytest.mark.parametrize(("error", "kept"), [(KeyboardInterrupt(), 2), (OSError(28, "no space left on device"), 1)])
def test_an_interrupt_after_a_whole_line_keeps_it_and_a_full_disk_does_not(tmp_path, monkeypatch, error, kept):
    journal = JournalFile(tmp_path / "a", integer())
    journal.append(1)

    def stopped(_: int) -> None:
        raise error

    with monkeypatch.context() as patch, pytest.raises(type(error)):
        patch.setattr(os, "fsync", stopped)
        journal.append(2)
    assert list(JournalFile(journal.path, integer()).read()) == [1, 2][:kept]
    journal.append(3)
    assert list(JournalFile(journal.path, integer()).read()) == [*[1, 2][:kept], 3]


def test_a_journal_is_begun_with_its_first_line(tmp_path: Path) -> None:
    file = JournalFile(tmp_path / "a")
    assert not has_lines(file.path)
    file.path.touch()
    assert not has_lines(file.path)
    file.append(1)
    assert has_lines(file.path)
