from __future__ import annotations

import subprocess
import sys

import pytest

import collab_overcooked
from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.registry import make_policy, policy_names, policy_records
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.registry import GAMES

GOOD = [
    "random",
    "reference",
    "reference:2",
    "noisy:0.2",
    "noisy:1,3",
    "greedy",
    "planner:width=50,replan=5",
    "scheduler:rollouts=9,horizon=5",
    "solver",
    "selfish",
    "planner",
    "planner:rollouts=9",
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
    ("noisy:0.1,x", "integer of at least 1"),
    ("planner:widht=5", "did you mean width"),
    ("planner:width=0", "integer of at least 1"),
    ("planner:width", "integer of at least 1"),
    ("planner:rolouts=5", "did you mean rollouts"),
    ("mcts:simulation=5", "did you mean simulations"),
]


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
    assert {"random", "reference", "noisy", "greedy", "planner", "scheduler", "solver", "selfish", "mcts"} <= set(
        policy_names()
    )
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


def test_every_game_has_a_greedy_policy_and_a_planner() -> None:
    for game in GAMES:
        assert {"greedy", "planner"} <= set(game.policies), game.id


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
