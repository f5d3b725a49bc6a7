"""Ids, options and the registries of PettingZoo and Gymnasium."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.envs.registration import VectorizeMode
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches

IDS = registry.registered()
GYM_ID = "collab_overcooked/CollabOvercooked-v0"
needs_pettingzoo_registry = pytest.mark.skipif(
    not hasattr(pettingzoo, "register"), reason="this PettingZoo has no registry; 1.27 is the first with one"
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: collab_overcooked.make("CollabOvercoked-v0"), "unknown environment id .* CollabOvercooked-v0"),
        (lambda: collab_overcooked.make(IDS[0], taks="boiled_egg"), "unknown option 'taks'; did you mean .*task"),
        (lambda: collab_overcooked.make(IDS[0], render_mod="ansi"), "unknown option 'render_mod'.*render_mode"),
        (lambda: collab_overcooked.make(IDS[0], task="boiled_eg"), "unknown task 'boiled_eg'; .*boiled_egg"),
        (lambda: collab_overcooked.make(IDS[0], kitchen="papper"), "paper"),
        (lambda: collab_overcooked.make(IDS[0], obs="gird"), "unknown obs 'gird'; did you mean grid"),
        (lambda: collab_overcooked.make(IDS[0], action_level="high"), "unknown action_level 'high'"),
        (lambda: collab_overcooked.make(IDS[0], level=9), "unknown level 9; known: 1, 2"),
        (lambda: collab_overcooked.make(IDS[0], mask_in="infos"), "unknown mask_in 'infos'; did you mean info"),
        (lambda: collab_overcooked.make(IDS[0], render_mode="rgb"), "unknown render_mode 'rgb'.*rgb_array"),
        (lambda: collab_overcooked.make(IDS[0], max_cycles=0), "max_cycles must be a positive integer"),
        (lambda: collab_overcooked.make_vec("collab"), "unknown environment id"),
        (lambda: collab_overcooked.make_vec(IDS[0], kind="gym"), "unknown kind 'gym'"),
        (lambda: collab_overcooked.make_vec(IDS[0], kind=None), "unknown kind None"),
        (
            lambda: collab_overcooked.make_vec(IDS[0], kind="sb3", vectorization_mode="sync"),
            "vectorization_mode is for",
        ),
        (lambda: collab_overcooked.make_vec(IDS[0], kind="torchrl", vectorization_mode="sync"), "kind 'gymnasium'"),
        (lambda: collab_overcooked.make_vec(IDS[0], vectorization_mode="synch"), "did you mean sync"),
        (lambda: collab_overcooked.make_vec(IDS[0], vectorization_mode="sync", num_envs=0), "num_envs must be"),
        (lambda: collab_overcooked.make_vec(IDS[0], num_envs=0), "num_envs must be an integer from 1"),
        (lambda: collab_overcooked.make_vec(IDS[0], num_threads=True), "num_threads must be .* not True"),
        (lambda: collab_overcooked.make_vec(IDS[0], num_thread=2), "unknown option 'num_thread'.*num_threads"),
        (lambda: collab_overcooked.make_vec(IDS[0], kind="native", autoreset_mode="SameStep"), "autoreset_mode"),
        (
            lambda: collab_overcooked.make_vec(IDS[0], kind="gymnasium", autoreset_mode="Same"),
            "unknown autoreset_mode 'Same'.*SameStep",
        ),
    ],
)
def test_misspelt_names_get_near_matches(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_missing_torchrl_is_named_with_its_installation(monkeypatch):
    monkeypatch.delitem(sys.modules, "collab_overcooked.envs.torchrl", raising=False)
    monkeypatch.setitem(sys.modules, "torchrl.data", None)
    with pytest.raises(ImportError, match="pip install torchrl"):
        collab_overcooked.make_vec("Overcooked-v0", 2, "torchrl", layout="cramped_room")


def test_ids_may_carry_the_namespace():
    assert registry.find(GYM_ID) is registry.find("CollabOvercooked-v0")


def test_records_point_at_what_exists():
    for record in registry.GAMES:
        assert registry.game_class(record.id).id == record.id
        assert record.summary.endswith(".")


def test_importing_registers_strings_and_loads_no_kernel():
    games = [record.game.partition(".env:")[0].removeprefix("collab_overcooked.") for record in registry.GAMES]
    allowed = (
        "plugins",
        "registry",
        "game_spec",
        "import_hooks",
        "io",
        "io.checks",
        "io.files",
        "games",
        *games,
        *(f"{g}.record" for g in games),
    )
    code = (
        "import sys, collab_overcooked, gymnasium\n"
        f"assert {GYM_ID!r} in gymnasium.registry\n"
        "heavy = {'numba', 'torch', 'stable_baselines3', 'yaml', 'PIL', 'matplotlib', 'cyclopts'} & set(sys.modules)\n"
        "ours = {name for name in sys.modules if name.startswith('collab_overcooked.')}\n"
        f"print(*heavy, *(ours - {{'collab_overcooked.' + own for own in {allowed}}}))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_registering_twice_is_quiet():
    registry.register_everywhere()


@pytest.mark.parametrize("env_id", IDS)
def test_gymnasium_make(env_id):
    env = gymnasium.make(f"collab_overcooked/{env_id}")
    observation, _ = env.reset(seed=3)
    assert observation in env.observation_space
    check_env(env.unwrapped)
    env.close()


def test_gymnasium_make_takes_options():
    env = gymnasium.make(GYM_ID, task="boiled_egg", obs="grid", max_cycles=3, render_mode="ansi")
    env.reset(seed=0)
    ends = [env.step(np.zeros(2, int))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    assert isinstance(env.render(), str)


def test_gymnasium_make_vec_flattens_agents():
    envs = gymnasium.make_vec(GYM_ID, num_envs=3, autoreset_mode="SameStep", max_cycles=5)
    assert envs.num_envs == 6
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, infos = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert infos["action_mask"].shape == (6, envs.single_action_space.n)
    envs.close()


@pytest.mark.parametrize("env_id", IDS)
def test_gymnasium_make_vec(env_id):
    envs = gymnasium.make_vec(f"collab_overcooked/{env_id}", num_envs=2, max_cycles=2)
    observations, infos = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert envs.metadata["rows"] == "agents"
    actions = infos["action_mask"].argmax(1)
    assert not envs.step(actions)[3].any()
    envs.close()


def test_gymnasium_can_vectorise_the_central_controller_itself():
    envs = gymnasium.make_vec(GYM_ID, num_envs=2, vectorization_mode="sync")
    assert envs.metadata["rows"] == "environments"
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert envs.step(envs.action_space.sample())[0] in envs.observation_space
    envs.close()


@pytest.mark.parametrize("kind", ["SB3", "Gymnasium", "NATIVE"])
def test_kinds_of_batches_are_read_in_any_case(kind):
    envs = collab_overcooked.make_vec(IDS[0], num_envs=2, kind=kind)
    assert type(envs) is type(collab_overcooked.make_vec(IDS[0], num_envs=2, kind=kind.lower()))


@pytest.mark.parametrize("mode", ["vector_entry_point", VectorizeMode.VECTOR_ENTRY_POINT])
def test_gymnasium_s_vectorization_mode_means_its_kind(mode):
    envs = collab_overcooked.make_vec(IDS[0], num_envs=3, vectorization_mode=mode)
    assert type(envs) is type(collab_overcooked.make_vec(IDS[0], kind="gymnasium"))
    assert envs.num_envs == 6


def test_gymnasium_s_own_vector_environments_take_our_options():
    envs = collab_overcooked.make_vec(IDS[0], num_envs=2, vectorization_mode="sync", task="boiled_egg", max_cycles=3)
    assert isinstance(envs, SyncVectorEnv) and envs.num_envs == 2
    envs.reset(seed=0)
    assert [envs.step(np.zeros((2, 2), int))[3].all() for _ in range(3)] == [False, False, True]
    envs.close()


def test_hints_are_near():
    known = ["axes", "text_rules", "gate_reset"]
    assert (
        near_matches("option", "max_cycles", known)
        == "unknown option 'max_cycles'; known: axes, text_rules, gate_reset"
    )
    assert near_matches("option", "text_rule", known) == "unknown option 'text_rule'; did you mean text_rules?"


@needs_pettingzoo_registry
@pytest.mark.parametrize("env_id", IDS)
def test_pettingzoo_make(env_id):
    parallel = pettingzoo.make("parallel", f"collab_overcooked/{env_id}", max_cycles=7)
    assert parallel.max_cycles == 7
    observations, _ = parallel.reset(seed=0)
    aec = pettingzoo.make("aec", f"collab_overcooked/{env_id}", max_cycles=7)
    aec.reset(seed=0)
    for agent in aec.possible_agents:
        np.testing.assert_array_equal(aec.observe(agent), observations[agent])
    turns = 0
    for _ in aec.agent_iter():
        _, _, terminated, truncated, info = aec.last()
        aec.step(None if terminated or truncated else int(info["action_mask"].argmax()))
        turns += not (terminated or truncated)
    assert 0 < turns <= 7 * len(aec.possible_agents) and not aec.agents


def test_raw_env_is_the_unwrapped_aec_form():
    from pettingzoo.utils.conversions import parallel_to_aec_wrapper
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper

    from collab_overcooked.envs import collab_overcooked_v0

    assert isinstance(collab_overcooked_v0.raw_env(), parallel_to_aec_wrapper)
    wrapped = collab_overcooked_v0.env()
    assert isinstance(wrapped, OrderEnforcingWrapper)
    assert isinstance(wrapped.env, parallel_to_aec_wrapper)


def test_a_deleted_working_folder_is_named(tmp_path):
    gone = f"import os; os.chdir({str(tmp_path)!r}); os.rmdir({str(tmp_path)!r})\n"
    make = "import collab_overcooked; collab_overcooked.make('CollabCapture-v0')"
    done = subprocess.run([sys.executable, "-P", "-c", gone + make], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "the working folder was deleted; change to one that exists" in done.stderr
    tmp_path.mkdir()
    command = "import sys; sys.argv[1:] = ['list', 'envs']; from collab_overcooked.cli import app; app()"
    done = subprocess.run([sys.executable, "-P", "-c", gone + command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.splitlines()) == 1
    assert "the working folder was deleted; change to one that exists" in done.stderr
