"""Time of decisions and of plan searches; off by default, run by `make bench`. Only moments with a choice count."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from plan_study import studied, studied_games

import collab_overcooked
from collab_overcooked.policies.search import cots
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import Team, make_team

CASES = (("mhp", "Housework-v0", 4), ("planner", "Housework-v0", 2), ("rhp", "Transport-v0", 1))


class Timed:
    """A policy whose decisions are timed."""

    def __init__(self, policy: Any, seconds: list[float]) -> None:
        self.policy = policy
        self.name = policy.name
        self.seconds = seconds
        self.needs_simulator = getattr(policy, "needs_simulator", False)

    def act(self, seen: Any) -> Any:
        start = time.perf_counter()
        answer = self.policy.act(seen)
        self.seconds.append(time.perf_counter() - start)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.policy, name)


@pytest.mark.parametrize(("spec", "env_id", "episodes"), CASES)
def test_decision(benchmark, spec: str, env_id: str, episodes: int) -> None:
    env = collab_overcooked.make(env_id)
    seconds: list[float] = []
    policies = [make_policy(spec) for _ in env.possible_agents]
    for policy in policies:
        if hasattr(policy, "join"):
            policy.join(tuple(policies))
    team = Team((spec,) * len(policies), tuple(Timed(policy, seconds) for policy in policies))
    play_episode(env, team, 0)  # compiles
    seconds.clear()
    benchmark.pedantic(lambda: [play_episode(env, team, seed) for seed in range(episodes)], rounds=1)
    facts = {"kind": "decision", "policy": spec, "game": env_id, "decisions": len(seconds)}
    median, late = np.percentile(seconds, (50, 90)).tolist()
    benchmark.extra_info |= facts | {"median": median, "late": late}


@pytest.mark.parametrize("env_id", studied_games())
def test_plan_search(benchmark, monkeypatch, env_id: str) -> None:
    """Looks of all members, rating and tree, where a new plan is searched."""
    env = collab_overcooked.make(env_id, **studied(env_id).scenes[0][1])
    seconds: list[float] = []
    plans: list[int] = []
    look = cots.SearchTeam.update_plan

    def timed(self: cots.SearchTeam, *state: Any) -> None:
        start = time.perf_counter()
        look(self, *state)
        if self.updates[-1].searched:
            seconds.append(time.perf_counter() - start)
            plans.append(len(self.updates[-1].nodes))

    monkeypatch.setattr(cots.SearchTeam, "update_plan", timed)
    team = make_team(["cots"] * len(env.possible_agents))
    play_episode(env, team, 0)  # compiles
    seconds.clear()
    plans.clear()
    benchmark.pedantic(lambda: [play_episode(env, team, seed) for seed in range(3)], rounds=1)
    median, late = np.percentile(seconds, (50, 90)).tolist()
    facts = {"kind": "plan search", "game": env_id, "searches": len(seconds), "plans": float(np.mean(plans))}
    benchmark.extra_info |= facts | {"median": median, "late": late}
