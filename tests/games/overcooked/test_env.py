"""The game behind the protocol: options, pools, scenes, texts, and shaped rewards through every wrapper."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from games.collab_overcooked.world import drawn
from games.overcooked.world import game_of, picture_of, play

import collab_overcooked
from collab_overcooked.games.overcooked.engine.constants import Player
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.text.text import event_names
from collab_overcooked.kernels.rng import seed_states

EVENTS = """tomato_pickup useful_tomato_pickup tomato_drop useful_tomato_drop potting_tomato onion_pickup
    useful_onion_pickup onion_drop useful_onion_drop potting_onion dish_pickup useful_dish_pickup dish_drop
    useful_dish_drop soup_pickup soup_delivery soup_drop optimal_onion_potting optimal_tomato_potting
    viable_onion_potting viable_tomato_potting catastrophic_onion_potting catastrophic_tomato_potting
    useless_onion_potting useless_tomato_potting""".split()
POTTING = "XXPXX\nO 1 O\nX 2 X\nXDXSX\n1 north holds onion"
SMALL_ORDER = {"extends": "cramped_room", "name": "small", "orders": [["onion"]]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "cramped"}, "unknown layout 'cramped'"),
        ({"layout": []}, "layout must be a name, a path, a mapping or a list"),
        ({"layout": ["locked", "locked"]}, "two layouts of the pool are called 'locked'"),
        ({"layout": SMALL_ORDER}, "orders a soup of onion, but with dynamics 'auto' only pots of 3 ingredients cook"),
        ({"dynamics": "old"}, "unknown dynamics 'old'; known: auto, explicit"),
        ({"agents": 0}, "agents must be an integer from 1 to 4, not 0"),
        ({"shaping": {"pot": 3}}, "unknown shaped reward 'pot'; did you mean potting"),
        ({"random_start": 1}, "random_start must be true or false, not 1"),
        ({"gate_limit": 0}, "gate_limit must be an integer of at least 1, not 0"),
        ({"gate_opener": "nobody"}, "unknown gate_opener 'nobody'; known: empty_handed, anyone"),
        ({"layout": ["locked", "soup_passing"], "gate_reset": False}, "gate_reset=False is for one layout"),
        ({"layouts": "locked"}, "unknown option 'layouts'; did you mean layout"),
    ],
)
def test_refused_options(options, message):
    with pytest.raises(ValueError, match=message):
        collab_overcooked.make("Overcooked-v0", **options)


def test_a_pool_of_unequal_starts_wants_a_number_of_players():
    single = {"extends": "cramped_room", "name": "single", "grid": "XXPXX\nO   O\nX1  X\nXDXSX\n"}
    with pytest.raises(ValueError, match=r"start \[1, 2\] players; choose with the option agents"):
        Overcooked(layout=["locked", single])
    assert Overcooked(layout=["locked", single], agents=2).n_agents == 2


def test_a_small_kitchen_has_no_room_for_many():
    hole = {"name": "hole", "grid": "XXPXX\nO1 2O\nXDXSX"}
    with pytest.raises(ValueError, match="layout hole has 3 floor cells, too few for 4 players"):
        Overcooked(layout=hole, agents=4)


def test_small_orders_are_cooked_by_hand():
    assert Overcooked(layout=SMALL_ORDER, dynamics="explicit").layouts[0].orders == ((1, 0),)


@pytest.mark.parametrize(
    ("count", "starts"), [(1, [[1, 2]]), (3, [[1, 2], [3, 1], [1, 1]]), (4, [[1, 2], [3, 1], [1, 1], [2, 1]])]
)
def test_further_players_start_on_the_first_free_floor(count, starts):
    game = game_of("cramped_room", agents=count)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    game.reset(state, out, np.ones(1, np.bool_))
    assert [p["position"] for p in game.scene(state, 0)["players"]] == starts


def test_random_starts_depend_on_the_seed_and_face_anywhere():
    env = collab_overcooked.make("Overcooked-v0", layout="counter_circuit", random_start=True)
    seen = []
    for seed in range(40):
        env.reset(seed=seed)
        seen.append(env.arrays[0].players[0, :, [Player.X, Player.Y, Player.FACING]].T.tolist())
        env.reset(seed=seed)
        assert env.arrays[0].players[0, :, [Player.X, Player.Y, Player.FACING]].T.tolist() == seen[-1]
    assert len({str(start) for start in seen}) > 30


def test_a_forced_layout_of_a_pool():
    env = collab_overcooked.make("Overcooked-v0", layout=["cramped_room", "locked"])
    for name in ("locked", "cramped_room"):
        env.reset(seed=0, options={"layout": name})
        assert env.scene()["layout"] == name
    with pytest.raises(ValueError, match="unknown layout 'lockd'; did you mean locked"):
        env.reset(options={"layout": "lockd"})
    with pytest.raises(ValueError, match="unknown reset option 'layot'"):
        env.reset(options={"layot": "locked"})


def test_the_team_is_paid_and_the_own_shaped_reward_is_in_the_infos():
    served = "XXPXX\nO 1 O\nX 2 X\nXDXSX\n1 north holds onion\n2 east holds soup(onion, onion, onion)"
    rollout = play(served, "1: . . I\n2: E S I")
    assert (rollout.rewards[2], rollout.sparse[2], rollout.shaped[2]) == ([20, 20], [0, 20], [3, 0])
    shaped = play(served, "1: . . I\n2: E S I", reward="shaped")
    assert shaped.rewards[2] == [23, 20]
    result = play(served, "1: . . I\n2: E S I", reward="shaped", shaping={"potting": 0.5})
    assert result.rewards[2] == [20.5, 20]


def potting_scene():
    rollout = play(POTTING, ".")
    scene = rollout.game.scene(rollout.state, 0)
    return rollout.game.kwargs["layout"], {"state": {key: scene[key] for key in ("players", "objects")}}


def test_shaped_reward_in_the_parallel_env():
    layout, options = potting_scene()
    env = collab_overcooked.make("Overcooked-v0", layout=layout)
    _, infos = env.reset(seed=0, options=options)
    assert [info["shaped_reward"] for info in infos.values()] == [0, 0]
    _, rewards, _, _, infos = env.step({"agent_0": 5, "agent_1": 4})
    assert [info["shaped_reward"] for info in infos.values()] == [3, 0]
    assert list(rewards.values()) == [0, 0]


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_shaped_reward_in_the_gymnasium_vector_env_also_of_the_last_step(mode):
    layout, options = potting_scene()
    env = collab_overcooked.make_vec("Overcooked-v0", 2, "gymnasium", layout=layout, max_cycles=1, autoreset_mode=mode)
    env.reset(seed=0, options=options)
    infos = env.step(np.array([5, 4, 4, 4]))[4]
    assert infos["shaped_reward"].tolist() == [3, 0, 0, 0]
    assert infos["shaped_reward"].dtype == np.float32
    assert infos["_shaped_reward"].all()


def test_shaped_reward_in_the_native_batch_and_under_central_control():
    layout, options = potting_scene()
    batch = collab_overcooked.make_vec("Overcooked-v0", 2, layout=layout)
    batch.reset(seed=0, options=options)
    infos = batch.step(np.array([[5, 4], [4, 4]]))[4]
    assert infos["shaped_reward"].tolist() == [[3, 0], [0, 0]]
    env = gymnasium.make("collab_overcooked/Overcooked-v0", layout=layout)
    env.reset(seed=0, options=options)
    assert env.step(np.array([5, 4]))[4]["shaped_reward"].tolist() == [3, 0]


def test_shaped_reward_for_stable_baselines():
    pytest.importorskip("stable_baselines3")
    layout, options = potting_scene()
    env = collab_overcooked.make_vec("Overcooked-v0", 2, "sb3", layout=layout, max_cycles=1)
    env.set_options(options)
    env.reset()
    *_, dones, infos = env.step(np.array([5, 4, 4, 4]))
    assert dones.all()
    assert [info["shaped_reward"] for info in infos] == [3, 0, 0, 0]


def test_games_without_shaped_reward_say_nothing_of_it():
    env = collab_overcooked.make("CollabOvercooked-v0")
    assert "shaped_reward" not in env.reset(seed=0)[1]["agent_0"]
    assert "shaped_reward" not in collab_overcooked.make_vec("CollabOvercooked-v0", 1).reset(seed=0)[1]


def test_the_25_events_have_the_original_names():
    assert event_names((1 << 25) - 1) == EVENTS


def test_events_in_words():
    rollout = play(POTTING, "I")
    (potting, nothing) = rollout.game.events(rollout.out, 0)
    assert nothing is None
    assert potting["event"] == "potting_onion"
    assert potting["events"] == ["potting_onion", "optimal_onion_potting", "viable_onion_potting"]
    assert (potting["sparse"], potting["shaped"]) == (0, 3)
    assert potting["label"] == "put onion in pot"


def test_actions_by_text():
    game = game_of("cramped_room")
    assert game.action_texts() == ["north", "south", "east", "west", "stay", "interact"]
    assert game.parse(" Interact") == 5
    assert game.idle_action() == game.parse("stay")
    assert game.parse_plan("north; interact\neast") == (["north", "interact", "east"], [])
    with pytest.raises(ValueError, match="unknown action 'intract'; did you mean interact"):
        game.parse("intract")


def test_check_says_whether_an_interact_does_anything():
    rollout = play(POTTING, ".")
    assert rollout.game.check(rollout.state, 0, 0, 5) == ("OK", "Accepted.")
    assert rollout.game.check(rollout.state, 0, 1, 5)[0] == "NO_EFFECT"
    assert rollout.game.check(rollout.state, 0, 1, 2) == ("OK", "Accepted.")


MOMENT = """
    XXPXX
    O 1 O
    X2  T
    XDWSX
    1 east holds soup(onion, tomato)
    2 south holds dish
    (2,0) onion, onion 4/20
    (0,2) tomato
    (1,0) soup(onion)
