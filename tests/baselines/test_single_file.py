"""The trainers in one file: each trains for 2,000 steps, logs returns, and writes a policy that commands seat."""

from __future__ import annotations

import ast
import csv
import runpy
import sys
from pathlib import Path

import pytest

import collab_overcooked

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "trainers"
SMALL = {"ippo": ["--envs", "8", "--rollout", "25"], "vdn": ["--envs", "8", "--batch", "32"]}
STANDARD = {"numpy", "torch", "collab_overcooked"} | set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", SMALL)
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


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_it_trains_and_its_policy_plays(name, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="needs the extra rl")
    game = ["--env", "Overcooked-v0", "--set", "layout=cramped_room", "obs=features", "max_cycles=50"]
    run(name, monkeypatch, "--steps", "2000", "--out", str(tmp_path), *game, *SMALL[name])
    rows = returns(tmp_path)
    assert [int(row["steps"]) for row in rows][-1] == 2000 and sum(int(row["episodes"]) for row in rows) == 40
    assert all(float(row["return"]) >= 0 for row in rows)
    team = [f"all=ppo:{tmp_path}/policy.npz"]
    (record,) = collab_overcooked.evaluate(
        "overcooked", tmp_path / "run", team, layouts="cramped_room", episodes=1, options={"max_cycles": 12}
    )
    chosen = [action for step in record.steps for action in step.actions]
    assert len(chosen) == 24 and len(set(chosen)) > (0 if name == "vdn" else 1)
