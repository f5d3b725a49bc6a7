"""The example of training on text runs, and its parts do what they say."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "train_text.py"
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("train_text", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    patch = pytest.MonkeyPatch()
    patch.setitem(sys.modules, "train_text", module)  # data classes look their module up
    spec.loader.exec_module(module)
    yield module
    patch.undo()


def test_a_tiny_budget_writes_the_curve(example, tmp_path, capsys):
    budget = ["--warm", "4", "--epochs", "1", "--iterations", "2", "--batch", "4", "--group", "2", "--tests", "3"]
    example.main([*budget, "--every", "1", "--out", str(tmp_path / "curve.csv")])
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["episodes"] for row in rows] == ["0", "4", "8"]
    assert all(0 <= float(row["test"]) <= 1 for row in rows)
    assert capsys.readouterr().out.count("update") == 3


def test_an_update_makes_better_answers_likelier(example):
    import torch

    torch.manual_seed(0)
    model = example.Transformer(8)
    question = torch.tensor([2, 3] + [0] * (example.LENGTH - 2))
    episodes = [example.Episode([question], [answer], outcome) for answer, outcome in ((4, 1.0), (5, 0.0))]

    def probabilities():
        with torch.no_grad():
            return torch.softmax(model(question[None]), 1)[0]

    before = probabilities()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(5):
        example.update(model, optimizer, episodes, group=2)
    assert probabilities()[4] > before[4] and probabilities()[5] < before[5]
