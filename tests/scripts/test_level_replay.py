"""The example of prioritised level replay: its weights follow scores and staleness, and it trains."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from collab_overcooked.policies.policy_file import read_policy

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "level_replay.py"
TINY = ["--config", "procedural_kitchens", "--steps", "6000", "--kitchens", "4", "--environments", "16"]


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("level_replay", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_levels_never_played_are_drawn_alike(example):
    assert np.allclose(example.LevelReplay(4).weights(), 0.25)


def test_weights_follow_rank_and_staleness(example):
    replay = example.LevelReplay(4, temperature=1.0, staleness=0.2)
    replay.add(np.array([[0, 1], [0, 2]]), np.array([[4.0, 1.0], [-6.0, 3.0]]))
    assert replay.scores.tolist() == [2.0, 1.0, 3.0, 0.0]  # mean of positive parts
    ranked = np.array([1 / 2, 1 / 3, 1]) / (1 + 1 / 2 + 1 / 3)
    assert np.allclose(replay.weights(), [*0.75 * (0.8 * ranked + 0.2 / 3), 0.25])
    replay.add(np.array([[3, 3]]), np.array([[0.5, 0.5]]))  # the others wait now
    ranked = np.array([1 / 2, 1 / 3, 1, 1 / 4]) / (1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert np.allclose(replay.weights(), 0.8 * ranked + 0.2 * np.array([1, 1, 1, 0]) / 3)


@pytest.mark.slow
def test_a_tiny_budget_trains_on_kitchens_drawn_by_weight(example, tmp_path, capsys):
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(example.LevelReplay, "weights", lambda replay: np.array([0.0, 0.0, 1.0, 0.0]))
        patch.setattr(example.LevelReplay, "add", lambda replay, levels, values: drawn.append(levels.copy()))
        example.main([*TINY, "--out", str(tmp_path)])
    assert len(drawn) == 4 and drawn[0].shape == (100, 16)
    before = drawn[1][0]  # episodes that started before the first weights
    restarted = drawn[-1] != before
    assert len(set(before.tolist())) > 1 and restarted.any() and (drawn[-1][restarted] == 2).all()
    assert read_policy(tmp_path / "policy.npz").meta["steps"] == 6400
    assert "100 kitchens never seen" in capsys.readouterr().out
