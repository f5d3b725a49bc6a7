"""``set_layout_weights``: how often episodes start on each layout of a pool, in every kind of batch."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked

POOL = ["cramped_room", "coordination_ring", "forced_coordination"]
OPTIONS = {"layout": POOL, "obs": "features", "max_cycles": 3}
ENVS = 64


def batch_of(count=ENVS, **options):
    return collab_overcooked.make_vec("Overcooked-v0", count, **{**OPTIONS, **options})


def layouts(batch):
    return batch.reset(seed=5)[1]["layout"][:, 0].copy()


def test_equal_weights_change_nothing():
    plain, weighted = batch_of(), batch_of()
    weighted.set_layout_weights([2, 2, 2])
    assert np.array_equal(layouts(plain), layouts(weighted))
    assert np.array_equal(plain.state.rng, weighted.state.rng)
    assert np.array_equal(plain.out.observations, weighted.out.observations)


def test_layouts_are_drawn_in_proportion_to_their_weights():
    batch = batch_of(3000)
    batch.set_layout_weights(np.array([0.0, 3.0, 1.0]))
    shares = np.bincount(layouts(batch), minlength=3) / 3000
    assert shares[0] == 0 and abs(shares[1] - 0.75) < 0.05  # six standard deviations; the seed is fixed


def test_an_environment_draws_the_same_layout_in_any_batch():
    many, few = batch_of(64), batch_of(8)
    for batch in (many, few):
        batch.set_layout_weights([1, 5, 2])
    assert np.array_equal(layouts(many)[:8], layouts(few))


def test_weights_count_from_the_next_reset_and_until_they_are_taken_back():
    batch = batch_of()
    before = layouts(batch)
    batch.set_layout_weights([0, 0, 1])
    assert np.array_equal(batch.step(np.full((ENVS, 2), 4))[-1]["layout"][:, 0], before)
    half = np.arange(ENVS) % 2 == 0
    after = batch.reset(which=half)[1]["layout"][:, 0]
    assert (after[half] == 2).all() and np.array_equal(after[~half], before[~half])
    batch.set_layout_weights(None)
    assert np.array_equal(layouts(batch), before)


def test_named_layouts_and_scenes_win():
    batch = batch_of(4)
    batch.reset(seed=1, options={"layout": "coordination_ring"})
    scene = batch.scene(0)
    batch.set_layout_weights([1, 0, 0])
    batch.reset(options=[{"layout": "forced_coordination"}, {"state": scene}, {}, None])
    assert batch.layout_numbers().tolist() == [2, 1, 0, 0]
    with pytest.raises(ValueError, match=r"options\[0\]: .*cramped_rom"):
        batch.reset(options={"layout": "cramped_rom"})
    assert batch.layout_numbers().tolist() == [2, 1, 0, 0]


def test_gymnasium_and_sb3_restart_by_weight():
    pytest.importorskip("stable_baselines3")
    for kind in ("gymnasium", "sb3"):
        env = collab_overcooked.make_vec("Overcooked-v0", 8, kind, **OPTIONS)
        env.reset()
        env.set_layout_weights([0, 1, 0])
        for _ in range(4):
            env.step(np.full(16, 4))
        assert (env.batch.layout_numbers() == 1).all(), kind


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, 1], "weights lists 2 numbers; it must list 3"),
        ([1, -1, 1], r"weights\[1\]"),
        ([0, 0, 0], "all be 0"),
        (1, "weights must be a list"),
    ],
)
def test_weights_are_a_number_for_each_layout(weights, text):
    with pytest.raises(ValueError, match=text):
        batch_of(2).set_layout_weights(weights)


def test_one_layout_has_no_weights():
    with pytest.raises(ValueError, match="the environment has one layout"):
        batch_of(2, layout="cramped_room").set_layout_weights([1])
