from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

import collab_overcooked
from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.game_spec import MENUS
from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.blind_rules import BLIND, RULES
from collab_overcooked.policies.listed import ORDERS
from collab_overcooked.policies.parameters import load_factory
from collab_overcooked.policies.policy_file import policy_path
from collab_overcooked.policies.registry import BUILT_IN, policy_names, policy_records
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import PolicySpec, make_policy
from collab_overcooked.registry import GAMES

GOOD = [
    "random",
    "reference",
    "reference:2",
    "noisy:0.2",
    "noisy:1:reference:3",
    "greedy",
    "planner:width=50,replan=5",
    "planner:rollouts=9,horizon=5",
    "selfish",
    "planner",
    "mcts",
    "mcts:simulations=30,discount=0.9,teammates=random",
]
BAD = [
    ("gredy", "did you mean greedy"),
    ("", "known: random"),
    ("random:3", "takes no parameters"),
    ("greedy:x", "takes no parameters"),
    ("reference:0", "integer of at least 1"),
    ("reference:one", "integer of at least 1"),
    ("noisy", "from 0 to 1"),
    ("noisy:1.5", "from 0 to 1"),
    ("noisy:nan", "from 0 to 1"),
    ("noisy:0.1,x", "from 0 to 1"),
    ("planner:widht=5", "did you mean width"),
    ("planner:width=0", "integer of at least 1"),
    ("planner:width", "integer of at least 1"),
    ("planner:rolouts=5", "did you mean rollouts"),
    ("mcts:simulation=5", "did you mean simulations"),
]


@pytest.mark.parametrize("spec", ["always:x", "sb3:", "torch:", "llm:"])
def test_a_spec_that_lacks_something_is_answered_by_the_usage_of_listings(spec: str) -> None:
    name = spec.partition(":")[0]
    with pytest.raises(ValueError, match=re.escape(BUILT_IN[name].usage)):
        load_factory(BUILT_IN[name].factory)(spec.partition(":")[2])


def test_the_usage_of_blind_rules_has_all_that_they_take() -> None:
    rules, orders, menus = (part.strip("]").split("|") for part in BUILT_IN[BLIND].usage.split("[,"))
    assert (rules[0], rules[1:], orders, menus) == ("always:K", [*RULES], [*ORDERS], [*MENUS])


@pytest.mark.parametrize("spec", GOOD)
def test_a_policy_is_called_as_it_was_written(spec: str) -> None:
    assert make_policy(spec).name == spec


@pytest.mark.parametrize(("spec", "message"), BAD)
def test_a_bad_spec_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_policy(spec)


def test_a_spec_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a text"):
        make_policy(3)  # type: ignore[arg-type]


def test_every_kind_says_how_it_is_written_and_what_it_does() -> None:
    assert {"random", "reference", "noisy", "greedy", "planner", "selfish", "mcts"} <= set(policy_names())
    for record in policy_records():
        assert record.usage.startswith(record.name) and record.summary.endswith(".")


def test_the_table_imports_no_policy() -> None:
    code = (
        "import sys, collab_overcooked.policies.registry;"
        "print([m for m in sys.modules if m.startswith('collab_overcooked.policies.') and m.rsplit('.')[-1] "
        "not in ('api', 'registry', 'search', 'simulator', 'specs')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_game_has_a_greedy_policy() -> None:
    for game in GAMES:
        assert "greedy" in game.policies, game.id


def test_parameters_of_another_game_s_planner_are_refused_where_it_is_played() -> None:
    env = collab_overcooked.make("KitchenRush-v0")
    env.reset(seed=0)
    info = EnvInfo(env.game.id, env.game, "", ("planner",) * 2, Simulator(env.game, env.arrays[0], 0))
    with pytest.raises(ValueError, match="takes no parameters"):
        make_policy("planner:width=5").reset(0, info, 0)
    with pytest.raises(ValueError, match="plays CollabOvercooked-v0, not KitchenRush-v0"):
        make_policy("reference").reset(0, info, 0)


def test_specs_have_one_limit_of_length():
    for spec in ("x" * 1_001, "slow:3:" + "x" * 1_000, "planner:width=" + "9" * 4_400):
        with pytest.raises(ValueError, match=r"has [\d,]+ characters, allowed are 1000"):
            make_policy(spec)


@pytest.mark.parametrize(
    ("text", "name", "files", "modules"),
    [
        ("runs/a/policy.npz", "ppo", ["runs/a/policy.npz"], []),
        ("runs/a/policy.npz, greedy", "ppo", ["runs/a/policy.npz"], []),
        ("ppo:cramped_room", "ppo", [], []),
        ("model.zip,sample,obs=features", "sb3", ["model.zip"], []),
        ("torch:lib/net.py:Net@w.pt,greedy", "torch", ["w.pt"], ["lib/net.py"]),
        ("my.module:Mine:width=5", "my.module", [], ["my.module"]),
        ("slow:3:policy.npz", "slow", ["policy.npz"], []),
        ("unknown:x", "unknown", [], []),
    ],
)
def test_a_spec_names_its_files(text: str, name: str, files: list[str], modules: list[str]) -> None:
    spec = PolicySpec.parse(text)
    assert (spec.name, spec.weight_files, spec.modules) == (name, files, modules)


def test_the_path_of_a_policy_file_alone_is_a_policy(tmp_path: Any) -> None:
    path = tmp_path / "policy.npz"
    shutil.copy(policy_path("cramped_room"), path)
    policy = make_policy(f"{path},greedy")
    assert (policy.name, policy.mode) == (f"{path},greedy", "greedy")  # type: ignore[attr-defined]
    assert cross_play("Overcooked-v0", ["random", str(path)], episodes=1).specs == ("random", f"ppo:{path}")
