"""Every command on the page about partners never met runs, with a tiny budget."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli.app import app
from collab_overcooked.evaluation.partner_pool import read_partner_pool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how_to" / "partners.md"
EXAMPLES = PAGE.parents[1] / "examples"
ADDRESS = "http://localhost:11434/v1"
TINY = {
    "score": ["--episodes", "1", "--families", "scripted"],
    "best": ["--episodes", "2"],
    "table": ["--resamples", "10"],
}


@pytest.mark.nightly
def test_the_page_leads_from_weights_to_a_row_command_by_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    exec(code, {})
    commands = re.findall(r"^\$ collab-overcooked (partners .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    commands = [command for command in commands if not re.search("model|unmet|mixed", command)]
    names = [shlex.split(command)[1] for command in commands]
    assert names == ["list", "show", "check", "play", "score", "table", "best"]
    for command in commands:
        arguments = shlex.split(command)
        with pytest.raises(SystemExit) as exit_:
            app([*arguments, *TINY.get(arguments[1], [])])
        assert exit_.value.code == 0, capsys.readouterr()
    assert "| mine | 2 |" in capsys.readouterr().out
    assert Path("runs/table/profile.svg").exists() and Path("runs/best/kitchen_rush.yaml").exists()


def section(heading: str) -> list[str]:
    (part,) = (part for part in PAGE.read_text("utf-8").split("\n## ") if part.startswith(heading))
    return re.findall(r"^\$ collab-overcooked (.*)$", part, re.MULTILINE)


def returns_of(folder: str) -> list[list[float]]:
    return [json.loads(line)["returns"] for line in Path(folder, "scores.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_a_language_model_is_a_partner_whose_games_can_be_played_again(tmp_path, monkeypatch):
    """The model's exchanges are enough for the same games when its endpoint is gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    shutil.copy(EXAMPLES / "partners" / "model.yaml", tmp_path)
    best, score, again = section("Language models and people")[:3]
    with serving(lambda asked: Says('{"action": 1}')) as server:
        for command in (best, score):
            done = CliRunner().invoke(app, shlex.split(command.replace(ADDRESS, server.url)))
            assert done.exit_code == 0, done.output
        assert server.asked
    assert "--replay" in again and CliRunner().invoke(app, shlex.split(again)).exit_code == 0
    assert returns_of("runs/replayed") == returns_of("runs/model")
    assert read_partner_pool("runs/model-best/model.yaml").partner("model").best is not None


@pytest.mark.nightly
def test_people_rank_egos_and_their_clone_is_a_partner_beside_all_other_kinds(tmp_path, monkeypatch):
    """Study, records, clone, pool, scores, table; everybody's part is played by a bot."""
    pytest.importorskip("uvicorn", reason="needs the extra play")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    shutil.copy(EXAMPLES / "studies" / "three_partners.yaml", tmp_path)
    shutil.copy(EXAMPLES / "partners" / "mixed.yaml", tmp_path)
    with serving(lambda asked: Says('{"action": 1}')) as server:
        for command in section("Language models and people")[3:]:
            tiny = ["epochs=1"] if command.startswith("train") else []  # a value of --hyper
            arguments = shlex.split(
                command.replace(ADDRESS, server.url).replace(" --out", " ".join(["", *tiny, "--out"]))
            )
            done = CliRunner().invoke(app, arguments)
            if "check" in arguments:
                digest = re.findall(r"write (sha256: \w{64})", done.output)[-1]
                pool = Path("mixed.yaml").read_text("utf-8")
                Path("mixed.yaml").write_text(pool.replace("family: clone", f"family: clone, {digest}"))
                done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, done.output
    answers = Path("runs/three/journal.jsonl").read_text("utf-8")
    assert answers.count('"best"') >= 2  # both bots have ranked
    lines = [json.loads(line) for line in Path("runs/mixed/scores.jsonl").read_text("utf-8").splitlines()]
    families = {line["family"] for line in lines if line["kind"] == "partner"}
    assert families == {"selfplay", "scripted", "search", "noisy", "clone", "llm"}
    assert "noisy:0.1" in Path("runs/mixed-table/partners.md").read_text("utf-8")
