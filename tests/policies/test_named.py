"""Policies under names: cross-play and scores beside partners read the same texts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from collab_overcooked.evaluation.crossplay import cross_play, read_pool
from collab_overcooked.evaluation.partner_scores import read_egos
from collab_overcooked.policies.named import read_named
from collab_overcooked.policies.policy_file import policy_path


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs/x").mkdir(parents=True)
    for name in ("runs/x/policy.npz", "runs/x/second.npz", "x.npz"):
        shutil.copy(policy_path("cramped_room"), name)  # samples by default


@pytest.mark.parametrize(
    ("text", "name", "specs"),
    [
        ("greedy", "greedy", ["greedy"]),
        ("runs/x/policy.npz", "runs/x/policy.npz", ["ppo:runs/x/policy.npz"]),
        ("runs/x/policy.npz,greedy", "runs/x/policy.npz,greedy", ["ppo:runs/x/policy.npz,greedy"]),
        ("mine=x.npz", "mine", ["ppo:x.npz"]),
        ("my-own=ppo:x.npz", "my-own", ["ppo:x.npz"]),
        ("mine=x.npz,greedy", "mine (greedy)", ["ppo:x.npz,greedy"]),
        ("mine=x.npz,sample", "mine", ["ppo:x.npz,sample"]),
        ("built=ppo:cramped_room,greedy", "built (greedy)", ["ppo:cramped_room,greedy"]),
        ("x=runs/x/*.npz", "x", ["ppo:runs/x/policy.npz", "ppo:runs/x/second.npz"]),
        ("x=runs/x/*.npz,greedy", "x (greedy)", ["ppo:runs/x/policy.npz,greedy", "ppo:runs/x/second.npz,greedy"]),
    ],
)
def test_both_commands_read_the_same_texts(text: str, name: str, specs: list[str], files: None) -> None:
    assert read_named(text) == (name, tuple(specs))
    numbered = [name] if len(specs) == 1 else [f"{name} 1", f"{name} 2"]
    assert read_pool([text]) == (tuple(numbered), tuple(specs))
    if len(specs) == 1:  # two copies of a file are one ego
        (ego,) = read_egos([text])
        assert (ego.method, ego.spec) == (name, specs[0])
        assert ego.mode == (None if text == "greedy" else "greedy" if "greedy" in text else "sample")


def test_a_row_of_a_cross_play_says_the_mode(files: None) -> None:
    options = {"layout": "cramped_room", "max_cycles": 5}
    result = cross_play("Overcooked-v0", ["mine=x.npz", "same=x.npz,greedy"], options=options, episodes=1)
    assert "| seat 0, others | mine | same (greedy) |" in result.markdown()


@pytest.mark.parametrize("text", ["mine=none-*.npz", "runs/none-*.npz"])
def test_wildcards_that_no_file_fits_are_refused(text: str, files: None) -> None:
    for read in (read_pool, read_egos):
        with pytest.raises(ValueError, match=r"no file fits '(runs/)?none-"):
            read([text])
