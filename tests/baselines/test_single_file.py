"""The baselines in one file: each trains for 2,000 steps, logs returns, and writes a policy that commands seat."""

from __future__ import annotations

import ast
import csv
import runpy
import sys
from pathlib import Path

import pytest

import collab_overcooked

FOLDER = Path(__file__).resolve().parents[2] / "baselines"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
SMALL = {
    "ippo": ["--envs", "8", "--rollout", "25"],
    "mappo": ["--envs", "8", "--rollout", "25"],
    "ppo_rnn": ["--envs", "8", "--rollout", "25", "--epochs", "1"],
    "vdn": ["--envs", "8", "--batch", "32"],
}
STANDARD = {"numpy", "torch", "collab_overcooked"} | set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_short_and_needs_no_other(name):
    text = (FOLDER / f"{name}.py").read_text("utf-8")
    assert len(text.splitlines()) < 350
    for node in ast.walk(ast.parse(text)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert all(module.partition(".")[0] in STANDARD for module in modules)
        assert not [module for module in modules if module.startswith("collab_overcooked.")], "only public names"
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "collab_overcooked"
        ):
            assert node.attr in collab_overcooked.__all__


def run(name: str, monkeypatch: pytest.MonkeyPatch, *text: str) -> None:
    monkeypatch.setattr(sys, "argv", [name, *text])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


def returns(folder: Path) -> list[dict[str, str]]:
    with (folder / "returns.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def spec(name: str, folder: Path) -> str:
    if name == "ppo_rnn":
        return f"{FOLDER}/ppo_rnn.py:recurrent:{folder}/policy.pt"
    return f"ppo:{folder}/policy.npz"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_it_trains_and_its_policy_plays(name, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="needs the extra rl")
    game = ["--env", "Overcooked-v0", "--set", "layout=cramped_room", "obs=features", "max_cycles=50"]
    run(name, monkeypatch, "--steps", "2000", "--out", str(tmp_path), *game, *SMALL[name])
    rows = returns(tmp_path)
    assert [int(row["steps"]) for row in rows][-1] == 2000 and sum(int(row["episodes"]) for row in rows) == 40
    assert all(float(row["return"]) >= 0 for row in rows)
    team = [f"all={spec(name, tmp_path)}"]
    (record,) = collab_overcooked.evaluate(
        "overcooked", tmp_path / "run", team, layouts="cramped_room", episodes=1, options={"max_cycles": 12}
    )
    chosen = [action for step in record.steps for action in step.actions]
    assert len(chosen) == 24 and len(set(chosen)) > (0 if name == "vdn" else 1)


@pytest.mark.slow
def test_a_clone_learns_the_actions_of_its_data(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="needs the extra rl")
    from cli_runner import CliRunner

    from collab_overcooked.cli import app

    collab_overcooked.evaluate("overcooked", tmp_path / "greedy", ["all=greedy"], layouts="cramped_room", episodes=3)
    export = ["export", "npz", str(tmp_path / "greedy"), "--set", "obs=features", "--out", str(tmp_path / "data")]
    assert CliRunner().invoke(app, export).exit_code == 0
    texts = ["--data", str(tmp_path / "data"), "--steps", "2000", "--evaluations", "2", "--episodes", "4"]
    run("bc", monkeypatch, *texts, "--held-out", "0.34", "--out", str(tmp_path / "bc"))
    first, last = returns(tmp_path / "bc")
    assert int(last["steps"]) == 2000 and float(last["agreement"]) > 0.8 and float(last["loss"]) < float(first["loss"])
    assert (tmp_path / "bc" / "policy.npz").exists() and first["steps"] == "1000"
