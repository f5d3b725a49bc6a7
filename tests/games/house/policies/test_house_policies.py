"""Policies of the household games: they play by what they know, without refused actions, and bring things home."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from games.house.world import GameKind
from support.records import record_of

import collab_overcooked
from collab_overcooked.adapters.results import outcome_of
from collab_overcooked.games.house.suite import housework_outcome, score_record
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

FAST = "mcts:simulations=24,depth=8,batch=8"
KEYS = ("rate", "ticks")
HOUSE = {"task": "food", "rooms": 4, "targets": 4, "containers": 2, "max_ticks": 1000}


def played(env_id: str, spec: str, seed: int = 0, **options: Any) -> Any:
    env = collab_overcooked.make(env_id, **options)
    team = make_team([spec] * env.game.n_agents)
    record = play_episode(env, team, seed)
    return record.replace(metrics=score_record(record))


def errors(record: Any) -> list[Any]:
    return [error for step in record.steps for error in step.errors]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["greedy", "planner", "mhp"])
def test_tables_are_laid_in_time(spec):
    record = played("Housework-v0", spec, task="set_table")
    assert record.success and record.metrics["rate"] == 1.0 and not errors(record)


@pytest.mark.parametrize("spec", ["greedy", "planner", "mhp", "rhp"])
def test_things_come_to_the_bed(spec):
    record = played("Transport-v0", spec, **HOUSE)
    assert record.metrics["rate"] >= 0.25 and not errors(record)


def test_two_are_faster_than_one_and_knowing_all_is_faster_still():
    seeds = range(4)
    ticks = {
        (spec, agents): np.mean([played("Housework-v0", spec, seed, agents=agents).metrics["ticks"] for seed in seeds])
        for spec, agents in (("greedy", 1), ("greedy", 2), ("planner", 2))
    }
    assert ticks["greedy", 1] > ticks["greedy", 2] > ticks["planner", 2]


def test_the_planner_of_transport_plays_transport_only():
    env = collab_overcooked.make("Housework-v0")
    with pytest.raises(ValueError, match="rhp' plays Transport-v0, not Housework-v0"):
        play_episode(env, make_team(["rhp", "greedy"]), 0)


@pytest.mark.parametrize("name", ["housework_set_table", "transport_small"])
def test_trained_policies_beat_chance(name):
    env_id, options = ("Housework-v0", {"task": "set_table"}) if name.startswith("house") else ("Transport-v0", HOUSE)
    means = {
        spec: [
            np.mean([entry.metrics[k] for entry in (played(env_id, spec, seed, **options) for seed in range(5))])
            for k in KEYS
        ]
        for spec in (f"ppo:{name}", "random")
    }
    (rate, ticks), (draw_rate, draw_ticks) = means[f"ppo:{name}"], means["random"]
    assert rate >= max(0.8, draw_rate) and ticks < draw_ticks


def decide(home: GameKind, spec: str, seed: int = 0) -> str:
    policy = make_policy(spec)
    info = EnvInfo(home.game.id, home.game, "", (spec,) * home.game.n_agents, Simulator(home.game, home.state, 0))
    policy.reset(0, info, seed)
    action = policy.act(AgentView.of(home.game, home.state, home.out, 0))
    return home.game.action_texts(home.state, 0, 0)[action]


def test_tree_search_delivers_what_it_holds():
    home = GameKind(furniture={"fridge": (1, 3)}, things={"apple 0": 0}, agents=((1, 1), (7, 1)))
    assert decide(home, "mcts:simulations=80,depth=3") == "transport"


def test_tree_search_knows_no_more_than_its_seat():
    """What is decided does not depend on where hidden things are."""
    furniture = {"fridge": (1, 3), "stove": (7, 3), "dishwasher": (7, 1)}
    chosen = {
        tuple(
            decide(GameKind(furniture=furniture, things={"apple 0": where}, agents=((1, 1), (2, 1))), FAST, seed)
            for seed in range(3)
        )
        for where in ("stove", "dishwasher")
    }
    assert len(chosen) == 1


@pytest.mark.parametrize(("env_id", "options"), [("Housework-v0", {"task": "set_table"}), ("Transport-v0", HOUSE)])
def test_tree_search_plays_on(env_id, options):
    env = collab_overcooked.make(env_id, max_cycles=6, **options)
    record = play_episode(env, make_team([FAST] * 2), 1)
    assert record.timesteps == 6 and not errors(record)


def test_the_outcome_of_housework_pays_time_left_as_even_random_agents_bring_nearly_everything():
    for rate, ticks, outcome in ((1.0, 50, 0.9), (1.0, 250, 0.5), (0.5, 250, 0.25), (0.5, 20, 0.25)):
        further = {"metrics": {"rate": rate, "ticks": ticks}, "family": "", "wanted": 1, "goal": {}}
        assert outcome_of(record_of(env_id="Housework-v0", **further)) == pytest.approx(outcome)
        assert outcome_of(record_of(env_id="Transport-v0", **further)) == rate
    records = {spec: played("Housework-v0", spec) for spec in ("planner", "random")}
    paid = {spec: housework_outcome(record) for spec, record in records.items()}
    assert records["planner"].metrics["rate"] == records["random"].metrics["rate"] and paid["planner"] > paid["random"]
