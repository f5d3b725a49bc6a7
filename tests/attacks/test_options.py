"""Hostile options, seeds, actions and texts: an error that says what is wrong, or a game that plays."""

from __future__ import annotations

import math
import random
from functools import partial

import gymnasium
import numpy as np
import pytest
from attacks.mutations import PYTHON_VALUES, VALUES, nested

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.registry import make_central_control

pytestmark = pytest.mark.attacks

HOSTILE = (
    *VALUES,
    *PYTHON_VALUES,
    *("procedural", "../../etc/passwd", "/etc/passwd", [1], ["x"], [None], {"seed": -1}, {"count": 10**9}),
    *({"PUT": float("nan")}, {"PUT": 1e39}, {"boiled_egg": 0}, {"boiled_egg": math.inf}, {"boiled_egg": 1e-300}),
    *(np.int64(2), np.float32(1.5), np.array([1, 2]), np.bool_(True), 10**5, 300, nested(10**4)),
)
SMALL = {  # games that are made fast, for what does not depend on the game
    "CollabOvercooked-v0": {},
    "CuisineWorld-v0": {"level": "level_0"},
    "KitchenRush-v0": {},
    "Overcooked-v0": {},
}
WRAPPER = ("render_mode", "max_cycles", "mask_in", "text_info")
CASES = [(env_id, option) for env_id in sorted(SMALL) for option in [*registry.game_options(env_id), *WRAPPER]]


def attempt(act, *value):
    """Do something with a hostile value: it works, or says clearly what is wrong."""
    try:
        act(*value)
    except (ValueError, TypeError) as error:
        assert str(error).strip(), value
        assert len(str(error)) < 25_000, value
        assert "object is not" not in str(error) and "unsupported operand" not in str(error), (value, error)


@pytest.mark.parametrize(("env_id", "option"), CASES, ids=lambda part: part)
def test_options_are_refused_or_compiled(env_id, option, attack_seed):
    """Every value is refused by its name, or makes a game of a size that can be played."""
    chosen = random.Random(f"{env_id} {option} {attack_seed}").sample(HOSTILE, 12)

    def make(value):
        env = collab_overcooked.make(env_id, **{option: value})
        assert 1 <= env.max_cycles <= 10**6
        assert env.game.n_agents <= 100
        assert sum(array.nbytes for arrays in env.arrays for array in arrays) < 2**28

    for value in (*chosen, nested(10**4)):
        attempt(make, value)


@pytest.fixture(scope="module", params=sorted(SMALL))
def env(request):
    created = collab_overcooked.make(request.param, **SMALL[request.param])
    created.reset(seed=0)
    return created


def test_reset_options_seeds_and_actions(env, attack_seed):
    for value in random.Random(attack_seed).sample(HOSTILE, 20):
        for option in (*env.game.reset_parsers(), "zzz", "Task", 5):
            attempt(lambda option=option, value=value: env.reset(seed=0, options={option: value}))
        attempt(lambda value=value: env.reset(seed=value))
        attempt(lambda value=value: env.reset(seed=0, options=value))
        env.reset(seed=0)
        attempt(lambda value=value: env.step({agent: value for agent in env.possible_agents}))
        env.reset(seed=0)
        attempt(lambda value=value: env.step(value))
        env.reset(seed=0)


def test_texts(env):
    texts = ("", "\x00", "(" * 10000, "pickup(" * 1000, f"wait({'9' * 5000})", "é", "request('" * 500, "{" * 5000)
    for text in (*texts, "{'action_type': " * 300, "[" * 20000, "9" * 5000, "-" * 10000 + "1", "a.b" * 1000, "{'a': 1"):
        attempt(env.parse, text)
        attempt(env.game.parse_plan, text)
    for value in (None, 5, b"x", [], {}, object()):
        with pytest.raises(TypeError, match="must be a string"):
            env.parse(value)
        with pytest.raises(TypeError, match="must be a string"):
            env.game.parse_plan(value)


@pytest.mark.parametrize("kind", ["native", "gymnasium"])
def test_vector_environments(kind, attack_seed):
    make = partial(collab_overcooked.make_vec, "KitchenRush-v0", kind=kind)
    for value in random.Random(attack_seed).sample(HOSTILE, 20):
        if not (isinstance(value, int) and 10**5 <= value <= 10**6):  # takes as much memory as it says
            attempt(lambda value=value: make(2, num_threads=value))
            attempt(lambda value=value: make(value))
        attempt(lambda value=value: make(2, max_cycles=value))
        batch = make(2)
        batch.reset(seed=0)
        attempt(lambda value=value, batch=batch: batch.step(value))
        attempt(lambda value=value, batch=batch: batch.reset(seed=value))
        attempt(lambda value=value, batch=batch: batch.reset(options=value))
        if kind == "native":
            attempt(lambda value=value, batch=batch: batch.reset(which=value))
    for value in (2**31, 10**7, -1, 0, True, 1.0, None):
        with pytest.raises(ValueError, match="num_envs"):
            make(value)


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("KitchenRush-v0", {"max_turns": 2**31 - 1}),
        ("KitchenRush-v0", {"workers": 70000, "max_turns": 70000}),
        ("KitchenRush-v0", {"agents": 9999}),
        ("CuisineWorld-v0", {"agents": 10**5}),
        ("CuisineWorld-v0", {"alpha": 1e308}),
        ("CuisineWorld-v0", {"beta": math.inf}),
        ("CuisineWorld-v0", {"turn_order": [0, None]}),
        ("Overcooked-v0", {"view_radius": 10**5}),
        ("Overcooked-v0", {"layout": "procedural", "generator": {"count": 10**9}}),
        ("Overcooked-v0", {"max_cycles": 2**32 + 5}),
        ("CollabOvercooked-v0", {"gamma": math.nan}),
        ("CollabOvercooked-v0", {"level": [[]]}),
        ("CollabOvercooked-v0", {"shaping": {"PUT": math.nan}}),
        ("CollabOvercooked-v0", {"shaping": {"PUT": 1e39}}),
    ],
)
def test_numbers_that_no_game_can_have(env_id, options):
    with pytest.raises(ValueError):
        collab_overcooked.make(env_id, **options)


@pytest.mark.parametrize("form", [gymnasium.vector.SyncVectorEnv, gymnasium.vector.AsyncVectorEnv])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_central_controllers_side_by_side(form):
    """One row of N actions an environment, in this process or in others."""
    makers = [partial(make_central_control, "KitchenRush-v0", agents=3) for _ in range(2)]
    envs = form(makers, **({"context": "spawn"} if form is gymnasium.vector.AsyncVectorEnv else {}))
    try:
        observations, infos = envs.reset(seed=0)
        assert envs.action_space.shape == (2, 3) and observations.shape[:2] == (2, 3)
        assert infos["action_mask"].shape[:2] == (2, 3)
        for _ in range(3):
            _, rewards, *_ = envs.step(envs.action_space.sample())
            assert rewards.shape == (2,)
        one = makers[0]()
        one.reset(seed=0)
        for wrong in (np.zeros(2, int), np.zeros((1, 3), int), 0, None, "x", [0, [1], 2], np.zeros(3)):
            with pytest.raises(ValueError):
                one.step(wrong)
    finally:
        envs.close()
