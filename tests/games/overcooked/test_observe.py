"""Observations: equal to slow and obvious drawings of the same moment, whatever is played."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import ODD_KITCHENS
from support.covers import cover
from support.naive import overcooked_views as naive

import collab_overcooked

AXES = {"whc": (0, 1, 2), "hwc": (1, 0, 2), "chw": (2, 1, 0)}
KITCHENS: dict[str, dict[str, Any]] = {
    "cramped_room": {},
    "asymmetric_advantages": {"dynamics": "explicit"},
    "forced_coordination": {"agents": 3},
    "counter_circuit": {"agents": 4, "random_start": True},
    "coordination_ring": {"agents": 1},
    "gated_delivery": {},
    "locked": {"gate_opener": "anyone"},
    "soup_passing": {"random_start": True},
    **{name: {"layout": {"name": name, **layout}, **options} for name, (layout, options) in ODD_KITCHENS.items()},
}


def make(name: str, **options: Any):
    return collab_overcooked.make("Overcooked-v0", **{"layout": name, **KITCHENS[name], "max_cycles": 120, **options})


def grid_of(env) -> tuple[str, ...]:
    return env.game.compiled.layouts[0].grid


def moments(env, steps: int = 119, seed: int = 0):
    """Play at random, busily, and yield each moment as words beside the observations."""
    rng = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    for _ in range(steps):
        yield env.scene(), np.stack(list(observations.values()))
        busy = [6 if info["action_mask"][5] else 1 for info in infos.values()]
        actions = [int(rng.choice(6, p=np.array([1, 1, 1, 1, 1, busy_ness]) / (5 + busy_ness))) for busy_ness in busy]
        observations, _, _, _, infos = env.step(dict(zip(env.agents, actions, strict=True)))


def compare(env, draw) -> None:
    for scene, observations in moments(env):
        for seat, seen in enumerate(observations):
            expected = draw(scene, seat)
            assert seen.shape == expected.shape
            places = np.argwhere(seen != expected)
            assert not len(places), (scene, seat, places[:5].tolist())


def has(env, symbols: str) -> bool:
    return any(symbol in row for row in grid_of(env) for symbol in symbols)


@pytest.mark.parametrize("name", KITCHENS)
def test_lossless_shows_everything(name: str) -> None:
    env = make(name)
    extended = has(env, "WG")
    compare(env, lambda scene, seat: naive.lossless(grid_of(env), scene, seat, extended))
    n_players = len(env.possible_agents)
    assert env.observation_space("agent_0").shape[2] == 5 * n_players + 16 + 4 * extended
    assert env.observation_space("agent_0").dtype == np.uint8


@pytest.mark.parametrize(
    ("name", "axes", "radius"), cover(("cramped_room", "locked", "bistro"), AXES, (None, 1, 3), strength=2)
)
def test_axes_and_windows_hold_the_same_numbers(name: str, axes: str, radius: int | None) -> None:
    env = make(name, axes=axes, view_radius=radius)
    extended = has(env, "WG")

    def draw(scene, seat):
        picture = naive.lossless(grid_of(env), scene, seat, extended)
        if radius is not None:
            picture = naive.window(picture, scene["players"][seat]["position"], radius)
            picture[..., 5 * len(scene["players"]) + 15] = scene["timestep"] > 80  # of the whole window, map or not
        return picture.transpose(AXES[axes])

    compare(env, draw)


@pytest.mark.parametrize("name", ("cramped_room", "asymmetric_advantages", "soup_passing"))
def test_jaxmarl_has_its_own_axes_and_no_counter_under_things(name: str) -> None:
    env = make(name, obs="jaxmarl")
    compare(env, partial(naive.jaxmarl, grid_of(env)))


@pytest.mark.parametrize("name", ("gated_delivery", "locked", "cramped_room", "counter_circuit"))
def test_gates_hides_nothing(name: str) -> None:
    env = make(name, obs="gates")
    compare(env, partial(naive.gates, grid_of(env)))


@pytest.mark.parametrize("name", KITCHENS)
def test_features_are_what_a_player_alone_would_count(name: str) -> None:
    env = make(name, obs="features")
    compare(env, lambda scene, seat: naive.features(grid_of(env), scene, seat))
    assert env.observation_space("agent_0").dtype == np.int8


def test_pool_of_layouts_of_different_size_shows_each_in_its_corner() -> None:
    env = collab_overcooked.make("Overcooked-v0", layout=["cramped_room", "asymmetric_advantages"])
    for name in ("cramped_room", "asymmetric_advantages", "cramped_room"):
        observations, _ = env.reset(seed=3, options={"layout": name})
        (layout,) = [layout for layout in env.game.compiled.layouts if layout.name == name]
        expected = naive.lossless(layout.grid, env.scene(), 1, extended=False)
        seen = observations["agent_1"]
        assert seen.shape == (9, 5, 26)
        assert (seen[: layout.width, : layout.height] == expected).all()
        assert seen.sum() == expected.sum()


@pytest.mark.parametrize(("name", "axes"), cover(("cramped_room", "locked", "bistro"), AXES))
def test_size_pads_pictures_with_walls_and_changes_nothing_else(name: str, axes: str) -> None:
    plain, padded = make(name, axes=axes), make(name, axes=axes, size=[14, 11])
    height, width = plain.game.compiled.tables.terrain.shape[1:]
    for (scene, entry), (other, larger) in zip(moments(plain), moments(padded), strict=True):
        assert scene == other
        back = [1 + AXES[axes].index(axis) for axis in range(3)]
        entry, larger = entry.transpose(0, *back), larger.transpose(0, *back)
        assert larger.shape[1:3] == (14, 11)
        assert (larger[:, :width, :height] == entry).all()
        outside = larger.astype(int)
        outside[:, :width, :height] = 0
        if scene["limit"] - scene["timestep"] >= 40:  # a channel says of every cell that little time is left
            assert outside.sum() == len(entry) * (14 * 11 - width * height) * (name == "locked"), "it has walls itself"


def test_pictures_of_procedural_pools_have_the_size_that_was_wished_for() -> None:
    """However few layouts are drawn, so that a held-out pool fits; the option says the size of other layouts."""
    wishes = {"count": 2, "width": [5, 11], "height": [4, 8]}
    shapes = set()
    for seed in (0, 1):
        env = collab_overcooked.make("Overcooked-v0", layout="procedural", generator=wishes | {"seed": seed})
        assert env.game.kwargs["size"] == [11, 8]
        shapes.add(env.observation_space("agent_0").shape)
        assert env.reset(seed=0)[0]["agent_0"].shape in shapes
    assert shapes == {(11, 8, 26)}
    classic = collab_overcooked.make("Overcooked-v0", layout="cramped_room", size="11x8")
    assert {classic.observation_space("agent_0").shape} == shapes
    assert collab_overcooked.make(
        "Overcooked-v0", layout="procedural", obs="features", generator=wishes
    ).observation_space("agent_0").shape == (96,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"obs": "losless"}, "losless.*lossless"),
        ({"axes": "wch"}, "axes"),
        ({"view_radius": 0}, "view_radius"),
        ({"obs": "features", "view_radius": 2}, "view_radius is for pictures"),
        ({"obs": "features", "size": [9, 6]}, "size is for pictures"),
        ({"view_radius": 2, "size": [9, 6]}, "size is for whole maps"),
        ({"size": [9, 3]}, "size 9 x 3 is too small for layouts of 5 x 4"),
        ({"size": "9"}, 'size must be columns and rows, .9, 6. or "9x6", not .9.'),
        ({"size": "9xb"}, "size must be an integer"),
        ({"obs": "jaxmarl", "axes": "chw"}, "hwc"),
        ({"obs": "jaxmarl", "agents": 3}, "2 players"),
        ({"obs": "jaxmarl", "layout": "locked"}, "no channel for walls"),
        ({"obs": "gates", "layout": ODD_KITCHENS["bistro"][0], "dynamics": "explicit"}, "no channel for tomatoes"),
    ],
)
def test_what_an_encoding_cannot_show_is_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        collab_overcooked.make("Overcooked-v0", **options)
