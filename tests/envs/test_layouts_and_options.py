"""Layouts of pools in infos, and reset options by environment, in every kind of vector environment."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked

POOL = ["cramped_room", "coordination_ring", "forced_coordination"]
OPTIONS = {"layout": POOL, "obs": "lossless", "max_cycles": 5}
NAMES = ["coordination_ring", "cramped_room", "coordination_ring", "forced_coordination"]
BY_ENV = [{"layout": name} for name in NAMES]
NUMBERS = [POOL.index(name) for name in NAMES]


def layouts_of(batch):
    return [batch.scene(e)["layout"] for e in range(batch.num_envs)]


def test_a_native_batch_says_which_layout_is_played():
    batch = collab_overcooked.make_vec("Overcooked-v0", 8, **OPTIONS)
    assert batch.layout_names == tuple(POOL)
    _, infos = batch.reset(seed=0)
    seen = set()
    for _ in range(12):
        assert infos["layout"].shape == (8, 2) and infos["layout"].dtype == np.int32
        named = [batch.layout_names[k] for k in infos["layout"][:, 1].tolist()]
        assert named == layouts_of(batch)
        seen.update(named)
        infos = batch.step(np.full((8, 2), 4))[-1]
        _, infos = batch.reset(which=batch.over) if batch.over.any() else (None, infos)
    assert seen == set(POOL)


def test_one_layout_has_no_number():
    batch = collab_overcooked.make_vec("Overcooked-v0", 2, layout="cramped_room")
    assert batch.layout_names == () and "layout" not in batch.reset(seed=0)[1]


def test_generated_layouts_are_numbered():
    wishes = {"count": 4, "seed": 3}
    env = collab_overcooked.make("Overcooked-v0", layout="procedural", generator=wishes)
    _, infos = env.reset(seed=1)
    assert len(env.layout_names) == 4
    assert {env.layout_names[info["layout"]] for info in infos.values()} == {env.scene()["layout"]}


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_gymnasium_rows_have_the_layout_of_their_observation(mode):
    env = collab_overcooked.make_vec("Overcooked-v0", 4, "gymnasium", autoreset_mode=mode, **OPTIONS)
    _, infos = env.reset(seed=0, options=BY_ENV)
    assert infos["layout"].tolist() == np.repeat(NUMBERS, 2).tolist()
    for step in range(1, 9):
        infos = env.step(np.full(8, 4))[-1]
        assert infos["layout"].tolist() == [POOL.index(name) for name in layouts_of(env.batch) for _ in range(2)]
        if mode == "SAME_STEP" and step == 5:
            assert infos["final_info"]["layout"].tolist() == np.repeat(NUMBERS, 2).tolist()


def test_sb3_infos_have_the_layout_of_the_step():
    pytest.importorskip("stable_baselines3")
    env = collab_overcooked.make_vec("Overcooked-v0", 4, "sb3", **OPTIONS)
    env.seed(0)
    env.set_options([option for option in BY_ENV for _ in range(2)])
    env.reset()
    for _ in range(5):
        dones, infos = env.step(np.full(8, 4))[2:]
        assert [info["layout"] for info in infos] == np.repeat(NUMBERS, 2).tolist()
    assert dones.all()


def test_options_by_environment_equal_resets_one_by_one():
    batch, single = (collab_overcooked.make_vec("Overcooked-v0", 4, **OPTIONS) for _ in range(2))
    scene = single.reset(seed=9)[0] is not None and single.scene(0)
    options = [BY_ENV[0], None, {"state": scene}, {}]
    observations, _ = batch.reset(seed=7, options=options)
    for e, option in enumerate(options):
        single.reset(seed=7, options=option or None)
        assert np.array_equal(observations[e], single.out.observations.reshape(single._shape)[e])
        assert batch.scene(e) == single.scene(e)


def test_a_masked_reset_takes_options_by_environment():
    batch = collab_overcooked.make_vec("Overcooked-v0", 4, **OPTIONS)
    batch.reset(seed=0, options=[{"layout": "cramped_room"}] * 4)
    batch.reset(options=BY_ENV, which=np.array([True, False, False, True]))
    assert layouts_of(batch) == ["coordination_ring", "cramped_room", "cramped_room", "forced_coordination"]
    env = collab_overcooked.make_vec("Overcooked-v0", 4, "gymnasium", autoreset_mode="DISABLED", **OPTIONS)
    env.reset(seed=0, options={"layout": "cramped_room"})
    env.reset(options={"reset_mask": np.repeat([True, False, False, True], 2), "by_env": BY_ENV})
    assert layouts_of(env.batch) == layouts_of(batch)


def test_a_wrong_option_is_named_and_starts_nothing():
    batch = collab_overcooked.make_vec("Overcooked-v0", 4, **OPTIONS)
    batch.reset(seed=0)
    before = [batch.scene(e) for e in range(4)]
    wrong = [*BY_ENV[:2], {"layout": "cramped_rom"}, {}]
    with pytest.raises(ValueError, match=r"options\[2\]: .*cramped_rom.*cramped_room"):
        batch.reset(seed=1, options=wrong)
    with pytest.raises(ValueError, match="options must be a mapping or 4 of them, not 3"):
        batch.reset(options=BY_ENV[:3])
    assert [batch.scene(e) for e in range(4)] == before
    env = collab_overcooked.make_vec("Overcooked-v0", 4, "gymnasium", **OPTIONS)
    with pytest.raises(ValueError, match="by_env must be a list of options"):
        env.reset(options={"by_env": BY_ENV, "layout": "cramped_room"})
