"""Random legal play, and the first difference of two results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.testing import playing
from collab_overcooked.testing.playing import difference, lockstep, mask_of, random_legal, result_difference


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ({"a": [1, 2.5]}, {"a": [1, 2.5]}, None),
        ({"a": [1, 2]}, {"a": [1, 3]}, "x['a'][1] is 2 in one and 3 in the other"),
        ({"a": 1}, {"b": 1}, "x has keys ['a'] in one and ['b'] in the other"),
        ([1], [1, 1], "x has length 1 in one and 2 in the other"),
        (1, 1.0, "x is int in one and float in the other"),
        (float("nan"), float("nan"), None),
        (np.array([np.nan]), np.array([np.nan]), None),
        (np.zeros(2, np.int32), np.zeros(2, np.int64), "x differs"),
        (np.zeros(2), np.array([0.0, 1e-300]), "x differs"),
    ],
)
def test_difference_names_the_first_place(first: Any, second: Any, text: str | None) -> None:
    assert difference(first, second, "x") == text


def test_result_difference_names_the_part() -> None:
    step = ({"a": 1}, {"a": 0.0}, {"a": False}, {"a": False}, {})
    assert result_difference(step, step) is None
    assert (result_difference(step, (step[0], {"a": 1.0}, *step[2:])) or "").startswith("rewards['a']")
    assert (result_difference(({}, {"a": 1}), ({}, {"a": 2})) or "").startswith("infos['a']")


def test_masks_are_in_the_observation_or_the_info() -> None:
    assert mask_of({"action_mask": [1, 0]}, {}).tolist() == mask_of(0, {"action_mask": [1, 0]}).tolist() == [1, 0]
    assert mask_of(0, {}) is None


def test_random_legal_draws_every_legal_action_and_no_other_one() -> None:
    batch = collab_overcooked.make_vec("CollabEscape-v0", 64)
    batch.reset(seed=0)
    rng, masks = np.random.default_rng(0), np.array(batch.out.masks)
    drawn = np.zeros_like(masks)
    for _ in range(200):
        np.put_along_axis(drawn, random_legal(batch, rng)[..., None], 1, axis=2)
    np.testing.assert_array_equal(drawn, masks)


def test_random_legal_draws_by_weights() -> None:
    batch = collab_overcooked.make_vec("CollabEscape-v0", 64)
    batch.reset(seed=0)
    weights = np.full(batch.out.masks.shape[2], 1e-9)
    weights[0] = 1.0
    chosen = random_legal(batch, np.random.default_rng(0), weights)
    assert (chosen[batch.out.masks[..., 0] == 1] == 0).all() and (batch.out.masks[..., 0] == 1).any()


def test_lockstep_finds_the_first_step_that_differs() -> None:
    kitchens = [collab_overcooked.make("Overcooked-v0", layout="cramped_room", max_cycles=n) for n in (5, 5, 6)]
    rng = np.random.default_rng(0)
    for env in kitchens:
        result = env.reset(seed=3)
    lockstep(kitchens[0], kitchens[1], result, rng, 30, "copies differ")
    with pytest.raises(AssertionError, match=r"copies differ; 5 calls later, truncations\['agent_0'\]"):
        lockstep(kitchens[0], kitchens[2], kitchens[0].reset(seed=3), rng, 30, "copies differ")


def test_an_episode_that_never_ends_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MAX_STEPS", 3)
    env = collab_overcooked.make("Overcooked-v0", layout="cramped_room", max_cycles=4)
    subject: Any = type("Named", (), {"name": "Overcooked-v0"})
    with pytest.raises(playing.Skip, match="ended within 3 steps"):
        playing.play_to_end(subject, env, np.random.default_rng(0))
    monkeypatch.setattr(playing, "MAX_STEPS", 4)
    assert playing.play_to_end(subject, env, np.random.default_rng(0)) == 4