"""


def test_a_scene_comes_back():
    rollout = play(MOMENT, ".")
    scene = rollout.scene
    other, out = rollout.game.alloc(1)
    other.rng[:] = seed_states([5])
    rollout.game.reset(other, out, np.ones(1, np.bool_), {"state": scene})
    assert rollout.game.scene(other, 0) == scene
    assert picture_of(rollout.game, scene) == drawn(MOMENT).replace("4/20", "5/20").replace(
        "(2,0) onion, onion 5/20\n(0,2) tomato\n(1,0) soup(onion)",
        "(1,0) soup(onion)\n(2,0) onion, onion 5/20\n(0,2) tomato",
    )


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        ({"plyers": []}, "state: unknown key 'plyers'; did you mean players"),
        ({"timestep": -1}, "state.timestep must be an integer of at least 0, not -1"),
        ({"layout": "locked"}, "unknown layout 'locked'"),
        ({"players": [{}]}, "state.players lists 1 players; it must list 2"),
        ({"players": [{"position": [0, 0]}, {}]}, r"no player can stand at \[0, 0\]"),
        ({"players": [{"position": [9, 0]}, {}]}, r"position\[0\] must be an integer from 0 to 4, not 9"),
        (
            {"players": [{"position": [1, 3]}, {}]},
            r"no player can stand at \[1, 3\]; players stand on floor or in open",
        ),
        ({"players": [{"position": [3, 1]}, {}]}, r"players 0 and 1 both stand at \[3, 1\]"),
        ({"players": [{"facing": "up"}, {}]}, "unknown facing 'up'"),
        ({"players": [{"holding": {"item": "plate"}}, {}]}, "unknown item 'plate'"),
        (
            {"players": [{"holding": {"item": "soup", "ingredients": ["onion"], "tick": 3}}, {}]},
            "tick of a soup outside a pot is 20, not 3",
        ),
        ({"objects": [{"position": [2, 0], "item": "onion"}]}, r"onion cannot lie at \[2, 0\]"),
        ({"objects": [{"position": [1, 1], "item": "onion"}]}, r"onion cannot lie at \[1, 1\]"),
        ({"objects": [{"position": [0, 0], "item": "dish"}] * 2}, r"two objects lie at \[0, 0\]"),
        ({"objects": [{"position": [2, 0], "item": "soup"}]}, "ingredients of a soup are 1 to 3 of onion, tomato"),
        (
            {"objects": [{"position": [2, 0], "item": "soup", "ingredients": ["onion"], "tick": 21}]},
            "tick of a soup in a pot is -1 to 20, not 21",
        ),
        ({"gates": [{"position": [1, 1]}]}, r"there is no gate at \[1, 1\]"),
        ({"gates": [{"position": [1, 3], "open": True, "counter": 11}]}, "counter of an open gate is 0 to 10"),
        ({"gates": [{"position": [1, 3], "counter": 1}]}, "of a closed one 0, not 1"),
    ],
)
def test_refused_scenes(scene, message):
    env = collab_overcooked.make("Overcooked-v0", layout="gated_delivery")
    with pytest.raises(ValueError, match=message):
        env.reset(seed=0, options={"state": scene})


def test_the_state_vector_tells_moments_apart():
    env = collab_overcooked.make("Overcooked-v0", layout="locked")
    env.reset(seed=0, options={"state": {"gates": [{"position": [3, 3], "open": True, "counter": 4}]}})
    opened = env.state()
    env.reset(seed=0)
    assert (opened != env.state()).any()


def test_an_episode_lasts_400_steps_or_as_many_as_told():
    for options, steps in (({}, 400), ({"max_cycles": 7}, 7)):
        env = collab_overcooked.make("Overcooked-v0", **options)
        env.reset(seed=0)
        count = 0
        while env.agents:
            *_, truncations, _ = env.step({"agent_0": 4, "agent_1": 4})
            count += 1
        assert (count, truncations) == (steps, {"agent_0": True, "agent_1": True})


def test_games_whose_players_give_way_at_random_are_not_deterministic() -> None:
    assert Overcooked("cramped_room").deterministic
    assert Overcooked("cramped_room", action_level="medium", text_rules="original").deterministic
    assert not Overcooked("cramped_room", action_level={"agent_1": "medium"}).deterministic
    assert Overcooked("forced_coordination", action_level="medium").deterministic, "nobody is in the other's way"
    assert not Overcooked("locked", action_level="medium").deterministic, "but behind a gate"


def test_tutorials_ask_for_nothing_that_is_no_event() -> None:
    grid = "XXTXX\nP1 2S\nX   X\nXXDXX"
    assert [name for name, *_ in Overcooked({"name": "red", "grid": grid}).tutorial_for(0)] == ["pot", "put_down"]
    assert [name for name, *_ in Overcooked("cramped_room").tutorial_for(0)] == ["take", "pot", "put_down"]
