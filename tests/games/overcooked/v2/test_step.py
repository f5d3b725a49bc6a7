"""Random games against the slow version, the same deliveries as Overcooked, and starts."""

from __future__ import annotations

import numpy as np
import pytest
from support.naive.overcooked_v2 import NaiveKitchen

from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.games.overcooked.engine.constants import Clock
from collab_overcooked.games.overcooked.v2.engine.spec import layouts
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.registry import make

COMPARED = ("recipe", "delivered", "served", "score", "players", "objects", "buttons")
OPTIONS = [
    {},
    {"view_radius": 2, "negative_rewards": True, "redraw_recipe": True, "random_start": True, "random_state": True},
    {"view_radius": 1, "dynamics": "explicit", "random_state": True, "redraw_recipe": True},
    {"view_radius": 2, "random_state": True, "burn": 3, "burn_cost": 7, "order_time": 9, "order_cost": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "paper", "explicit", "hurried"])
@pytest.mark.parametrize("layout", layouts())
def test_steps_are_those_of_the_slow_version(layout, options):
    env = make("OvercookedV2-v0", layout=layout, **options)
    rng = np.random.default_rng(7)
    for seed in range(3):
        env.reset(seed=seed)
        naive = NaiveKitchen(env.game.layouts[0], env.scene(), options)
        for _ in range(60):
            masks = [env.action_mask(agent)[5] for agent in env.agents]
            assert masks == [naive.can_interact(seat) for seat in range(len(env.agents))]
            for seat in range(len(env.agents)):
                seen = env.arrays[1].observations[0, seat].reshape(env.game.single_observation_space.shape)
                np.testing.assert_array_equal(seen, naive.observation(seat))
            texts = [["north", "south", "east", "west", "interact"][k] for k in rng.integers(0, 5, len(env.agents))]
            texts = ["interact" if can and rng.random() < 0.7 else text for can, text in zip(masks, texts, strict=True)]
            actions = {agent: env.parse(text) for agent, text in zip(env.agents, texts, strict=True)}
            _, rewards, *_ = env.step(actions)
            scene = env.scene()
            points, shaped = naive.step(texts, scene["recipe"])
            assert {key: scene[key] for key in COMPARED} == naive.state()
            assert set(rewards.values()) == {points} and env.arrays[1].shaped[0].tolist() == shaped


CLASSIC = {
    "cramped_room": "cramped_room",
    "asymm_advantages": "asymmetric_advantages",
    "coord_ring": "coordination_ring",
    "forced_coord": "forced_coordination",
    "counter_circuit": "counter_circuit",
}


@pytest.mark.parametrize("layout", CLASSIC)
def test_classic_layouts_play_as_in_overcooked(layout):
    """The order of moves and interacts makes no difference without gates; only some start cells differ."""
    here, there = make("OvercookedV2-v0", layout=layout), make("Overcooked-v0", layout=CLASSIC[layout])
    rng = np.random.default_rng(1)
    here.reset(seed=0)
    there.reset(options={"state": {"players": [{"position": p["position"]} for p in here.scene()["players"]]}})
    for _ in range(300):
        masks = [here.action_mask(agent)[5] for agent in here.agents]
        chosen = [5 if can and rng.random() < 0.6 else int(rng.integers(0, 6)) for can in masks]
        here.step({f"agent_{seat}": action for seat, action in enumerate(chosen)})
        there.step({f"agent_{seat}": action for seat, action in enumerate(chosen)})
        one, two = here.scene(), there.scene()
        for seat, player in enumerate(one["players"]):
            other = two["players"][seat]
            assert (player["position"], player["facing"]) == (other["position"], other["facing"])
            names = {"plate": "dish", "dish": "soup"}
            held, known = player["holding"], other["holding"]
            assert (held and names.get(held["item"], held["item"])) == (known and known["item"])
        lying = {tuple(thing["position"]) for thing in one["objects"]}
        assert lying == {tuple(thing["position"]) for thing in two["objects"]}
        assert one["score"] == two["score"]


def test_random_starts_stay_in_their_rooms_and_draw_all_recipes():
    game = OvercookedV2("grounded_coord_simple", random_start=True)
    env = BatchEnv(game, 400)
    env.reset(0)
    places = [{(int(x), int(y)) for x, y in env.state.players[:, seat, :2]} for seat in (0, 1)]
    assert places == [{(x, y) for x in (1, 2) for y in (1, 2, 3)}, {(x, y) for x in (5, 6) for y in (1, 2, 3)}]
    assert set(env.state.players[:, :, 2].reshape(-1).tolist()) == {0, 1, 2, 3}
    assert set(env.state.clock[:, Clock.RECIPE].tolist()) == set(game.compiled.tables.recipes[0].tolist())


@pytest.mark.parametrize(
    ("layout", "light", "channels"),
    [("test_time_simple", True, 39), ("test_time_wide", True, 43), ("demo_cook_simple", False, 38)],
)
def test_channels_of_the_paper_are_the_first_ones(layout, light, channels):
    options = {"layout": layout, "view_radius": 2, "delivery_light": light}
    cut, full = (make("OvercookedV2-v0", channels=name, **options) for name in ("paper2025", "all"))
    assert cut.game.single_observation_space.shape[-1] == channels
    rng = np.random.default_rng(0)
    for env in (cut, full):
        env.reset(seed=0)
    for _ in range(200):
        actions = {agent: int(rng.choice(np.flatnonzero(cut.action_mask(agent)))) for agent in cut.agents}
        seen = [env.step(actions)[0] for env in (cut, full)]
        for agent in actions:
            np.testing.assert_array_equal(seen[0][agent], seen[1][agent][..., :channels])
