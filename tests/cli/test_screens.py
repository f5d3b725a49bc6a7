"""Screens and files that are not UTF-8 show what they can, and nothing is lost: the files are written first."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from collab_overcooked.cli import app
from collab_overcooked.cli.app import OUT
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.records import RECORDS, dump_line, read_records

TEXT = "caf\u00e9 \u6f22\u5b57 \u2713"


class Screen(io.TextIOWrapper):
    """Standard output as Python makes it with ``PYTHONIOENCODING``, into memory."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="strict", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode(self.encoding)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a team whose name few screens can show."""
    folder = tmp_path_factory.mktemp("screens") / "run"
    plan = plan_evaluation("collab-overcooked", ["all=random"], tasks=("boiled_egg",), gamma=1.0, seed=92)
    (record,) = evaluate(plan, folder, workers=1)
    named = record.replace(team={agent: f"{TEXT}.zip:X" for agent in record.team})
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / RECORDS).write_bytes(dump_line(named))
    return folder


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize(
    "message", [["report"], ["score"], ["score", "--format", "csv"], ["replay"], ["replay", "--check"]], ids=" ".join
)
def test_any_screen_will_do(played, message, encoding, tmp_path, monkeypatch):
    run, screen = shutil.copytree(played, tmp_path / "run"), Screen(encoding)
    monkeypatch.setattr("sys.stdout", screen)
    with pytest.raises(SystemExit) as end:
        app([message[0], str(run), *message[1:]])
    assert end.value.code == 0
    assert screen.text().strip() and (encoding != "utf-8" or message[-1] == "--check" or TEXT in screen.text())
    if message == ["report"]:
        assert TEXT in (run / "table.md").read_text("utf-8") and TEXT in (run / "report.html").read_text("utf-8")


def test_files_are_written_before_a_screen_that_fails(played, tmp_path, monkeypatch):
    class Broken(Screen):
        def write(self, text: str) -> int:
            raise OSError("no space left on the screen")

    run = shutil.copytree(played, tmp_path / "run")
    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("sys.stdout", Broken("utf-8"))
        app(["report", str(run)])
    with OUT.capture():
        pass  # drops what could not be printed
    assert (run / "table.md").exists() and (run / "report.html").exists()
    assert read_records(run)[0].task == "boiled_egg"
