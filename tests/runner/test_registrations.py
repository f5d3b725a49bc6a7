"""What other processes can load of the games and policies of a run, and where the others are played."""

from __future__ import annotations

import dataclasses
import sys
from types import ModuleType
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.game_spec import SuiteEntry
from collab_overcooked.policies import registry as policies
from collab_overcooked.policies.api import PolicyBase
from collab_overcooked.policies.random import RandomPolicy
from collab_overcooked.runner import workers
from collab_overcooked.runner.registrations import JobNeeds, adopt, known_here_only, pack_registrations
from collab_overcooked.runner.workers import read_workers, run_jobs


class Mine(PolicyBase):
    name = "mine"

    def reset(self, seat: int, info: Any, seed: int) -> None:
        pass

    def act(self, seen: Any) -> int:
        return int(seen.idle_action)


@pytest.fixture
def register(monkeypatch):
    """Register policies until the test ends."""
    monkeypatch.setattr(policies, "_custom", {})
    return policies.register_policy


def needs_of(*specs: str, env_ids: tuple[str, ...] = ()) -> JobNeeds:
    return JobNeeds(frozenset(env_ids), frozenset(specs))


HERE = {
    "class of a test": Mine,
    "function": lambda text: Mine(),
    "class of the script": "__main__:Mine",
    "class of a module that was made by code": "made_by_code:Mine",
}


@pytest.fixture
def made_by_code():
    sys.modules["made_by_code"] = ModuleType("made_by_code")
    yield
    del sys.modules["made_by_code"]


@pytest.mark.usefixtures("made_by_code")
@pytest.mark.parametrize("factory", HERE.values(), ids=HERE)
@pytest.mark.parametrize("spec", ["mine", "slow:2:mine", "switch:3:greedy+mine", "late:1:slow:2:mine"])
def test_policies_of_this_process_alone_are_named_also_behind_wrappers(register, factory, spec):
    register("mine", factory)
    assert known_here_only(needs_of(spec, "greedy")) == ["policy 'mine'"]
    assert known_here_only(needs_of("greedy", "slow:2:random")) == []


@pytest.mark.parametrize("factory", [RandomPolicy, "collab_overcooked.policies.random:RandomPolicy"])
def test_policies_of_modules_are_sent(register, factory):
    register("mine", factory)
    assert known_here_only(needs_of("mine")) == []
    packed = pack_registrations()
    policies._custom.clear()
    adopt.cache_clear()
    adopt(packed)
    assert [policy.name for policy in policies.custom_policies()] == ["mine"]


@pytest.mark.parametrize(
    "change",
    [
        {"game": "__main__:Game"},
        {"policies": {"greedy": "__main__:Greedy"}},
        {"metrics": "__main__:METRICS"},
        {"suites": {"mine": SuiteEntry("__main__:Suite", "Mine.")}},
        {"module": "__main__"},
    ],
)
def test_games_of_this_process_alone_are_named(monkeypatch, change):
    record = dataclasses.replace(registry.find("CollabCapture-v0"), id="Mine-v0")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, dataclasses.replace(record, **change)])
    assert known_here_only(needs_of(env_ids=("Mine-v0", "CollabCapture-v0"))) == ["game 'Mine-v0'"]
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES[:-1], record])
    assert known_here_only(needs_of(env_ids=("Mine-v0",))) == []


def forbid_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = workers.open_pool

    def only_threads(chosen: Any, count: int, threads: bool = False) -> Any:
        assert threads, "a process was to be started"
        return real(chosen, count, threads)

    monkeypatch.setattr(workers, "open_pool", only_threads)


ROOMS = {"options": {"max_cycles": 4}, "episodes": 4}
CALLS = {
    "evaluate": lambda workers: list(evaluate("collab-capture", team="all=mine", workers=workers, **ROOMS)),
    "cross_play": lambda workers: cross_play("CollabCapture-v0", ["mine", "random"], workers=workers, **ROOMS).returns,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("count", [None, 2])
def test_they_play_in_this_process_from_the_first_episode_on(register, monkeypatch, call, count, capsys):
    register("mine", Mine)
    forbid_processes(monkeypatch)
    monkeypatch.setattr(workers, "START_SECONDS", 0.0)  # or processes would take over soon
    monkeypatch.setattr(workers, "available_cores", lambda: 2)
    played, alone = call(count), call(1)
    assert (played.tolist() == alone.tolist()) if hasattr(played, "tolist") else (played == alone)


def test_a_number_of_workers_that_become_threads_is_said(register, monkeypatch, caplog):
    register("mine", Mine)
    forbid_processes(monkeypatch)
    evaluate("collab-capture", team="all=mine", workers=2, **ROOMS)
    assert caplog.messages == ["workers: threads of this process, as only it knows policy 'mine'"]


def test_a_cluster_is_refused_before_the_first_episode(register):
    register("mine", Mine)

    class Job:
        needs = needs_of("mine")

        def run(self, make: Any = None) -> list[Any]:
            raise AssertionError("played")

    with pytest.raises(ValueError, match=r"policy 'mine', known to this process alone; .*--import.*workers=1.*make="):
        list(run_jobs([Job()], read_workers("ray")))  # type: ignore[list-item]
