"""Hostile scenes: refused by a ValueError that leaves everything as it was, or legal and played on identically."""

from __future__ import annotations

import json
import math
import random
import sys

import numpy as np
import pytest
from attacks.games import GAMES, PARAMS
from attacks.mutations import PYTHON_VALUES, VALUES, mutate, nested

import collab_overcooked
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io.schema import check_same
from collab_overcooked.kernels.bound import bind
from collab_overcooked.kernels.jit import is_compiled

pytestmark = pytest.mark.attacks

BOUNDS = {  # keys whose numbers must stay in a range whatever is accepted: (least, most)
    "timestep": (0, 10**6),
    "limit": (1, 10**6),
    "slot": (0, 10**6),
    "completed": (0, 10**9),
}


ATTACKS = {  # each did harm once: (game, scene)
    "cuisine-1": [
        *({"accomplished": [], "completed": number} for number in (-5, -1000, -(10**8), 10**6)),
        *({"timestep": -(10**9)}, {"timer": 10**6}, {"timer": -(10**6)}, {"limit": -1}, {"limit": 2**31 - 1}),
    ],
    "collab": [
        {"utensils": {"pot0": {"product": "boiled_egg"}}},
        {"utensils": {"pot0": {"product": "boiled_egg", "contents": ["egg"], "timer": 9, "time": 3}}},
        {"agents": [{"action": "continue"}, {"action": "continue"}]},
        {"agents": [{"action": "wait(5)", "timer": -(10**9)}, {}]},
        {"agents": [{"action": "wait(1)", "timer": 2**31 - 1}, {}]},
        *({"orders": ["dish"]}, {"limit": 2**31 - 1, "timestep": 2**31 - 1}),
    ],
    "escape-room": [
        *({"turn": 31}, {"adversary": {"target": 0}}, {"players": [{"seen": True}, {}, {}]}, {"gate": True}),
        *({"players": [{"active": False}] * 3}, {"generators": [{"fixer": 1}, {}]}),
        {"chance": {"seed": -1, "draws": 0}},
        {"known": [{"adversary": {"room": "6", "ago": 1}}, {}, {}]},
        {"known": [{"players": [{"room": "2", "ago": 0}, {}, {}]}, {}, {}]},
        {"known": [{"generators": [1, 0]}, {}, {}], "generators": [{"room": "1"}, {"room": "6"}]},
    ],
    "home": [
        {"agents": [{"arg": 3, "running": [1, 1, 0]}, {}, {}]},
        {"agents": [{"room": 1}, {"room": 1}, {"room": 1}]},
    ],
    "house": [
        {"agents": [{"hands": [0, None]}, {}], "things": [{"rel": "held", "parent": 0}, *[{}] * 14]},
        {"agents": [{"verb": 8, "left": 1, "running": [9, 1, 0]}, {}]},
    ],
    "overcooked": [{"players": []}, {"layout": "nope"}, {"gates": [{}]}],
    "rush": [
        *({"turn": 2**31 - 1}, {"turn": 10**9, "worker": 1}, {"limit": 0}, {"limit": 2**31 - 1, "turn": 2**30}),
        {"orders": [{"name": "Lamb Stew", "finished": True, "ruined": True}]},
    ],
}


@pytest.mark.parametrize(("name", "scene"), [(name, scene) for name in ATTACKS for scene in ATTACKS[name]])
def test_what_did_harm_is_refused(name, scene):
    env_id, options = GAMES[name]
    env = collab_overcooked.make(env_id, **options)
    with pytest.raises(ValueError):
        env.reset(seed=0, options={"state": scene})
    assert not env.agents


@pytest.mark.parametrize("name", ["home", "house"])
def test_a_place_at_the_last_cell_corrupts_no_memory(name):
    """It did: kernels measured the ways to it before anybody looked at the scene."""
    env_id, options = GAMES[name]
    env = collab_overcooked.make(env_id, **options)
    env.reset(seed=0)
    scene = env.scene()
    for p, place in enumerate(scene["places"]):
        wrong = {**place, "at": [place["at"][0], len(scene["grid"]) - 1]}
        with pytest.raises(ValueError, match=rf"places\[{p}\].at"):
            env.reset(options={"state": {**scene, "places": [*scene["places"][:p], wrong, *scene["places"][p + 1 :]]}})
    with pytest.raises(ValueError, match=r"places\[0\].at"):
        env.reset(
            options={"state": {"places": [{"at": [1, len(scene["grid"]) - 1]}] + [{}] * (len(scene["places"]) - 1)}}
        )


def test_no_kernel_runs_before_a_scene_is_checked(game, monkeypatch):
    """What writes, reads and checks an unchecked scene is plain Python, in every game."""
    game = getattr(game, "plain", game)  # a lexicon translates around it
    env = next(moments(game, np.random.default_rng(1), 2))
    scene, (state, _) = to_dict(env.scene()), game.alloc(1)
    checked = game.reset_parsers()["state"](scene)
    for array, entry in zip(state, env.arrays[0], strict=True):
        array[:] = entry

    def refuse(*_):
        raise AssertionError("a kernel ran")

    modules = [module for name, module in sys.modules.items() if name.startswith("collab_overcooked")]
    with monkeypatch.context() as patch:
        for module in modules:
            for name, value in list(vars(module).items()):
                if is_kernel(value) or value is bind:
                    patch.setattr(module, name, refuse)
        game._encode(state, 0, checked)
        plain = game._decode(state, 0, False)
        game._check_scene(plain)
        assert not any(is_kernel(value) for value in vars(sys.modules[type(game).__module__]).values())
    check_same(plain, to_dict(game.scene(state, 0)), "state")


@pytest.fixture(scope="module", params=PARAMS)
def game(request):
    env_id, options = GAMES[request.param]
    return collab_overcooked.make(env_id, **options).game


def is_kernel(value):
    return is_compiled(value) and hasattr(value, "py_func")


def to_dict(value):
    return json.loads(json.dumps(value, allow_nan=False))


def actions_of(env, rng):
    return {agent: int(rng.choice(np.flatnonzero(env.action_mask(agent)))) for agent in env.agents}


def moments(game, rng, count):
    """Yield environments somewhere in an episode, the last of them at its end."""
    for k in range(count):
        env = ParallelEnv(game, max_cycles=60)
        env.reset(seed=int(rng.integers(2**40)))
        for _ in range(60 if k == count - 1 else int(rng.integers(1, 55))):
            if env.agents:
                env.step(actions_of(env, rng))
        yield env


def memory_of(env):
    """Return all that an environment is, but for what the wrapper may seed anew."""
    return [array.tobytes() for array in (*env.arrays[0], *env.arrays[1])], list(env.agents)


def check_same_play(one, two, rng, steps):
    """Two environments go on alike in all that they show."""
    for _ in range(steps):
        if not one.agents:
            break
        actions = actions_of(one, rng)
        first, second = one.step(actions), two.step(actions)
        assert one.scene() == two.scene()
        assert first[1:4] == second[1:4]
        for agent in first[0]:
            np.testing.assert_array_equal(first[0][agent], second[0][agent])
            np.testing.assert_array_equal(first[4][agent]["action_mask"], second[4][agent]["action_mask"])
        np.testing.assert_array_equal(one.state(), two.state())


def test_a_finished_scene_ends_in_the_first_step(game):
    env = ParallelEnv(game, max_cycles=1)
    env.reset(seed=0)
    env.step(actions_of(env, np.random.default_rng(0)))
    scene = env.scene()
    env.reset(options={"state": scene})
    _, rewards, terminated, truncated, _ = env.step(actions_of(env, np.random.default_rng(0)))
    assert not env.agents and set(rewards.values()) == {0.0}
    assert all(terminated.values()) or all(truncated.values())


def judge(game, env, scene):
    """Put a scene into an environment: return whether it was accepted, or fail."""
    before = memory_of(env)
    try:
        env.reset(options={"state": scene})
    except ValueError as error:
        assert str(error).strip() and len(str(error)) < 2000, scene
        assert memory_of(env) == before, f"a refused scene changed something: {scene!r}"
        return False
    return True


def check_accepted(game, env, rng, steps=12):
    scene = to_dict(env.scene())
    for key, (least, most) in BOUNDS.items():
        assert least <= scene.get(key, least) <= most, (key, scene)
    other = ParallelEnv(game)
    other.reset(seed=7, options={"state": scene})
    assert to_dict(other.scene()) == scene
    for agent in env.possible_agents:
        assert env.describe(agent)
        assert env.action_mask(agent).any()
    env.game.render(env.arrays[0], 0, "ansi")
    check_same_play(env, other, rng, steps)
    for value in env.arrays[1].rewards.ravel():
        assert math.isfinite(value)
    json.dumps(env.scene(), allow_nan=False)


def test_mutated_scenes_are_refused_or_legal(game, attack_seed):
    rng, draw = np.random.default_rng(attack_seed), random.Random(attack_seed)
    scenes = [to_dict(env.scene()) for env in moments(game, rng, 6)]
    env = ParallelEnv(game)
    env.reset(seed=1)
    accepted = 0
    for k in range(60):
        values = VALUES + PYTHON_VALUES if k % 4 == 0 else VALUES
        if judge(game, env, mutate(draw, draw.choice(scenes), scenes, values)):
            check_accepted(game, env, rng)
            accepted += 1
    assert accepted > 0


def test_every_key_takes_every_hostile_value(game, attack_seed):
    """Each value of a scene in turn becomes some hostile ones; those that say the same by chance may pass."""
    rng, draw = np.random.default_rng(attack_seed), random.Random(attack_seed)
    env = next(moments(game, rng, 2))
    scene = to_dict(env.scene())
    target = ParallelEnv(game)
    target.reset(seed=1)
    for key in [*scene, "nonsense"]:
        for value in (*draw.sample((*VALUES, *PYTHON_VALUES), 12), nested(10**4)):
            judge(game, target, {**scene, key: value})
    for value in (*VALUES, *PYTHON_VALUES, nested(10**4)):
        if value is not None and value != {}:
            assert not judge(game, target, value), value


def test_batches_refuse_as_a_whole(game):
    batch = collab_overcooked.make_vec(game.id, 3, **game.kwargs)
    batch.reset(seed=5)
    before = [array.tobytes() for array in (*batch.state, *batch.out)]
    for scene in ({"limit": -1}, {"nonsense": 1}, 5, {"chance": {"seed": -1, "draws": 0}}):
        for which in (None, np.array([False, True, True])):
            with pytest.raises(ValueError):
                batch.reset(seed=9, options={"state": scene}, which=which)
            assert [array.tobytes() for array in (*batch.state, *batch.out)] == before
